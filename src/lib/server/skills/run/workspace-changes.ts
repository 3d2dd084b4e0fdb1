/** Finds files that a script created or changed in its working directory (FEATURES F5). */
import { walkFiles } from '../../foreign-folders.ts';

const MAX_FILES = 1000;

interface Listing {
	/** By path; at most `MAX_FILES`. */
	files: Map<string, { bytes: number; stamp: string; changedAt: number }>;
	/** Start time, in milliseconds since 1970. */
	takenAt: number;
}

/** Folders that tools fill with thousands of files, which aren't a script's results. */
const SKIPPED = new Set(['node_modules', '__pycache__']);
const BOUNDS = {
	maxDepth: 4,
	maxEntries: 5000,
	isSkipped: (name: string) => name.startsWith('.') || SKIPPED.has(name)
};

/** Lists up to 1,000 regular files below `dir`, without hidden files and links. */
export async function listWorkspace(dir: string): Promise<Listing> {
	const listing: Listing = { files: new Map(), takenAt: Date.now() };
	for await (const { path, facts } of walkFiles(dir, BOUNDS)) {
		const stamp = `${facts.size}:${facts.mtimeMs}:${facts.ino}`;
		listing.files.set(path, { bytes: facts.size, stamp, changedAt: facts.ctimeMs });
		if (listing.files.size >= MAX_FILES) break;
	}
	return listing;
}

/** Files in `after` that are new or differ from `before`, by path. */
export function changedFiles(before: Listing, after: Listing): { path: string; bytes: number }[] {
	const changed: { path: string; bytes: number }[] = [];
	const isWhole = before.files.size < MAX_FILES;
	for (const [path, { bytes, stamp, changedAt }] of after.files) {
		const known = before.files.get(path);
		if (known?.stamp === stamp) continue;
		// If `before` was cut, an unknown file may still be an old one.
		if (known || isWhole || changedAt >= before.takenAt) changed.push({ path, bytes });
	}
	return changed.sort((a, b) => (a.path < b.path ? -1 : 1));
}
