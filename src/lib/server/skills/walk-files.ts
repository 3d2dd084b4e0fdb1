/** The files of a folder that others fill: looked at in bounds, and never all at once. */
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

export interface WalkBounds {
	/** Folders below the first one. */
	maxDepth: number;
	/** Names that are looked at, files or not; whatever is beyond them is not seen. */
	maxEntries: number;
	/** Names that are passed over, with all that is in them. */
	isSkipped: (name: string) => boolean;
}

/** Paths of regular files, relative to `dir`, with `/`; links are none. A folder that cannot be read is an empty one. */
export async function* walkFiles(dir: string, bounds: WalkBounds): AsyncGenerator<string, void, undefined> {
	const folders = [{ path: '', depth: 0 }];
	let entries = 0;
	for (let folder = folders.shift(); folder; folder = folders.shift()) {
		const opened = await opendir(join(dir, folder.path), { bufferSize: 128 }).catch(() => null);
		// Leaving the loop closes the folder.
		for await (const entry of opened ?? []) {
			if ((entries += 1) > bounds.maxEntries) return;
			if (bounds.isSkipped(entry.name)) continue;
			const path = folder.path ? `${folder.path}/${entry.name}` : entry.name;
			if (entry.isDirectory() && folder.depth < bounds.maxDepth) folders.push({ path, depth: folder.depth + 1 });
			if (entry.isFile()) yield path;
		}
	}
}
