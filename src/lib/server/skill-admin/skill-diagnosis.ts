/** Diagnoses a skill, ready or broken, and fixes its SKILL.md in place (F1). */
import { statSync } from 'node:fs';
import { basename, sep } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { AppError, type ErrorCode } from '../../shared/errors.ts';
import type { DiagnosisFix, SkillCheck, SkillDiagnosis } from '../../shared/skills.ts';
import { digestOf, DoctorError } from '../skills/doctor/skill-file.ts';
import { applyFixes, checkText, diagnose, type Diagnosis } from '../skills/doctor/doctor.ts';
import { lineDiff } from '../skills/doctor/words.ts';
import type { SkillRegistry } from '../skills/registry/registry.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';
import {
	brokenIdOf,
	type BuiltinSkill,
	findBuiltin,
	idOf,
	isFirst,
	type LookupParts,
	requireListed
} from './skill-details.ts';
import { realpath } from 'node:fs/promises';
import { isInside } from '../skills/read/files.ts';
import type { ChangeSkill, SkillEdits } from './skill-edits.ts';

export interface DiagnosisParts extends LookupParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot' | 'reload'> };
	/** Default: only this server has them. */
	changeSkill?: ChangeSkill;
	edits: SkillEdits;
}

/** The diff takes quadratic time; beyond this many edits, everything between is shown as replaced. */
const MAX_EDITS = 400;

const CODES = {
	changed: 'conflict',
	link: 'conflict',
	missing: 'conflict',
	unfixable: 'invalid_input',
	read_only: 'unavailable',
	full: 'storage_full'
} as const satisfies Record<DoctorError['code'], ErrorCode>;

/** Reads the current files. @throws AppError `not_found` */
export async function diagnoseSkill(parts: DiagnosisParts, id: string): Promise<SkillDiagnosis> {
	return describe(parts, requireListed(parts, null, id));
}

/**
 * Applies fixes, reloads the library and diagnoses the skill again, under its new id. Changes nothing after an error.
 * @throws AppError `not_found`; `conflict` if the file has changed or is behind a link; `invalid_input` for an unknown fix;
 * `unavailable` if it isn’t writable; `storage_full`
 */
export async function fixSkill(
	parts: DiagnosisParts,
	id: string,
	{ digest, fixes }: DiagnosisFix
): Promise<SkillDiagnosis> {
	const skill = requireListed(parts, null, id);
	await requireInRoot(skill, 'Fix');
	const earlier = await parts.edits.lastDescription(skill.dir);
	const fix = async (): Promise<SkillDiagnosis> => {
		// As a save does. Under its proper name, also where the fix is to rename it.
		const keep = ({ bytes: old, after }: { bytes: Uint8Array; after: string }): Promise<void> => {
			const bytes = Buffer.from(old);
			const before = { id: digestOf(bytes), bytes, mode: statSync(skill.path).mode & 0o777 };
			return parts.edits.keep(skill.dir, [{ path: 'SKILL.md', before, after: digestOf(Buffer.from(after)) }]);
		};
		const diagnosis = await applyFixes(skill.dir, { digest, fixes, keep, earlier: earlier?.text }).catch(
			(error: unknown) => {
				throw asAppError(error, skill);
			}
		);
		return toAnswer(diagnosis, await reloadedId(parts, skill), earlier?.editedAt);
	};
	return parts.changeSkill ? (await parts.changeSkill(skill.dir, fix)).result : fix();
}

/** Reloads the library. @returns the skill’s new id */
export async function reloadedId(parts: DiagnosisParts, skill: Skill | BrokenSkill): Promise<string> {
	await parts.skills.registry.reload();
	const { skills, shadowed, broken } = parts.skills.registry.snapshot();
	return idIn(parts, [...skills, ...shadowed, ...broken].find(({ dir }) => dir === skill.dir) ?? skill);
}

async function describe(parts: DiagnosisParts, skill: Skill | BrokenSkill): Promise<SkillDiagnosis> {
	const id = idIn(parts, skill);
	const asListed = (): SkillDiagnosis => {
		const { name, status, path } = skill;
		const issues = skill.issues.map((issue) => ({ ...issue, fixId: null, diff: null }));
		return { id, name, status, path, issues, fixed: null, digest: '' };
	};
	// An unreadable folder is listed itself.
	if (skill.path === skill.dir) return asListed();
	try {
		const earlier = await parts.edits.lastDescription(skill.dir);
		return toAnswer(await diagnose(skill.dir, earlier?.text), id, earlier?.editedAt);
	} catch (error) {
		// It has disappeared or is no longer readable; the next reload will report that.
		if ((error as NodeJS.ErrnoException).code === undefined) throw error;
		return { ...asListed(), issues: [unreadable(error as Error)] };
	}
}

function unreadable({ message }: Error): SkillDiagnosis['issues'][number] {
	return { field: '_', severity: 'error', message: `can’t be read: ${message}`, fixId: null, diff: null };
}

/** `earlier`: time of the edit before which the description was there that a fix brings back. */
function toAnswer({ issues, fixed, ...diagnosis }: Diagnosis, id: string, earlier?: string): SkillDiagnosis {
	const name = basename(diagnosis.path);
	// Several issues may share a fix.
	const diffs = new Map<string, string | null>();
	const diffFrom = (before: string, after: string) => {
		const known = diffs.get(after);
		const diff = known === undefined ? diffOf(name, before, after) : known;
		diffs.set(after, diff);
		return diff;
	};
	return {
		id,
		...diagnosis,
		issues: asInUse(diagnosis.status, issues).map(({ after, isEarlier, ...issue }) => ({
			...issue,
			...(isEarlier && { earlier }),
			diff: fixed && after !== null ? diffFrom(fixed.before, after) : null
		})),
		fixed: fixed && { ...fixed, diff: diffFrom(fixed.before, fixed.after) ?? '' }
	};
}

/** null if equal. */
function diffOf(name: string, before: string, after: string): string | null {
	if (before === after) return null;
	const options = { context: 3, maxEditLength: MAX_EDITS };
	const patch = createTwoFilesPatch(name, 'SKILL.md', before, after, undefined, undefined, options);
	if (patch !== undefined) return patch.replace(/^(?:Index: .*\n)?=+\n/, '');
	return [`--- ${name}`, '+++ SKILL.md', '@@ @@', ...lineDiff(before, after), ''].join('\n');
}

export function idIn(parts: LookupParts, skill: Skill | BrokenSkill): string {
	return skill.status === 'broken' ? brokenIdOf(skill) : idOf(skill, isFirst(parts, skill));
}

function asAppError(error: unknown, { name, dir }: Skill | BrokenSkill): unknown {
	if (error instanceof DoctorError) return new AppError(CODES[error.code], error.message, { cause: error });
	return (error as NodeJS.ErrnoException).code === 'ENOENT' ? folderGone(name, dir, error) : error;
}

/** Checks a text as the SKILL.md of a skill, without writing (F1). @throws AppError `not_found`; `invalid_input` for a built-in skill */
export async function checkSkillText(
	parts: LookupParts & { edits: Pick<SkillEdits, 'lastDescription'>; builtins: { builtins: readonly BuiltinSkill[] } },
	id: string,
	text: string
): Promise<SkillCheck> {
	const builtin = findBuiltin(parts.builtins.builtins, id);
	if (builtin) throw new AppError('invalid_input', `“${builtin.name}” is built in and has no SKILL.md.`);
	const { dir } = requireListed(parts, null, id);
	return checkText(text, dir, (await parts.edits.lastDescription(dir))?.text);
}

/** As in lists: what the specification forbids, and a skill works with all the same, is a warning. Who writes it is told more loudly. */
function asInUse<Issue extends { severity: 'error' | 'warning'; file?: string | undefined }>(
	status: SkillCheck['status'],
	issues: readonly Issue[]
): Issue[] {
	return issues.map((issue) =>
		status === 'ready' && issue.file === undefined ? { ...issue, severity: 'warning' } : issue
	);
}

/**
 * Refuses to write to a skill outside its root, behind a link, and to one that npm installed: its next version would
 * replace the changes. `verb` is for the message: “Fix”. @throws AppError `conflict`
 */
export async function requireInRoot({ name, dir, root }: Skill | BrokenSkill, verb: string): Promise<void> {
	let isPackaged: boolean;
	try {
		const [real, realRoot] = await Promise.all([realpath(dir), realpath(root)]);
		isPackaged = realRoot.split(sep).includes('node_modules');
		if (!isPackaged && real !== realRoot && isInside(realRoot, real)) return;
	} catch (error) {
		throw folderGone(name, dir, error);
	}
	if (isPackaged) {
		throw new AppError('conflict', `“${name}” comes with a package, and the next version replaces it.`, {
			hint: 'Copy its folder into a folder of your own skills, and change the copy.'
		});
	}
	throw new AppError('conflict', `“${name}” is behind a link to a folder outside ${root}. ${verb} it there.`);
}

export function folderGone(name: string, dir: string, cause: unknown): AppError {
	return new AppError('conflict', `The folder of “${name}” is gone: ${dir}. Reload the skills.`, { cause });
}
