/** The skill library: merges roots, reports conflicts, provides snapshots, watches for changes (A28, A32, A33). */
import { hash } from 'node:crypto';
import { existsSync, type FSWatcher, watch } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { compare } from 'semver';
import { compareNames, isLeftOut } from '../read/files.ts';
import { createScanner } from '../read/scanner.ts';
import { createPace } from '../read/lean.ts';
import { labelRoots } from '../read/folder-walk.ts';
import type { IsReserved } from '../read/tool-names.ts';
import type { BrokenSkill, Skill, SkillRoot } from '../types.ts';

/** An immutable view of the library; a run keeps the one it started with. */
export interface SkillSnapshot {
	/** Usable skills, one per name: the first root wins. */
	skills: readonly Skill[];
	/** Skills hidden by another of the same name. */
	shadowed: readonly Skill[];
	broken: readonly BrokenSkill[];
	/** Changes whenever anything in the library does. */
	revision: string;
}

export interface RegistryOptions {
	/** Folder names or skill names; empty means all (A29). */
	include?: readonly string[];
	exclude?: readonly string[];
	/** Skills without a folder; they take priority over roots. */
	defined?: readonly Skill[];
	/** Tool names that skills can't use; none by default. */
	isReserved?: IsReserved;
	/** Watches for changes on disk; otherwise only `reload` reads again. */
	watch?: boolean;
}

export interface SkillRegistry {
	snapshot(): SkillSnapshot;
	reload(): Promise<SkillSnapshot>;
	/** Appends a root, unless it's already there, and reloads. */
	addRoot(root: SkillRoot): Promise<SkillSnapshot>;
	/** Calls `listener` after each change; returns a function that unsubscribes. */
	onChange(listener: (snapshot: SkillSnapshot) => void): () => void;
	/**
	 * Calls `listener` with the folders of skills in which any file may have changed, also one that the snapshot says nothing
	 * of; returns a function that unsubscribes.
	 */
	onFiles(listener: (folders: readonly string[]) => void): () => void;
	close(): Promise<void>;
}

type Entry = Skill | BrokenSkill;

/** Quiet time on disk before the library is read again, and the longest wait for it. */
const QUIET_MS = 20;
const MAX_WAIT_MS = 300;
/** After watched changes everything is checked once, because systems may drop events when there are very many. */
const VERIFY_MS = 1000;

/** Reads `roots`, highest priority first, and resolves after the first scan. */
export async function createRegistry(
	given: readonly (string | SkillRoot)[],
	options: RegistryOptions = {}
): Promise<SkillRegistry> {
	const roots = [...labelRoots(given)];
	const scanner = createScanner(roots, options.isReserved);
	const { defined = [] } = options;
	const listeners = new Set<(snapshot: SkillSnapshot) => void>();
	const fileListeners = new Set<(folders: readonly string[]) => void>();
	const marks = new WeakMap<Entry, string>();
	let snapshot = merge([], marks, roots, options);
	/** Result of the last scan; null before the first. */
	let entries: readonly Entry[] | null = null;
	let running: Promise<SkillSnapshot> | null = null;
	let next: Promise<SkillSnapshot> | null = null;
	/** The next scan checks every file's time, whatever the watcher says. */
	let verifies = true;
	let isClosed = false;
	let timer: NodeJS.Timeout | undefined;
	let verifyTimer: NodeJS.Timeout | undefined;
	let firstChange: number | null = null;

	const read = async (again: readonly string[] = []): Promise<Entry[]> => {
		const pass = watcher?.startPass();
		const touched = new Set([...(pass?.touched ?? []), ...again]);
		const isPartial = !verifies;
		verifies = false;
		const found = await scanner.scan({
			follow: pass?.follow ?? (() => false),
			touched,
			moved: pass?.moved ?? new Set(),
			verifies: !isPartial
		});
		pass?.finish();
		if (isPartial && !isClosed) {
			clearTimeout(verifyTimer);
			verifyTimer = setTimeout(() => void reload(), VERIFY_MS);
		}
		return found;
	};
	const scan = async (): Promise<SkillSnapshot> => {
		let found = [...defined, ...(await read())];
		const doubtful = entries ? doubtfulIn(found, entries) : [];
		if (doubtful.length > 0 && !isClosed) {
			// It may be half-written.
			await delay(QUIET_MS);
			found = [...defined, ...(await read(doubtful))];
		}
		const { fresh, stale } = differences(found, entries ?? []);
		if (entries && fresh.length + stale.length === 0) return snapshot;
		const pace = createPace();
		for (const entry of fresh) {
			await pace();
			marks.set(entry, markOf(entry));
		}
		const merged = merge(found, marks, roots, options);
		const isFirst = entries === null;
		entries = found;
		if (merged.revision !== snapshot.revision) {
			snapshot = merged;
			for (const listener of listeners) listener(snapshot);
		}
		const folders = [...new Set([...fresh, ...stale].map(({ dir }) => dir))];
		if (!isFirst) for (const listener of fileListeners) listener(folders);
		return snapshot;
	};
	// A caller during a scan may have changed what was already read, so all of them share the next scan.
	const refresh = (): Promise<SkillSnapshot> => {
		if (!running) return (running = scan().finally(() => (running = null)));
		const again = () => {
			next = null;
			return refresh();
		};
		return (next ??= running.then(again, again));
	};
	const reload = (): Promise<SkillSnapshot> => {
		verifies = true;
		return refresh();
	};
	const schedule = () => {
		if (isClosed) return;
		const now = performance.now();
		firstChange ??= now;
		clearTimeout(timer);
		const wait = Math.max(0, Math.min(QUIET_MS, firstChange + MAX_WAIT_MS - now));
		timer = setTimeout(() => {
			firstChange = null;
			void refresh();
		}, wait);
	};
	const watcher = options.watch
		? createFolderWatcher(
				roots.map(({ path }) => path),
				schedule
			)
		: null;
	await reload();

	return {
		snapshot: () => snapshot,
		reload,
		addRoot(root) {
			if (!roots.some(({ path }) => path === root.path)) {
				roots.push(root);
				scanner.addRoot(root);
				watcher?.addRoot(root.path);
			}
			return reload();
		},
		onChange(listener) {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
		onFiles(listener) {
			fileListeners.add(listener);
			return () => fileListeners.delete(listener);
		},
		async close() {
			isClosed = true;
			clearTimeout(timer);
			clearTimeout(verifyTimer);
			listeners.clear();
			fileListeners.clear();
			watcher?.close();
			await (next ?? running);
		}
	};
}

/** Entries that two scans don't share. Unchanged ones are the same object, mostly at the start or end. */
function differences(found: readonly Entry[], before: readonly Entry[]): { fresh: Entry[]; stale: Entry[] } {
	const shortest = Math.min(found.length, before.length);
	let start = 0;
	while (start < shortest && found[start] === before[start]) start += 1;
	let end = 0;
	while (end < shortest - start && found.at(-1 - end) === before.at(-1 - end)) end += 1;
	const [now, then] = [found.slice(start, found.length - end), before.slice(start, before.length - end)];
	const [isFound, isKnown] = [new Set(now), new Set(then)];
	return { fresh: now.filter((entry) => !isKnown.has(entry)), stale: then.filter((entry) => !isFound.has(entry)) };
}

/** Folders with a possibly half-written skill: newly broken, or its file is gone but its folder isn't. */
function doubtfulIn(found: readonly Entry[], before: readonly Entry[]): string[] {
	const { fresh, stale } = differences(found, before);
	const wasBroken = new Set(stale.filter(({ status }) => status === 'broken').map(({ dir }) => dir));
	const broken = fresh.filter(({ status, dir }) => status === 'broken' && !wasBroken.has(dir));
	const isRead = new Set(fresh.map(({ dir }) => dir));
	const gone = stale.filter(({ dir }) => !isRead.has(dir) && existsSync(dir));
	return [...broken, ...gone].map(({ dir }) => dir);
}

/** Differs for different entries. The digest already covers the body. */
function markOf(entry: Entry): string {
	return hash('sha256', JSON.stringify(entry.status === 'ready' ? { ...entry, body: '' } : entry), 'base64');
}

/** The first root wins a name, within a root the newest version; the others stay addressable (A28, A38). */
function merge(
	found: readonly Entry[],
	marks: WeakMap<Entry, string>,
	roots: readonly SkillRoot[],
	options: RegistryOptions
): SkillSnapshot {
	const listing = new Set(roots.filter(({ listsCopies }) => listsCopies).map(({ path }) => path));
	const byName = new Map<string, Skill[]>();
	const broken: BrokenSkill[] = [];
	const wanted = found.filter((entry) => isWanted(entry, options));
	for (const entry of wanted) {
		const named = byName.get(entry.name);
		if (entry.status === 'broken') broken.push(entry);
		else if (named) named.push(entry);
		else byName.set(entry.name, [entry]);
	}
	const skills: Skill[] = [];
	const shadowed: Skill[] = [];
	for (const named of byName.values()) {
		const [first, ...others] = named.length > 1 ? inOrder(named) : named;
		if (!first) continue;
		skills.push(first);
		const isListed = ({ digest, root }: Skill) => digest !== first.digest || listing.has(root);
		const addressed = [first];
		for (const other of others.filter(isListed)) {
			const twin = addressed.find(({ root, version }) => root === other.root && version === other.version);
			if (twin) broken.push(asDuplicate(other, twin));
			else {
				addressed.push(other);
				shadowed.push(withConflict(other, first));
			}
		}
	}
	skills.sort((a, b) => compareNames(a.name, b.name));
	const revision = hash('sha256', wanted.map((entry) => marks.get(entry)).join()).slice(0, 16);
	return { skills, shadowed, broken, revision };
}

function inOrder(named: Skill[]): Skill[] {
	const roots = [...new Set(named.map(({ root }) => root))];
	return named.sort((a, b) => roots.indexOf(a.root) - roots.indexOf(b.root) || compare(b.version, a.version));
}

/** Adds a warning about a name conflict, except between versions in one root or between owners. */
function withConflict(other: Skill, first: Skill): Skill {
	if (other.owner !== first.owner) return other;
	if (other.root === first.root && other.version !== first.version) return other;
	const message = `“${other.name}” is already defined in ${placeOf(first)}, which has priority. Use this one as ${other.source}/${other.name}`;
	return { ...other, issues: [...other.issues, { field: 'name', severity: 'warning', message }] };
}

/** A broken skill: another in its root has its name and version, so no reference can mean it. */
function asDuplicate(skill: Skill, twin: Skill): BrokenSkill {
	const { name, description, path, dir, root, source } = skill;
	const message = `and version are the same as those of ${placeOf(twin)}. Change one of them`;
	const issues = [...skill.issues, { field: 'name', severity: 'error' as const, message }];
	return { status: 'broken', name, description, path, dir, root, source, issues };
}

function placeOf({ source, root, dir }: Skill): string {
	return `${source}/${relative(root, dir).replaceAll('\\', '/')}`;
}

function isWanted({ name, dir }: Entry, { include = [], exclude = [] }: RegistryOptions): boolean {
	if (include.length === 0 && exclude.length === 0) return true;
	const folder = dir.split(/[\\/]/).at(-1) ?? name;
	const isIn = (list: readonly string[]) => list.includes(name) || list.includes(folder);
	return (include.length === 0 || isIn(include)) && !isIn(exclude);
}

// Watches scanned folders, and roots that appear or disappear (A33).

interface FolderPass {
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
function createFolderWatcher(roots: readonly string[], onChange: () => void) {
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
		/** Starts a scan. Reports changes during the scan too, because each folder is watched before it is read. */
		startPass(): FolderPass {
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
		/** Adds a root to wait for. */
		addRoot(root: string): void {
			above = namesAbove([...roots, ...added, root]);
			added.push(root);
		},
		close(): void {
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
