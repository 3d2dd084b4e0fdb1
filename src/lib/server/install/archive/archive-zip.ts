/** Unpacks a zip archive into a staging folder, or refuses it before anything of it is unpacked (FEATURES E20; SECURITY, archives). */
import { open } from 'node:fs/promises';
import { crc32, inflateRaw, inflateRawSync, type InflateRaw, type ZlibOptions } from 'node:zlib';
import {
	type InstallLimits,
	isLeftOut,
	megabytes,
	onDisk,
	quoteEntry,
	refusal,
	type StagingFolder,
	tooLarge
} from '../staging-folder.ts';
import {
	slicesOf,
	type Slices,
	findDirectory,
	safeNumber,
	readEntries,
	STORED,
	type ZipEntry,
	HAS_DESCRIPTOR,
	MAX_32,
	readExtraFields,
	ZIP64
} from './zip-directory.ts';

/** No text is packed as tightly; a bomb is. */
const MAX_RATIO = 200;
/** Below it, unpacking at once takes less than handing it to another thread. */
const SMALL = 128 * 1024;

interface Unpacked {
	buffer: Buffer;
	engine: InflateRaw;
}

/**
 * One entry's bytes at most are in memory. What is no part of any skill (`.git/`, `__MACOSX/`) is left out with a note.
 * @param path of the archive
 * @throws AppError `invalid_input` with the entry named, `too_large`; then the folder may hold files, and is to be removed
 */
export async function readZip(path: string, into: StagingFolder, signal: AbortSignal): Promise<{ notes: string[] }> {
	const file = await onDisk(open(path, 'r'));
	try {
		const slices = await slicesOf(file);
		if (slices.size > into.limits.packedBytes) {
			throw tooLarge(`The zip file is larger than ${megabytes(into.limits.packedBytes)}.`);
		}
		const directory = await findDirectory(slices);
		const entries = readEntries(directory);
		const wanted = entries.filter((entry) => !isLeftOut(entry.path));
		checkSizes(wanted, slices.size, into.limits);
		const dataAt = await checkLayout(slices, entries, directory.offset);
		for (const entry of wanted) {
			signal.throwIfAborted();
			const content = await unpack(slices, entry, dataAt.get(entry) ?? 0);
			if (entry.kind === 'file') {
				await into.add(entry.path, content, { isExecutable: entry.isExecutable ?? 'by-shebang' });
			}
		}
		const leftOut = entries.filter((entry) => entry.kind === 'file' && isLeftOut(entry.path));
		return { notes: noteOf(leftOut.map((entry) => entry.path)) };
	} finally {
		await file.close();
	}
}

/** What was left out, as a sentence, where anything was. */
export function noteOf(leftOut: readonly string[]): string[] {
	const [first] = leftOut;
	if (first === undefined) return [];
	const files = leftOut.length === 1 ? quoteEntry(first) : `${leftOut.length} files such as ${quoteEntry(first)}`;
	return [`Skipped ${files}, which aren’t part of a skill.`];
}

/** Counts and sizes as the archive says them; what is unpacked is held against them. */
function checkSizes(entries: readonly ZipEntry[], packedBytes: number, limits: InstallLimits): void {
	let files = 0;
	let bytes = 0;
	for (const entry of entries) {
		const refuse = (problem: string) => tooLarge(refusal(entry.path, problem).message);
		if (entry.kind === 'file') files += 1;
		bytes += entry.bytes;
		if (files > limits.files) throw refuse(`with it there are more than ${limits.files} files`);
		if (entry.bytes > limits.fileBytes) throw refuse(`it’s larger than ${megabytes(limits.fileBytes)}`);
		if (bytes > limits.unpackedBytes)
			throw refuse(`with it the files are more than ${megabytes(limits.unpackedBytes)}`);
		if (bytes > limits.fileBytes && bytes > packedBytes * MAX_RATIO) {
			throw refuse(`with it the files are more than ${MAX_RATIO} times as large as the archive`);
		}
		// Deflate grows what it cannot pack by five bytes in 65,535 at most; the rest would be nothing, at length.
		if (entry.packedBytes > entry.bytes * 1.001 + 1024)
			throw refusal(entry.path, 'it’s larger compressed than uncompressed');
	}
}

/** @throws AppError `invalid_input` where it is not what the archive says */
async function unpack(file: Slices, entry: ZipEntry, at: number): Promise<Buffer> {
	const packed = await file.read(at, entry.packedBytes);
	const content = entry.method === STORED ? packed : await inflate(packed, entry);
	if (content.length !== entry.bytes) throw refusal(entry.path, 'it’s smaller than the archive says');
	if (crc32(content) !== entry.crc) throw refusal(entry.path, 'its checksum doesn’t match');
	return content;
}

async function inflate(packed: Buffer, entry: ZipEntry): Promise<Buffer> {
	// One byte more than it says would be refused, so that no more than that is ever made.
	const options: ZlibOptions = { maxOutputLength: Math.max(entry.bytes, 1), info: true };
	try {
		const { buffer, engine } = await (entry.bytes < SMALL
			? (inflateRawSync(packed, options) as unknown as Unpacked)
			: inflateLarge(packed, options));
		if (engine.bytesWritten === packed.length) return buffer;
	} catch (error) {
		const isMore = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
		throw refusal(entry.path, isMore ? 'it’s larger than the archive says' : 'its data is damaged');
	}
	throw refusal(entry.path, 'extra data follows it');
}

function inflateLarge(packed: Buffer, options: ZlibOptions): Promise<Unpacked> {
	return new Promise((resolve, reject) => {
		inflateRaw(packed, options, (error, unpacked) => {
			if (error) reject(error);
			else resolve(unpacked as unknown as Unpacked);
		});
	});
}

// Compares the local headers of a zip archive with its directory, and its entries with each other: they fill the file, none overlaps (SECURITY, archives).

const HEADER = 0x04034b50;
const HEADER_BYTES = 30;
/** Most extra fields come with the header in one read. */
const READ_AHEAD = 512;
const DESCRIPTOR = 0x08074b50;
/** Flags that change how an entry is read. */
const MATTERING = 0x2869;

/**
 * Where the data of each entry begins.
 * @param end where the directory begins
 * @throws AppError `invalid_input` with the entry named
 */
async function checkLayout(file: Slices, entries: readonly ZipEntry[], end: number): Promise<Map<ZipEntry, number>> {
	const dataAt = new Map<ZipEntry, number>();
	const sorted = [...entries].sort((a, b) => a.offset - b.offset);
	let expected = 0;
	for (const [index, entry] of sorted.entries()) {
		const next = sorted[index + 1]?.offset ?? end;
		if (entry.offset !== expected) throw refusal(entry.path, 'extra data lies before it, or it overlaps another entry');
		const start = await checkLocal(file, entry);
		const rest = next - start - entry.packedBytes;
		if (rest < 0) throw refusal(entry.path, 'it overlaps the next entry');
		if (entry.flags & HAS_DESCRIPTOR) await checkDescriptor(file, entry, { at: next - rest, length: rest });
		else if (rest > 0) throw refusal(entry.path, 'extra data follows it');
		dataAt.set(entry, start);
		expected = next;
	}
	if (sorted.length === 0 && end !== 0) throw refusal('', 'extra data lies before the list of files');
	return dataAt;
}

/** The local header must say what the directory says. @returns where the data begins */
async function checkLocal(file: Slices, entry: ZipEntry): Promise<number> {
	const { offset, rawName, path } = entry;
	const atLeast = HEADER_BYTES + rawName.length;
	let header = await file.read(offset, Math.min(Math.max(file.size - offset, 0), atLeast + READ_AHEAD));
	if (header.length < atLeast || header.readUInt32LE(0) !== HEADER) throw refusal(path, 'it has no header');
	const differs = (what: string) => refusal(path, `its header and the list of files don’t match (${what})`);
	if (header.readUInt16LE(26) !== rawName.length) throw differs('names');
	if (!header.subarray(HEADER_BYTES, atLeast).equals(rawName)) throw differs('names');
	if (((header.readUInt16LE(6) ^ entry.flags) & MATTERING) !== 0) throw differs('flags');
	if (header.readUInt16LE(8) !== entry.method) throw differs('methods');
	const dataAt = atLeast + header.readUInt16LE(28);
	if (dataAt > header.length) header = await file.read(offset, dataAt);
	const name = entry.kind === 'folder' ? `${path}/` : path;
	const zip64 = readExtraFields(header.subarray(atLeast, dataAt), rawName, name).get(ZIP64);
	const isLarge = zip64 !== undefined && zip64.length >= 16;
	const size = (at: number, at64: number) => {
		const small = header.readUInt32LE(at);
		return small === MAX_32 && isLarge ? safeNumber(zip64, at64) : small;
	};
	const said = { crc: header.readUInt32LE(14), packedBytes: size(18, 8), bytes: size(22, 0) };
	const isUnset = (entry.flags & HAS_DESCRIPTOR) !== 0;
	for (const key of ['crc', 'packedBytes', 'bytes'] as const) {
		if (said[key] !== entry[key] && !(isUnset && said[key] === 0)) {
			throw differs(key === 'crc' ? 'checksums' : 'sizes');
		}
	}
	return offset + dataAt;
}

/** After the data: checksum and sizes of four or eight bytes, with a signature or without one. */
async function checkDescriptor(
	file: Slices,
	entry: ZipEntry,
	{ at, length }: { at: number; length: number }
): Promise<void> {
	const hasSignature = length === 16 || length === 24;
	const isLarge = length === 20 || length === 24;
	if (!hasSignature && !isLarge && length !== 12) throw refusal(entry.path, 'extra data follows it');
	const all = await file.read(at, length);
	const bytes = hasSignature ? all.subarray(4) : all;
	const isSame =
		(!hasSignature || all.readUInt32LE(0) === DESCRIPTOR) &&
		bytes.readUInt32LE(0) === entry.crc &&
		(isLarge ? safeNumber(bytes, 4) : bytes.readUInt32LE(4)) === entry.packedBytes &&
		(isLarge ? safeNumber(bytes, 12) : bytes.readUInt32LE(8)) === entry.bytes;
	if (!isSame) throw refusal(entry.path, 'the sizes after its data and in the list of files don’t match');
}
