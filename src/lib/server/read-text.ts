/** The body of a request as text, so far as it may be. */
import { AppError } from '../shared/errors.ts';

/** An answer to a body that is too large is worth reading so much more of it. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/** Reads a body of text. @throws AppError too_large, or invalid_input for one that breaks off */
export async function readText(request: Request, maxBytes: number): Promise<string> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	try {
		for await (const chunk of request.body ?? []) {
			bytes += chunk.length;
			// Read on, keeping nothing: leaving early would cut the connection before the answer is out.
			if (bytes <= maxBytes) chunks.push(chunk);
			if (bytes > MAX_DISCARDED_BYTES) break;
		}
	} catch (error) {
		throw new AppError('invalid_input', 'The body broke off before its end.', { cause: error });
	}
	if (bytes > maxBytes) throw new AppError('too_large', `The body is larger than ${maxBytes / 1024 / 1024} MB.`);
	return Buffer.concat(chunks).toString('utf8');
}
