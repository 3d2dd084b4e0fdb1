/** Writes a zip archive piece by piece, as fast as it is taken. */
import { Zip, ZipDeflate, ZipPassThrough } from 'fflate';

export interface ZipEntry {
	/** With `/`. */
	name: string;
	modifiedAt: Date;
	/** Permissions; those of most files without them. */
	mode?: number;
	/** Worth the time: what is packed already only gets longer. */
	isCompressed: boolean;
	chunks: AsyncIterable<Uint8Array>;
}

const UNIX = 3;
/** What a zip archive can name. */
const EARLIEST = new Date(1980, 0, 1).getTime();
const LATEST = new Date(2107, 11, 31).getTime();

export async function* writeZip(
	entries: Iterable<ZipEntry> | AsyncIterable<ZipEntry>
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
	const made: Uint8Array<ArrayBuffer>[] = [];
	let failure: Error | null = null;
	const zip = new Zip((error, chunk) => {
		failure ??= error;
		made.push(chunk as Uint8Array<ArrayBuffer>);
	});
	for await (const { name, modifiedAt, mode = 0o644, isCompressed, chunks } of entries) {
		const packed = isCompressed ? new ZipDeflate(name, { level: 6 }) : new ZipPassThrough(name);
		packed.mtime = new Date(Math.min(LATEST, Math.max(EARLIEST, modifiedAt.getTime())));
		packed.os = UNIX;
		// The permissions of a regular file stand in the upper half.
		packed.attrs = ((0o100000 | mode) << 16) >>> 0;
		zip.add(packed);
		yield* made.splice(0);
		for await (const chunk of chunks) {
			packed.push(chunk);
			yield* made.splice(0);
		}
		packed.push(new Uint8Array(0), true);
		yield* made.splice(0);
		if (failure) throw failure;
	}
	zip.end();
	yield* made.splice(0);
}
