/** A skill's files as one text: trust and consent are bound to it, and a copy to run from is named after it (FEATURES D9, F4). */
import { createHash } from 'node:crypto';
import { compareNames } from './resources.ts';

/** What stands at a path below a skill's folder. */
export interface DigestedEntry {
	/** Relative to the folder, with `/`. */
	path: string;
	/** `special`: a FIFO, a socket, a device. */
	kind: 'file' | 'link' | 'special';
	/** SHA-256 of the bytes; of a link, of the path that it leads to; of a special file, of the word `special`. */
	sha256: string;
}

/** SHA-256 in hexadecimal. One line for each entry, in order; a name is JSON, so that none can look like the end of its line. */
export function digestOfEntries(files: readonly DigestedEntry[], folders: readonly string[]): string {
	const digest = createHash('sha256');
	for (const folder of [...folders].sort(compareNames)) digest.update(`folder ${JSON.stringify(folder)}\n`);
	for (const { kind, sha256, path } of [...files].sort((a, b) => compareNames(a.path, b.path))) {
		digest.update(`${kind} ${sha256} ${JSON.stringify(path)}\n`);
	}
	return digest.digest('hex');
}
