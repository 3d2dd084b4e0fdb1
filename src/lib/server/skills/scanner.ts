/** Roots → skills, ready or broken. Opens regular files only, follows links without going round, stops at caps (A24, A27). */
import { hash } from 'node:crypto';
import { readdirSync, realpathSync, statSync, type Dirent } from 'node:fs';
import { basename, join } from 'node:path';
import { readFacts } from './facts.ts';
import { parseManifest } from './manifest.ts';
import { parseSkill } from './parser.ts';
import { compareNames, listFiles, scriptsOf } from './resources.ts';
import { readSafely } from './safe-read.ts';
import { createPace } from './slices.ts';
import { labelRoots } from './sources.ts';
import { SkillLoadError, type BrokenSkill, type Skill, type SkillIssue, type SkillRoot } from './types.ts';

const MAX_DEPTH = 6;
/** Folders without a SKILL.md that are looked into below one root. */
const MAX_FOLDERS = 2000;
const MAX_SKILLS = 10_000;

/** Entries of a folder, sorted by name. */
type ReadFolder = (folder: string) => Promise<Dirent[]>;

interface Folder {
	path: string;
	/** Its real path, so that links cannot lead round in a circle. */
	real: string;
}

/**
 * Every folder below the roots with a SKILL.md, in the order of the roots, then by path. Absent roots are skipped;
 * a root or folder that cannot be read, or holds too much, is listed as broken. The event loop is never held up long.
 * `onFolder` is told of each folder just before it is read.
 */
export async function scanRoots(
	roots: readonly (string | SkillRoot)[],
	onFolder: (folder: string) => void = () => undefined
): Promise<(Skill | BrokenSkill)[]> {
	const pace = createPace();
	const readFolder: ReadFolder = async (folder) => {
		await pace();
		onFolder(folder);
		return readdirSync(folder, { withFileTypes: true }).sort((a, b) => compareNames(a.name, b.name));
	};
	const seen = new Set<string>();
	const skills: (Skill | BrokenSkill)[] = [];
	for (const root of labelRoots(roots)) {
		const found = await scanRoot(root, seen, readFolder);
		skills.push(...found.sort((a, b) => compareNames(a.path, b.path)));
	}
	return skills;
}

/** Level by level; descent stops at a skill. `seen` holds the real paths of all folders read so far. */
async function scanRoot(root: SkillRoot, seen: Set<string>, readFolder: ReadFolder): Promise<(Skill | BrokenSkill)[]> {
	const found: (Skill | BrokenSkill)[] = [];
	let level: Folder[] = [{ path: root.path, real: root.path }];
	let skills = 0;
	let folders = 0;
	for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
		const next: Folder[] = [];
		for (const folder of level) {
			try {
				if (depth === 0) folder.real = realpathSync.native(root.path);
				if (seen.has(folder.real)) continue;
				const entries = await readFolder(folder.path);
				seen.add(folder.real);
				const file = depth > 0 ? skillFileOf(entries) : undefined;
				const isTooMuch = file ? (skills += 1) > MAX_SKILLS : (folders += 1) > MAX_FOLDERS;
				if (isTooMuch) {
					const message = file ? 'has more than 10,000 skills' : 'has more than 2,000 folders without a SKILL.md';
					return [...found, brokenFolder(root.path, root, `${message}; the rest was not read`)];
				}
				if (file) found.push(await loadSkill(folder.path, file, entries, root, readFolder));
				else next.push(...entries.flatMap((entry) => subfolder(folder, entry) ?? []));
			} catch (error) {
				// What went away since it was listed is absent like a root that never was.
				if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
				found.push(brokenFolder(folder.path, root, (error as Error).message));
			}
		}
		level = next;
	}
	return found;
}

function skillFileOf(entries: readonly Dirent[]): Dirent | undefined {
	return entries.find(({ name }) => name === 'SKILL.md') ?? entries.find(({ name }) => name === 'skill.md');
}

/** The folder that an entry is or links to. Only a link costs system calls: other real paths follow from their parent's. */
function subfolder(parent: Folder, entry: Dirent): Folder | null {
	if (/^[._]/.test(entry.name) || entry.name === 'node_modules') return null;
	const path = join(parent.path, entry.name);
	if (entry.isDirectory()) return { path, real: parent.real === parent.path ? path : join(parent.real, entry.name) };
	if (!entry.isSymbolicLink()) return null;
	try {
		return statSync(path).isDirectory() ? { path, real: realpathSync.native(path) } : null;
	} catch {
		// A link to nothing, or to itself, is no folder.
		return null;
	}
}

async function loadSkill(
	dir: string,
	file: Dirent,
	entries: Dirent[],
	{ path: root, source }: SkillRoot,
	readFolder: ReadFolder
): Promise<Skill | BrokenSkill> {
	const path = join(dir, file.name);
	const broken = (issues: readonly SkillIssue[], description = ''): BrokenSkill => {
		return { status: 'broken', name: basename(dir), description, path, dir, root, source, issues: [...issues] };
	};
	try {
		const bytes = readSafely(path, file.isSymbolicLink());
		const { spec, warnings } = parseSkill(bytes.toString(), path, { mode: 'lenient' });
		const issues = [...warnings];
		if (file.name !== 'SKILL.md') {
			issues.push({ field: '_', severity: 'warning', message: 'is named skill.md', fix: 'rename it to SKILL.md' });
		}
		if (issues.some((issue) => issue.severity === 'error')) return broken(issues, firstParagraph(spec.body));
		// The listing that showed the SKILL.md is not asked for again.
		const files = await listFiles(dir, async (folder) => (folder === dir ? entries : readFolder(folder)));
		const manifest = readManifest(dir, entries);
		const { facts, issues: doubts } = readFacts(spec);
		return {
			...spec,
			...facts,
			status: 'ready',
			root,
			source,
			digest: hash('sha256', bytes).slice(0, 16),
			tools: manifest.tools,
			files,
			scripts: scriptsOf(files),
			issues: [...issues, ...doubts, ...manifest.issues]
		};
	} catch (error) {
		if (error instanceof SkillLoadError) return broken(error.issues);
		return broken([{ field: '_', severity: 'error', message: (error as Error).message }]);
	}
}

/** A tools.json that cannot be read costs the skill its tools, never itself (D16). */
function readManifest(dir: string, entries: readonly Dirent[]): ReturnType<typeof parseManifest> {
	const file = entries.find(({ name }) => name === 'tools.json');
	if (!file) return { tools: [], issues: [] };
	try {
		return parseManifest(readSafely(join(dir, file.name), file.isSymbolicLink()).toString());
	} catch (error) {
		return { tools: [], issues: [{ field: file.name, severity: 'warning', message: (error as Error).message }] };
	}
}

function brokenFolder(dir: string, { path: root, source }: SkillRoot, message: string): BrokenSkill {
	const issue: SkillIssue = { field: '_', severity: 'error', message };
	return { status: 'broken', name: basename(dir), description: '', path: dir, dir, root, source, issues: [issue] };
}

function firstParagraph(body: string): string {
	return body.split(/\n\s*\n/).find((part) => part.trim() && !part.trim().startsWith('#'))?.trim().slice(0, 300) ?? '';
}
