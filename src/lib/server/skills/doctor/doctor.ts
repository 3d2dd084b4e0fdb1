/** The Skill Doctor: finds problems in a skill's folder, and fixes what it can (FEATURES F1, A5, A6, A23). */
import { basename, dirname, join, resolve } from 'node:path';
import { changed, digestOf, replaceFile, DoctorError } from './skill-file.ts';
import { FIXES, fixIdOf } from './fixes.ts';
import { createMender, mendAll, strictIssues, withTextIssues } from './mend.ts';
import { readEntries, skillFileOf } from '../read/folder-walk.ts';
import { readSafely } from '../read/safe-read.ts';
import { loadSkill } from '../read/skill-loader.ts';
import type { BrokenSkill, Skill, SkillIssue } from '../types.ts';

/** A problem with a skill. */
export interface DiagnosedIssue extends SkillIssue {
	/** Id of its fix; null if a person has to fix it. */
	fixId: string | null;
	/** The SKILL.md with only this fix; null without one. */
	after: string | null;
}

/** The problems of a skill's folder, by the strict rules. */
export interface Diagnosis {
	name: string;
	/** A `ready` skill can be used despite its issues; a `broken` one can't. */
	status: 'ready' | 'broken';
	/** Absolute path of the SKILL.md, or of where it should be. */
	path: string;
	issues: DiagnosedIssue[];
	/** The SKILL.md with all fixes applied; null if there are none. */
	fixed: { before: string; after: string } | null;
	/** SHA-256 of the SKILL.md in hexadecimal; empty if it can't be read. */
	digest: string;
	/** After fixes: name of the file next to it with the old text. */
	keptAs?: string;
}

/** Which fixes of a diagnosis to apply. */
export interface FixRequest {
	/** `digest` of the diagnosis. */
	digest: string;
	/** Ids of fixes; all by default. */
	fixes?: readonly string[] | undefined;
}

/** Renames the file to SKILL.md; its text stays the same. */
const RENAME = 'file-name';

/** Never throws for problems of the skill, only if the folder can't be read. */
export async function diagnose(dir: string): Promise<Diagnosis> {
	return (await examine(resolve(dir))).diagnosis;
}

/**
 * Writes the fixed SKILL.md in one step, if there is anything to fix, and keeps the old one as `.SKILL.md.<time>.old`.
 * Also fixes requested problems that appear only after another fix.
 * @throws Error with a `DoctorError`'s code, without changing anything
 */
export async function applyFixes(dir: string, { digest, fixes }: FixRequest): Promise<Diagnosis> {
	const folder = resolve(dir);
	const { diagnosis, file } = await examine(folder);
	if (!file) {
		throw new DoctorError('missing', `Nothing to fix: there’s no readable SKILL.md in ${folder}.`);
	}
	if (diagnosis.digest !== digest) throw changed(diagnosis.path);
	if (file.isLink) {
		throw new DoctorError('link', `${diagnosis.path} is a link to a file elsewhere. Fix that file where it is.`);
	}
	const unknown = fixes?.find((fix) => fix !== RENAME && !Object.hasOwn(FIXES, fix));
	if (unknown !== undefined) throw new DoctorError('unfixable', `Unknown fix “${unknown.slice(0, 100)}”.`);
	const renames = file.name !== 'SKILL.md' && (fixes?.includes(RENAME) ?? true);
	const after = mendAll(file.text, folder, fixes && new Set(fixes));
	if (after === file.text && !renames) {
		if (!fixes) return diagnosis;
		const known = new Set(diagnosis.issues.flatMap(({ fixId }) => (fixId === null ? [] : [fixId])));
		const there = known.size > 0 ? `Available fixes: ${[...known].join(', ')}.` : 'No fixes are available.';
		throw new DoctorError('unfixable', `${diagnosis.path} doesn’t need the fix ${fixes.join(', ')}. ${there}`);
	}
	const keptAs = replaceFile({ dir: folder, name: file.name, before: file.bytes, after, renames });
	return { ...(await diagnose(folder)), keptAs };
}

interface SkillFile {
	name: string;
	isLink: boolean;
	bytes: Buffer;
	text: string;
}

async function examine(dir: string): Promise<{ diagnosis: Diagnosis; file: SkillFile | null }> {
	const entries = readEntries(dir);
	const entry = skillFileOf(entries, { filenames: ['SKILL.md', 'skill.md'] });
	if (!entry) return { diagnosis: withoutFile(dir), file: null };
	const reader = { readFolder: async (folder: string) => readEntries(folder), beforeFile: () => undefined };
	const skill = await loadSkill({ path: dir, root: { path: dirname(dir), source: '' }, file: entry, entries }, reader);
	const file = readFile(dir, entry.name, entry.isSymbolicLink());
	return { diagnosis: diagnosisOf(skill, dir, file), file };
}

function diagnosisOf(skill: Skill | BrokenSkill, dir: string, file: SkillFile | null): Diagnosis {
	const mend = file ? createMender(file.text, dir) : () => null;
	const found = file ? withTextIssues(file.text, skill) : strictIssues(skill);
	const issues = found.map((issue): DiagnosedIssue => {
		if (file && isFileName(issue)) return { line: 1, ...issue, fixId: RENAME, after: file.text };
		const after = mend(issue);
		return { ...issue, fixId: after === null ? null : fixIdOf(issue), after };
	});
	if (file && file.name !== 'SKILL.md' && !issues.some(isFileName)) {
		const issue: SkillIssue = { field: '_', severity: 'warning', message: 'is named skill.md', line: 1 };
		issues.push({ ...issue, fix: 'rename it to SKILL.md', fixId: RENAME, after: file.text });
	}
	const isFixable = file !== null && issues.some(({ fixId }) => fixId !== null);
	return {
		name: skill.name,
		status: skill.status,
		path: skill.path,
		issues,
		fixed: isFixable ? { before: file.text, after: mendAll(file.text, dir) } : null,
		digest: file ? digestOf(file.bytes) : ''
	};
}

function isFileName({ field, message }: SkillIssue): boolean {
	return field === '_' && message === 'is named skill.md';
}

function withoutFile(dir: string): Diagnosis {
	const message = 'has no SKILL.md. Add one';
	const issue: DiagnosedIssue = { field: '_', severity: 'error', message, line: 1, fixId: null, after: null };
	const path = join(dir, 'SKILL.md');
	return { name: basename(dir), status: 'broken', path, issues: [issue], fixed: null, digest: '' };
}

/** null if it can't be read, or not written back unchanged: the skill has an issue that says why. */
function readFile(dir: string, name: string, isLink: boolean): SkillFile | null {
	try {
		const bytes = readSafely(join(dir, name), isLink);
		return { name, isLink, bytes, text: bytes.toString() };
	} catch {
		return null;
	}
}
