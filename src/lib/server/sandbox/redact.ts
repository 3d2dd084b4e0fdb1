/** Takes secrets out of a stream of bytes, however it is cut into chunks (FEATURES F3, D48). */
import { createPatternMatcher } from './pattern-matcher.ts';
import { patternsOf } from './redact-patterns.ts';
import { REDACTED } from './sandbox.ts';

const MARK = Buffer.from(REDACTED);

export interface Redactor {
	/** What can be passed on so far: all but a tail that may be the beginning of a secret. It may share the chunk's memory. */
	push(chunk: Buffer): Buffer;
	/** The rest. */
	end(): Buffer;
}

/**
 * Puts `REDACTED` in place of each secret: as it is, in base64 (also inside of longer base64), hexadecimal, percent
 * encoding, as JSON or quoted for a shell, with line breaks anywhere in it, and each of its lines from 8 characters. A
 * secret of fewer than 4 characters is not looked for: too much would be taken for it. One that is written in yet
 * another way (backwards, encrypted, one character a line with words between) is not found: this helps against
 * accidents, not against a script that wants to give it away.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
	const patterns = patternsOf(secrets);
	if (patterns.length === 0) return { push: (chunk) => chunk, end: () => Buffer.alloc(0) };

	const matcher = createPatternMatcher(patterns, maxBreaks(secrets));
	let held: Buffer = Buffer.alloc(0);
	/** Where `held` begins in the stream; everything before has been passed on. */
	let done = 0;
	/** Was the last that was passed on a mark? Secrets that touch share one. */
	let isMarked = false;

	const release = (data: Buffer, until: number): Buffer => {
		const start = done;
		const out: Buffer[] = [];
		const pass = (to: number) => {
			if (to <= done) return;
			out.push(data.subarray(done - start, to - start));
			done = to;
			isMarked = false;
		};
		for (let found = matcher.next(until); found; found = matcher.next(until)) {
			pass(found.start);
			if (!isMarked) out.push(MARK);
			isMarked = true;
			done = Math.max(done, found.end);
		}
		pass(until);
		// A copy: the pool that a chunk is a slice of must not stay alive for it.
		held = Buffer.from(data.subarray(done - start));
		return out.length === 1 && out[0] ? out[0] : Buffer.concat(out);
	};

	return {
		push(chunk) {
			const data = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
			return release(data, matcher.scan(chunk));
		},
		end: () => release(held, done + held.length)
	};
}

/** A whole text without the secrets. */
export function redactText(text: string, secrets: readonly string[]): string {
	const redactor = createRedactor(secrets);
	return Buffer.concat([redactor.push(Buffer.from(text)), redactor.end()]).toString('utf8');
}

/** A line break of Windows is two; a secret may have empty lines. */
function maxBreaks(secrets: readonly string[]): number {
	const runs = secrets.flatMap((secret) => secret.match(/[\r\n]+/g) ?? []);
	return Math.max(2, ...runs.map((run) => run.length));
}
