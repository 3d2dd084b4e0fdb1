/** Writes the body of a request to a file, up to a limit (FEATURES E20). */
import { open, rm } from 'node:fs/promises';
import { onDisk } from '../disk-errors.ts';
import { megabytes, tooLarge } from '../staging-folder.ts';

/**
 * Nothing is left of it after an error.
 * @param path of a file that is not there yet
 * @returns how many bytes there were
 * @throws AppError `too_large`, `storage_full`, `unavailable`; and what `body` throws, as it is
 */
export async function storeUpload(
	body: AsyncIterable<Uint8Array>,
	path: string,
	maxBytes: number,
	signal: AbortSignal
): Promise<number> {
	const file = await onDisk(open(path, 'wx', 0o600));
	let bytes = 0;
	try {
		for await (const chunk of body) {
			signal.throwIfAborted();
			bytes += chunk.byteLength;
			if (bytes > maxBytes) throw tooLarge(`The upload is larger than ${megabytes(maxBytes)}.`);
			await onDisk(file.appendFile(chunk));
		}
		await onDisk(file.close());
	} catch (error) {
		await file.close();
		await rm(path, { force: true });
		throw error;
	}
	return bytes;
}
