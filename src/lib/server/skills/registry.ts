/** Keeps the library of skills: merges roots, reports collisions, hands out snapshots and follows changes (A28, A32, A33). */
import { createHash } from 'node:crypto';
import { createFolderWatcher } from './folder-watcher.ts';
import { scanRoots } from './scanner.ts';
import type { BrokenSkill, Skill } from './types.ts';

/** An unchanging view of the library; a run keeps the one it started with. */
export interface SkillSnapshot {
	/** Usable skills, one a name: the first root wins. */
	skills: readonly Skill[];
	/** Skills that another of the same name stands before. */
	shadowed: readonly Skill[];
	broken: readonly BrokenSkill[];
	/** Changes whenever anything in the library does. */
	revision: string;
}

export interface RegistryOptions {
	/** Folder names or skill names; empty means all (A29). */
	include?: readonly string[];
	exclude?: readonly string[];
	/** Follow changes on disk; without it the library is read once and on `reload`. */
	watch?: boolean;
}

export interface SkillRegistry {
	snapshot(): SkillSnapshot;
	/** Reads the roots again now. */
	reload(): Promise<SkillSnapshot>;
	/** Calls back after each change, until the returned function is called. */
	onChange(listener: (snapshot: SkillSnapshot) => void): () => void;
	close(): Promise<void>;
}

/** How long the disk must be quiet before the library is read again, and how long at most it is waited for. */
const QUIET_MS = 30;
const MAX_WAIT_MS = 300;

/** Reads `roots`, highest priority first, and returns when the first scan is done. */
export async function createRegistry(roots: readonly string[], options: RegistryOptions = {}): Promise<SkillRegistry> {
	const listeners = new Set<(snapshot: SkillSnapshot) => void>();
	let snapshot = merge([], options);
	let running: Promise<SkillSnapshot> | null = null;
	let next: Promise<SkillSnapshot> | null = null;
	let isClosed = false;
	let timer: NodeJS.Timeout | undefined;
	let firstChange = 0;

	const scan = async (): Promise<SkillSnapshot> => {
		const pass = watcher?.startPass();
		const found = merge(await scanRoots(roots, pass?.follow), options);
		pass?.finish();
		if (found.revision !== snapshot.revision) {
			snapshot = found;
			for (const listener of listeners) listener(snapshot);
		}
		return snapshot;
	};
	// Whoever calls while it reads may have changed what was read already: all of them share the reading after it.
	const reload = (): Promise<SkillSnapshot> => {
		if (!running) return (running = scan().finally(() => (running = null)));
		const again = () => {
			next = null;
			return reload();
		};
		return (next ??= running.then(again, again));
	};
	const schedule = () => {
		if (isClosed) return;
		const now = Date.now();
		firstChange ||= now;
		clearTimeout(timer);
		const wait = Math.max(0, Math.min(QUIET_MS, firstChange + MAX_WAIT_MS - now));
		timer = setTimeout(() => {
			firstChange = 0;
			void reload();
		}, wait);
	};
	const watcher = options.watch ? createFolderWatcher(roots, schedule) : null;
	await reload();

	return {
		snapshot: () => snapshot,
		reload,
		onChange(listener) {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
		async close() {
			isClosed = true;
			clearTimeout(timer);
			listeners.clear();
			watcher?.close();
			await (next ?? running);
		}
	};
}

function merge(found: readonly (Skill | BrokenSkill)[], options: RegistryOptions): SkillSnapshot {
	const skills = new Map<string, Skill>();
	const shadowed: Skill[] = [];
	const broken: BrokenSkill[] = [];
	for (const entry of found) {
		if (!isWanted(entry, options)) continue;
		const first = skills.get(entry.name);
		if (entry.status === 'broken') broken.push(entry);
		else if (!first) skills.set(entry.name, entry);
		else if (first.digest !== entry.digest) {
			const message = `“${entry.name}” is already defined by ${first.path}, which comes first`;
			shadowed.push({ ...entry, issues: [...entry.issues, { field: 'name', severity: 'warning', message }] });
		}
	}
	const list = [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
	// A body is in its digest already; a large library's bodies would hold the server up.
	const facts = [...list, ...shadowed].map(({ body: _body, ...rest }) => rest);
	const hash = createHash('sha256').update(JSON.stringify([list.length, facts, broken]));
	return { skills: list, shadowed, broken, revision: hash.digest('hex').slice(0, 16) };
}

function isWanted({ name, dir }: Skill | BrokenSkill, { include = [], exclude = [] }: RegistryOptions): boolean {
	const folder = dir.split(/[\\/]/).at(-1) ?? name;
	const isIn = (list: readonly string[]) => list.includes(name) || list.includes(folder);
	return (include.length === 0 || isIn(include)) && !isIn(exclude);
}
