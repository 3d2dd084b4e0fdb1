/** What every execution has, whatever runs it: its announcement, its end as a result, its record (FEATURES E12, E13). */
import { randomUUID } from 'node:crypto';
import { skillIdOf, type ExecutionHost, type ExecutionStart } from './execution-host.ts';
import type { ExecutionContext } from './execution-context.ts';
import { SkillError, type Skill, type SkillExecutionResult } from './types.ts';

/** What is run, and by what. */
interface Announced extends Pick<ExecutionStart, 'sandbox' | 'limits'> {
	skill: Skill;
	/** Relative to the skill's folder, or the name of a native handler. */
	script: string;
	tool?: string;
	/** What the model gave: texts, or a tool's arguments as JSON. */
	args: string[];
	toolInput?: string;
}

interface RecordParts {
	host: ExecutionHost;
	/** SHA-256 of a skill's files as they were when the library read them. */
	digestOf(skill: Skill): Promise<string>;
}

type Outcome = SkillExecutionResult & { streams?: { stdoutBytes: number; stderrBytes: number } };

/** Of what is recorded. */
const MAX_RECORDED = 20_000;

/** Does the work between its announcement and its end; what goes wrong in it is a result. The record never holds it up. */
export async function carryOut(
	call: Announced,
	context: ExecutionContext,
	parts: RecordParts,
	work: (id: string, isRunning: () => void) => Promise<Outcome>
): Promise<SkillExecutionResult> {
	const id = randomUUID();
	const { recorder } = parts.host;
	const { skill, script, tool, args, sandbox } = call;
	const began = performance.now();
	let recorded = record(id, call, context, parts);
	const started = { type: 'started', skill: skill.name, script, args, sandbox } as const;
	context.onEvent?.({ ...started, ...(tool ? { tool } : {}), executionId: id });
	const isRunning = () => {
		recorded = recorded.then(() => recorder?.running(id));
	};
	const { streams, ...result } = await work(id, isRunning).catch((error: unknown) =>
		failed(error, performance.now() - began)
	);
	const { error, truncated, refused = [] } = result;
	const end = {
		exitCode: result.exitCode < 0 ? null : result.exitCode,
		durationMs: result.durationMs,
		files: result.files,
		...(result.message ? { message: result.message } : {})
	};
	context.onEvent?.({
		type: 'finished',
		skill: skill.name,
		truncated,
		...end,
		...(error ? { error } : {}),
		...(refused.length > 0 ? { refused } : {})
	});
	await recorded;
	await recorder?.finished(id, {
		status: result.success ? 'success' : error === 'ExecutionTimeout' ? 'timeout' : 'error',
		...end,
		...(error ? { errorType: error } : {}),
		stdoutBytes: streams?.stdoutBytes ?? 0,
		stderrBytes: streams?.stderrBytes ?? 0,
		output: shownOutput(result),
		refused
	});
	return result;
}

/** Begins the record beside the work, which need not wait for the disk. */
async function record(
	id: string,
	{ skill, script, tool, args, toolInput, sandbox, limits }: Announced,
	{ caller = {} }: ExecutionContext,
	{ host: { recorder }, digestOf }: RecordParts
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
		sandbox,
		limits,
		caller
	});
}

/** What kept it from being started at all, as a result: it was announced, so it must end. */
function failed(error: unknown, durationMs: number): Outcome {
	const known = error instanceof SkillError ? error : null;
	return {
		success: false,
		stdout: '',
		stderr: '',
		exitCode: -1,
		error: known?.type ?? 'ExecutionFailed',
		message: error instanceof Error ? error.message : String(error),
		...(known?.hint ? { hint: known.hint } : {}),
		durationMs: Math.round(durationMs),
		truncated: false,
		files: []
	};
}

function shownOutput({ value, stdout, stderr }: SkillExecutionResult): string {
	const text = value === undefined ? [stdout, stderr].filter(Boolean).join('\n') : JSON.stringify(value);
	return text.slice(0, MAX_RECORDED);
}
