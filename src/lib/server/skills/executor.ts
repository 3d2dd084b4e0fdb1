/** Runs a skill's script or tools.json handler and says what came of it; every failure is a result (FEATURES D1–D23). */
import { mkdir } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import type { Sandbox, SandboxCommand, SandboxResult } from '../sandbox/sandbox.ts';
import { buildEnvironment } from './environment.ts';
import { explain, readHarness, readProgram } from './execution-result.ts';
import { PYTHON_HARNESS } from './handlers/python-harness.ts';
import { createInterpreters } from './interpreters.ts';
import { createOutputStore, MAX_SHOWN, type OutputStore } from './output-store.ts';
import { resolveScript } from './resources.ts';
import { createSpareNode, HARNESS_ARGUMENTS } from './spare-node.ts';
import type { ScriptInput } from './script-arguments.ts';
import type { Skill, SkillEvent, SkillExecutionResult, SkillTool } from './types.ts';
import { changedFiles, listWorkspace } from './workspace-changes.ts';

export interface ExecutorOptions {
	sandbox: Sandbox;
	/** Milliseconds before a script is ended (D10). */
	timeoutMs: number;
	/** Bytes kept of each stream (D11). */
	maxOutputBytes: number;
	/** Variables for the skills that declare them. */
	env: Readonly<Record<string, string>>;
	/** Scripts see the host's environment, but for its secrets (D14); they do not without it. */
	inheritEnv?: boolean;
}

export interface ExecutionContext {
	/** Absolute working directory; made when it is not there. */
	cwd: string;
	signal?: AbortSignal;
	onEvent?: (event: SkillEvent) => void;
	/** Instead of the host's limit, up to 300,000 (D10). */
	timeoutMs?: number;
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
	/** A piece of an output that was too long; null when it is not kept any more (D11). */
	readOutput: OutputStore['read'];
	/** Lets the process go that waits for the next handler. */
	close(): void;
}

/** Of each stream, for paging; and of a handler's answer, which is data, not a log. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** Linux allows 128 KB for one argument; longer input comes by stdin alone. */
const MAX_ARGUMENT_BYTES = 100_000;
/** The longest that any call may ask for (D10). */
const MAX_TIMEOUT_MS = 300_000;

interface Invocation {
	skill: Skill;
	script: string;
	tool?: string;
	/** Where a tool's answer is on stdout: one of a harness at its end, or all that a program prints. */
	answer?: 'harness' | 'program';
	args: string[];
	file: string;
	argv: string[];
	input?: string;
	env: Record<string, string>;
	cwd: string;
	/** May a Node process that waits already run it? */
	isWarm?: boolean;
}

/** Executes with the given backend; interpreters are found on the host's PATH, once. */
export function createExecutor({
	sandbox,
	timeoutMs,
	maxOutputBytes,
	env: offered,
	inheritEnv = false
}: ExecutorOptions): Executor {
	const interpreters = createInterpreters(sandbox, process.env.PATH ?? '');
	const outputs = createOutputStore();
	const spareNode = createSpareNode(sandbox, interpreters.node());

	/** Keeps what a model is not shown of a result: of a tool, its value takes the place of stdout. */
	const keep = (result: SkillExecutionResult, { kept }: SandboxResult): SkillExecutionResult => {
		if (!kept) return result;
		const value = result.value === undefined ? null : JSON.stringify(result.value);
		if (!result.truncated && (value?.length ?? 0) <= MAX_SHOWN) return result;
		const outputId = outputs.save({ stdout: value ?? kept.stdout.text, stderr: kept.stderr.text });
		return { ...result, outputId };
	};

	const execute = async (call: Invocation, context: ExecutionContext): Promise<SkillExecutionResult> => {
		await mkdir(context.cwd, { recursive: true });
		const before = await listWorkspace(context.cwd);
		const { skill, script, tool, args } = call;
		context.onEvent?.({
			type: 'started',
			skill: skill.name,
			script,
			...(tool ? { tool } : {}),
			args,
			sandbox: sandbox.name
		});
		const limitMs = Math.min(context.timeoutMs ?? timeoutMs, MAX_TIMEOUT_MS);
		const command: SandboxCommand = {
			file: call.file,
			args: call.argv,
			env: call.env,
			cwd: call.cwd,
			timeoutMs: limitMs,
			maxOutputBytes,
			maxKeptBytes: MAX_KEPT_BYTES,
			...(call.input === undefined ? {} : { input: call.input }),
			...(context.signal ? { signal: context.signal } : {}),
			onOutput: (stream, text) => {
				// A harness writes nothing but its answer, which is shown when it is there.
				if (stream === 'stderr' || call.answer !== 'harness') context.onEvent?.({ type: 'output', stream, text });
			}
		};
		const { input } = call;
		const run = await (call.isWarm && input !== undefined
			? spareNode.run({ ...command, input })
			: sandbox.run(command));
		const files = changedFiles(before, await listWorkspace(context.cwd));
		const result: SkillExecutionResult = {
			success: run.ended === 'exit' && run.exitCode === 0,
			stdout: run.stdout,
			stderr: run.stderr,
			exitCode: run.exitCode ?? -1,
			durationMs: Math.round(run.durationMs),
			truncated: run.stdoutTruncated || run.stderrTruncated,
			files,
			...explain(run, script, limitMs)
		};
		if (call.answer === 'harness') return keep(readHarness(result, run, maxOutputBytes), run);
		return keep(call.answer === 'program' ? readProgram(result, run) : result, run);
	};

	const announce = async (call: Invocation, context: ExecutionContext) => {
		const result = await execute(call, context);
		context.onEvent?.({
			type: 'finished',
			skill: call.skill.name,
			exitCode: result.exitCode < 0 ? null : result.exitCode,
			durationMs: result.durationMs,
			truncated: result.truncated,
			files: result.files,
			...(result.error ? { error: result.error } : {}),
			...(result.message ? { message: result.message } : {})
		});
		return result;
	};

	return {
		readOutput: (id, range) => outputs.read(id, range),
		close: () => spareNode.close(),
		async runScript(skill, requested, { argv, env: variables, input }, context) {
			const { path, name } = await resolveScript(skill.dir, requested);
			const program = await interpreters.resolve(path);
			const env = buildEnvironment({ skill, cwd: context.cwd, host: process.env, offered, inherit: inheritEnv });
			const cwd = workingDirectory(skill, path, context.cwd);
			const call = { skill, script: name, args: [...argv], env: { ...variables, ...env }, cwd };
			const stdin = input === undefined ? {} : { input };
			return announce({ ...call, ...stdin, file: program.file, argv: [...program.args, ...argv] }, context);
		},
		async runTool(skill, tool, args, context) {
			const { path, name } = await resolveScript(skill.dir, tool.script ?? '');
			const env = buildEnvironment({ skill, cwd: context.cwd, host: process.env, offered, inherit: inheritEnv });
			const input = { ...args, __workDir: context.cwd };
			const cwd = workingDirectory(skill, path, context.cwd);
			const shared = { skill, script: name, tool: tool.name, args: [], env, cwd };
			switch (extname(path)) {
				case '.js':
				case '.mjs':
				case '.cjs':
				case '.ts': {
					const call = { ...shared, file: interpreters.node(), argv: HARNESS_ARGUMENTS, isWarm: true };
					return announce(
						{ ...call, answer: 'harness', input: JSON.stringify({ path, args: input, env, cwd }) },
						context
					);
				}
				case '.py': {
					const call = { ...shared, file: await interpreters.python(), argv: ['-c', PYTHON_HARNESS] };
					return announce({ ...call, answer: 'harness', input: JSON.stringify({ path, args: input }) }, context);
				}
				default: {
					// D22: JSON on stdin and as the first argument; whatever it prints is the answer.
					const program = await interpreters.resolve(path);
					const json = JSON.stringify(input);
					const isShort = Buffer.byteLength(json) <= MAX_ARGUMENT_BYTES;
					const call = { ...shared, file: program.file, argv: isShort ? [...program.args, json] : program.args };
					return announce({ ...call, answer: 'program', input: json }, context);
				}
			}
		}
	};
}

/** A skill may ask to run in its own folder, or the script's (D7); files of the conversation are in the workspace. */
function workingDirectory(skill: Skill, scriptPath: string, workspace: string): string {
	const wish = skill.extra.cwd ?? skill.metadata.cwd;
	return wish === 'skill' ? skill.dir : wish === 'script' ? dirname(scriptPath) : workspace;
}
