/** One execution from its announcement to its record: limits, secrets, network, the process, what came of it (FEATURES D10–D14, E13, F3). */
import { randomUUID } from 'node:crypto';
import type { Sandbox, SandboxCommand, SandboxFolders, SandboxLimits, SandboxResult } from '../sandbox/sandbox.ts';
import { skillIdOf, type ExecutionCaller, type ExecutionHost } from './execution-host.ts';
import { explain, readHarness, readProgram } from './execution-result.ts';
import { limitsOf, timeoutOf } from './limits.ts';
import { MAX_SHOWN, type OutputStore } from './output-store.ts';
import type { SpareNodes } from './spare-node.ts';
import { SkillError, type Skill, type SkillEvent, type SkillExecutionResult } from './types.ts';
import { changedFiles, listWorkspace } from './workspace-changes.ts';

export interface ExecutionContext {
	/** Absolute working directory; made when it is not there. */
	cwd: string;
	signal?: AbortSignal;
	onEvent?: (event: SkillEvent) => void;
	/** Instead of the skill's or the host's limit, up to 300,000 (D10). */
	timeoutMs?: number;
	/** Who asked, for the record. */
	caller?: ExecutionCaller;
}

/** A script or handler as it is to be started; paths as the process sees them. */
export interface Invocation {
	skill: Skill;
	/** Relative to the skill's folder. */
	script: string;
	tool?: string;
	/** Where a tool's answer is on stdout: one of a harness at its end, or all that a program prints. */
	answer?: 'harness' | 'program';
	/** What the model gave: texts, or a tool's arguments as JSON. */
	args: string[];
	toolInput?: string;
	folders: SandboxFolders;
	runtime: string[];
	file: string;
	argv: string[];
	/** Text for standard input; made from the environment where a harness takes it along. */
	input?: string | ((env: Record<string, string>) => string);
	env: Record<string, string>;
	cwd: string;
	/** What a Node process that waits is given instead. */
	warm?: (env: Record<string, string>) => string;
}

export interface ExecutionParts {
	sandbox: Sandbox;
	spares: SpareNodes;
	outputs: OutputStore;
	host: ExecutionHost;
	timeoutMs: number;
	maxOutputBytes: number;
	limits: SandboxLimits;
	/** SHA-256 of a skill's files as they were when the library read them. */
	digestOf(skill: Skill): Promise<string>;
	/** Values that the operator offers: of those that reach a script none comes out of it. */
	offered: Readonly<Record<string, string>>;
}

/** Of each stream, for paging; and of a handler's answer, which is data, not a log. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** Of what is recorded. */
const MAX_RECORDED = 20_000;

/** Runs it; every failure of the script is a result. @throws SkillError when it cannot be run at all */
export async function execute(
	call: Invocation,
	context: ExecutionContext,
	parts: ExecutionParts
): Promise<SkillExecutionResult> {
	const { sandbox, host } = parts;
	const id = randomUUID();
	const limits = limitsOf(call.skill, parts.limits);
	const timeoutMs = timeoutOf(call.skill, context.timeoutMs, parts.timeoutMs);
	let recorded = record(id, call, context, parts, { ...limits, timeoutMs });
	const { skill, script, tool, args } = call;
	const started = { type: 'started', skill: skill.name, script, args, sandbox: sandbox.name } as const;
	context.onEvent?.({ ...started, ...(tool ? { tool } : {}), executionId: id });
	let network: Awaited<ReturnType<NonNullable<ExecutionHost['openNetwork']>>> = null;
	let run: SandboxResult | null = null;
	let result: SkillExecutionResult;
	try {
		network = (await host.openNetwork?.(skill, id)) ?? null;
		const before = await listWorkspace(context.cwd);
		recorded = recorded.then(() => host.recorder?.running(id));
		const proxySocket = network ? { proxySocket: network.socket } : {};
		run = await runCommand(id, call, context, parts, { limits, timeoutMs, ...proxySocket });
		const files = changedFiles(before, await listWorkspace(context.cwd));
		result = resultOf(call, run, files, timeoutMs, parts);
	} catch (error) {
		result = failed(error);
	}
	const refused = network?.refused() ?? [];
	await network?.close();
	if (refused.length > 0) result = { ...result, refused };
	const exitCode = result.exitCode < 0 ? null : result.exitCode;
	const end = {
		exitCode,
		durationMs: result.durationMs,
		files: result.files,
		...(result.message ? { message: result.message } : {})
	};
	const { error, truncated } = result;
	context.onEvent?.({
		type: 'finished',
		skill: skill.name,
		truncated,
		...end,
		...(error ? { error } : {}),
		...(refused.length > 0 ? { refused } : {})
	});
	await recorded;
	await host.recorder?.finished(id, {
		status: result.success ? 'success' : error === 'ExecutionTimeout' ? 'timeout' : 'error',
		...end,
		...(error ? { errorType: error } : {}),
		stdoutBytes: run?.stdoutBytes ?? 0,
		stderrBytes: run?.stderrBytes ?? 0,
		output: shownOutput(result),
		refused
	});
	return result;
}

/** Begins the record beside the process, which need not wait for the disk. */
async function record(
	id: string,
	{ skill, script, tool, args, toolInput }: Invocation,
	{ caller = {} }: ExecutionContext,
	{ host: { recorder }, sandbox, digestOf }: ExecutionParts,
	limits: SandboxLimits & { timeoutMs: number }
): Promise<void> {
	if (!recorder) return;
	await recorder.started({
		id,
		skillId: skillIdOf(skill),
		skill: skill.name,
		version: skill.version,
		...(tool ? { tool } : {}),
		script,
		argv: args,
		...(toolInput === undefined ? {} : { input: toolInput }),
		digest: await digestOf(skill),
		sandbox: sandbox.name,
		limits,
		caller
	});
}

async function runCommand(
	id: string,
	call: Invocation,
	{ signal, onEvent }: ExecutionContext,
	{ sandbox, spares, host, maxOutputBytes, offered }: ExecutionParts,
	limits: Pick<SandboxCommand, 'limits' | 'timeoutMs' | 'proxySocket'>
): Promise<SandboxResult> {
	const secrets = (await host.secretsOf?.(call.skill)) ?? {};
	// What the host sets itself stands above what is stored for a skill.
	const env = { ...secrets, ...call.env };
	const reached = Object.entries(offered).filter(([name, value]) => call.env[name] === value);
	const redact = [...Object.values(secrets), ...reached.map(([, value]) => value)];
	const input = typeof call.input === 'function' ? call.input(env) : call.input;
	const command: SandboxCommand = {
		id,
		file: call.file,
		args: call.argv,
		env,
		cwd: call.cwd,
		folders: call.folders,
		runtime: call.runtime,
		maxOutputBytes,
		maxKeptBytes: MAX_KEPT_BYTES,
		...limits,
		...(input === undefined ? {} : { input }),
		...(redact.length > 0 ? { redact } : {}),
		...(signal ? { signal } : {}),
		onOutput: (stream, text) => {
			// A harness writes nothing but its answer, which is shown when it is there.
			if (stream === 'stderr' || call.answer !== 'harness') onEvent?.({ type: 'output', stream, text });
		}
	};
	if (!call.warm) return sandbox.run(command);
	return spares.run({ ...command, input: call.warm(env) }, command);
}

function resultOf(
	call: Invocation,
	run: SandboxResult,
	files: SkillExecutionResult['files'],
	timeoutMs: number,
	{ maxOutputBytes, outputs }: ExecutionParts
): SkillExecutionResult {
	const result: SkillExecutionResult = {
		success: run.ended === 'exit' && run.exitCode === 0,
		stdout: run.stdout,
		stderr: run.stderr,
		exitCode: run.exitCode ?? -1,
		durationMs: Math.round(run.durationMs),
		truncated: run.stdoutTruncated || run.stderrTruncated,
		files,
		...explain(run, call.script, timeoutMs)
	};
	const read =
		call.answer === 'harness'
			? readHarness(result, run, maxOutputBytes)
			: call.answer === 'program'
				? readProgram(result, run)
				: result;
	return keep(read, run, outputs);
}

/** Keeps what a model is not shown of a result: of a tool, its value takes the place of stdout. */
function keep(result: SkillExecutionResult, { kept }: SandboxResult, outputs: OutputStore): SkillExecutionResult {
	if (!kept) return result;
	const value = result.value === undefined ? null : JSON.stringify(result.value);
	if (!result.truncated && (value?.length ?? 0) <= MAX_SHOWN) return result;
	const outputId = outputs.save({ stdout: value ?? kept.stdout.text, stderr: kept.stderr.text });
	return { ...result, outputId };
}

/** What kept it from being started at all, as a result: it was announced, so it must end. */
function failed(error: unknown): SkillExecutionResult {
	const known = error instanceof SkillError ? error : null;
	return {
		success: false,
		stdout: '',
		stderr: '',
		exitCode: -1,
		error: known?.type ?? 'ExecutionFailed',
		message: error instanceof Error ? error.message : String(error),
		...(known?.hint ? { hint: known.hint } : {}),
		durationMs: 0,
		truncated: false,
		files: []
	};
}

function shownOutput({ value, stdout, stderr }: SkillExecutionResult): string {
	const text = value === undefined ? [stdout, stderr].filter(Boolean).join('\n') : JSON.stringify(value);
	return text.slice(0, MAX_RECORDED);
}
