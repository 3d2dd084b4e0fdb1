/** Reports changes in scanned folders, and roots that appear or disappear (FEATURES A33). */
import { watch, type FSWatcher } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { isLeftOut } from '../read/files.ts';

export interface FolderWatcher {
	/** Starts a scan. Reports changes during the scan too, because each folder is watched before it is read. */
	startPass(): FolderPass;
	/** Adds a root to wait for. */
	addRoot(root: string): void;
	close(): void;
}

export interface FolderPass {
	/** Watches a folder; true if it was already watched, so that no change was missed. */
	follow: (folder: string) => boolean;
	/** Folders changed since the last scan began. */
	touched: ReadonlySet<string>;
	/** Paths added, removed or replaced since then. */
	moved: ReadonlySet<string>;
	/** Stops watching folders this scan didn't follow. */
	finish(): void;
}

/** Watches only scanned folders. Those it can't watch, as on a system without more watches, need a `reload`. */
export function createFolderWatcher(roots: readonly string[], onChange: () => void): FolderWatcher {
	let above = namesAbove(roots);
	const added: string[] = [];
	const watches = new Map<string, Watch>();
	let pass = 0;
	let touched = new Set<string>();
	let moved = new Set<string>();
	let isClosed = false;

	/** True if this scan or the one before read the folder. */
	const isFollowed = ({ followedIn }: Watch) => followedIn > 0 && followedIn >= pass - 1;

	const drop = (folder: string) => {
		if (!watches.has(folder)) return;
		for (const [path, { handle }] of watches) {
			if (path !== folder && !path.startsWith(folder + sep)) continue;
			handle.close();
			watches.delete(path);
		}
	};
	/** null if the folder can't be watched. */
	const add = (folder: string): Watch | null => {
		if (isClosed) return null;
		let handle: FSWatcher;
		try {
			handle = watch(folder);
		} catch {
			// Absent or unreadable: the folder above reports when it appears.
			return null;
		}
		const fresh: Watch = { handle, followedIn: 0 };
		watches.set(folder, fresh);
		handle.on('change', (event, name) => {
			// Folders that no scan reads are watched only for the roots below them.
			const isRead = isFollowed(fresh);
			if (isRead) touched.add(folder);
			if (typeof name !== 'string') return onChange();
			const isRename = event === 'rename';
			const isAbove = above.get(folder)?.has(name) ?? false;
			// Ignore unrelated changes in folders above the roots.
			if (isRename && (isAbove || isRead)) moved.add(join(folder, name));
			if (isRename && name === basename(folder)) moved.add(folder);
			// A moved or removed folder takes its watch along; its replacement needs a new one.
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
			// Top down: each is watched before the next is looked up, so none is missed.
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

/** Folders above the roots, highest first, with the names in them that lead to a root. */
function namesAbove(roots: readonly string[]): Map<string, Set<string>> {
	const above = new Map<string, Set<string>>();
	for (const root of roots) {
		const steps: [string, string][] = [];
		for (let path = root; path !== dirname(path); path = dirname(path)) steps.unshift([dirname(path), basename(path)]);
		for (const [folder, name] of steps) above.set(folder, (above.get(folder) ?? new Set()).add(name));
	}
	return above;
}
