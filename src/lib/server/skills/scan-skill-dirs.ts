/** `scanSkillDirs` of the drover document: folders → specs, strict unless told otherwise (FEATURES A24). */
import { join, resolve } from 'node:path';
import { readEntries, skillFileOf, subfoldersOf, walkRoot, type WalkRules } from './folder-walk.ts';
import { parseSkill } from './parser.ts';
import { compareNames } from './resources.ts';
import { readSkillText } from './safe-read.ts';
import { createPace } from './slices.ts';
import { SkillLoadError, type SkillIssue, type SkillSpec } from './types.ts';

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
