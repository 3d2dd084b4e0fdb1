/** The body of a request as text, so far as it may be. */
import { AppError } from '../shared/errors.ts';

/** Reads a body of text. @throws AppError too_large, or invalid_input for one that breaks off */
export async function readText(request: Request, maxBytes: number): Promise<string> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	try {
		// Cancelling a body would cut its connection before the answer is out: the server takes off the rest (`linger.ts`).
		for await (const chunk of request.body?.values({ preventCancel: true }) ?? []) {
			bytes += chunk.length;
			if (bytes > maxBytes) break;
			chunks.push(chunk);
		}
	} catch (error) {
		throw new AppError('invalid_input', 'The body broke off before its end.', { cause: error });
	}
	if (bytes > maxBytes) {
		const hint = 'Send less in one request.';
		throw new AppError('too_large', `The body is larger than ${maxBytes / 1024 / 1024} MB.`, { hint });
	}
	return Buffer.concat(chunks).toString('utf8');
}
