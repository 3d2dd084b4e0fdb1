/** Reads a staged skill for review, with the library’s own loader. Runs nothing (E20, F1, F4). */
import { createHash, hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import type { InstalledSkill, StagedSkill } from '../../shared/install.ts';
import type { SkillDiagnostic } from '../../shared/skills.ts';
import { parseSkill } from '../skills/parser.ts';
import { readFrontMatter } from '../skills/read/front-matter.ts';
import { readSkillText } from '../skills/read/safe-read.ts';
import { loadFolder, readFacts } from '../skills/read/skill-loader.ts';
import { type BrokenSkill, type Skill, SkillLoadError, toolFactsOf } from '../skills/types.ts';
import type { TrustedFile } from '../store/skills/choices.ts';
import { readFolder } from '../trust/folder.ts';
import { scanFiles } from '../trust/scan/scan.ts';
import { keptFiles } from '../trust/trust.ts';
import { skillFoldersIn } from './install-context.ts';
import { onDisk } from './staging-folder.ts';

/** The version becomes part of a folder’s name. */
const MAX_VERSION_CHARS = 64;
const NAME = /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/;
/** Also in capitals or with underscores, as skills of people have it: `PDF Processing` is called `PDF-Processing`. */
const USABLE_NAME = /^(?=.{1,64}$)[A-Za-z0-9]+([-_]+[A-Za-z0-9]+)*$/;

export interface Inspection extends FolderHash {
	shown: Omit<StagedSkill, 'path' | 'origin' | 'installed' | 'changes' | 'audit' | 'needs'>;
	/** null if broken. */
	skill: Skill | null;
	/** With the texts, for a diff. */
	kept: TrustedFile[];
}

/**
 * Reads the skill in `dir`. Problems become diagnostics; the name is empty if the skill states none. Without `scans`,
 * no security check is made. @throws the system’s error if the folder can’t be read
 */
export async function inspectSkill(dir: string, { scans = true } = {}): Promise<Inspection> {
	const { skill, diagnostics } = await read(dir);
	const content = await readFolder(dir);
	const hashes = await hashFolder(dir);
	const kept = await keptFiles(content);
	const texts = new Map(kept.map(({ path, text }) => [path, text]));
	const isBroken = diagnostics.some(({ severity }) => severity === 'error');
	const ready = skill.status === 'ready' ? skill : null;
	return {
		...hashes,
		kept,
		skill: ready,
		shown: {
			name: skill.name,
			version: ready?.version ?? null,
			description: skill.description,
			status: isBroken ? 'broken' : 'ready',
			diagnostics,
			digest: content.digest ?? digestOf(hashes),
			files: hashes.files.map(({ path, bytes }) => ({ path, bytes, text: texts.get(path) ?? null })),
			scripts: [...(ready?.scripts ?? [])],
			tools: ready?.tools.map(({ name }) => name) ?? [],
			...toolFactsOf(ready ?? { tools: [] }),
			findings: scans ? await scanFiles(content) : []
		}
	};
}

/** A skill too large to be trusted has no digest. This one only tells installations apart. */
function digestOf({ files }: FolderHash): string {
	return hash('sha256', JSON.stringify(files));
}

/** Of an installed skill as it is now, which may have been edited since. @throws the system’s error */
export async function currentFiles(
	dir: string
): Promise<Pick<Inspection['shown'], 'digest'> & { kept: TrustedFile[] }> {
	const content = await readFolder(dir);
	return { digest: content.digest ?? digestOf(await hashFolder(dir)), kept: await keptFiles(content) };
}

/** What `inspectSkill` finds that breaks it: only the text of a SKILL.md can. */
export function faultsIn(text: string): SkillDiagnostic[] {
	try {
		const { spec, warnings } = parseSkill(text, '/staged/SKILL.md', { mode: 'lenient' });
		const faults = warnings.filter(({ severity }) => severity === 'error');
		if (faults.length > 0) return faults;
		return refusalsOf({ name: spec.name, version: readFacts(spec).facts.version }, statedIn(text));
	} catch (error) {
		if (!(error instanceof SkillLoadError)) throw error;
		return [...error.issues];
	}
}

/** Whether the standard allows the name. */
export function isInstallableName(name: string): boolean {
	return NAME.test(name);
}

async function read(dir: string): Promise<{ skill: Skill | BrokenSkill; diagnostics: SkillDiagnostic[] }> {
	const skill = await loadFolder(dir, 'staging');
	if (!skill) {
		const issue = { severity: 'error' as const, field: '_', message: 'has no SKILL.md' };
		const place = { path: dir, dir, root: dirname(dir), source: 'staging' };
		return {
			skill: { ...place, status: 'broken', name: '', description: '', issues: [issue] },
			diagnostics: [issue]
		};
	}
	// The staging folder has a random name, so a mismatch means nothing.
	const issues = skill.issues.filter(({ field, message }) => field !== 'name' || !message.includes(' the folder'));
	if (skill.status === 'broken') return { skill: { ...skill, name: '' }, diagnostics: issues };
	const stated = statedIn(readSkillText(skill.path, false).text);
	const diagnostics = [...issues, ...refusalsOf(skill, stated)];
	return { skill: stated === null ? { ...skill, name: '' } : skill, diagnostics };
}

/** The name in the front matter. The loader would fall back to the folder’s name, which is random here. */
function statedIn(text: string): string | null {
	const front = readFrontMatter(text);
	if ('field' in front) return null;
	const { name, skill } = front.data;
	return [name, skill].find((value): value is string => typeof value === 'string' && value.trim() !== '') ?? null;
}

function refusalsOf({ name, version }: Pick<Skill, 'name' | 'version'>, stated: string | null): SkillDiagnostic[] {
	const refuse = (field: string, message: string): SkillDiagnostic => ({ severity: 'error', field, message });
	if (stated === null) return [refuse('name', 'is missing. Installed skills need a name')];
	const refusals: SkillDiagnostic[] = [];
	// The library replaces an invalid name by the folder’s, which is random here.
	if (!USABLE_NAME.test(name) || name !== stated.normalize('NFKC').trim().replaceAll(/\s+/g, '-')) {
		refusals.push(refuse('name', 'must be 1 to 64 letters a–z, digits and hyphens'));
	}
	if (version.length > MAX_VERSION_CHARS) {
		refusals.push(refuse('version', `is longer than ${MAX_VERSION_CHARS} characters`));
	}
	return refusals;
}

// Checksums: SHA-256 of each file, and of all as in skills-lock.json (E28).

export interface FolderHash {
	files: InstalledSkill['files'];
	/** Over paths and contents in the order of the `skills` command line, without `.git` and `node_modules`. */
	computedHash: string;
}

/** `dir` holds regular files and folders only. @throws the system’s error */
async function hashFolder(dir: string): Promise<FolderHash> {
	const whole = createHash('sha256');
	const files: FolderHash['files'] = [];
	for (const path of (await pathsIn(dir)).sort((a, b) => a.localeCompare(b))) {
		const content = await readFile(join(dir, path));
		files.push({ path, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') });
		if (/(^|\/)(\.git|node_modules)\//.test(path)) continue;
		whole.update(path).update(content);
	}
	return { files, computedHash: whole.digest('hex') };
}

async function pathsIn(dir: string): Promise<string[]> {
	const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
	return files.map(({ parentPath, name }) => relative(dir, join(parentPath, name)).replaceAll('\\', '/'));
}

/**
 * Finds the skill folders below `dir` (E20): relative, with `/`, sorted; empty for the top. Follows no links.
 * @throws AppError `invalid_input` if there is none, `unavailable`
 */
export async function findSkillFolders(dir: string): Promise<string[]> {
	const folders = skillFoldersIn(await onDisk(pathsIn(dir)));
	if (folders.length === 0) {
		const hint = 'Choose a folder that has a SKILL.md.';
		throw new AppError('invalid_input', 'No skill found: there’s no SKILL.md.', { hint });
	}
	return folders;
}
