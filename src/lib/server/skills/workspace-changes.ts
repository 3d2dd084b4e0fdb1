/** Which files of a working directory a script made or changed (FEATURES F5). */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_FILES = 1000;
const MAX_DEPTH = 4;

type Listing = Map<string, { bytes: number; stamp: string }>;

/** A listing of the regular files below `dir`; hidden ones and links are left out, at most 1,000 are looked at. */
export async function listWorkspace(dir: string): Promise<Listing> {
	const listing: Listing = new Map();
	await walk(dir, '', 0, listing);
	return listing;
}

/** What is in `after` and was not, or not like this, in `before`; by path. */
export function changedFiles(before: Listing, after: Listing): { path: string; bytes: number }[] {
	const changed: { path: string; bytes: number }[] = [];
	for (const [path, { bytes, stamp }] of after) {
		if (before.get(path)?.stamp !== stamp) changed.push({ path, bytes });
	}
	return changed.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function walk(dir: string, prefix: string, depth: number, listing: Listing): Promise<void> {
	const entries = await readdir(join(dir, prefix), { withFileTypes: true }).catch(() => []);
	for (const entry of entries) {
		if (entry.name.startsWith('.') || listing.size >= MAX_FILES) continue;
		const path = prefix ? `${prefix}/${entry.name}` : entry.name;
		if (entry.isDirectory() && depth < MAX_DEPTH) await walk(dir, path, depth + 1, listing);
		if (!entry.isFile()) continue;
		// A file that vanishes between the two calls was a temporary one.
		const facts = await stat(join(dir, path)).catch(() => null);
		if (facts) listing.set(path, { bytes: facts.size, stamp: `${facts.size}:${facts.mtimeMs}:${facts.ino}` });
	}
}
