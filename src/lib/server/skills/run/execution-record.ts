/** Announces and records every execution, and removes secrets from everything that leaves it (E12, E13, F3). */
import { randomUUID } from 'node:crypto';
import { createRedaction, distinct, type Redaction } from '../../sandbox/output/redact.ts';
import type { SandboxResult } from '../../sandbox/sandbox.ts';
import {
	skillIdOf,
	type ExecutionHost,
	type ExecutionRecorder,
	type ExecutionStart,
	type ExecutionContext
} from './execution-host.ts';
import { MAX_SHOWN, type OutputStore } from './execution-result.ts';
import { SkillError, type Skill, type SkillExecutionResult } from '../types.ts';

/** An execution to announce and record. */
export interface Announced extends Pick<ExecutionStart, 'sandbox' | 'limits'> {
	skill: Skill;
	/** Relative to the skill's folder, or the name of a native handler. */
	script: string;
	tool?: string;
	/** The model's arguments: texts, or `toolInput` for a tool. */
	args: string[];
	toolInput?: Record<string, unknown>;
	/** See `ExecutionStart`. */
	digest: string | Promise<string>;
	/** Values to remove from events, records and results. */
	secrets: readonly string[];
}

interface RecordParts {
	host: ExecutionHost;
	/** Keeps output that the model isn't shown. */
	outputs?: OutputStore;
}

type Outcome = SkillExecutionResult & {
	streams?: Pick<SandboxResult, 'stdoutBytes' | 'stderrBytes' | 'kept'>;
	/** Both streams in the order of their arrival. */
	written?: WrittenText;
};

/** Characters of output in a record. */
const MAX_RECORDED = 20_000;

/**
 * Announces an execution, does the work and records its end; errors become results. Recording never delays the work.
 * Removes secrets from everything but streamed output, which the sandbox redacts.
 */
export async function carryOut(
	announced: Announced,
	context: ExecutionContext,
	parts: RecordParts,
	work: (id: string, isRunning: () => void) => Promise<Outcome>
): Promise<SkillExecutionResult> {
	const id = randomUUID();
	const { recorder } = parts.host;
	const redaction = createRedaction(announced.secrets);
	const { skill, script, tool, sandbox } = announced;
	const args = redaction.value(announced.args);
	const call = { ...announced, args, toolInput: redaction.value(announced.toolInput) };
	const began = performance.now();
	let recorded = record(id, call, context, recorder);
	const started = { type: 'started', skill: skill.name, script, args, sandbox } as const;
	context.onEvent?.({ ...started, tool, executionId: id });
	const isRunning = () => {
		recorded = recorded.then(() => recorder?.running(id));
	};
	const outcome = await work(id, isRunning)
		.then((done) => withoutSecrets(done, redaction))
		.catch((error: unknown) => withoutSecrets(failureOf(error, performance.now() - began), redaction));
	const { streams, written, ...result } = keep(outcome, parts.outputs, redaction);
	const { error, truncated, missing, refused = [] } = result;
	const end = {
		exitCode: result.exitCode < 0 ? null : result.exitCode,
		durationMs: result.durationMs,
		files: result.files,
		message: result.message
	};
	context.onEvent?.({
		type: 'finished',
		skill: skill.name,
		truncated,
		...end,
		error,
		missing,
		refused: refused.length > 0 ? refused : undefined
	});
	await recorded;
	await recorder?.finished(id, {
		status: result.success ? 'success' : error === 'ExecutionTimeout' ? 'timeout' : 'error',
		...end,
		errorType: error,
		stdoutBytes: streams?.stdoutBytes ?? 0,
		stderrBytes: streams?.stderrBytes ?? 0,
		output: shownOutput(result, written && redaction.text(written.text())),
		refused,
		missing
	});
	return result;
}

/** Starts the record in parallel, so that the work doesn't wait for the disk. */
async function record(
	id: string,
	{ skill, script, tool, args, toolInput, digest, sandbox, limits }: Announced,
	{ caller = {} }: ExecutionContext,
	recorder: ExecutionRecorder | undefined
): Promise<void> {
	if (!recorder) return;
	await recorder.started({
		id,
		skillId: skillIdOf(skill),
		skill: skill.name,
		version: skill.version,
		tool,
		script,
		argv: args,
		input: toolInput === undefined ? undefined : JSON.stringify(toolInput),
		digest: await digest,
		sandbox,
		limits,
		caller
	});
}

/** The result of a call that failed before anything ran. */
export function failureOf(error: unknown, durationMs = 0) {
	const known = error instanceof SkillError ? error : null;
	return {
		success: false,
		stdout: '',
		stderr: '',
		exitCode: -1,
		error: known?.type ?? 'ExecutionFailed',
		message: error instanceof Error ? error.message : String(error),
		hint: known?.hint,
		missing: known?.missing,
		durationMs: Math.round(durationMs),
		truncated: false,
		files: []
	} satisfies SkillExecutionResult;
}

/** Redacts everything that a script or the model has chosen. */
function withoutSecrets(outcome: Outcome, { text, host, path, value }: Redaction): Outcome {
	const clean: Outcome = { ...outcome, stdout: text(outcome.stdout), stderr: text(outcome.stderr) };
	const paths = distinct(outcome.files.map((file) => path(file.path)));
	clean.files = outcome.files.map((file, index) => ({ ...file, path: paths[index] ?? '' }));
	if (outcome.message !== undefined) clean.message = text(outcome.message);
	if (outcome.hint !== undefined) clean.hint = text(outcome.hint);
	if (outcome.value !== undefined) clean.value = value(outcome.value);
	if (outcome.missing) clean.missing = value(outcome.missing) as typeof outcome.missing;
	if (outcome.refused) clean.refused = distinct(outcome.refused.map(host));
	return clean;
}

/** Keeps output that was cut for the model; a tool's value replaces stdout. */
function keep(outcome: Outcome, outputs: OutputStore | undefined, { text }: Redaction): Outcome {
	const kept = outcome.streams?.kept;
	if (!kept || !outputs) return outcome;
	const value = outcome.value === undefined ? null : JSON.stringify(outcome.value);
	if (!outcome.truncated && (value?.length ?? 0) <= MAX_SHOWN) return outcome;
	const outputId = outputs.save({ stdout: value ?? text(kept.stdout.text), stderr: text(kept.stderr.text) });
	return { ...outcome, outputId };
}

/** A skill's stored variables. @throws SkillError if they can't be read, so that nothing starts */
export async function storedSecrets({ secretsOf }: ExecutionHost, skill: Skill): Promise<Record<string, string>> {
	try {
		return (await secretsOf?.(skill)) ?? {};
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		throw new SkillError(
			'ExecutionFailed',
			`Couldn’t read the variables of “${skill.name}”, so nothing was run: ${reason}`,
			'Try again, or check the skill’s settings.'
		);
	}
}

function shownOutput({ value, stdout, stderr }: SkillExecutionResult, written?: string): string {
	const text = value === undefined ? written || [stdout, stderr].filter(Boolean).join('\n') : JSON.stringify(value);
	// Don't end in half a character.
	return text.slice(0, MAX_RECORDED).replace(/[\ud800-\udbff]$/, '');
}

/** What a script wrote to both streams, as one text: line by line in the order in which the lines were ended. */
export class WrittenText {
	#text = '';
	readonly #open = { stdout: '', stderr: '' };

	add(stream: 'stdout' | 'stderr', text: string): void {
		const piece = this.#open[stream] + text;
		const end = piece.lastIndexOf('\n') + 1;
		this.#text += piece.slice(0, end);
		this.#open[stream] = piece.slice(end);
	}

	text(): string {
		const ends = Object.values(this.#open).filter((end) => end !== '');
		return this.#text + ends.join('\n');
	}
}
