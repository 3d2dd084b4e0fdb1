/** ASCII's own character for it; no JSON begins with it. */
export const ACKNOWLEDGED = '\x06';

/**
 * Calls the default export of a JavaScript handler (FEATURES D20). It travels on the command line, so that no file
 * has to be found beside a bundle or mounted into a sandbox. What the handler prints goes to stderr; stdout carries
 * the one answer `{ok, value | error}`, after a mark that says that the call was understood: without the mark, nothing
 * of the handler has run. Environment and working directory come with the call: the process may have
 * been started before anyone knew of it. Without a call it ends.
 */
export const NODE_HARNESS = `
import { writeSync } from 'node:fs';
const answer = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
let text = '';
for await (const chunk of process.stdin) text += chunk;
if (text === '') process.exit(0);
const { path, args, env, cwd } = JSON.parse(text);
writeSync(1, '\\x06');
for (const name of Object.keys(process.env)) delete process.env[name];
Object.assign(process.env, env);
process.chdir(cwd);
const end = (result, code) => {
	const text = JSON.stringify(result);
	process.stderr.write('', () => answer(text, () => process.exit(code)));
};
try {
	const { pathToFileURL } = await import('node:url');
	const module = await import(pathToFileURL(path).href);
	const handler = module.default?.default ?? module.default ?? module.handler;
	if (typeof handler !== 'function') throw new Error('the module has no default export that is a function');
	const value = await handler(args);
	end({ ok: true, value: value === undefined ? null : value }, 0);
} catch (error) {
	console.error(error?.stack ?? String(error));
	end({ ok: false, error: String(error?.message ?? error) }, 1);
}
`;
