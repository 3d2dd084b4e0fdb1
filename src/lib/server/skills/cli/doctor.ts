/** `doctor`: what is wrong with skills and what can be done about it as a diff; with `--fix`, doing it (FEATURES F1). */
import { dirname, join, relative } from 'node:path';
import { lineDiff } from '../doctor/line-diff.ts';
import { applyFixes, diagnose, type Diagnosis } from '../doctor.ts';
import type { BrokenSkill, Skill } from '../types.ts';
import { findSkill, readSkills, type Shown } from './read.ts';

/** A skill that could not be fixed is told of beside the others. */
interface Treated extends Diagnosis {
	failure?: string;
}

export async function doctor(
	dir: string,
	name: string | undefined,
	fixes: boolean
): Promise<Shown & { hasErrors: boolean }> {
	const skills = name === undefined ? await readSkills(dir) : [await findSkill(dir, name)];
	const treated: Treated[] = [];
	for (const skill of skills) treated.push(await treat(skill, fixes));
	const issues = treated.flatMap((each) => each.issues);
	const errors = issues.filter(({ severity }) => severity === 'error').length;
	const fixable = treated.filter(({ fixed }) => fixed !== null).length;
	const failures = treated.filter(({ failure }) => failure !== undefined).length;
	const counts = [count(skills.length, 'skill'), count(errors, 'error'), count(issues.length - errors, 'warning')];
	const advice =
		fixable > 0 && !fixes ? `\nRun it again with --fix to mend ${count(fixable, 'file')}; the old ones are kept.` : '';
	const end = skills.length === 0 ? `There is no SKILL.md in ${dir}.` : counts.join(', ') + advice;
	return {
		text: [...treated.flatMap(linesOf), end].join('\n'),
		json: treated.map((diagnosis) => ({
			...diagnosis,
			issues: diagnosis.issues.map(({ after: _after, ...issue }) => issue)
		})),
		hasErrors: errors > 0 || failures > 0 || skills.length === 0
	};
}

async function treat(skill: Skill | BrokenSkill, fixes: boolean): Promise<Treated> {
	const { name, status, path, dir, issues } = skill;
	// A folder that cannot be looked through at all has no SKILL.md to be mended.
	if (path === dir) {
		const found = issues.map((issue) => ({ ...issue, fixId: null, after: null }));
		return { name, status, path, issues: found, fixed: null, digest: '' };
	}
	const diagnosis = await diagnose(dir);
	if (!fixes || !diagnosis.fixed) return diagnosis;
	try {
		return await applyFixes(dir, { digest: diagnosis.digest });
	} catch (error) {
		return { ...diagnosis, failure: (error as Error).message };
	}
}

function linesOf({ path, issues, fixed, keptAs, failure }: Treated): string[] {
	const place = relative(process.cwd(), path) || path;
	const found = issues.map(({ severity, field, message, file, line, fixId }) => {
		const end = fixId === null ? '' : ` [can be fixed: ${fixId}]`;
		const where = file === undefined ? place : join(dirname(place), file);
		return `${where}:${line ?? 1}: ${severity} ${field}: ${message}${end}`;
	});
	return [
		...(keptAs ? [`${place}: fixed; the old text is in ${keptAs}`] : []),
		...(failure === undefined ? [] : [`${place}: not fixed: ${failure}`]),
		...found,
		...(fixed ? lineDiff(fixed.before, fixed.after).map((line) => `    ${line}`) : [])
	];
}

function count(number: number, noun: string): string {
	return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
