/** Turns the end of a process into the result of a call (D12, D13, D20–D23). */
import { randomUUID } from 'node:crypto';
import { parseJson } from '../../../shared/json.ts';
import { OUTPUT_TRUNCATED, REDACTED, type SandboxResult } from '../../sandbox/sandbox.ts';
import type { FilePage } from '../call/operations.ts';
import { SkillError, type SkillErrorType, type SkillExecutionResult } from '../types.ts';

/** Explains why a run failed; empty if it succeeded. */
export function explain(
	run: SandboxResult,
	script: string,
	timeoutMs: number
): { error?: SkillErrorType; message?: string; hint?: string } {
	switch (run.ended) {
		case 'timeout':
			return {
				error: 'ExecutionTimeout',
				message: `${script} ran for ${timeoutMs / 1000} s and was stopped.`,
				hint: 'Give it less to do, or raise the time limit of scripts (Settings → Limits). Scripts can’t ask questions: they get no input.'
			};
		case 'aborted':
			return { error: 'Cancelled', message: `${script} was stopped.` };
		case 'killed':
			return { error: 'Cancelled', message: `${script} was stopped by whoever runs the server.` };
		case 'quota':
			return {
				error: 'OutputTooLarge',
				message: `${script} was stopped: its working folder has too many files, too much data, or folders nested more than 64 deep.`,
				hint: 'Write less, or delete files. The limits are SKILLS_WORKSPACE_MB and SKILLS_WORKSPACE_FILES.'
			};
		case 'lost':
			return {
				error: 'ExecutionFailed',
				message: `The worker that ran ${script} has stopped, so whether it finished isn’t known.`,
				hint: 'Check what it has done before running it again.'
			};
		case 'spawn-failed':
			return { error: 'ExecutionFailed', message: `Couldn’t start ${script}: ${run.spawnError ?? 'unknown reason'}` };
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

/** Reads a harness's answer: the value, the error, or nothing if the handler ended the process (D20, D21). */
export function readHarness(
	result: SkillExecutionResult,
	run: SandboxResult,
	maxOutputBytes: number
): SkillExecutionResult {
	const { answer, rest } = findAnswer(run.kept?.stdout.text ?? run.stdout);
	const isShort = Buffer.byteLength(rest) <= maxOutputBytes;
	const read = { ...result, stdout: isShort ? rest : run.stdout, truncated: !isShort || run.stderrTruncated };
	if (run.ended !== 'exit' || run.signal) return read;
	if (answer?.ok) return { ...read, value: answer.value ?? null };
	const failed = { ...read, success: false, error: 'ExecutionFailed' as const };
	if (answer) return { ...failed, message: String(answer.error || 'The handler failed.') };
	if (run.kept?.stdout.truncated) return tooLarge(read);
	const message = `The handler exited without a result (exit code ${run.exitCode}).`;
	return { ...failed, message, hint: 'Return the result instead of printing it.' };
}

/** Reads what a program in another language printed: JSON, else text (D22). */
export function readProgram(result: SkillExecutionResult, run: SandboxResult): SkillExecutionResult {
	if (!result.success) return result;
	if (run.kept?.stdout.truncated) return tooLarge(result);
	const text = run.kept?.stdout.text ?? run.stdout;
	const value = parseRedacted(text);
	return { ...result, value: value === undefined ? text.trim() : value };
}

function tooLarge(result: SkillExecutionResult): SkillExecutionResult {
	const message = 'The tool’s result is larger than 1 MB.';
	const hint = 'Request less, or have it write a file.';
	return { ...result, success: false, error: 'OutputTooLarge', message, hint };
}

/** A harness writes its answer last, without a line break. `rest` is what its handler's programs printed before. */
function findAnswer(stdout: string): { answer?: { ok: boolean; value?: unknown; error?: unknown }; rest: string } {
	let start = stdout.indexOf('{"ok":', stdout.lastIndexOf('\n') + 1);
	for (let attempts = 0; start >= 0 && attempts < 50; attempts += 1) {
		const answer = parseRedacted(stdout.slice(start));
		if (isAnswer(answer)) return { answer, rest: stdout.slice(0, start) };
		start = stdout.indexOf('{"ok":', start + 1);
	}
	return { rest: stdout };
}

function isAnswer(value: unknown): value is { ok: boolean; value?: unknown; error?: unknown } {
	return typeof value === 'object' && value !== null && 'ok' in value && typeof value.ok === 'boolean';
}

/** Parses JSON in which redacted numbers count as texts; undefined if it isn't JSON. */
function parseRedacted(text: string): unknown {
	const value = parseJson(text);
	if (value !== undefined || !text.includes(REDACTED)) return value;
	const quoted = text.replace(/"(?:[^"\\]|\\.)*"|[-+.\w]*(?:\[redacted\][-+.\w]*)+/g, (part) =>
		part.startsWith('"') ? part : `"${part}"`
	);
	return parseJson(quoted);
}

// Keeps long outputs for paging, up to a limit, and tells the model how to read them (D11).

export type OutputStream = 'stdout' | 'stderr';

/** `stdout` by default; offset and limit in bytes. */
export interface OutputRange {
	stream?: OutputStream;
	offset?: number;
	/** 65,536 by default. */
	limit?: number;
}

const MAX_BYTES = 32 * 1024 * 1024;
const PAGE_BYTES = 64 * 1024;
/** Bytes of an output, or characters of a tool's answer, shown to a model at once. */
export const MAX_SHOWN = 20_480;
/** Prefix of names that mean an output instead of a file or script: `output:<id>`, `output:<id>:stderr`. */
const PREFIX = 'output:';

export function createOutputStore(maxBytes = MAX_BYTES) {
	const kept = new Map<string, Record<OutputStream, Buffer>>();
	let total = 0;
	return {
		/** Returns an id; the oldest outputs are dropped if there's too much. */
		save(streams: Record<OutputStream, string>): string {
			const bytes = { stdout: Buffer.from(streams.stdout), stderr: Buffer.from(streams.stderr) };
			const id = randomUUID();
			kept.set(id, bytes);
			total += sizeOf(bytes);
			for (const [oldest, each] of kept) {
				if (total <= maxBytes) break;
				kept.delete(oldest);
				total -= sizeOf(each);
			}
			return id;
		},
		/** Reads a page, cut at character boundaries; null once discarded. */
		read(id: string, { stream = 'stdout', offset = 0, limit = PAGE_BYTES }: OutputRange = {}): FilePage | null {
			const bytes = kept.get(id)?.[stream];
			return bytes ? pageOf(bytes, offset, limit) : null;
		}
	};
}

export type OutputStore = ReturnType<typeof createOutputStore>;

/** Up to `limit` bytes from `offset`, cut at character boundaries. */
export function pageOf(bytes: Uint8Array, offset: number, limit: number): FilePage {
	const start = atCharacter(bytes, Math.min(offset, bytes.length));
	const end = Math.max(atCharacter(bytes, Math.min(start + limit, bytes.length)), Math.min(start + 4, bytes.length));
	const last = atCharacter(bytes, end);
	return {
		text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start, last)),
		offset: start,
		nextOffset: last < bytes.length ? last : null,
		totalBytes: bytes.length
	};
}

/** True for the name of an output instead of a skill's file. */
export function isOutputName(name: string): boolean {
	return name.startsWith(PREFIX);
}

/**
 * Reads the page that `output:<id>` or `output:<id>:stderr` names, at most 20,480 bytes.
 * @throws SkillError FileNotFound once discarded, InvalidArgs for an unknown stream
 */
export function readNamedOutput(read: OutputStore['read'], name: string, range: OutputRange): FilePage {
	const [id = '', stream = 'stdout'] = name.slice(PREFIX.length).split(':');
	if (stream !== 'stdout' && stream !== 'stderr') {
		throw new SkillError('InvalidArgs', 'Only stdout and stderr can be read.');
	}
	const limit = Math.min(range.limit ?? MAX_SHOWN, MAX_SHOWN);
	const page = read(id, { ...range, stream, limit });
	if (page) return page;
	const message = `The output “${id.slice(0, 100)}” is no longer kept.`;
	throw new SkillError('FileNotFound', message, 'Run the script again.');
}

/** Tells a model how to read the rest of a cut result; undefined if it isn't kept. */
export function howToReadOn(
	outputId: string | undefined,
	{ stdout, stderr }: Record<OutputStream, string>
): string | undefined {
	if (outputId === undefined) return undefined;
	const cuts = [cutOf(stdout, ''), cutOf(stderr, ':stderr')].filter((cut) => cut !== null);
	const [first = { offset: 0, suffix: '' }, second] = cuts;
	const also = second ? ` Likewise “${PREFIX}${outputId}${second.suffix}” from ${second.offset}.` : '';
	return `To read the rest, call use_skill with script “${PREFIX}${outputId}${first.suffix}” and args ["${first.offset}"], the byte to start at.${also}`;
}

function cutOf(text: string, suffix: string): { offset: number; suffix: string } | null {
	const at = text.indexOf(`\n${OUTPUT_TRUNCATED}\n`);
	return at < 0 ? null : { offset: Buffer.byteLength(text.slice(0, at)), suffix };
}

function sizeOf({ stdout, stderr }: Record<OutputStream, Buffer>): number {
	return stdout.length + stderr.length;
}

/** The nearest character boundary at or before `index`. */
function atCharacter(bytes: Uint8Array, index: number): number {
	let at = index;
	while (at > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
	return at;
}
