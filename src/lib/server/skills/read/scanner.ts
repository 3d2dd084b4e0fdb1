/** Roots → skills, ready or broken; what did not change since the last scan is not read again (FEATURES A24, A27, A32). */
import type { Dirent } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseSkill } from '../parser.ts';
import {
	type BrokenSkill,
	type Skill,
	type SkillIssue,
	SkillLoadError,
	type SkillRoot,
	type SkillSpec
} from '../types.ts';
import { compareNames, isInside } from './files.ts';
import {
	type Folder,
	labelRoots,
	readEntries,
	skillFileOf,
	type Subfolders,
	subfoldersOf,
	walkRoot,
	type WalkRules
} from './folder-walk.ts';
import { createPace } from './lean.ts';
import { addMark, type FileMarks, isUnchanged, readSkillText } from './safe-read.ts';
import { brokenFolder, loadSkill } from './skill-loader.ts';
import type { IsReserved } from './tool-names.ts';

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

// `scanSkillDirs` of the drover document: folders → specs, strict unless told otherwise (FEATURES A24).

export interface ScanSkillDirsOptions {
	/** Name of a skill's file; `SKILL.md`. */
	filename?: string;
	/** Levels below a root that are searched; 3. A root that holds the file itself is a skill. */
	maxDepth?: number;
	/** Folders whose names begin so are left out; `.`, `_` and `node_modules`. A root may have any name. */
	skipPrefixes?: readonly string[];
	/** `strict` (the default) throws at the first violation; `lenient` reports it and goes on. */
	mode?: 'strict' | 'lenient';
	/** Hears, in lenient mode, of what cannot be read and of what is wrong with what can. */
	onIssue?: (filepath: string, issues: readonly SkillIssue[]) => void;
}

/**
 * The skills below `roots`, in their order, then by path; of one name the first wins, and descent ends at a skill.
 * Absent roots are skipped; links are followed, never in a circle; 2,000 folders and 10,000 skills a root are the most.
 * @throws SkillLoadError in strict mode, with every issue of the first file or folder that has any.
 */
export async function scanSkillDirs(
	roots: readonly string[],
	options: ScanSkillDirsOptions = {}
): Promise<readonly SkillSpec[]> {
	const { filename = 'SKILL.md', maxDepth = 3, skipPrefixes = ['.', '_', 'node_modules'] } = options;
	const { mode = 'strict', onIssue = () => undefined } = options;
	const rules: WalkRules = {
		filenames: [filename],
		maxDepth,
		isSkipped: (name) => skipPrefixes.some((prefix) => name.startsWith(prefix))
	};
	const report = (path: string, issues: readonly SkillIssue[]): void => {
		if (mode === 'strict') throw new SkillLoadError(path, issues);
		onIssue(path, issues);
	};
	const pace = createPace();
	const seen = new Set<string>();
	const byName = new Map<string, SkillSpec>();
	for (const root of roots) {
		const files: { path: string; isLink: boolean }[] = [];
		await walkRoot(resolve(root), seen, rules, {
			async open({ path }) {
				const entries = readEntries(path);
				const file = skillFileOf(entries, rules);
				if (file) return { path: join(path, file.name), isLink: file.isSymbolicLink() };
				return subfoldersOf(path, entries, rules);
			},
			found: (file) => files.push(file),
			failed: (folder, message) => report(folder, [issueOf(message)])
		});
		for (const { path, isLink } of files.sort((a, b) => compareNames(a.path, b.path))) {
			await pace();
			try {
				const { text, issues } = readFile(path, isLink);
				if (mode === 'strict' && issues.length > 0) throw new SkillLoadError(path, issues);
				const { spec, warnings } = parseSkill(text, path, { mode });
				const all = [...issues, ...warnings];
				if (mode === 'lenient' && all.length > 0) onIssue(path, all);
				if (!byName.has(spec.name)) byName.set(spec.name, spec);
			} catch (error) {
				if (!(error instanceof SkillLoadError)) throw error;
				report(path, error.issues);
			}
		}
	}
	return [...byName.values()];
}

/** @throws SkillLoadError */
function readFile(path: string, isLink: boolean): ReturnType<typeof readSkillText> {
	try {
		return readSkillText(path, isLink);
	} catch (error) {
		throw new SkillLoadError(path, [issueOf((error as Error).message)]);
	}
}

function issueOf(message: string): SkillIssue {
	return { field: '_', severity: 'error', message };
}
