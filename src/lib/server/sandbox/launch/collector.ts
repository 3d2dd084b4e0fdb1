/** The output of a process: counted, redacted, capped to its head and tail, and streamed in the order in which it was read (D11, F3). */
import { StringDecoder } from 'node:string_decoder';
import { createRedactor } from '../output/redact.ts';
import { OUTPUT_TRUNCATED } from '../sandbox.ts';
import type { LaunchLimits } from './launcher.ts';

/** Minimum time between two events, so that a script writing single bytes doesn’t flood the page. */
const FLUSH_MS = 30;
/** So often one stream's text goes out before its time because the other one has some: beyond it, order counts less than a flood. */
const MAX_TURNS = 500;

/**
 * Keeps at most `maxBytes`, three quarters of them from the start. `onText` receives the head as it comes and the rest at
 * the end; joined, its texts equal the result’s.
 */
export function createCappedOutput(maxBytes: number, onText?: (text: string) => void) {
	const headLimit = maxBytes - Math.floor(maxBytes / 4);
	const tailLimit = maxBytes - headLimit;
	const decoder = new StringDecoder('utf8');
	const text: string[] = [];
	// A ring buffer of the last bytes, so that skipped output takes no memory.
	let ring = Buffer.alloc(0);
	let headBytes = 0;
	let total = 0;
	let waiting = '';
	let timer: NodeJS.Timeout | undefined;

	const flush = () => {
		timer = undefined;
		const ready = waiting;
		waiting = '';
		if (ready) onText?.(ready);
	};
	const show = (decoded: string) => {
		waiting += decoded;
		if (timer || !decoded) return;
		flush();
		timer = setTimeout(flush, FLUSH_MS);
	};

	return {
		/** Hands over at once what waits for its time. */
		flush(): void {
			clearTimeout(timer);
			flush();
		},
		/** Copies what it keeps: the chunk may be reused. */
		push(chunk: Buffer): void {
			total += chunk.length;
			const first = chunk.subarray(0, headLimit - headBytes);
			if (first.length > 0) {
				headBytes += first.length;
				const decoded = decoder.write(first);
				text.push(decoded);
				show(decoded);
			}
			if (first.length === chunk.length) return;
			if (ring.length === 0) ring = Buffer.alloc(tailLimit);
			const rest = chunk.subarray(Math.max(first.length, chunk.length - tailLimit));
			const at = (total - headBytes - rest.length) % Math.max(1, tailLimit);
			rest.copy(ring, at);
			// Wraps around.
			if (at + rest.length > tailLimit) rest.copy(ring, 0, tailLimit - at);
		},
		/** Flushes, and returns the text, cut at characters, with a marker for omitted bytes. */
		end(): { text: string; truncated: boolean } {
			clearTimeout(timer);
			const behind = total - headBytes;
			const oldest = behind % Math.max(1, tailLimit);
			const kept =
				behind <= tailLimit
					? ring.subarray(0, behind)
					: Buffer.concat([ring.subarray(oldest), ring.subarray(0, oldest)]);
			const truncated = total > maxBytes;
			// Drops a character that was cut, on both sides.
			const rest = truncated ? `\n${OUTPUT_TRUNCATED}\n${cutStart(kept)}` : decoder.write(kept) + decoder.end();
			waiting += rest;
			flush();
			return { text: text.join('') + rest, truncated };
		}
	};
}

/** Decodes a buffer that may begin inside a character. */
function cutStart(bytes: Buffer): string {
	let start = 0;
	while (start < 4 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
	return bytes.toString('utf8', start);
}

type Stream = 'stdout' | 'stderr';

/** Both streams: `onOutput` receives their texts in the order in which they were read, whichever waits for its time. */
export function createCollector(
	limits: Pick<LaunchLimits, 'maxOutputBytes' | 'maxKeptBytes' | 'redact'>,
	onOutput?: (stream: Stream, text: string) => void
) {
	const streams = {
		stdout: createStream(limits, (text) => onOutput?.('stdout', text)),
		stderr: createStream(limits, (text) => onOutput?.('stderr', text))
	};
	let turns = 0;
	let last: Stream = 'stdout';
	return {
		push(stream: Stream, chunk: Buffer) {
			if (stream !== last && ++turns <= MAX_TURNS) streams[last].flush();
			last = stream;
			streams[stream].push(chunk);
		},
		end() {
			const stdout = streams.stdout.end();
			const stderr = streams.stderr.end();
			return {
				stdout: stdout.text,
				stderr: stderr.text,
				stdoutTruncated: stdout.truncated,
				stderrTruncated: stderr.truncated,
				stdoutBytes: stdout.bytes,
				stderrBytes: stderr.bytes,
				...(stdout.kept && stderr.kept ? { kept: { stdout: stdout.kept, stderr: stderr.kept } } : {})
			};
		}
	};
}

function createStream(
	{ maxOutputBytes, maxKeptBytes, redact }: Pick<LaunchLimits, 'maxOutputBytes' | 'maxKeptBytes' | 'redact'>,
	onText: (text: string) => void
) {
	const shown = createCappedOutput(maxOutputBytes, onText);
	const kept = maxKeptBytes === undefined ? null : createCappedOutput(maxKeptBytes);
	const redactor = redact?.length ? createRedactor(redact) : null;
	let bytes = 0;
	const take = (chunk: Buffer) => {
		shown.push(chunk);
		kept?.push(chunk);
	};
	return {
		flush: () => shown.flush(),
		push(chunk: Buffer) {
			bytes += chunk.length;
			take(redactor ? redactor.push(chunk) : chunk);
		},
		end() {
			if (redactor) take(redactor.end());
			return { ...shown.end(), bytes, kept: kept?.end() };
		}
	};
}
