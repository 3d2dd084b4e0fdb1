/** Keeps the library of skills: merges roots, reports collisions, hands out snapshots and follows changes (A28, A32, A33). */
import { createHash } from 'node:crypto';
import { createFolderWatcher } from './folder-watcher.ts';
import { scanRoots } from './scanner.ts';
import { compare } from 'semver';
import { labelRoots } from './sources.ts';
import type { BrokenSkill, Skill, SkillRoot } from './types.ts';

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
export async function createRegistry(
	given: readonly (string | SkillRoot)[],
	options: RegistryOptions = {}
): Promise<SkillRegistry> {
	const roots = labelRoots(given);
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
	const watcher = options.watch ? createFolderWatcher(
				roots.map(({ path }) => path),
				schedule
			) : null;
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

/** Of one name the first root wins, in one root the newest version; the others stay addressable (A28, A38). */
function merge(found: readonly (Skill | BrokenSkill)[], options: RegistryOptions): SkillSnapshot {
	const byName = new Map<string, Skill[]>();
	const broken: BrokenSkill[] = [];
	for (const entry of found) {
		if (!isWanted(entry, options)) continue;
		if (entry.status === 'broken') broken.push(entry);
		else byName.set(entry.name, [...(byName.get(entry.name) ?? []), entry]);
	}
	const skills: Skill[] = [];
	const shadowed: Skill[] = [];
	for (const named of byName.values()) {
		const [first, ...others] = inOrder(named);
		if (!first) continue;
		skills.push(first);
		shadowed.push(...others.filter(({ digest }) => digest !== first.digest).map((other) => besides(other, first)));
	}
	skills.sort((a, b) => (a.name < b.name ? -1 : 1));
	// A body is in its digest already; a large library's bodies would hold the server up.
	const facts = [...skills, ...shadowed].map(({ body: _body, ...rest }) => rest);
	const hash = createHash('sha256').update(JSON.stringify([skills.length, facts, broken]));
	return { skills, shadowed, broken, revision: hash.digest('hex').slice(0, 16) };
}

function inOrder(named: Skill[]): Skill[] {
	const roots = [...new Set(named.map(({ root }) => root))];
	return named.sort((a, b) => roots.indexOf(a.root) - roots.indexOf(b.root) || compare(b.version, a.version));
}

/** An older version beside its newer one is meant to be there; anything else of the same name is remarked on. */
function besides(other: Skill, first: Skill): Skill {
	if (other.root === first.root && other.version !== first.version) return other;
	const message = `“${other.name}” is already defined by ${first.path}, which comes first; this one is ${other.source}/${other.name}`;
	return { ...other, issues: [...other.issues, { field: 'name', severity: 'warning', message }] };
}

function isWanted({ name, dir }: Skill | BrokenSkill, { include = [], exclude = [] }: RegistryOptions): boolean {
	const folder = dir.split(/[\\/]/).at(-1) ?? name;
	const isIn = (list: readonly string[]) => list.includes(name) || list.includes(folder);
	return (include.length === 0 || isIn(include)) && !isIn(exclude);
}
