/** ASCII's own character for it; no JSON begins with it, and no script is likely to. */
export const ACKNOWLEDGED = '\x06';

/**
 * Takes one call from standard input and makes it: the default export of a JavaScript handler (FEATURES D20), or a
 * script as the main program, with its own `process.argv`, environment and (empty) standard input. It travels on the
 * command line, so that no file has to be found beside a bundle or mounted into a sandbox. First of all it writes a mark
 * to stdout that says that the call was understood: without the mark, nothing of the call has run. What a handler
 * prints goes to stderr; stdout carries its one answer `{ok, value | error}`. Environment and working directory come
 * with the call: the process may have been started before anyone knew of it. Without a call it ends.
 */
const NODE_HARNESS = `
const { writeSync } = require('node:fs');
const { runMain } = require('node:module');
const { Readable } = require('node:stream');
const { pathToFileURL } = require('node:url');
// Nothing of how this was started is to be seen by what runs in it.
for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) delete globalThis[name];
delete process._eval;
process.execArgv.length = 0;
// That nothing around a skill says what its modules are is no news to a script.
const { emitWarning } = process;
process.emitWarning = (warning, ...more) =>
	more[0]?.code === 'MODULE_TYPELESS_PACKAGE_JSON' ? undefined : Reflect.apply(emitWarning, process, [warning, ...more]);
let text = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => (text += chunk)).on('end', () => {
	if (text === '') process.exit(0);
	const call = JSON.parse(text);
	writeSync(1, '\\x06');
	for (const name of Object.keys(process.env)) delete process.env[name];
	Object.assign(process.env, call.env);
	process.chdir(call.cwd);
	let empty;
	Object.defineProperty(process, 'stdin', { configurable: true, enumerable: true, get: () => (empty ??= Readable.from([])) });
	if (call.argv) {
		process.argv.splice(1, process.argv.length, call.path, ...call.argv);
		runMain(call.path);
	} else void handle(call);
});
async function handle({ path, args }) {
	const answer = process.stdout.write.bind(process.stdout);
	process.stdout.write = process.stderr.write.bind(process.stderr);
	const end = (result, code) => {
		const text = JSON.stringify(result);
		process.stderr.write('', () => answer(text, () => process.exit(code)));
	};
	try {
		const module = await import(pathToFileURL(path).href);
		const handler = module.default?.default ?? module.default ?? module.handler;
		if (typeof handler !== 'function') throw new Error('the module has no default export that is a function');
		const value = await handler(args);
		end({ ok: true, value: value === undefined ? null : value }, 0);
	} catch (error) {
		console.error(error?.stack ?? String(error));
		end({ ok: false, error: String(error?.message ?? error) }, 1);
	}
}
`;

/** What the harness reads: with `argv` a script, with `args` a handler. All paths as the process sees them. */
export interface NodeCall {
	path: string;
	env: Record<string, string>;
	cwd: string;
	argv?: string[];
	args?: Record<string, unknown>;
}

/** Arguments that make Node read one call from standard input. */
export const HARNESS_ARGUMENTS = ['--eval', NODE_HARNESS];
