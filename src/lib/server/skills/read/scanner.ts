/** Scans roots for skills, ready or broken; unchanged ones aren't read again (A24, A27, A32). */
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
	type Entry,
	type Folder,
	labelRoots,
	readEntries,
	SKILL_FILES,
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
	filenames: SKILL_FILES,
	maxDepth: 6,
	isSkipped: (name) => /^[._]/.test(name) || name === 'node_modules'
};

/** What the folder watcher knows when a scan starts. */
export interface ScanPass {
	/** Called just before a folder is checked; true if no change in it can have been missed since. */
	follow(folder: string): boolean;
	/** Folders with changes; read again whatever their files' times say. */
	touched: ReadonlySet<string>;
	/** Paths that may have been replaced. */
	moved: ReadonlySet<string>;
	/** Check every file's time anyway. */
	verifies: boolean;
}

const UNWATCHED: ScanPass = { follow: () => false, touched: new Set(), moved: new Set(), verifies: true };

/** A folder as it was last read, and how to tell whether it changed. */
interface Known {
	content: Skill | Subfolders;
	/** Listed folders, then read files. */
	paths: readonly string[];
	/** How many of `paths` are folders. */
	folders: number;
	/** Marks of `paths`; null if one changed too recently to tell. */
	marks: FileMarks | null;
}

/** Skips absent roots; lists unreadable folders as broken. An unchanged skill is the same object in the next scan. */
export function createScanner(
	given: readonly (string | SkillRoot)[],
	isReserved?: IsReserved,
	rules: WalkRules = RULES
) {
	let roots = labelRoots(given);
	let known = new Map<string, Known>();
	return {
		/** All folders with a SKILL.md, by root, then by path. Must not run concurrently. */
		async scan(pass: ScanPass = UNWATCHED): Promise<(Skill | BrokenSkill)[]> {
			const kept = new Map<string, Known>();
			const found = await scanAll(roots, pass, { known, kept }, { isReserved, rules });
			known = kept;
			return found;
		},
		/** Appends a root, used from the next scan on. */
		addRoot(root: SkillRoot): void {
			roots = labelRoots([...roots, root]);
		}
	};
}

export type Scanner = ReturnType<typeof createScanner>;

/** Dependencies, and what Git and macOS keep. */
const NO_SKILLS = /^(_.*|\.git|node_modules|\.venv)$/;

/** A collection, as somebody keeps it in a repository: also `.curated`, `.system`, `.claude/skills`, and plugins in plugins. */
const COLLECTION: WalkRules = { ...RULES, maxDepth: 16, isSkipped: (name) => NO_SKILLS.test(name) };

/** Scans once. `withHidden` finds all that a collection has. */
export function scanRoots(
	roots: readonly (string | SkillRoot)[],
	{ withHidden = false } = {}
): Promise<(Skill | BrokenSkill)[]> {
	return createScanner(roots, undefined, withHidden ? COLLECTION : RULES).scan();
}

interface Memory {
	known: ReadonlyMap<string, Known>;
	kept: Map<string, Known>;
}

async function scanAll(
	roots: readonly SkillRoot[],
	pass: ScanPass,
	memory: Memory,
	{ isReserved, rules }: { isReserved?: IsReserved; rules: WalkRules }
): Promise<(Skill | BrokenSkill)[]> {
	const pace = createPace();
	const seen = new Set<string>();
	const skills: (Skill | BrokenSkill)[] = [];
	for (const root of roots) {
		const found: (Skill | BrokenSkill)[] = [];
		let real: string | null = null;
		const recall = (folder: Folder): Skill | Subfolders | undefined => {
			// The root is recalled first.
			real ??= folder.real;
			folder.isNew ||= pass.moved.has(folder.path);
			const known = memory.known.get(folder.path);
			if (!known || folder.isNew || !isCurrent(known, pass)) return undefined;
			memory.kept.set(folder.path, known);
			return known.content;
		};
		const open = async (folder: Folder, isRoot: boolean): Promise<Skill | BrokenSkill | Subfolders> => {
			const reading = createReading(pass, pace);
			const entries = await reading.readFolder(folder.path);
			const file = isRoot ? undefined : skillFileOf(entries, rules.filenames);
			if (!file) return reading.keep(subfoldersOf(folder.path, entries, rules), folder.path, memory);
			const isOutside = !isInside(real ?? root.path, folder.real);
			const skill = await loadSkill({ path: folder.path, root, file, entries, isOutside, isReserved }, reading);
			// Not for broken skills: they may become valid without any file's time changing.
			return skill.status === 'ready' ? reading.keep(skill, folder.path, memory) : skill;
		};
		const failed = (folder: string, message: string) => found.push(brokenFolder(folder, root, message));
		const visitor = { recall, open, found: (skill: Skill | BrokenSkill) => found.push(skill), failed };
		await walkRoot(root.path, seen, rules, visitor, isMoved(root.path, pass));
		skills.push(...found.sort((a, b) => compareNames(a.path, b.path)));
	}
	return skills;
}

function isCurrent({ paths, folders, marks }: Known, pass: ScanPass): boolean {
	let isWatched = true;
	for (let index = 0; index < folders; index += 1) {
		const folder = paths[index] ?? '';
		// Follow before checking, so that no change is missed in between.
		if (!pass.follow(folder)) isWatched = false;
		if (pass.touched.size > 0 && pass.touched.has(folder)) return false;
	}
	if (isWatched && !pass.verifies) return true;
	return marks !== null && paths.every((path, index) => isUnchanged(path, marks, index));
}

/** Records what is read for one skill, with marks to detect changes. */
function createReading(pass: ScanPass, pace: () => Promise<void> | undefined) {
	const folders = { paths: [] as string[], marks: [] as number[] };
	const files = { paths: [] as string[], marks: [] as number[] };
	let isWhole = true;
	let isMarked = true;
	const note = (path: string, { paths, marks }: typeof folders) => {
		paths.push(path);
		if (isMarked) isMarked = addMark(marks, path);
	};
	return {
		async readFolder(folder: string): Promise<Entry[]> {
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
			// A link's target may change without any of these changing.
			if (isLink) isWhole = false;
			else note(path, files);
		},
		keep<Content extends Known['content']>(content: Content, folder: string, memory: Memory): Content {
			if (!isWhole) return content;
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

/** True if the path or a folder above it was replaced. */
function isMoved(path: string, { moved }: ScanPass): boolean {
	if (moved.size === 0) return false;
	for (let at = path; ; at = dirname(at)) {
		if (moved.has(at)) return true;
		if (at === dirname(at)) return false;
	}
}

// `scanSkillDirs` of the drover document: folders → specs, strict by default (A24).

export interface ScanSkillDirsOptions {
	/** Name of a skill's file; `SKILL.md` by default. */
	filename?: string;
	/** Levels searched below a root; 3 by default. A root that contains the file is itself a skill. */
	maxDepth?: number;
	/** Skips folders with these prefixes, except roots; `.`, `_` and `node_modules` by default. */
	skipPrefixes?: readonly string[];
	/** `strict` (the default) throws at the first violation; `lenient` reports it and continues. */
	mode?: 'strict' | 'lenient';
	/** Receives read errors and issues in lenient mode. */
	onIssue?: (filepath: string, issues: readonly SkillIssue[]) => void;
}

/**
 * Skills below `roots`, by root, then by path; the first of a name wins. Doesn't search inside skills, nor beyond 2,000
 * folders or 10,000 skills per root.
 * @throws SkillLoadError in strict mode with all issues of the first bad file or folder
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
				const file = skillFileOf(entries, rules.filenames);
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
