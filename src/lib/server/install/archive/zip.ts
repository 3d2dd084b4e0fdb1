/** Reads a file in slices; nothing of it is kept. */
import type { FileHandle } from 'node:fs/promises';
import { AppError } from '../../../shared/errors.ts';
import { onDisk } from '../staging-folder.ts';

export interface Slices {
	readonly size: number;
	/** Exactly these bytes. @throws AppError `invalid_input` where the file ends before */
	read(offset: number, length: number): Promise<Buffer>;
}

export async function slicesOf(file: FileHandle): Promise<Slices> {
	const { size } = await onDisk(file.stat());
	return {
		size,
		async read(offset, length) {
			if (offset < 0 || length < 0 || offset + length > size) throw damaged('it ends too early');
			const bytes = Buffer.allocUnsafe(length);
			let filled = 0;
			while (filled < length) {
				const { bytesRead } = await onDisk(file.read(bytes, filled, length - filled, offset + filled));
				if (bytesRead === 0) throw damaged('it ends too early');
				filled += bytesRead;
			}
			return bytes;
		}
	};
}

// How an archive is refused that is wrong as a whole, not in one entry.

/** `problem` goes on after “The zip archive is refused: ”. */
export function damaged(problem: string): AppError {
	return new AppError('invalid_input', `The zip archive is refused: ${problem}.`);
}
