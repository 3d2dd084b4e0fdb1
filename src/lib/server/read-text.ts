/** Reads request bodies into memory, with limits per body and for all unfinished bodies together. */
import { AppError } from '../shared/errors.ts';

const MAX_UNFINISHED = 256 * 1024 * 1024;

interface Reading {
	chunks: Uint8Array[];
	bytes: number;
	/** Set when it's given up, to free its memory. */
	problem: AppError | null;
	/** Ends the wait for a chunk with the problem. */
	stopWaiting: () => void;
}

/** @throws AppError too_large, unavailable; invalid_input for an incomplete body */
export type ReadBody = (
	request: { body: ReadableStream<Uint8Array> | null },
	maxBytes: number
) => Promise<Buffer<ArrayBuffer>>;

/** Beyond `maxUnfinished` bytes in total, drops the oldest body, so that slow senders can’t block others. */
export function createBodyReader(maxUnfinished: number): ReadBody {
	/** Oldest first. */
	const readings = new Set<Reading>();
	let held = 0;

	const forget = (reading: Reading): void => {
		if (readings.delete(reading)) held -= reading.bytes;
	};
	const giveUp = (reading: Reading): void => {
		forget(reading);
		reading.chunks = [];
		const hint = 'Send it again without pausing.';
		reading.problem = new AppError('unavailable', 'Too many requests are being sent at once.', { hint });
		reading.stopWaiting();
	};

	return async (request, maxBytes) => {
		const reading: Reading = { chunks: [], bytes: 0, problem: null, stopWaiting: () => {} };
		readings.add(reading);
		// Never cancelled, which would close the connection before the answer; `linger.ts` drains the rest.
		const body = request.body?.getReader();
		try {
			while (body) {
				const { done, value } = await nextOf(body, reading);
				// It may have been given up just after its chunk came.
				if (reading.problem) throw reading.problem;
				if (done) break;
				if (reading.bytes + value.length > maxBytes) throw tooLarge(maxBytes);
				reading.chunks.push(value);
				reading.bytes += value.length;
				held += value.length;
				for (const oldest of readings) if (held > maxUnfinished) giveUp(oldest);
			}
			return Buffer.concat(reading.chunks);
		} catch (error) {
			if (error instanceof AppError) throw error;
			throw new AppError('invalid_input', 'The body ended too early.', { cause: error });
		} finally {
			forget(reading);
			body?.releaseLock();
		}
	};
}

/** With a promise of its own for each chunk: one for the whole body would keep something for each of them. */
function nextOf(
	body: ReadableStreamDefaultReader<Uint8Array>,
	reading: Reading
): Promise<ReadableStreamReadResult<Uint8Array>> {
	return new Promise((resolve, reject) => {
		reading.stopWaiting = () => reject(reading.problem ?? new Error('given up'));
		if (reading.problem) reading.stopWaiting();
		else body.read().then(resolve, reject);
	});
}

/** Shared by the process, because memory is. */
export const readBody = createBodyReader(MAX_UNFINISHED);

/** @throws as `ReadBody` */
export async function readText(request: Request, maxBytes: number): Promise<string> {
	return (await readBody(request, maxBytes)).toString('utf8');
}

function tooLarge(maxBytes: number): AppError {
	const kilobytes = maxBytes / 1024;
	const size = kilobytes < 1024 ? `${kilobytes} KB` : `${kilobytes / 1024} MB`;
	return new AppError('too_large', `The body is larger than ${size}.`, { hint: 'Send less in one request.' });
}
