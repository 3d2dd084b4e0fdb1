/** Git object ids of files, folders and commits: the SHA-1 of what git would store. */
import { createHash } from 'node:crypto';

export type PlayedEntry =
	| string
	| Uint8Array
	| { content: string | Uint8Array; mode: '100644' | '100755' }
	| { link: string }
	| { submodule: string };

/** Files by path, separated by `/`. */
export type PlayedFiles = Record<string, PlayedEntry>;

export interface GitEntry {
	path: string;
	mode: string;
	type: 'blob' | 'tree' | 'commit';
	sha: string;
	size?: number;
}

export interface GitSnapshot {
	commit: string;
	tree: string;
	/** Direct entries of each folder, by its SHA-1. */
	folders: Map<string, GitEntry[]>;
	blobs: Map<string, Buffer>;
	files: Map<string, Buffer>;
}

function gitSha(type: 'blob' | 'tree' | 'commit', content: Uint8Array): string {
	return createHash('sha1').update(`${type} ${content.byteLength}\0`).update(content).digest('hex');
}

/** The commit of these files. */
export function snapshotOf(files: PlayedFiles): GitSnapshot {
	const snapshot: GitSnapshot = { commit: '', tree: '', folders: new Map(), blobs: new Map(), files: new Map() };
	snapshot.tree = addFolder(Object.entries(files), '', snapshot);
	snapshot.commit = gitSha('commit', Buffer.from(`tree ${snapshot.tree}\nauthor A <a@example.com> 0 +0000\n\nc\n`));
	return snapshot;
}

/** Everything in a folder, at any depth, in the order of a recursive listing. */
export function entriesBelow(snapshot: GitSnapshot, sha: string, before = ''): GitEntry[] {
	return (snapshot.folders.get(sha) ?? []).flatMap((entry) => {
		const path = before + entry.path;
		return [{ ...entry, path }, ...(entry.type === 'tree' ? entriesBelow(snapshot, entry.sha, `${path}/`) : [])];
	});
}

function addFolder(files: [string, PlayedEntry][], before: string, snapshot: GitSnapshot): string {
	const entries: GitEntry[] = [];
	const folders = new Map<string, [string, PlayedEntry][]>();
	for (const [path, entry] of files) {
		const slash = path.indexOf('/');
		if (slash < 0) entries.push(addEntry(path, entry, before, snapshot));
		else {
			const name = path.slice(0, slash);
			folders.set(name, [...(folders.get(name) ?? []), [path.slice(slash + 1), entry]]);
		}
	}
	for (const [path, below] of folders) {
		entries.push({ path, mode: '040000', type: 'tree', sha: addFolder(below, `${before}${path}/`, snapshot) });
	}
	const key = ({ path, type }: GitEntry) => Buffer.from(type === 'tree' ? `${path}/` : path);
	entries.sort((a, b) => Buffer.compare(key(a), key(b)));
	const stored = entries.map(({ mode, path, sha }) =>
		Buffer.concat([Buffer.from(`${mode.replace(/^0/, '')} ${path}\0`), Buffer.from(sha, 'hex')])
	);
	const sha = gitSha('tree', Buffer.concat(stored));
	snapshot.folders.set(sha, entries);
	return sha;
}

function addEntry(path: string, entry: PlayedEntry, before: string, snapshot: GitSnapshot): GitEntry {
	if (typeof entry === 'object' && 'submodule' in entry) {
		return { path, mode: '160000', type: 'commit', sha: entry.submodule };
	}
	const { content, mode } = contentOf(entry);
	const sha = gitSha('blob', content);
	snapshot.blobs.set(sha, content);
	snapshot.files.set(before + path, content);
	return { path, mode, type: 'blob', sha, size: content.length };
}

function contentOf(entry: Exclude<PlayedEntry, { submodule: string }>): { content: Buffer; mode: string } {
	if (typeof entry === 'string' || entry instanceof Uint8Array) return { content: bytes(entry), mode: '100644' };
	if ('link' in entry) return { content: bytes(entry.link), mode: '120000' };
	return { content: bytes(entry.content), mode: entry.mode };
}

const bytes = (content: string | Uint8Array) =>
	typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
