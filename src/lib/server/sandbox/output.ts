/** One stream of a process, capped while it streams: head and tail are kept, what lies between is dropped (FEATURES D11). */
import { StringDecoder } from 'node:string_decoder';
import { OUTPUT_TRUNCATED } from './sandbox.ts';

/** Output is passed on at once, then at most this often, so that a script writing bytes makes no flood of events. */
const FLUSH_MS = 30;

export interface CappedOutput {
	push(chunk: Buffer): void;
	/** Passes on what waits and returns the whole: cut at characters, with the marker where bytes were left out. */
	end(): { text: string; truncated: boolean };
}

/** Keeps at most `maxBytes` (three quarters of them from the start); `onText` sees the head as it comes. */
export function createCappedOutput(maxBytes: number, onText?: (text: string) => void): CappedOutput {
	const headLimit = maxBytes - Math.floor(maxBytes / 4);
	const tailLimit = maxBytes - headLimit;
	const decoder = new StringDecoder('utf8');
	const head: Buffer[] = [];
	const middle: Buffer[] = [];
	let headBytes = 0;
	let middleBytes = 0;
	let total = 0;
	let waiting = '';
	let timer: NodeJS.Timeout | undefined;

	const flush = () => {
		timer = undefined;
		const text = waiting;
		waiting = '';
		if (text) onText?.(text);
	};
	const show = (text: string) => {
		waiting += text;
		if (timer || !text) return;
		flush();
		timer = setTimeout(flush, FLUSH_MS);
	};

	return {
		push(chunk) {
			total += chunk.length;
			const first = chunk.subarray(0, headLimit - headBytes);
			if (first.length > 0) {
				head.push(Buffer.from(first));
				headBytes += first.length;
				if (onText) show(decoder.write(first));
			}
			if (first.length === chunk.length) return;
			// A copy of the end only: the pool that a chunk is a slice of must not stay alive for it.
			const rest = Buffer.from(chunk.subarray(Math.max(first.length, chunk.length - tailLimit)));
			middle.push(rest);
			middleBytes += rest.length;
			while (middle[0] && middleBytes - middle[0].length >= tailLimit) middleBytes -= middle.shift()?.length ?? 0;
		},
		end() {
			clearTimeout(timer);
			flush();
			const tail = Buffer.concat(middle).subarray(-tailLimit);
			if (total <= maxBytes) return { text: Buffer.concat([...head, tail]).toString('utf8'), truncated: false };
			const start = cutEnd(Buffer.concat(head));
			const end = cutStart(tail);
			return { text: `${start}\n${OUTPUT_TRUNCATED}\n${end}`, truncated: true };
		}
	};
}

/** The text of a buffer whose last character may be cut in half: that character is left out. */
function cutEnd(bytes: Buffer): string {
	return new StringDecoder('utf8').write(bytes);
}

/** The text of a buffer that may begin inside a character: its remains are left out. */
function cutStart(bytes: Buffer): string {
	let start = 0;
	while (start < 4 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
	return bytes.toString('utf8', start);
}
