/** Goes through the folders below a root in search of skill files: level by level, never in a circle (FEATURES A24). */
import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { valid } from 'semver';
import { SkillLoadError, type SkillRoot } from '../types.ts';
import { UNUSABLE } from './fields.ts';
import { compareNames } from './files.ts';
import { createPace } from './lean.ts';

/** Folders without a skill file that are looked into below one root. */
const MAX_FOLDERS = 2000;
const MAX_SKILLS = 10_000;

export interface WalkRules {
	/** Names of a skill's file; an earlier one is taken before a later one. */
	filenames: readonly string[];
	/** Levels below the root that are searched. */
	maxDepth: number;
	isSkipped: (name: string) => boolean;
}

export interface Folder {
	path: string;
	/** Its real path, so that links cannot lead round in a circle. */
	real: string;
	/** Something else stood at this path when it was last read. */
	isNew: boolean;
}

/** A folder without a skill file: what may lie below it. */
export interface Subfolders {
	below: readonly { name: string; path: string; isLink: boolean }[];
}

export interface WalkVisitor<Found> {
	/** What the folder is known to hold, so that nobody need look. */
	recall?(folder: Folder): Found | Subfolders | undefined;
	/** Looks into a folder: the skill it holds, or what lies below it. Errors of the file system may be thrown. */
	open(folder: Folder, isRoot: boolean): Promise<Found | Subfolders>;
	found(skill: Found): void;
	/** A folder that cannot be read, or a root that holds too much. */
	failed(folder: string, message: string): void;
}

/** Descent stops at a skill. `seen` holds the real paths of all folders read so far. Only a SkillLoadError is thrown. */
export async function walkRoot<Found extends object>(
	root: string,
	seen: Set<string>,
	{ maxDepth }: WalkRules,
	visitor: WalkVisitor<Found>,
	isNew = false
): Promise<void> {
	const pace = createPace();
	let level: Folder[] = [{ path: root, real: root, isNew }];
	let skills = 0;
	let folders = 0;
	for (let depth = 0; depth <= maxDepth && level.length > 0; depth += 1) {
		const next: Folder[] = [];
		for (const folder of level) {
			try {
				// Ten thousand folders of which nothing is new are passed without as many promises.
				const rest = pace();
				if (rest) await rest;
				if (depth === 0) folder.real = realpathSync.native(root);
				if (seen.has(folder.real)) continue;
				const content = visitor.recall?.(folder) ?? (await visitor.open(folder, depth === 0));
				seen.add(folder.real);
				const isSkill = !('below' in content);
				if (isSkill ? (skills += 1) > MAX_SKILLS : (folders += 1) > MAX_FOLDERS) {
					const message = isSkill ? 'has more than 10,000 skills' : 'has more than 2,000 folders without a SKILL.md';
					visitor.failed(root, `${message}, so the rest wasn’t read`);
					return;
				}
				if (isSkill) visitor.found(content);
				else if (depth < maxDepth) for (const entry of content.below) addSubfolder(next, folder, entry);
			} catch (error) {
				if (error instanceof SkillLoadError) throw error;
				// What went away since it was listed is absent like a root that never was.
				if ((error as NodeJS.ErrnoException).code !== 'ENOENT') visitor.failed(folder.path, (error as Error).message);
			}
		}
		level = next;
	}
}

/** Entries of a folder, sorted by name. */
export function readEntries(folder: string): Dirent[] {
	return readdirSync(folder, { withFileTypes: true }).sort((a, b) => compareNames(a.name, b.name));
}

export function skillFileOf(
	entries: readonly Dirent[],
	{ filenames }: Pick<WalkRules, 'filenames'>
): Dirent | undefined {
	for (const filename of filenames) {
		const file = entries.find(({ name }) => name === filename);
		if (file) return file;
	}
	return undefined;
}

export function subfoldersOf(folder: string, entries: readonly Dirent[], { isSkipped }: WalkRules): Subfolders {
	const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
	const below = folders.filter(({ name }) => !isSkipped(name));
	return {
		below: below.map((entry) => ({ name: entry.name, path: join(folder, entry.name), isLink: entry.isSymbolicLink() }))
	};
}

/** Adds the folder that an entry is or links to. Only a link costs system calls: other real paths follow from their parent's. */
function addSubfolder(
	folders: Folder[],
	{ path: above, real, isNew }: Folder,
	{ name, path, isLink }: Subfolders['below'][number]
): void {
	if (!isLink) {
		folders.push({ path, real: real === above ? path : join(real, name), isNew });
		return;
	}
	try {
		if (statSync(path).isDirectory()) folders.push({ path, real: realpathSync.native(path), isNew });
	} catch {
		// A link to nothing, or to itself, is no folder.
	}
}

// Labels for roots: the `source` in `source/name` (FEATURES A27, A28); pure.

/**
 * Each root with a label of its own: the name of its folder, or of the folder above where that is only `skills`
 * inside a hidden one (`.claude/skills` → `claude`); the second of the same label is `label-2`.
 */
export function labelRoots(roots: readonly (string | SkillRoot)[]): SkillRoot[] {
	// A label that was given is kept, whatever a folder before it is called.
	const given = roots.flatMap((root) => (typeof root === 'string' ? [] : [root.source]));
	// Theirs are the ids of the server's own skills.
	const taken = new Set(['builtin']);
	return roots.map((root) => {
		const path = typeof root === 'string' ? root : root.path;
		const base = typeof root === 'string' ? labelOf(root) : root.source;
		let source = base;
		const isTaken = () => taken.has(source) || (typeof root === 'string' && given.includes(source));
		for (let count = 2; isTaken(); count += 1) source = `${base}-${count}`;
		taken.add(source);
		return { ...(typeof root === 'string' ? {} : root), path, source };
	});
}

function labelOf(path: string): string {
	const name = basename(path);
	const above = basename(dirname(path));
	const label = name === 'skills' && above.startsWith('.') ? above.slice(1) : name;
	// What begins with `~` is the sign of an id; with `key.`, the label of what a key owns.
	return (
		label
			.replace(UNUSABLE, '-')
			.replace(/\s+/g, '-')
			.replace(/^~+/, '')
			.replace(/^key\./, 'key-')
			.toWellFormed() || 'root'
	);
}

// What the name of a skill's folder says: `weather@1.2.0` is a `weather` of that version (FEATURES A6, A38); pure.

/** Only an exact version is one: `mail@home` is a name, though not one that a skill may have. */
export function readFolderName(dir: string): { name: string; version?: string } {
	const folder = basename(dir);
	const at = folder.lastIndexOf('@');
	const version = at > 0 ? valid(folder.slice(at + 1)) : null;
	return version === null ? { name: folder } : { name: folder.slice(0, at), version };
}
