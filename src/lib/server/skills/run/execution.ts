/** One execution of a process: limits, secrets, network, what came of it (FEATURES D10–D14, F3). */
import type { Sandbox, SandboxCommand, SandboxFolders, SandboxLimits, SandboxResult } from '../../sandbox/sandbox.ts';
import type { ExecutionContext, ExecutionHost } from './execution-host.ts';
import { carryOut, storedSecrets } from './execution-record.ts';
import { explain, type OutputStore, readHarness, readProgram } from './execution-result.ts';
import { limitsOf, timeoutOf } from './environment.ts';
import type { SpareNodes } from './spare-node.ts';
import { callerKey, type Turns } from '../turns.ts';
import { SkillError, type Skill, type SkillExecutionResult } from '../types.ts';
import { changedFiles, listWorkspace } from './workspace-changes.ts';

/** A script or handler as it is to be started; paths as the process sees them. */
export interface Invocation {
	skill: Skill;
	/** Relative to the skill's folder. */
	script: string;
	tool?: string;
	/** Where a tool's answer is on stdout: one of a harness at its end, or all that a program prints. */
	answer?: 'harness' | 'program';
	/** What the model gave: texts, or a tool's arguments. */
	args: string[];
	toolInput?: Record<string, unknown>;
	/** `skill` is a copy of it. */
	folders: SandboxFolders;
	/** SHA-256 of the copy's files. */
	digest: string;
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
	turns: Turns;
	host: ExecutionHost;
	timeoutMs: number;
	maxOutputBytes: number;
	limits: SandboxLimits;
	/** Values that the operator offers: of those that reach a script none comes out of it. */
	offered: Readonly<Record<string, string>>;
}

/** Of each stream, for paging; and of a handler's answer, which is data, not a log. */
const MAX_KEPT_BYTES = 1024 * 1024;

/** Runs it; every failure of the script is a result. @throws SkillError when it cannot be run at all */
export async function execute(
	call: Invocation,
	context: ExecutionContext,
	parts: ExecutionParts
): Promise<SkillExecutionResult> {
	const { sandbox, host, offered } = parts;
	const { skill } = call;
	const stored = await storedSecrets(host, skill);
	const reached = Object.keys(offered).filter((name) => call.env[name] === offered[name]);
	const secrets = [...Object.values(stored), ...reached.map((name) => offered[name] ?? '')];
	// What the host sets itself stands above what is stored for a skill.
	const given = { ...call, env: { ...stored, ...call.env } };
	const limits = limitsOf(skill, parts.limits);
	const timeoutMs = timeoutOf(skill, context.timeoutMs, parts.timeoutMs);
	const how = { sandbox: sandbox.name, limits: { ...limits, timeoutMs } };
	const turn = { caller: callerKey(context.caller), lane: null, signal: context.signal };
	const atItsTurn = async (id: string, isRunning: () => void) => {
		const network = (await host.openNetwork?.(skill, id)) ?? null;
		try {
			const before = await listWorkspace(context.cwd);
			isRunning();
			const how = { limits, timeoutMs, redact: secrets, proxySocket: network?.socket };
			const run = await runCommand(id, given, context, parts, how);
			const files = changedFiles(before, await listWorkspace(context.cwd));
			const refused = network?.refused() ?? [];
			const result = resultOf(call, run, files, timeoutMs, parts);
			return { ...result, refused: refused.length > 0 ? refused : undefined, streams: run };
		} finally {
			await network?.close();
		}
	};
	return carryOut({ ...call, ...how, secrets }, context, parts, (id, isRunning) =>
		parts.turns
			.run(turn, () => atItsTurn(id, isRunning))
			.catch((error: unknown) => {
				if (!context.signal?.aborted || error instanceof SkillError) throw error;
				throw new SkillError('Cancelled', `${call.script} was stopped before it started.`);
			})
	);
}

async function runCommand(
	id: string,
	call: Invocation,
	{ signal, onEvent }: ExecutionContext,
	{ sandbox, spares, maxOutputBytes }: ExecutionParts,
	limits: Pick<SandboxCommand, 'limits' | 'timeoutMs' | 'proxySocket' | 'redact'>
): Promise<SandboxResult> {
	const { env } = call;
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
		input,
		signal,
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
	{ maxOutputBytes }: ExecutionParts
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
	if (call.answer === 'harness') return readHarness(result, run, maxOutputBytes);
	return call.answer === 'program' ? readProgram(result, run) : result;
}
