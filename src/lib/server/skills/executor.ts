/** Turns a skill's script or tools.json handler into a command line and runs it (FEATURES D1–D9, D16–D23). */
import { hash } from 'node:crypto';
import { mkdir, readFile, realpath } from 'node:fs/promises';
import { basename, delimiter, dirname, extname, join, relative } from 'node:path';
import { DEFAULT_LIMITS, type Sandbox, type SandboxLimits } from '../sandbox/sandbox.ts';
import { buildEnvironment, limitsOf, MAX_TIMEOUT_MS, type ScriptInput } from './run/environment.ts';
import type { AllowedFiles, ExecutionHost, ExecutionContext } from './run/execution-host.ts';
import { execute, type Invocation } from './run/execution.ts';
import {
	createNativeHandlers,
	HARNESS_ARGUMENTS,
	type NativeHandlers,
	type NodeCall,
	PYTHON_HARNESS,
	runNative
} from './run/handlers.ts';
import { createInterpreters } from './run/interpreters.ts';
import { createOutputStore, type OutputStore } from './run/execution-result.ts';
import { resolveScript } from './read/files.ts';
import { changedSince, createSkillCopies, type SkillCopies, type SkillCopy } from './skill-copies.ts';
import { createSpareNodes } from './run/spare-node.ts';
import { createTurns, type Turns } from './turns.ts';
import { SkillError, type Skill, type SkillExecutionResult, type SkillTool } from './types.ts';

export type { ExecutionContext } from './run/execution-host.ts';

export interface ExecutorOptions {
	sandbox: Sandbox;
	/** Runs programs of this machine as they are, to find interpreters; the sandbox where it hides nothing. */
	hostSandbox?: Pick<Sandbox, 'run'>;
	/** Milliseconds before a script is ended (D10). */
	timeoutMs: number;
	/** How often a call of an idempotent tool that fails is tried again (D38); 0. */
	maxRetries?: number;
	/** Bytes kept of each stream (D11). */
	maxOutputBytes: number;
	/** The most that a script may use. */
	limits?: SandboxLimits;
	/** Variables for the skills that declare them. */
	env: Readonly<Record<string, string>>;
	/** Scripts see the host's environment, but for its secrets (D14); they do not without it. */
	inheritEnv?: boolean;
	/** Secrets, network and record of executions. */
	host?: ExecutionHost;
	/** Functions of the host that tools may name (D37). */
	handlers?: NativeHandlers;
	/** What scripts run from; copies of its own without it. */
	copies?: SkillCopies;
	/** When a script may run; each at once without it. */
	turns?: Turns;
	/** False: nothing is executed (E11). */
	isEnabled?: () => boolean;
}

export interface Executor {
	/** @throws SkillError when the script cannot be run at all. */
	runScript(skill: Skill, script: string, input: ScriptInput, context: ExecutionContext): Promise<SkillExecutionResult>;
	/** Calls a tools.json handler with checked arguments; its answer is `value`. @throws SkillError likewise. */
	runTool(
		skill: Skill,
		tool: SkillTool,
		args: Record<string, unknown>,
		context: ExecutionContext
	): Promise<SkillExecutionResult>;
	/** Runs one line of the skill's instructions in a shell (D45). @throws SkillError likewise */
	runInline(skill: Skill, command: string, context: ExecutionContext): Promise<SkillExecutionResult>;
	/** See `ExecutionHost.mayRunInline`. */
	mayRunInline(skill: Skill): Promise<AllowedFiles | null>;
	/** Has a Node wait for a skill that is likely to need one. */
	warm(skill: Skill, context: Pick<ExecutionContext, 'cwd'>): void;
	/** A piece of an output that was too long; null when it is not kept any more (D11). */
	readOutput: OutputStore['read'];
	/** Of the executions that begin from now on; 1 to 300,000 milliseconds. @throws RangeError */
	setTimeout(timeoutMs: number): void;
	/** Of the calls that begin from now on; 0 to 10. @throws RangeError */
	setMaxRetries(maxRetries: number): void;
	/** What was set last. */
	readonly maxRetries: number;
	/** Lets the processes go that wait, and removes what scripts ran from. */
	close(): Promise<void>;
}

/** Linux allows 128 KB for one argument; longer input comes by stdin alone. */
const MAX_ARGUMENT_BYTES = 100_000;

/** More would be a load, not a remedy. */
const MAX_RETRIES = 10;

const JAVASCRIPT = /\.([cm]?js|ts)$/;

/** Executes with the given backend; interpreters are found on the host's PATH, once. */
export function createExecutor(options: ExecutorOptions): Executor {
	const { sandbox, env: offered, inheritEnv = false, limits = DEFAULT_LIMITS, host = {} } = options;
	const { handlers = createNativeHandlers(), copies = createSkillCopies(), turns = createTurns() } = options;
	const path = process.env.PATH ?? '';
	const interpreters = createInterpreters({ host: options.hostSandbox ?? sandbox, sandbox, path });
	const outputs = createOutputStore();
	const spares = createSpareNodes(sandbox, interpreters.node().file);
	const { maxOutputBytes } = options;
	let { timeoutMs, maxRetries = 0 } = options;
	const digestOf = createDigests(host);
	const parts = {
		sandbox,
		turns,
		spares,
		outputs,
		host,
		get timeoutMs() {
			return timeoutMs;
		},
		maxOutputBytes,
		limits,
		offered
	};

	const checkEnabled = () => {
		if (!options.isEnabled || options.isEnabled()) return;
		throw new SkillError(
			'SkillsDisabled',
			'Skills are turned off on this server.',
			'Whoever runs the server can turn them on.'
		);
	};
	/** The skill's files stay as they were looked at for as long as they are used. @throws SkillError of `SkillCopies.take` */
	const withCopy = async <Result>(
		skill: Skill,
		{ allowed }: ExecutionContext,
		use: (copy: SkillCopy) => Promise<Result>
	): Promise<Result> => {
		checkEnabled();
		const copy = await copies.take(skill, allowed);
		try {
			return await use(copy);
		} finally {
			copy.release();
		}
	};
	/** What every call of a skill has in common. @throws SkillError ScriptNotFound | ScriptNotAllowed */
	const prepare = async (skill: Skill, copy: SkillCopy, requested: string | null, { cwd }: ExecutionContext) => {
		const { dir, digest } = copy;
		const script = requested === null ? { path: dir, name: 'SKILL.md' } : await scriptIn(copy, skill, requested);
		await mkdir(cwd, { recursive: true });
		const workspace = await realpath(cwd);
		const folders = { skill: dir, workspace };
		const located = sandbox.locate(folders);
		const seen = { skill: located.skill ?? dir, workspace: located.workspace };
		const scriptPath = join(seen.skill, relative(dir, script.path));
		const found = sandbox.isolation.files ? await interpreters.onPath() : null;
		const env = buildEnvironment({
			skill,
			folders: seen,
			host: process.env,
			offered,
			inherit: inheritEnv,
			path: found ? [...new Set([...found.folders, ...path.split(delimiter)])].join(delimiter) : undefined
		});
		return {
			skill,
			script: script.name,
			hostPath: script.path,
			scriptPath,
			folders,
			digest,
			env,
			workspace: seen.workspace,
			cwd: workingDirectory(skill, scriptPath, seen),
			runtime: found?.runtime ?? []
		};
	};
	type Prepared = Awaited<ReturnType<typeof prepare>>;
	const invocation = ({ skill, script, folders, digest, env, cwd, runtime }: Prepared) => {
		return { skill, script, folders, digest, env, cwd, runtime };
	};
	const addRuntime = (call: Prepared, program: { runtime: string[] }): string[] => {
		return sandbox.isolation.files ? [...new Set([...call.runtime, ...program.runtime])] : [];
	};

	return {
		readOutput: (id, range) => outputs.read(id, range),
		setTimeout(wanted) {
			timeoutMs = within(wanted, 'A time limit', 1, MAX_TIMEOUT_MS);
		},
		setMaxRetries(wanted) {
			maxRetries = within(wanted, 'A number of retries', 0, MAX_RETRIES);
		},
		get maxRetries() {
			return maxRetries;
		},
		async close() {
			spares.close();
			await copies.close();
		},
		warm(skill, { cwd }) {
			if (!skill.scripts.some((script) => JAVASCRIPT.test(script)) || (options.isEnabled && !options.isEnabled()))
				return;
			const start = async () => {
				await mkdir(cwd, { recursive: true });
				const workspace = await realpath(cwd);
				const runtime = sandbox.isolation.files ? (await interpreters.onPath()).runtime : [];
				const copy = await copies.take(skill);
				spares.warm({ folders: { skill: copy.dir, workspace }, runtime, limits: limitsOf(skill, limits) });
				copy.release();
			};
			// Only a head start: what is wrong with the folders, the call itself will say.
			start().catch(() => undefined);
		},
		mayRunInline: async (skill) => (await host.mayRunInline?.(skill)) ?? null,
		runInline: (skill, command, context) =>
			withCopy(skill, context, async (copy) => {
				// The command was read when the library read the skill; the files were looked at just now.
				const text = await readFile(join(copy.dir, basename(skill.path)));
				if (!hash('sha256', text).startsWith(skill.digest)) throw changedSince(skill);
				const call = await prepare(skill, copy, null, context);
				const bash = await interpreters.resolve('inline.sh');
				const argv = [...bash.args, '-c', command];
				return execute(
					{ ...invocation(call), args: [command], file: bash.file, argv, runtime: addRuntime(call, bash) },
					context,
					parts
				);
			}),
		runScript: (skill, requested, { argv, env: variables, input }, context) =>
			withCopy(skill, context, async (copy) => {
				const call = await prepare(skill, copy, requested, context);
				const program = await interpreters.resolve(call.hostPath);
				const env = { ...variables, ...call.env };
				const isWarm = JAVASCRIPT.test(call.scriptPath) && input === undefined;
				const warm = (all: Record<string, string>) =>
					JSON.stringify({ path: call.scriptPath, argv: [...argv], env: all, cwd: call.cwd } satisfies NodeCall);
				return execute(
					{
						...invocation(call),
						env,
						args: [...argv],
						file: program.file,
						argv: [...program.args, call.scriptPath, ...argv],
						runtime: addRuntime(call, program),
						input,
						warm: isWarm ? warm : undefined
					},
					context,
					parts
				);
			}),
		async runTool(skill, tool, args, context) {
			if (tool.handler && !tool.script) {
				checkEnabled();
				return runNative({ skill, tool, args }, context, { handlers, host, digestOf, turns, timeoutMs });
			}
			return withCopy(skill, context, async (copy) => {
				const call = await prepare(skill, copy, tool.script ?? '', context);
				const input = { ...args, __workDir: call.workspace };
				const path = call.scriptPath;
				const shared = { ...invocation(call), tool: tool.name, args: [], toolInput: args };
				const run = (more: Pick<Invocation, 'file' | 'argv' | 'input' | 'answer' | 'runtime' | 'warm'>) =>
					execute({ ...shared, ...more }, context, parts);
				if (JAVASCRIPT.test(path)) {
					const node = await interpreters.resolve(call.hostPath);
					const ask = (env: Record<string, string>) =>
						JSON.stringify({ path, args: input, env, cwd: call.cwd } satisfies NodeCall);
					const runtime = addRuntime(call, node);
					return run({ file: node.file, argv: HARNESS_ARGUMENTS, answer: 'harness', input: ask, warm: ask, runtime });
				}
				if (extname(path) === '.py') {
					const python = await interpreters.python();
					const argv = [...python.args, '-c', PYTHON_HARNESS];
					const json = JSON.stringify({ path, args: input });
					return run({ file: python.file, argv, answer: 'harness', input: json, runtime: addRuntime(call, python) });
				}
				// D22: JSON on stdin and as the first argument; whatever it prints is the answer.
				const program = await interpreters.resolve(call.hostPath);
				const json = JSON.stringify(input);
				const argv = [...program.args, path, ...(Buffer.byteLength(json) <= MAX_ARGUMENT_BYTES ? [json] : [])];
				return run({ file: program.file, argv, answer: 'program', input: json, runtime: addRuntime(call, program) });
			});
		}
	};
}

function within(value: number, what: string, least: number, most: number): number {
	if (Number.isInteger(value) && value >= least && value <= most) return value;
	throw new RangeError(`${what} must be a whole number from ${least} to ${most}, not ${value}.`);
}

/** Why a script cannot be run is told of the skill itself: what leads out of its folder is not in a copy. */
async function scriptIn({ dir }: SkillCopy, skill: Skill, requested: string): ReturnType<typeof resolveScript> {
	try {
		return await resolveScript(dir, requested);
	} catch (error) {
		await resolveScript(skill.dir, requested);
		throw error;
	}
}

/** For native handlers: each skill's files are read once, as long as the library has not read the skill anew. */
function createDigests({ digestOf }: ExecutionHost): (skill: Skill) => Promise<string> {
	const digests = new WeakMap<Skill, Promise<string>>();
	const readDigest = async (skill: Skill) => (await digestOf?.(skill).catch(() => null)) ?? skill.digest;
	return (skill) => {
		const known = digests.get(skill) ?? readDigest(skill);
		digests.set(skill, known);
		return known;
	};
}

/** A skill may ask to run in its own folder, or the script's (D7); files of the conversation are in the workspace. */
function workingDirectory(skill: Skill, scriptPath: string, seen: { skill: string; workspace: string }): string {
	const wish = skill.extra.cwd ?? skill.metadata.cwd;
	return wish === 'skill' ? seen.skill : wish === 'script' ? dirname(scriptPath) : seen.workspace;
}
