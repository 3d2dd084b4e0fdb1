/** The body of a request as text, so far as it may be, and so far as all bodies together may be. */
import { AppError } from '../shared/errors.ts';

/** Bytes of all bodies that are not yet there whole: of one request alone at most a few times less. */
const MAX_UNFINISHED = 256 * 1024 * 1024;

interface Reading {
	chunks: Uint8Array[];
	bytes: number;
	/** Rejects when its memory is needed. */
	givenUp: PromiseWithResolvers<never>;
}

/** Reads a body of text. @throws AppError too_large, unavailable, or invalid_input for one that breaks off */
export type ReadText = (request: Request, maxBytes: number) => Promise<string>;

/**
 * Where the bodies come to more than `maxUnfinished` bytes, the one that has been coming for the longest is given up: who
 * sends a piece and then waits keeps nobody out.
 */
export function createTextReader(maxUnfinished: number): ReadText {
	/** The longest under way first. */
	const readings = new Set<Reading>();
	let held = 0;

	const forget = (reading: Reading): void => {
		if (readings.delete(reading)) held -= reading.bytes;
	};
	const giveUp = (reading: Reading): void => {
		forget(reading);
		reading.chunks = [];
		const hint = 'Send it again without pausing.';
		reading.givenUp.reject(new AppError('unavailable', 'Too many requests are being sent at once.', { hint }));
	};

	return async (request, maxBytes) => {
		const reading: Reading = { chunks: [], bytes: 0, givenUp: Promise.withResolvers() };
		reading.givenUp.promise.catch(() => undefined);
		readings.add(reading);
		// Not cancelled, which would cut its connection before the answer is out: the server takes off the rest (`linger.ts`).
		const body = request.body?.getReader();
		try {
			while (body) {
				const { done, value } = await Promise.race([body.read(), reading.givenUp.promise]);
				if (done) break;
				if (reading.bytes + value.length > maxBytes) throw tooLarge(maxBytes);
				reading.chunks.push(value);
				reading.bytes += value.length;
				held += value.length;
				for (const oldest of readings) if (held > maxUnfinished) giveUp(oldest);
			}
			return Buffer.concat(reading.chunks).toString('utf8');
		} catch (error) {
			if (error instanceof AppError) throw error;
			throw new AppError('invalid_input', 'The body ended too early.', { cause: error });
		} finally {
			forget(reading);
			body?.releaseLock();
		}
	};
}

/** One for the process, whose memory it is. */
export const readText = createTextReader(MAX_UNFINISHED);

function tooLarge(maxBytes: number): AppError {
	const kilobytes = maxBytes / 1024;
	const size = kilobytes < 1024 ? `${kilobytes} KB` : `${kilobytes / 1024} MB`;
	return new AppError('too_large', `The body is larger than ${size}.`, { hint: 'Send less in one request.' });
}
