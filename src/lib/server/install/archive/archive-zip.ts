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
import { slicesOf, type Slices } from './zip.ts';
import { findDirectory } from './zip-directory.ts';
import { readEntries, STORED, type ZipEntry } from './zip-entries.ts';
import { checkLayout } from './zip-layout.ts';

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
			throw tooLarge(`The zip archive is larger than ${megabytes(into.limits.packedBytes)}.`);
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
	return [`Left out ${files}: no part of a skill.`];
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
		if (entry.bytes > limits.fileBytes) throw refuse(`it is larger than ${megabytes(limits.fileBytes)}`);
		if (bytes > limits.unpackedBytes)
			throw refuse(`with it the files are more than ${megabytes(limits.unpackedBytes)}`);
		if (bytes > limits.fileBytes && bytes > packedBytes * MAX_RATIO) {
			throw refuse(`with it the files are more than ${MAX_RATIO} times as large as the archive`);
		}
		// Deflate grows what it cannot pack by five bytes in 65,535 at most; the rest would be nothing, at length.
		if (entry.packedBytes > entry.bytes * 1.001 + 1024) throw refusal(entry.path, 'it is larger packed than unpacked');
	}
}

/** @throws AppError `invalid_input` where it is not what the archive says */
async function unpack(file: Slices, entry: ZipEntry, at: number): Promise<Buffer> {
	const packed = await file.read(at, entry.packedBytes);
	const content = entry.method === STORED ? packed : await inflate(packed, entry);
	if (content.length !== entry.bytes) throw refusal(entry.path, 'it unpacks to less than the archive says');
	if (crc32(content) !== entry.crc) throw refusal(entry.path, 'its checksum is wrong');
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
		throw refusal(entry.path, isMore ? 'it unpacks to more than the archive says' : 'its data is damaged');
	}
	throw refusal(entry.path, 'other data follows its own');
}

function inflateLarge(packed: Buffer, options: ZlibOptions): Promise<Unpacked> {
	return new Promise((resolve, reject) => {
		inflateRaw(packed, options, (error, unpacked) => {
			if (error) reject(error);
			else resolve(unpacked as unknown as Unpacked);
		});
	});
}
