/** Tells when a folder that a scan read has changed, or when a root comes or goes (FEATURES A33). */
import { watch, type FSWatcher } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { isLeftOut } from './resources.ts';

export interface FolderWatcher {
	/** Begins a scan. A change that comes while it reads is told as well, for each folder is watched before it is read. */
	startPass(): FolderPass;
	close(): void;
}

export interface FolderPass {
	/** Watches a folder from now on. */
	follow: (folder: string) => void;
	/** Lets go of the folders that this scan did not follow. */
	finish(): void;
}

/**
 * Watches what was read and nothing else: a link to `/` costs no more than the scan's caps allow. What cannot be
 * watched (the system may run out of watches) is read on `reload` only.
 */
export function createFolderWatcher(roots: readonly string[], onChange: () => void): FolderWatcher {
	const above = namesAbove(roots);
	const watches = new Map<string, FSWatcher>();
	let followed = new Set<string>();
	let isClosed = false;

	const drop = (folder: string) => {
		if (!watches.has(folder)) return;
		for (const [path, handle] of watches) {
			if (path !== folder && !path.startsWith(folder + sep)) continue;
			handle.close();
			watches.delete(path);
		}
	};
	const add = (folder: string) => {
		if (isClosed || watches.has(folder)) return;
		let handle: FSWatcher;
		try {
			handle = watch(folder);
		} catch {
			// Absent or unreadable: the folder above tells when it comes.
			return;
		}
		watches.set(folder, handle);
		handle.on('change', (event, name) => {
			if (typeof name !== 'string') return onChange();
			// A folder that was moved or removed takes its watch along; what stands there next needs a new one.
			if (event === 'rename') drop(join(folder, name));
			if (event === 'rename' && name === basename(folder)) drop(folder);
			const isNews = followed.has(folder) && !isLeftOut(name);
			if (isNews || name === basename(folder) || above.get(folder)?.has(name)) onChange();
		});
		handle.on('error', () => {
			drop(folder);
			onChange();
		});
	};

	return {
		startPass() {
			const seen = new Set<string>();
			// From the top: each is watched before the next is looked for, so none can come unseen.
			for (const folder of above.keys()) add(folder);
			return {
				follow(folder) {
					seen.add(folder);
					followed.add(folder);
					add(folder);
				},
				finish() {
					followed = seen;
					for (const folder of watches.keys()) {
						if (!seen.has(folder) && !above.has(folder)) drop(folder);
					}
				}
			};
		},
		close() {
			isClosed = true;
			for (const handle of watches.values()) handle.close();
			watches.clear();
		}
	};
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
