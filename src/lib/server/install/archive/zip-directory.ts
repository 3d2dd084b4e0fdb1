/** Finds the central directory of a zip archive, and refuses each archive that could be read in two ways (SECURITY, archives; APPNOTE 4.3). */
import type { FileHandle } from 'node:fs/promises';
import { AppError } from '../../../shared/errors.ts';
import { onDisk } from '../staging-folder.ts';

export interface ZipDirectory {
	offset: number;
	bytes: Buffer;
	/** Entries, as the archive says. */
	count: number;
}

const END = 0x06054b50;
const END_BYTES = 22;
const END_64 = 0x06064b50;
const END_64_BYTES = 56;
const LOCATOR_64 = 0x07064b50;
const LOCATOR_64_BYTES = 20;
const MAX_COMMENT = 0xffff;
const MAX_16 = 0xffff;
const MAX_32 = 0xffffffff;
/** Far more than a skill has, so that a repository's `.git/` does not matter. */
const MAX_ENTRIES = 20_000;
const MAX_DIRECTORY_BYTES = 8 * 1024 * 1024;

interface End {
	disk: number;
	directoryDisk: number;
	countHere: number;
	count: number;
	size: number;
	offset: number;
}

/** @throws AppError `invalid_input` */
export async function findDirectory(file: Slices): Promise<ZipDirectory> {
	const position = await findEnd(file);
	const end = endOf(await file.read(position, END_BYTES));
	const end64 = await findEnd64(file, position, end);
	const { disk, directoryDisk, countHere, count, size, offset } = end64?.end ?? end;
	if (disk !== 0 || directoryDisk !== 0 || countHere !== count) throw damaged('it is a part of several');
	if (count > MAX_ENTRIES) throw damaged(`it says that it has more than ${MAX_ENTRIES} entries`);
	if (size > MAX_DIRECTORY_BYTES) throw damaged('its list of files is too large');
	if (offset + size !== (end64?.position ?? position)) {
		throw damaged('there is other data before it, or its list of files is not where it should be');
	}
	return { offset, bytes: await file.read(offset, size), count };
}

/** Position of the only end record. */
async function findEnd(file: Slices): Promise<number> {
	const length = Math.min(file.size, END_BYTES + MAX_COMMENT);
	const tail = await file.read(file.size - length, length);
	for (let at = length - END_BYTES; at >= 0; at--) {
		if (tail.readUInt32LE(at) !== END) continue;
		// The last one counts, and only where its comment ends with the file; what is found before lies in some entry's data.
		if (at + END_BYTES + tail.readUInt16LE(at + 20) === length) return file.size - length + at;
		throw damaged('there is other data after its end, or it has several ends');
	}
	throw damaged('it has no end; it is cut off, or no zip archive at all');
}

function endOf(bytes: Buffer): End {
	return {
		disk: bytes.readUInt16LE(4),
		directoryDisk: bytes.readUInt16LE(6),
		countHere: bytes.readUInt16LE(8),
		count: bytes.readUInt16LE(10),
		size: bytes.readUInt32LE(12),
		offset: bytes.readUInt32LE(16)
	};
}

/** The larger end record, where there is one; it must agree with the small one. */
async function findEnd64(file: Slices, endAt: number, end: End): Promise<{ position: number; end: End } | null> {
	const locatorAt = endAt - LOCATOR_64_BYTES;
	const locator = locatorAt >= 0 ? await file.read(locatorAt, LOCATOR_64_BYTES) : null;
	if (locator?.readUInt32LE(0) !== LOCATOR_64) return null;
	const position = safeNumber(locator, 8);
	if (locator.readUInt32LE(4) !== 0 || locator.readUInt32LE(16) > 1) throw damaged('it is a part of several');
	if (position + END_64_BYTES !== locatorAt) throw damaged('its zip64 end is not where it should be');
	const bytes = await file.read(position, END_64_BYTES);
	if (bytes.readUInt32LE(0) !== END_64 || safeNumber(bytes, 4) !== END_64_BYTES - 12) {
		throw damaged('its zip64 end is not one');
	}
	const end64: End = {
		disk: bytes.readUInt32LE(16),
		directoryDisk: bytes.readUInt32LE(20),
		countHere: safeNumber(bytes, 24),
		count: safeNumber(bytes, 32),
		size: safeNumber(bytes, 40),
		offset: safeNumber(bytes, 48)
	};
	const isSame = (small: number, large: number, unset: number) => small === unset || small === large;
	const agrees =
		isSame(end.disk, end64.disk, MAX_16) &&
		isSame(end.directoryDisk, end64.directoryDisk, MAX_16) &&
		isSame(end.countHere, end64.countHere, MAX_16) &&
		isSame(end.count, end64.count, MAX_16) &&
		isSame(end.size, end64.size, MAX_32) &&
		isSame(end.offset, end64.offset, MAX_32);
	if (!agrees) throw damaged('its two ends say different things');
	return { position, end: end64 };
}

/** A number of eight bytes. @throws AppError for one that no file is as long as */
export function safeNumber(bytes: Buffer, at: number): number {
	const value = bytes.readBigUInt64LE(at);
	if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged('a number in it is larger than any file');
	return Number(value);
}

// Reads a file in slices; nothing of it is kept.

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
