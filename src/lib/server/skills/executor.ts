/** Turns a skill's script or tools.json handler into a command line and runs it (D1–D9, D16–D23). */
import { hash } from 'node:crypto';
import { mkdir, readFile, realpath } from 'node:fs/promises';
import { basename, delimiter, dirname, extname, join, relative } from 'node:path';
import { DEFAULT_LIMITS, type Sandbox, type SandboxLimits } from '../sandbox/sandbox.ts';
import { buildEnvironment, limitsOf, MAX_TIMEOUT_MS, type ScriptInput, timeoutOf } from './run/environment.ts';
import type { AllowedFiles, ExecutionHost, ExecutionContext, SkillPackages } from './run/execution-host.ts';
import { execute, type Invocation } from './run/execution.ts';
import { type Announced, carryOut } from './run/execution-record.ts';
import { HARNESS_ARGUMENTS, type NativeHandlers, type NodeCall, PYTHON_HARNESS, runNative } from './run/handlers.ts';
import { createInterpreters, type Program } from './run/interpreters.ts';
import { createOutputStore, type OutputStore } from './run/execution-result.ts';
import { resolveScript } from './read/files.ts';
import { changedSince, createSkillCopies, type SkillCopies, type SkillCopy } from './skill-copies.ts';
import { createSpareNodes } from './run/spare-node.ts';
import { createTurns, type Turns } from './turns.ts';
import { SkillError, type Skill, type SkillExecutionResult, type SkillTool } from './types.ts';

export interface ExecutorOptions {
	sandbox: Sandbox;
	/** Runs this computer's own programs to find interpreters; same as `sandbox` if that hides nothing. */
	hostSandbox?: Pick<Sandbox, 'run'>;
	/** Script timeout in milliseconds (D10). */
	timeoutMs: number;
	/** Retries for failed calls of idempotent tools (D38); 0 by default. */
	maxRetries?: number;
	/** Bytes kept of each stream (D11). */
	maxOutputBytes: number;
	/** Maximum resources of a script. */
	limits?: SandboxLimits;
	/** Variables for the skills that declare them. */
	env: Readonly<Record<string, string>>;
	/** Passes the host's environment to scripts, except its secrets (D14); off by default. */
	inheritEnv?: boolean;
	/** Secrets, network and execution record. */
	host?: ExecutionHost;
	/** Host functions that tools can name (D37). */
	handlers?: NativeHandlers;
	/** Copies that scripts run from; its own by default. */
	copies?: SkillCopies;
	/** Queue of the scripts; unlimited by default. */
	turns?: Turns;
	/** Return false to stop executing skills (E11). */
	isEnabled?: () => boolean;
}

export interface Executor {
	/** @throws SkillError if the script can't be started */
	runScript(skill: Skill, script: string, input: ScriptInput, context: ExecutionContext): Promise<SkillExecutionResult>;
	/** Calls a tool of tools.json with validated arguments; its answer is `value`. @throws SkillError */
	runTool(
		skill: Skill,
		tool: SkillTool,
		args: Record<string, unknown>,
		context: ExecutionContext
	): Promise<SkillExecutionResult>;
	/** Runs one line of the skill's instructions in a shell (D45). @throws SkillError */
	runInline(skill: Skill, command: string, context: ExecutionContext): Promise<SkillExecutionResult>;
	/** See `ExecutionHost.mayRunInline`. */
	mayRunInline(skill: Skill): Promise<AllowedFiles | null>;
	/** Starts a Node process ahead of time for a skill that will probably need one. */
	warm(skill: Skill, context: Pick<ExecutionContext, 'cwd'>): void;
	/** Part of an output that was too long; null once discarded (D11). */
	readOutput: OutputStore['read'];
	/** Applies to later executions; 1 to 300,000 milliseconds. @throws RangeError */
	setTimeout(timeoutMs: number): void;
	/** Applies to later calls; 0 to 10. @throws RangeError */
	setMaxRetries(maxRetries: number): void;
	readonly maxRetries: number;
	/** Ends waiting processes and deletes the copies. */
	close(): Promise<void>;
}

/** Linux limits one argument to 128 KB; longer input goes through stdin only. */
const MAX_ARGUMENT_BYTES = 100_000;

const PATH_FIRST = 'PATH="$0:$PATH"; export PATH; exec "$@"';

/** More retries would only add load. */
const MAX_RETRIES = 10;

const JAVASCRIPT = /\.([cm]?js|ts)$/;

/** Runs scripts in the given sandbox. Interpreters are looked up on the host's PATH once. */
export function createExecutor(options: ExecutorOptions): Executor {
	const { sandbox, env: offered, inheritEnv = false, limits = DEFAULT_LIMITS, host = {} } = options;
	const { handlers = new Map(), copies = createSkillCopies(), turns = createTurns() } = options;
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
			'Ask whoever runs the server to turn them on.'
		);
	};
	/** Holds a copy of the skill's files while `use` runs. @throws SkillError like `SkillCopies.take` */
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
	/** Prepares what all calls of a skill have in common. @throws SkillError ScriptNotFound | ScriptNotAllowed */
	const prepare = async (skill: Skill, copy: SkillCopy, requested: string | null, { cwd }: ExecutionContext) => {
		const { dir, digest } = copy;
		const script = requested === null ? { path: dir, name: 'SKILL.md' } : await scriptIn(copy, skill, requested);
		await mkdir(cwd, { recursive: true });
		const workspace = await realpath(cwd);
		const installed = (await host.packagesOf?.(skill)) ?? null;
		const folders = { skill: dir, workspace, ...(installed && { packages: installed.folder }) };
		const located = sandbox.locate(folders);
		const seen = { skill: located.skill ?? dir, workspace: located.workspace };
		const scriptPath = join(seen.skill, relative(dir, script.path));
		const found = sandbox.isolation.files ? await interpreters.onPath() : null;
		const packages = installed && seenAt(located.packages ?? installed.folder, installed);
		const env = buildEnvironment({
			skill,
			folders: seen,
			packages,
			host: process.env,
			offered,
			inherit: inheritEnv,
			path: sandbox.programs
				? null
				: found
					? [...new Set([...found.folders, ...path.split(delimiter)])].join(delimiter)
					: undefined
		});
		const runtime = found ? found.runtime : [];
		return {
			shared: {
				skill,
				script: script.name,
				folders,
				digest,
				env,
				cwd: workingDirectory(skill, scriptPath, seen),
				runtime
			},
			hostPath: script.path,
			scriptPath,
			workspace: seen.workspace,
			packages,
			ofNode: { preload: packages?.register ?? undefined, bin: packages?.bin },
			/** An image knows its PATH, so the packages' programs are put before it inside. */
			started: (file: string, argv: string[]) =>
				sandbox.programs && packages
					? { file: sandbox.programs.shell, argv: ['-c', PATH_FIRST, packages.bin.join(':'), file, ...argv] }
					: { file, argv },
			runtimeWith: (program: Program) => (found ? [...new Set([...runtime, ...program.runtime])] : [])
		};
	};

	/** A run that its program's absence ends before it begins is a run all the same, with a step that says so. */
	const recorded = async (
		call: Pick<Announced, 'skill' | 'script' | 'args' | 'digest'> & Partial<Announced>,
		context: ExecutionContext,
		work: () => Promise<SkillExecutionResult>
	): Promise<SkillExecutionResult> => {
		try {
			return await work();
		} catch (error) {
			if (!(error instanceof SkillError && error.missing)) throw error;
			const { skill } = call;
			const bounds = { ...limitsOf(skill, limits), timeoutMs: timeoutOf(skill, context.timeoutMs, timeoutMs) };
			const announced = { ...call, sandbox: sandbox.name, limits: bounds, secrets: [] };
			return carryOut(announced, context, parts, () => Promise.reject(error));
		}
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
				const packages = await host.packagesOf?.(skill);
				const runtime = sandbox.isolation.files ? (await interpreters.onPath()).runtime : [];
				const copy = await copies.take(skill);
				const folders = { skill: copy.dir, workspace, ...(packages && { packages: packages.folder }) };
				spares.warm({ folders, runtime, limits: limitsOf(skill, limits) });
				copy.release();
			};
			// Only a head start: the call itself reports problems with the folders.
			start().catch(() => undefined);
		},
		mayRunInline: async (skill) => (await host.mayRunInline?.(skill)) ?? null,
		runInline: (skill, command, context) =>
			withCopy(skill, context, async (copy) => {
				// The command comes from the library's last scan, the copy from just now.
				const text = await readFile(join(copy.dir, basename(skill.path)));
				if (!hash('sha256', text).startsWith(skill.digest)) throw changedSince(skill);
				const { shared, runtimeWith, started } = await prepare(skill, copy, null, context);
				const bash = await interpreters.resolve('inline.sh');
				const program = started(bash.file, [...bash.args, '-c', command]);
				const call = { ...shared, args: [command], ...program, runtime: runtimeWith(bash) };
				return execute(call, context, parts);
			}),
		runScript: (skill, requested, { argv, env: variables, input }, context) =>
			withCopy(skill, context, async (copy) => {
				const prepared = await prepare(skill, copy, requested, context);
				const { shared, hostPath, scriptPath: path, runtimeWith, packages, ofNode, started } = prepared;
				return recorded({ ...shared, args: argv }, context, async () => {
					const program = await interpreters.resolve(hostPath, { hasPackages: packages !== null });
					const isWarm = JAVASCRIPT.test(path) && input === undefined;
					const warm = (env: Record<string, string>) =>
						JSON.stringify({ path, argv, env, cwd: shared.cwd, ...ofNode } satisfies NodeCall);
					const call = {
						...shared,
						env: { ...variables, ...shared.env },
						args: argv,
						...started(program.file, [...program.args, path, ...argv]),
						runtime: runtimeWith(program),
						input,
						warm: isWarm ? warm : undefined
					};
					return execute(call, context, parts);
				});
			}),
		async runTool(skill, tool, args, context) {
			if (tool.handler && !tool.script) {
				checkEnabled();
				return runNative({ skill, tool, args }, context, { handlers, host, digestOf, turns, timeoutMs });
			}
			return withCopy(skill, context, async (copy) => {
				const prepared = await prepare(skill, copy, tool.script ?? '', context);
				const { shared, hostPath, scriptPath: path, runtimeWith, ofNode, started } = prepared;
				const input = { ...args, __workDir: prepared.workspace };
				const run = (program: Program, more: Pick<Invocation, 'argv' | 'input' | 'answer' | 'warm'>) => {
					const call = { ...shared, runtime: runtimeWith(program), ...more, ...started(program.file, more.argv) };
					return execute({ ...call, tool: tool.name, args: [], toolInput: args }, context, parts);
				};
				return recorded({ ...shared, tool: tool.name, args: [], toolInput: args }, context, async () => {
					if (JAVASCRIPT.test(path)) {
						const ask = (env: Record<string, string>) =>
							JSON.stringify({ path, args: input, env, cwd: shared.cwd, ...ofNode } satisfies NodeCall);
						const node = await interpreters.resolve(hostPath);
						return run(node, { argv: HARNESS_ARGUMENTS, answer: 'harness', input: ask, warm: ask });
					}
					if (extname(path) === '.py') {
						const python = await interpreters.python();
						const argv = [...python.args, '-c', PYTHON_HARNESS];
						return run(python, { argv, answer: 'harness', input: JSON.stringify({ path, args: input }) });
					}
					// D22: JSON on stdin and as the first argument; the output is the answer.
					const program = await interpreters.resolve(hostPath);
					const json = JSON.stringify(input);
					const argv = [...program.args, path, ...(Buffer.byteLength(json) <= MAX_ARGUMENT_BYTES ? [json] : [])];
					return run(program, { argv, answer: 'program', input: json });
				});
			});
		}
	};
}

function within(value: number, what: string, least: number, most: number): number {
	if (Number.isInteger(value) && value >= least && value <= most) return value;
	throw new RangeError(`${what} must be a whole number from ${least} to ${most}, not ${value}.`);
}

/** The paths of packages where scripts see their folder. */
function seenAt(folder: string, { folder: own, bin, python, register }: SkillPackages): SkillPackages {
	const at = (path: string) => join(folder, relative(own, path));
	return { folder, bin: bin.map(at), python: python && at(python), register: register && at(register) };
}

/** Reports errors about the skill's own folder, because links out of it aren't copied. */
async function scriptIn({ dir }: SkillCopy, skill: Skill, requested: string): ReturnType<typeof resolveScript> {
	try {
		return await resolveScript(dir, requested);
	} catch (error) {
		await resolveScript(skill.dir, requested);
		throw error;
	}
}

/** Digests for native handlers; each skill's files are read once until the library reloads the skill. */
function createDigests({ digestOf }: ExecutionHost): (skill: Skill) => Promise<string> {
	const digests = new WeakMap<Skill, Promise<string>>();
	const readDigest = async (skill: Skill) => (await digestOf?.(skill).catch(() => null)) ?? skill.digest;
	return (skill) => {
		const known = digests.get(skill) ?? readDigest(skill);
		digests.set(skill, known);
		return known;
	};
}

/** A skill may ask to run in its own folder or the script's (D7); the conversation's files are in the workspace. */
function workingDirectory(skill: Skill, scriptPath: string, seen: { skill: string; workspace: string }): string {
	const wish = skill.extra.cwd ?? skill.metadata.cwd;
	return wish === 'skill' ? seen.skill : wish === 'script' ? dirname(scriptPath) : seen.workspace;
}
