/** Tells when a folder that a scan read has changed, or when a root comes or goes (FEATURES A33). */
import { watch, type FSWatcher } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { isLeftOut } from '../read/files.ts';

export interface FolderWatcher {
	/** Begins a scan. A change that comes while it reads is told as well, for each folder is watched before it is read. */
	startPass(): FolderPass;
	/** One more root to wait for. */
	addRoot(root: string): void;
	close(): void;
}

export interface FolderPass {
	/** Watches a folder from now on; true when it was watched before, so that no change in it went unnoticed. */
	follow: (folder: string) => boolean;
	/** Folders in which something happened since the last scan began. */
	touched: ReadonlySet<string>;
	/** Paths at which something came, went or was replaced since then. */
	moved: ReadonlySet<string>;
	/** Lets go of the folders that this scan did not follow. */
	finish(): void;
}

/**
 * Watches what was read and nothing else: a link to `/` costs no more than the scan's caps allow. What cannot be
 * watched (the system may run out of watches) is read on `reload` only.
 */
export function createFolderWatcher(roots: readonly string[], onChange: () => void): FolderWatcher {
	let above = namesAbove(roots);
	const added: string[] = [];
	const watches = new Map<string, Watch>();
	let pass = 0;
	let touched = new Set<string>();
	let moved = new Set<string>();
	let isClosed = false;

	/** Did this scan or the one before it read the folder? */
	const isFollowed = ({ followedIn }: Watch) => followedIn > 0 && followedIn >= pass - 1;

	const drop = (folder: string) => {
		if (!watches.has(folder)) return;
		for (const [path, { handle }] of watches) {
			if (path !== folder && !path.startsWith(folder + sep)) continue;
			handle.close();
			watches.delete(path);
		}
	};
	/** Its watch; null for what cannot be watched. */
	const add = (folder: string): Watch | null => {
		if (isClosed) return null;
		let handle: FSWatcher;
		try {
			handle = watch(folder);
		} catch {
			// Absent or unreadable: the folder above tells when it comes.
			return null;
		}
		const fresh: Watch = { handle, followedIn: 0 };
		watches.set(folder, fresh);
		handle.on('change', (event, name) => {
			// If no scan reads it, it is watched for the roots below it.
			const isRead = isFollowed(fresh);
			if (isRead) touched.add(folder);
			if (typeof name !== 'string') return onChange();
			const isRename = event === 'rename';
			const isAbove = above.get(folder)?.has(name) ?? false;
			// Folders above the roots may be busy with things that are none of ours.
			if (isRename && (isAbove || isRead)) moved.add(join(folder, name));
			if (isRename && name === basename(folder)) moved.add(folder);
			// A folder that was moved or removed takes its watch along; what stands there next needs a new one.
			if (isRename) drop(join(folder, name));
			if (isRename && name === basename(folder)) drop(folder);
			const isNews = isRead && !isLeftOut(name);
			if (isNews || isAbove || name === basename(folder)) onChange();
		});
		handle.on('error', () => {
			drop(folder);
			moved.add(folder);
			onChange();
		});
		return fresh;
	};

	return {
		startPass() {
			pass += 1;
			const changes = { touched, moved };
			touched = new Set();
			moved = new Set();
			// From the top: each is watched before the next is looked for, so none can come unseen.
			for (const folder of above.keys()) if (!watches.has(folder)) add(folder);
			return {
				...changes,
				follow(folder) {
					const known = watches.get(folder);
					const wasFollowed = known !== undefined && isFollowed(known);
					const followed = known ?? add(folder);
					if (followed) followed.followedIn = pass;
					return wasFollowed;
				},
				finish() {
					for (const [folder, { followedIn }] of watches) {
						if (followedIn < pass && !above.has(folder)) drop(folder);
					}
				}
			};
		},
		addRoot(root) {
			above = namesAbove([...roots, ...added, root]);
			added.push(root);
		},
		close() {
			isClosed = true;
			for (const { handle } of watches.values()) handle.close();
			watches.clear();
		}
	};
}

interface Watch {
	handle: FSWatcher;
	/** The last scan that read the folder; 0 for none. */
	followedIn: number;
}

/** Every folder above the roots, the highest first, with the names in it that lead to a root. */
function namesAbove(roots: readonly string[]): Map<string, Set<string>> {
	const above = new Map<string, Set<string>>();
	for (const root of roots) {
		const steps: [string, string][] = [];
		for (let path = root; path !== dirname(path); path = dirname(path)) steps.unshift([dirname(path), basename(path)]);
		for (const [folder, name] of steps) above.set(folder, (above.get(folder) ?? new Set()).add(name));
	}
	return above;
}
