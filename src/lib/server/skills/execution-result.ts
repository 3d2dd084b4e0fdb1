/** From the end of a process to the result of a call: what failed, and what a handler answered (FEATURES D12, D13, D20–D23). */
import { REDACTED, type SandboxResult } from '../sandbox/sandbox.ts';
import type { SkillErrorType, SkillExecutionResult } from './types.ts';

/** Why a run was no success, in words; nothing when it was one. */
export function explain(
	run: SandboxResult,
	script: string,
	timeoutMs: number
): { error?: SkillErrorType; message?: string; hint?: string } {
	switch (run.ended) {
		case 'timeout':
			return {
				error: 'ExecutionTimeout',
				message: `${script} was ended after ${timeoutMs / 1000} s.`,
				hint: 'Ask it for less, or raise SKILLS_TIMEOUT_MS. Scripts get no input: one that asks a question waits for ever.'
			};
		case 'aborted':
			return { error: 'Cancelled', message: `${script} was stopped.` };
		case 'killed':
			return { error: 'Cancelled', message: `${script} was ended by the operator.` };
		case 'quota':
			return {
				error: 'OutputTooLarge',
				message: `${script} was ended: its working folder grew over what it may hold, or has folders nested more than 64 deep.`,
				hint: 'Write less or fewer files, or remove some; the limits are SKILLS_WORKSPACE_MB and SKILLS_WORKSPACE_FILES.'
			};
		case 'spawn-failed':
			return {
				error: 'ExecutionFailed',
				message: `${script} could not be started: ${run.spawnError ?? 'unknown reason'}`
			};
		case 'exit':
			if (run.exitCode === 0) return {};
			return {
				error: 'ExecutionFailed',
				message: run.signal
					? `${script} was ended by ${run.signal}.`
					: `${script} ended with exit code ${run.exitCode}.`
			};
	}
}

/** What a harness says of its handler: the value, the error, or nothing when the handler ended the process (D20, D21). */
export function readHarness(
	result: SkillExecutionResult,
	run: SandboxResult,
	maxOutputBytes: number
): SkillExecutionResult {
	const { answer, rest } = findAnswer(run.kept?.stdout.text ?? run.stdout);
	const isShort = Buffer.byteLength(rest) <= maxOutputBytes;
	const read = {
		...result,
		stdout: isShort ? rest : run.stdout,
		truncated: !isShort || run.stderrTruncated
	};
	if (run.ended !== 'exit' || run.signal) return read;
	if (answer?.ok) return { ...read, value: answer.value ?? null };
	if (answer)
		return {
			...read,
			success: false,
			error: 'ExecutionFailed',
			message: String(answer.error || 'The handler failed.')
		};
	if (run.kept?.stdout.truncated) return tooLarge(read);
	const message = `The handler ended the process without an answer (exit code ${run.exitCode}).`;
	return {
		...read,
		success: false,
		error: 'ExecutionFailed',
		message,
		hint: 'It must return its answer, not print it.'
	};
}

/** What a program of another language printed: JSON, or else text (D22). */
export function readProgram(result: SkillExecutionResult, run: SandboxResult): SkillExecutionResult {
	if (!result.success) return result;
	if (run.kept?.stdout.truncated) return tooLarge(result);
	const text = run.kept?.stdout.text ?? run.stdout;
	const value = parseJson(text);
	return { ...result, value: value === undefined ? text.trim() : value };
}

function tooLarge(result: SkillExecutionResult): SkillExecutionResult {
	const message = 'The tool\u2019s answer is larger than 1 MB.';
	return { ...result, success: false, error: 'OutputTooLarge', message, hint: 'Ask it for less, or for a file.' };
}

/**
 * A harness writes its answer last and without a line break. Programs that the handler started may have printed to the
 * same stream before: that is the rest.
 */
function findAnswer(stdout: string): { answer?: { ok: boolean; value?: unknown; error?: unknown }; rest: string } {
	let start = stdout.indexOf('{"ok":', stdout.lastIndexOf('\n') + 1);
	for (let attempts = 0; start >= 0 && attempts < 50; attempts += 1) {
		const answer = parseJson(stdout.slice(start));
		if (isAnswer(answer)) return { answer, rest: stdout.slice(0, start) };
		start = stdout.indexOf('{"ok":', start + 1);
	}
	return { rest: stdout };
}

function isAnswer(value: unknown): value is { ok: boolean; value?: unknown; error?: unknown } {
	return typeof value === 'object' && value !== null && 'ok' in value && typeof value.ok === 'boolean';
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text.includes(REDACTED) ? parseRedacted(text) : undefined;
	}
}

/** A mark in place of a number is no JSON: it becomes a text. */
function parseRedacted(text: string): unknown {
	const quoted = text.replace(/"(?:[^"\\]|\\.)*"|[-+.\w]*(?:\[redacted\][-+.\w]*)+/g, (part) =>
		part.startsWith('"') ? part : `"${part}"`
	);
	try {
		return JSON.parse(quoted);
	} catch {
		return undefined;
	}
}
