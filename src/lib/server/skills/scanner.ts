/** Roots → skills, ready or broken; what did not change since the last scan is not read again (FEATURES A24, A27, A32). */
import type { Dirent } from 'node:fs';
import { dirname } from 'node:path';
import { addMark, isUnchanged, type FileMarks } from './file-marks.ts';
import {
	readEntries,
	skillFileOf,
	subfoldersOf,
	walkRoot,
	type Folder,
	type Subfolders,
	type WalkRules
} from './folder-walk.ts';
import { compareNames, isInside } from './resources.ts';
import { brokenFolder, loadSkill } from './skill-loader.ts';
import { createPace } from './slices.ts';
import { labelRoots } from './sources.ts';
import type { IsReserved } from './tool-names.ts';
import type { BrokenSkill, Skill, SkillRoot } from './types.ts';

const RULES: WalkRules = {
	filenames: ['SKILL.md', 'skill.md'],
	maxDepth: 6,
	isSkipped: (name) => /^[._]/.test(name) || name === 'node_modules'
};

/** What a watcher of folders knows at the start of a scan. */
export interface ScanPass {
	/** Is told of each folder just before it is looked at; true when no change in it can have gone unnoticed since. */
	follow(folder: string): boolean;
	/** Folders in which something happened: they are read again, whatever their files' times say. */
	touched: ReadonlySet<string>;
	/** Paths at which something else may stand now. */
	moved: ReadonlySet<string>;
	/** Look at every file's time all the same. */
	verifies: boolean;
}

export interface Scanner {
	/** Every folder below the roots with a SKILL.md, in the order of the roots, then by path. Not to be called twice at once. */
	scan(pass?: ScanPass): Promise<(Skill | BrokenSkill)[]>;
	/** One more root, after those there are; from the next scan on. */
	addRoot(root: SkillRoot): void;
}

const UNWATCHED: ScanPass = { follow: () => false, touched: new Set(), moved: new Set(), verifies: true };

/** A folder as it was read, and how to tell that it still is so. */
interface Known {
	content: Skill | Subfolders;
	/** The folders that were listed, then the files that were read. */
	paths: readonly string[];
	/** How many of them are folders. */
	folders: number;
	/** Of each path; null when one changed too short a while before to tell. */
	marks: FileMarks | null;
}

/**
 * Absent roots are skipped; a root or folder that cannot be read, or holds too much, is listed as broken. The event
 * loop is never held up long. A skill that did not change is the same object in the next scan.
 */
export function createScanner(given: readonly (string | SkillRoot)[], isReserved?: IsReserved): Scanner {
	let roots = labelRoots(given);
	let known = new Map<string, Known>();
	return {
		async scan(pass = UNWATCHED) {
			const kept = new Map<string, Known>();
			const found = await scanAll(roots, pass, { known, kept }, isReserved);
			known = kept;
			return found;
		},
		addRoot(root) {
			roots = labelRoots([...roots, root]);
		}
	};
}

/** One scan that nothing is kept of. `onFolder` is told of each folder just before it is read. */
export async function scanRoots(
	roots: readonly (string | SkillRoot)[],
	onFolder: (folder: string) => void = () => undefined
): Promise<(Skill | BrokenSkill)[]> {
	const follow = (folder: string): boolean => {
		onFolder(folder);
		return false;
	};
	return scanAll(labelRoots(roots), { ...UNWATCHED, follow }, null);
}

interface Memory {
	known: ReadonlyMap<string, Known>;
	kept: Map<string, Known>;
}

async function scanAll(
	roots: readonly SkillRoot[],
	pass: ScanPass,
	memory: Memory | null,
	isReserved?: IsReserved
): Promise<(Skill | BrokenSkill)[]> {
	const pace = createPace();
	const seen = new Set<string>();
	const skills: (Skill | BrokenSkill)[] = [];
	for (const root of roots) {
		const found: (Skill | BrokenSkill)[] = [];
		let real: string | null = null;
		const recall = (folder: Folder): Skill | Subfolders | undefined => {
			// The first that is asked about is the root.
			real ??= folder.real;
			folder.isNew ||= pass.moved.has(folder.path);
			const known = memory?.known.get(folder.path);
			if (!memory || !known || folder.isNew || !isCurrent(known, pass)) return undefined;
			memory.kept.set(folder.path, known);
			return known.content;
		};
		const open = async (folder: Folder, isRoot: boolean): Promise<Skill | BrokenSkill | Subfolders> => {
			const reading = createReading(pass, memory !== null, pace);
			const entries = await reading.readFolder(folder.path);
			const file = isRoot ? undefined : skillFileOf(entries, RULES);
			if (!file) return reading.keep(subfoldersOf(folder.path, entries, RULES), folder.path, memory);
			const isOutside = !isInside(real ?? root.path, folder.real);
			const skill = await loadSkill({ path: folder.path, root, file, entries, isOutside, isReserved }, reading);
			// What is broken may be whole the next moment, and for reasons that no file's time tells of.
			return skill.status === 'ready' ? reading.keep(skill, folder.path, memory) : skill;
		};
		const failed = (folder: string, message: string) => found.push(brokenFolder(folder, root, message));
		const visitor = { recall, open, found: (skill: Skill | BrokenSkill) => found.push(skill), failed };
		await walkRoot(root.path, seen, RULES, visitor, isMoved(root.path, pass));
		skills.push(...found.sort((a, b) => compareNames(a.path, b.path)));
	}
	return skills;
}

function isCurrent({ paths, folders, marks }: Known, pass: ScanPass): boolean {
	let isWatched = true;
	for (let index = 0; index < folders; index += 1) {
		const folder = paths[index] ?? '';
		// Followed before it is looked at, so that no change comes between.
		if (!pass.follow(folder)) isWatched = false;
		if (pass.touched.size > 0 && pass.touched.has(folder)) return false;
	}
	if (isWatched && !pass.verifies) return true;
	return marks !== null && paths.every((path, index) => isUnchanged(path, marks, index));
}

/** Notes what is read for one skill, with the marks to know it again by. */
function createReading(pass: ScanPass, isKept: boolean, pace: () => Promise<void> | undefined) {
	const folders = { paths: [] as string[], marks: [] as number[] };
	const files = { paths: [] as string[], marks: [] as number[] };
	let isWhole = true;
	let isMarked = true;
	const note = (path: string, { paths, marks }: typeof folders) => {
		paths.push(path);
		if (isKept && isMarked) isMarked = addMark(marks, path);
	};
	return {
		async readFolder(folder: string): Promise<Dirent[]> {
			await pace();
			pass.follow(folder);
			try {
				note(folder, folders);
				return readEntries(folder);
			} catch (error) {
				isWhole = false;
				throw error;
			}
		},
		beforeFile(path: string, isLink: boolean): void {
			// A link may come to lead elsewhere without any of this changing.
			if (isLink) isWhole = false;
			else note(path, files);
		},
		keep<Content extends Known['content']>(content: Content, folder: string, memory: Memory | null): Content {
			if (!isWhole || !memory) return content;
			memory.kept.set(folder, {
				content,
				paths: [...folders.paths, ...files.paths],
				folders: folders.paths.length,
				marks: isMarked ? [...folders.marks, ...files.marks] : null
			});
			return content;
		}
	};
}

/** Is the path, or one above it, another than before? */
function isMoved(path: string, { moved }: ScanPass): boolean {
	if (moved.size === 0) return false;
	for (let at = path; ; at = dirname(at)) {
		if (moved.has(at)) return true;
		if (at === dirname(at)) return false;
	}
}
