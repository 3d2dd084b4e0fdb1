/** Compares the local headers of a zip archive with its directory, and its entries with each other: they fill the file, none overlaps (SECURITY, archives). */
import { refusal } from '../staging-folder.ts';
import type { Slices } from './zip.ts';
import { safeNumber } from './zip-directory.ts';
import { HAS_DESCRIPTOR, MAX_32, readExtraFields, ZIP64, type ZipEntry } from './zip-entries.ts';

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
export async function checkLayout(
	file: Slices,
	entries: readonly ZipEntry[],
	end: number
): Promise<Map<ZipEntry, number>> {
	const dataAt = new Map<ZipEntry, number>();
	const sorted = [...entries].sort((a, b) => a.offset - b.offset);
	let expected = 0;
	for (const [index, entry] of sorted.entries()) {
		const next = sorted[index + 1]?.offset ?? end;
		if (entry.offset !== expected) throw refusal(entry.path, 'other data lies before it, or it overlaps another entry');
		const start = await checkLocal(file, entry);
		const rest = next - start - entry.packedBytes;
		if (rest < 0) throw refusal(entry.path, 'it overlaps what follows it');
		if (entry.flags & HAS_DESCRIPTOR) await checkDescriptor(file, entry, { at: next - rest, length: rest });
		else if (rest > 0) throw refusal(entry.path, 'other data follows it');
		dataAt.set(entry, start);
		expected = next;
	}
	if (sorted.length === 0 && end !== 0) throw refusal('', 'other data lies before the list of files');
	return dataAt;
}

/** The local header must say what the directory says. @returns where the data begins */
async function checkLocal(file: Slices, entry: ZipEntry): Promise<number> {
	const { offset, rawName, path } = entry;
	const atLeast = HEADER_BYTES + rawName.length;
	let header = await file.read(offset, Math.min(Math.max(file.size - offset, 0), atLeast + READ_AHEAD));
	if (header.length < atLeast || header.readUInt32LE(0) !== HEADER) throw refusal(path, 'it has no header');
	const differs = (what: string) => refusal(path, `its header and the list of files say different ${what}`);
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
	if (!hasSignature && !isLarge && length !== 12) throw refusal(entry.path, 'other data follows it');
	const all = await file.read(at, length);
	const bytes = hasSignature ? all.subarray(4) : all;
	const isSame =
		(!hasSignature || all.readUInt32LE(0) === DESCRIPTOR) &&
		bytes.readUInt32LE(0) === entry.crc &&
		(isLarge ? safeNumber(bytes, 4) : bytes.readUInt32LE(4)) === entry.packedBytes &&
		(isLarge ? safeNumber(bytes, 12) : bytes.readUInt32LE(8)) === entry.bytes;
	if (!isSame) throw refusal(entry.path, 'what stands after its data and the list of files say different sizes');
}
