/** Reads the central directory of a zip archive; refuses archives that could be read in two ways (SECURITY, archives; APPNOTE 4.3). */
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { AppError } from '../../../shared/errors.ts';
import { onDisk, createEntryNames, refusal } from '../staging-folder.ts';

export interface ZipDirectory {
	offset: number;
	bytes: Buffer;
	/** Number of entries the archive claims. */
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
export const MAX_32 = 0xffffffff;
/** High enough for a repository with its `.git/`. */
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
	if (disk !== 0 || directoryDisk !== 0 || countHere !== count) throw damaged('it’s part of a multi-part archive');
	if (count > MAX_ENTRIES) throw damaged(`it lists more than ${MAX_ENTRIES} files`);
	if (size > MAX_DIRECTORY_BYTES) throw damaged('its list of files is too large');
	if (offset + size !== (end64?.position ?? position)) {
		throw damaged('it has extra data before its files, or its list of files is misplaced');
	}
	return { offset, bytes: await file.read(offset, size), count };
}

async function findEnd(file: Slices): Promise<number> {
	const length = Math.min(file.size, END_BYTES + MAX_COMMENT);
	const tail = await file.read(file.size - length, length);
	for (let at = length - END_BYTES; at >= 0; at--) {
		if (tail.readUInt32LE(at) !== END) continue;
		// Only the last one counts, and its comment must end with the file. Earlier matches are data of entries.
		if (at + END_BYTES + tail.readUInt16LE(at + 20) === length) return file.size - length + at;
		throw damaged('it has extra data at the end, or several ends');
	}
	throw damaged('it isn’t a zip file, or it’s incomplete');
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

/** The zip64 end record, if any. It must match the small one. */
async function findEnd64(file: Slices, endAt: number, end: End): Promise<{ position: number; end: End } | null> {
	const locatorAt = endAt - LOCATOR_64_BYTES;
	const locator = locatorAt >= 0 ? await file.read(locatorAt, LOCATOR_64_BYTES) : null;
	if (locator?.readUInt32LE(0) !== LOCATOR_64) return null;
	const position = safeNumber(locator, 8);
	if (locator.readUInt32LE(4) !== 0 || locator.readUInt32LE(16) > 1) throw damaged('it’s part of a multi-part archive');
	if (position + END_64_BYTES !== locatorAt) throw damaged('its zip64 end is misplaced');
	const bytes = await file.read(position, END_64_BYTES);
	if (bytes.readUInt32LE(0) !== END_64 || safeNumber(bytes, 4) !== END_64_BYTES - 12) {
		throw damaged('its zip64 end is damaged');
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
	if (!agrees) throw damaged('its two ends don’t match');
	return { position, end: end64 };
}

/** Reads a 64-bit number. @throws AppError if it exceeds any file’s length */
export function safeNumber(bytes: Buffer, at: number): number {
	const value = bytes.readBigUInt64LE(at);
	if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged('one of its numbers is too large');
	return Number(value);
}

export interface Slices {
	readonly size: number;
	/** Reads exactly `length` bytes. @throws AppError `invalid_input` if the file ends before */
	read(offset: number, length: number): Promise<Buffer>;
}

export async function slicesOf(file: FileHandle): Promise<Slices> {
	const { size } = await onDisk(file.stat());
	return {
		size,
		async read(offset, length) {
			if (offset < 0 || length < 0 || offset + length > size) throw damaged('it’s incomplete');
			const bytes = Buffer.allocUnsafe(length);
			let filled = 0;
			while (filled < length) {
				const { bytesRead } = await onDisk(file.read(bytes, filled, length - filled, offset + filled));
				if (bytesRead === 0) throw damaged('it’s incomplete');
				filled += bytesRead;
			}
			return bytes;
		}
	};
}

/** `problem` continues “Couldn’t open the zip file: ”. */
function damaged(problem: string): AppError {
	return new AppError('invalid_input', `Couldn’t open the zip file: ${problem}.`);
}

// Entries of the central directory, each checked before anything is unpacked (SECURITY, archives; APPNOTE 4.3.12).

export interface ZipEntry {
	/** With `/`, without a trailing one. */
	path: string;
	kind: 'file' | 'folder';
	rawName: Buffer;
	flags: number;
	method: typeof STORED | typeof DEFLATED;
	crc: number;
	packedBytes: number;
	/** Unpacked size the archive claims; more is refused. */
	bytes: number;
	/** Position of its local header. */
	offset: number;
	/** null if the archive comes from a system without such permissions. */
	isExecutable: boolean | null;
}

export const STORED = 0;
const DEFLATED = 8;
export const ZIP64 = 1;
/** Sizes and checksum follow the data. */
export const HAS_DESCRIPTOR = 1 << 3;
const HEADER = 0x02014b50;
const HEADER_BYTES = 46;
/** Encrypted, strongly encrypted, masked. */
const ENCRYPTED = (1 << 0) | (1 << 6) | (1 << 13);
const PATCHED = 1 << 5;
const UTF8 = 1 << 11;
const UNIX = 3;
const MACOS = 19;
const DOS_FOLDER = 0x10;
const FILE_TYPE = 0xf000;
const REGULAR = 0x8000;
const FOLDER = 0x4000;
const SPECIAL: Record<number, string> = {
	0xa000: 'a link',
	0xc000: 'a socket',
	0x6000: 'a device',
	0x2000: 'a device',
	0x1000: 'a named pipe'
};

/** @throws AppError `invalid_input` naming the entry */
export function readEntries({ bytes, count, offset: end }: ZipDirectory): ZipEntry[] {
	const names = createEntryNames();
	const entries: ZipEntry[] = [];
	let at = 0;
	const wrongCount = () =>
		damaged(`it should have ${count} entries, but has ${entries.length < count ? 'fewer' : 'more'}`);
	while (at < bytes.length) {
		if (entries.length === count) throw wrongCount();
		if (at + HEADER_BYTES > bytes.length || bytes.readUInt32LE(at) !== HEADER) {
			throw damaged('its list of files is damaged');
		}
		const length =
			HEADER_BYTES + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
		if (at + length > bytes.length) throw damaged('its list of files is damaged');
		const entry = readEntry(bytes.subarray(at, at + length));
		if (entry.offset >= end) throw refusal(entry.path, 'its data is misplaced');
		names.take(entry.path, entry.kind);
		entries.push(entry);
		at += length;
	}
	if (entries.length < count) throw wrongCount();
	return entries;
}

function readEntry(header: Buffer): ZipEntry {
	const flags = header.readUInt16LE(8);
	const host = header.readUInt8(5);
	const nameEnd = HEADER_BYTES + header.readUInt16LE(28);
	const rawName = header.subarray(HEADER_BYTES, nameEnd);
	const name = decodeName(rawName, { isUtf8: (flags & UTF8) !== 0, host });
	const extra = readExtraFields(header.subarray(nameEnd, nameEnd + header.readUInt16LE(30)), rawName, name);
	if (flags & ENCRYPTED) throw refusal(name, 'it’s encrypted');
	if (flags & PATCHED) throw refusal(name, 'it’s a patch of another file');
	const method = header.readUInt16LE(10);
	if (method !== STORED && method !== DEFLATED) {
		throw refusal(name, `it uses an unsupported compression method (${method})`);
	}
	const attributes = header.readUInt32LE(38);
	const kind = kindOf(name, attributes);
	const { bytes, packedBytes, offset } = sizesOf(header, extra.get(ZIP64), name);
	if (kind === 'folder' && bytes > 0) throw refusal(name, 'it’s a folder with content');
	if (method === STORED && bytes !== packedBytes) throw refusal(name, 'it has two sizes for the same data');
	return {
		path: kind === 'folder' ? name.slice(0, -1) : name,
		kind,
		rawName,
		flags,
		method,
		crc: header.readUInt32LE(16),
		packedBytes,
		bytes,
		offset,
		isExecutable: host === UNIX || host === MACOS ? ((attributes >>> 16) & 0o100) !== 0 : null
	};
}

/** Checks the name and the Unix mode, whatever system is claimed: some unpackers would create a link. */
function kindOf(name: string, attributes: number): ZipEntry['kind'] {
	const type = (attributes >>> 16) & FILE_TYPE;
	const kind = name.endsWith('/') ? 'folder' : 'file';
	if (type !== 0 && type !== REGULAR && type !== FOLDER) {
		throw refusal(name, `it’s ${SPECIAL[type] ?? 'neither a file nor a folder'}`);
	}
	const saysFolder = type === FOLDER || (type === 0 && (attributes & DOS_FOLDER) !== 0);
	if (kind === 'folder' ? type === REGULAR : saysFolder) throw refusal(name, 'it’s both a file and a folder');
	return kind;
}

function sizesOf(header: Buffer, zip64: Buffer | undefined, name: string) {
	let at = 0;
	const take = (small: number): number => {
		if (small !== MAX_32) return small;
		if (!zip64 || at + 8 > zip64.length) throw refusal(name, 'its zip64 sizes are missing');
		at += 8;
		return safeNumber(zip64, at - 8);
	};
	const bytes = take(header.readUInt32LE(24));
	const packedBytes = take(header.readUInt32LE(20));
	const offset = take(header.readUInt32LE(42));
	if (header.readUInt16LE(34) !== 0) throw refusal(name, 'it’s in another part of the archive');
	return { bytes, packedBytes, offset };
}

// Names and extra fields must have one meaning only (SECURITY, archives; APPNOTE 4.5, Info-ZIP 0x7075).

const UNICODE_PATH = 0x7075;

/**
 * Decodes a name. `zip` on Linux and the Finder write UTF-8 without the flag; other systems must use ASCII.
 * @throws AppError `invalid_input` naming the entry
 */
function decodeName(raw: Buffer, { isUtf8, host }: { isUtf8: boolean; host: number }): string {
	if (raw.every((byte) => byte < 0x80)) return raw.toString('latin1');
	const text = isUtf8 || host === UNIX || host === MACOS ? utf8Of(raw) : null;
	if (text === null) {
		throw refusal(raw.toString('latin1'), 'its name isn’t UTF-8. Create the zip with UTF-8 names');
	}
	return text;
}

/** Extra fields by id. @throws AppError `invalid_input` if damaged, duplicated, or giving another name */
export function readExtraFields(extra: Buffer, rawName: Buffer, name: string): ReadonlyMap<number, Buffer> {
	const fields = new Map<number, Buffer>();
	let at = 0;
	while (at + 4 <= extra.length) {
		const id = extra.readUInt16LE(at);
		const end = at + 4 + extra.readUInt16LE(at + 2);
		if (end > extra.length) throw refusal(name, 'its extra fields are damaged');
		// Some packers pad with zeros.
		if (fields.has(id) && id !== 0) throw refusal(name, 'it has an extra field twice');
		fields.set(id, extra.subarray(at + 4, end));
		at = end;
	}
	if (extra.subarray(at).some((byte) => byte !== 0)) throw refusal(name, 'its extra fields are damaged');
	const other = fields.get(UNICODE_PATH);
	if (other && !isSameName(other, rawName, name)) throw refusal(name, 'an extra field gives it another name');
	return fields;
}

function isSameName(field: Buffer, rawName: Buffer, name: string): boolean {
	return field.length >= 5 && field.readUInt32LE(1) === crc32(rawName) && utf8Of(field.subarray(5)) === name;
}

function utf8Of(bytes: Buffer): string | null {
	try {
		return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		return null;
	}
}
