/** Unpacks a zip archive into a staging folder, after checking all of it (E20; SECURITY, archives). */
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
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

/** Only zip bombs compress better. */
const MAX_RATIO = 200;
/** Below this many bytes, synchronous decompression is faster. */
const SMALL = 128 * 1024;

interface Unpacked {
	buffer: Buffer;
	engine: InflateRaw;
}

/**
 * Unpacks the archive at `path`, one entry in memory at a time; skips `.git/`, `__MACOSX/` and the like with a note.
 * @throws AppError `invalid_input` naming the entry, `too_large`; the folder may then hold files and must be removed
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

/** At most one sentence about skipped files. */
export function noteOf(leftOut: readonly string[]): string[] {
	const [first] = leftOut;
	if (first === undefined) return [];
	const files = leftOut.length === 1 ? quoteEntry(first) : `${leftOut.length} files such as ${quoteEntry(first)}`;
	return [`Skipped ${files}, which aren’t part of a skill.`];
}

/** Checks the counts and sizes the archive claims; unpacking enforces them. */
function checkSizes(entries: readonly ZipEntry[], packedBytes: number, limits: InstallLimits): void {
	let files = 0;
	let bytes = 0;
	for (const entry of entries) {
		const refuse = (problem: string) => tooLarge(refusal(entry.path, problem).message);
		if (entry.kind === 'file') files += 1;
		bytes += entry.bytes;
		if (files > limits.files) throw refuse(`with it there are more than ${limits.files} files`);
		if (entry.bytes > limits.fileBytes) throw refuse(`it’s larger than ${megabytes(limits.fileBytes)}`);
		if (bytes > limits.unpackedBytes) {
			throw refuse(`with it the files are more than ${megabytes(limits.unpackedBytes)}`);
		}
		if (bytes > limits.fileBytes && bytes > packedBytes * MAX_RATIO) {
			throw refuse(`with it the files are more than ${MAX_RATIO} times as large as the archive`);
		}
		// Deflate grows incompressible data by at most 5 bytes in 65,535.
		if (entry.packedBytes > entry.bytes * 1.001 + 1024)
			throw refusal(entry.path, 'it’s larger compressed than uncompressed');
	}
}

/** @throws AppError `invalid_input` if size or checksum differ */
async function unpack(file: Slices, entry: ZipEntry, at: number): Promise<Buffer> {
	const packed = await file.read(at, entry.packedBytes);
	const content = entry.method === STORED ? packed : await inflate(packed, entry);
	if (content.length !== entry.bytes) throw refusal(entry.path, 'it’s smaller than the archive says');
	if (crc32(content) !== entry.crc) throw refusal(entry.path, 'its checksum doesn’t match');
	return content;
}

async function inflate(packed: Buffer, entry: ZipEntry): Promise<Buffer> {
	// Never produces more than the claimed size.
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

// The types of Node don’t know the option `info`.
const inflateLarge = promisify(inflateRaw) as unknown as (packed: Buffer, options: ZlibOptions) => Promise<Unpacked>;

// Compares local headers with the directory: entries must fill the file without overlaps (SECURITY, archives).

const HEADER = 0x04034b50;
const HEADER_BYTES = 30;
/** Enough to read the header with most extra fields at once. */
const READ_AHEAD = 512;
const DESCRIPTOR = 0x08074b50;
/** Flags that change how an entry is read. */
const MATTERING = 0x2869;

/** Finds the start of each entry’s data. `end` is the start of the directory. @throws AppError `invalid_input` */
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

/** The local header must match the directory. @returns the start of the data */
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

/** Checks the data descriptor: checksum and sizes of 4 or 8 bytes, with or without a signature. */
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
