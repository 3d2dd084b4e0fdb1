/** Native handlers: host functions that skills call by name (S1 `registerHandler`; FEATURES D37, D38, E35). */
import { callerKey, type Turns, unlessAborted } from '../turns.ts';
import { type Skill, SkillError, type SkillExecutionResult, type SkillTool } from '../types.ts';
import { timeoutOf } from './environment.ts';
import type { ExecutionContext, ExecutionHost } from './execution-host.ts';
import { carryOut, storedSecrets } from './execution-record.ts';

export interface NativeContext {
	apiKeyId?: string;
	sessionId?: string;
	/** Absolute path of the working folder. */
	cwd: string;
	/** Aborts when the call is stopped or times out; a later result is discarded. */
	signal: AbortSignal;
}

/** Receives a tool's arguments. Its return value becomes JSON, its exception the call's error. */
export type NativeHandler = (input: Record<string, unknown>, context: NativeContext) => unknown;

export type NativeHandlers = ReadonlyMap<string, NativeHandler>;

export interface NativeParts {
	handlers: NativeHandlers;
	host: ExecutionHost;
	digestOf(skill: Skill): Promise<string>;
	/** Limits the calls of one caller. */
	turns: Turns;
	timeoutMs: number;
}

/** Runs a handler in this process, announced and recorded like any execution. @throws SkillError `HandlerNotFound` */
export async function runNative(
	{ skill, tool, args }: { skill: Skill; tool: SkillTool; args: Record<string, unknown> },
	context: ExecutionContext,
	{ handlers, host, digestOf, turns, timeoutMs }: NativeParts
): Promise<SkillExecutionResult> {
	const name = tool.handler ?? '';
	const handler = handlers.get(name);
	if (!handler) {
		const names = [...handlers.keys()].join(', ');
		const known = names === '' ? 'No handlers are registered.' : `Available: ${names}.`;
		throw new SkillError(
			'HandlerNotFound',
			`There is no handler “${name.slice(0, 100)}” on this server.`,
			`${known} Handlers are set with SKILLS_HANDLERS.`
		);
	}
	const limits = { timeoutMs: timeoutOf(skill, context.timeoutMs, timeoutMs) };
	const call = {
		skill,
		script: name,
		tool: tool.name,
		args: [],
		toolInput: args,
		digest: digestOf(skill),
		sandbox: 'direct',
		limits,
		secrets: Object.values(await storedSecrets(host, skill))
	};
	const turn = { caller: callerKey(context.caller), lane: null, isWithoutPlace: true };
	return carryOut(call, context, { host }, (_id, isRunning) =>
		turns.run(turn, async () => {
			isRunning();
			const started = performance.now();
			const value = await answerOf(handler, args, context, limits.timeoutMs);
			const durationMs = Math.round(performance.now() - started);
			return { success: true, stdout: '', stderr: '', exitCode: 0, durationMs, truncated: false, files: [], value };
		})
	);
}

/** @throws SkillError if the handler fails, times out, is stopped or returns something that isn't JSON */
async function answerOf(
	handler: NativeHandler,
	args: Record<string, unknown>,
	{ signal, caller = {}, cwd }: ExecutionContext,
	timeoutMs: number
): Promise<unknown> {
	const stop = new AbortController();
	const timer = setTimeout(
		() => stop.abort(new SkillError('ExecutionTimeout', `The handler ran for ${timeoutMs} ms and was stopped.`)),
		timeoutMs
	);
	const onAbort = () => stop.abort(new SkillError('Cancelled', 'The call was stopped.'));
	if (signal?.aborted) onAbort();
	signal?.addEventListener('abort', onAbort, { once: true });
	const { apiKeyId, sessionId } = caller;
	const own = { apiKeyId, sessionId, cwd, signal: stop.signal };
	try {
		stop.signal.throwIfAborted();
		const value = await unlessAborted(Promise.resolve(handler(args, own)), stop.signal);
		// Copy as JSON, so that the handler's own objects don't reach records and answers.
		return JSON.parse(JSON.stringify(value ?? null)) as unknown;
	} catch (error) {
		if (error instanceof SkillError) throw error;
		throw new SkillError('ExecutionFailed', error instanceof Error ? error.message : String(error));
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener('abort', onAbort);
	}
}

/** ASCII's acknowledge character. No JSON starts with it, and scripts' output hardly ever does. */
export const ACKNOWLEDGED = '\x06';

/**
 * Runs one call from stdin: the default export of a JavaScript handler (D20), or a script as the main program.
 * It is passed on the command line, so that no file has to be found next to a bundle or mounted into a sandbox. First
 * it acknowledges the call on stdout; before that, nothing of the call has run. Then stdout carries only a handler's
 * answer `{ok, value | error}`. Environment and working directory come with the call, because the process may have been
 * started ahead of time. Without a call it exits.
 */
const NODE_HARNESS = `
const { writeSync } = require('node:fs');
const { runMain, syncBuiltinESMExports } = require('node:module');
const { Readable } = require('node:stream');
const util = require('node:util');
const { pathToFileURL } = require('node:url');
const load = require;
// Hide from scripts how this was started.
for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) delete globalThis[name];
delete process._eval;
process.execArgv.length = 0;
// It would take the script's path for an argument: from Node 22 on it checks how the process was started.
const { parseArgs } = util;
util.parseArgs = (config = {}) => parseArgs({ ...config, args: config.args ?? process.argv.slice(2) });
syncBuiltinESMExports();
// Skills don't say what kind of modules they have, so this warning is of no use.
const { emitWarning } = process;
process.emitWarning = (warning, ...more) =>
	more[0]?.code === 'MODULE_TYPELESS_PACKAGE_JSON' ? undefined : Reflect.apply(emitWarning, process, [warning, ...more]);
let text = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => (text += chunk)).on('end', () => {
	if (text === '') process.exit(0);
	const call = JSON.parse(text);
	writeSync(1, '\\x06');
	const { PATH } = process.env;
	for (const name of Object.keys(process.env)) delete process.env[name];
	Object.assign(process.env, call.env);
	// An image has its own.
	if (call.env.PATH === undefined && PATH !== undefined) process.env.PATH = [...(call.bin ?? []), PATH].join(':');
	process.chdir(call.cwd);
	if (call.preload) load(call.preload);
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

/** Input of the harness: a script with `argv`, or a handler with `args`. Paths as the process sees them. */
export interface NodeCall {
	path: string;
	env: Record<string, string>;
	cwd: string;
	/** Required first. */
	preload?: string | undefined;
	/** Folders to put before the PATH of an image. */
	bin?: string[] | undefined;
	argv?: string[];
	args?: Record<string, unknown>;
}

/** Arguments that make Node run one call from stdin. */
export const HARNESS_ARGUMENTS = ['--eval', NODE_HARNESS];

/**
 * Calls `handler(args)` of a Python module, or without one runs it as a program with the arguments on stdin (D21).
 * Output goes to stderr; stdout carries only the answer `{ok, value | error}`.
 */
export const PYTHON_HARNESS = `
import ast, asyncio, importlib.util, inspect, io, json, os, runpy, sys, traceback
answer = sys.stdout
sys.stdout = sys.stderr
call = json.load(sys.stdin)
path, args = call["path"], call["args"]
sys.path.insert(0, os.path.dirname(path))
code = 0
try:
    with open(path, encoding="utf-8") as source:
        body = ast.parse(source.read(), path).body
    def names(node):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            return [getattr(target, "id", None) for target in getattr(node, "targets", None) or [node.target]]
        if isinstance(node, ast.ImportFrom):
            return [alias.asname or alias.name for alias in node.names]
        return [getattr(node, "name", None)]
    if any("handler" in names(node) for node in body):
        spec = importlib.util.spec_from_file_location("skill_handler", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        value = module.handler(args)
        if inspect.isawaitable(value):
            async def wait():
                return await value
            value = asyncio.run(wait())
    else:
        printed = io.StringIO()
        sys.stdout, sys.stdin, sys.argv = printed, io.StringIO(json.dumps(args)), [path]
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as stop:
            if stop.code not in (None, 0):
                raise RuntimeError("the program ended with code %s" % stop.code)
        finally:
            sys.stdout = sys.stderr
        value = printed.getvalue()
        try:
            value = json.loads(value)
        except ValueError:
            value = value.strip()
    result = json.dumps({"ok": True, "value": value}, allow_nan=False)
except BaseException as error:
    traceback.print_exc()
    code = 1
    result = json.dumps({"ok": False, "error": str(error) or type(error).__name__})
sys.stderr.flush()
answer.write(result)
answer.flush()
os._exit(code)
`;
