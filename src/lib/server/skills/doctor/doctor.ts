/** The Skill Doctor: says all that is wrong with a skill's folder, and mends what can be mended (FEATURES F1, A5, A6, A23). */
import { basename, dirname, join, resolve } from 'node:path';
import { changed, digestOf, replaceFile, DoctorError } from './skill-file.ts';
import { FIXES, fixIdOf } from './fixes.ts';
import { createMender, mendAll, strictIssues, withTextIssues } from './mend.ts';
import { readEntries, skillFileOf } from '../read/folder-walk.ts';
import { readSafely } from '../read/safe-read.ts';
import { loadSkill } from '../read/skill-loader.ts';
import type { BrokenSkill, Skill, SkillIssue } from '../types.ts';

/** One thing that is wrong with a skill. */
export interface DiagnosedIssue extends SkillIssue {
	/** Names the fix that can be applied; null where a person has to write. */
	fixId: string | null;
	/** The SKILL.md with this fix alone; null without a fix. */
	after: string | null;
}

/** What is wrong with a skill's folder, by the strict rules. */
export interface Diagnosis {
	name: string;
	/** A skill that is `ready` is used all the same; one that is `broken` is not. */
	status: 'ready' | 'broken';
	/** Absolute path of the SKILL.md, or of where it should be. */
	path: string;
	issues: DiagnosedIssue[];
	/** The SKILL.md with all fixes applied; null where there is none to apply. */
	fixed: { before: string; after: string } | null;
	/** SHA-256 of the SKILL.md that was looked at, as hexadecimal digits; empty where there is none that can be read. */
	digest: string;
	/** After fixes: the name of the file beside it that has the old text. */
	keptAs?: string;
}

/** Names of fixes, from a diagnosis, and the file that they are for. */
export interface FixRequest {
	/** Of the diagnosis. */
	digest: string;
	/** All there are without it. */
	fixes?: readonly string[] | undefined;
}

/** Calls the file SKILL.md; its text stays as it is. */
const RENAME = 'file-name';

/** Never throws for what is wrong with the skill; for a folder that cannot be read the system's error. */
export async function diagnose(dir: string): Promise<Diagnosis> {
	return (await examine(resolve(dir))).diagnosis;
}

/**
 * Writes the SKILL.md with fixes applied, in one step and with the rights it had; the old one is kept beside it as
 * `.SKILL.md.<time>.old`. What a fix brings to light is mended too where it is asked for. With nothing to fix nothing is
 * written.
 * @throws Error with a `code`, and then nothing is changed: `changed` since it was looked at, behind a `link`, `missing`,
 * `unfixable` for fixes that there are not, `read_only`, `full`
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
		if (file && isName(issue)) return { line: 1, ...issue, fixId: RENAME, after: file.text };
		const after = mend(issue);
		return { ...issue, fixId: after === null ? null : fixIdOf(issue), after };
	});
	if (file && file.name !== 'SKILL.md' && !issues.some(isName)) {
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

function isName({ field, message }: SkillIssue): boolean {
	return field === '_' && message === 'is named skill.md';
}

function withoutFile(dir: string): Diagnosis {
	const message = 'has no SKILL.md. Add one';
	const issue: DiagnosedIssue = { field: '_', severity: 'error', message, line: 1, fixId: null, after: null };
	const path = join(dir, 'SKILL.md');
	return { name: basename(dir), status: 'broken', path, issues: [issue], fixed: null, digest: '' };
}

/** Null where it cannot be read, or not be written again as it was: then the skill has an issue that says why. */
function readFile(dir: string, name: string, isLink: boolean): SkillFile | null {
	try {
		const bytes = readSafely(join(dir, name), isLink);
		return { name, isLink, bytes, text: bytes.toString() };
	} catch {
		return null;
	}
}
