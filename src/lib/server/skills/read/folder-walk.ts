/** Walks the folders below a root to find skills, level by level, never in circles (A24). */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { valid } from 'semver';
import { SkillLoadError, type SkillRoot } from '../types.ts';
import { UNUSABLE } from './fields.ts';
import { compareNames } from './files.ts';
import { createPace } from './lean.ts';

/** Folders without a skill file that are searched per root. */
const MAX_FOLDERS = 2000;
const MAX_SKILLS = 10_000;

export interface WalkRules {
	/** Names of a skill's file, in order of preference. */
	filenames: readonly string[];
	/** Levels searched below the root. */
	maxDepth: number;
	isSkipped: (name: string) => boolean;
}

/** As `readdir` gives them; the package’s types name none of Node’s. */
export interface Entry {
	name: string;
	isFile(): boolean;
	isDirectory(): boolean;
	isSymbolicLink(): boolean;
}

export interface Folder {
	path: string;
	/** Real path, to detect circular links. */
	real: string;
	/** Replaced since the last scan. */
	isNew: boolean;
}

/** The folders in a folder without a skill file. */
export interface Subfolders {
	below: readonly { name: string; path: string; isLink: boolean }[];
}

export interface WalkVisitor<Found> {
	/** Returns the folder's cached content, if still valid. */
	recall?(folder: Folder): Found | Subfolders | undefined;
	/** Reads a folder: its skill, or its subfolders. May throw file system errors. */
	open(folder: Folder, isRoot: boolean): Promise<Found | Subfolders>;
	found(skill: Found): void;
	/** Reports an unreadable folder or an oversized root. */
	failed(folder: string, message: string): void;
}

/** Doesn't search below a skill. `seen` has the real paths of all folders read so far. Throws only SkillLoadError. */
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
				// Avoids a promise for each of ten thousand unchanged folders.
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
				// A folder that vanished since it was listed is skipped.
				if ((error as NodeJS.ErrnoException).code !== 'ENOENT') visitor.failed(folder.path, (error as Error).message);
			}
		}
		level = next;
	}
}

/** Entries of a folder, sorted by name. */
export function readEntries(folder: string): Entry[] {
	return readdirSync(folder, { withFileTypes: true }).sort((a, b) => compareNames(a.name, b.name));
}

/** Names of a skill's file: the standard's, and those that other clients read, too. The first one counts. */
export const SKILL_FILES: readonly string[] = ['SKILL.md', 'skill.md', 'Skill.md', 'SKILL.MD'];

export function skillFileOf(entries: readonly Entry[], names = SKILL_FILES): Entry | undefined {
	return names.flatMap((filename) => entries.find(({ name }) => name === filename) ?? [])[0];
}

export function subfoldersOf(folder: string, entries: readonly Entry[], { isSkipped }: WalkRules): Subfolders {
	const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
	const below = folders.filter(({ name }) => !isSkipped(name));
	return {
		below: below.map((entry) => ({ name: entry.name, path: join(folder, entry.name), isLink: entry.isSymbolicLink() }))
	};
}

/** Adds the folder an entry is or links to. Only links cost system calls; other real paths derive from the parent's. */
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
		// A dangling or circular link isn't a folder.
	}
}

// Labels for roots: the `source` in `source/name` (A27, A28); pure.

/** Labels roots by folder name (`.claude/skills` → `claude`). Duplicates become `label-2`. */
export function labelRoots(roots: readonly (string | SkillRoot)[]): SkillRoot[] {
	// Given labels win over derived ones.
	const given = roots.flatMap((root) => (typeof root === 'string' ? [] : [root.source]));
	// Reserved for ids of the server's own skills.
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
	// `~` marks an id, `key.` the label of an API key's skills, `chat.` that of a chat's tools, `draft.` and
	// `unsaved.` those of what isn't saved.
	return (
		label
			.replace(UNUSABLE, '-')
			.replace(/\s+/g, '-')
			.replace(/^~+/, '')
			.replace(/^(key|chat|draft|unsaved)\./, '$1-')
			.toWellFormed() || 'root'
	);
}

// Reads a folder's name: `weather@1.2.0` is version 1.2.0 of `weather` (A6, A38); pure.

/** Only exact versions count: `mail@home` is a name, though not one a skill may have. */
export function readFolderName(dir: string): { name: string; version?: string } {
	const folder = basename(dir);
	const at = folder.lastIndexOf('@');
	const version = at > 0 ? valid(folder.slice(at + 1)) : null;
	return version === null ? { name: folder } : { name: folder.slice(0, at), version };
}
