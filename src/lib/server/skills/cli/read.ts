/** The commands that show what is there: list, show, search. */
import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { applyFixes, diagnose, type Diagnosis } from '../doctor/doctor.ts';
import { lineDiff } from '../doctor/words.ts';
import { scoreSkill } from '../find/scores.ts';
import { createSkillIndex } from '../find/skill-index.ts';
import { estimateTokens } from '../prompt.ts';
import { scanRoots } from '../read/scanner.ts';
import type { BrokenSkill, Skill } from '../types.ts';

/** For people and for programs. */
export interface Shown {
	text: string;
	json: unknown;
}

/** The skills of a folder of skills, or the one whose folder it is. */
export async function readSkills(dir: string): Promise<(Skill | BrokenSkill)[]> {
	const folder = resolve(dir);
	const isFolder = await stat(folder).then(
		(entry) => entry.isDirectory(),
		() => false
	);
	if (!isFolder) throw new UsageError(`Folder not found: “${dir}”.`);
	for (const name of ['SKILL.md', 'skill.md']) {
		const isSkill = await stat(join(folder, name)).then(
			() => true,
			() => false
		);
		if (isSkill) return (await scanRoots([dirname(folder)])).filter((skill) => skill.dir === folder);
	}
	return scanRoots([folder]);
}

export async function listSkills(dir: string): Promise<Shown> {
	const skills = await readSkills(dir);
	const lines = skills.map((skill) => {
		const note =
			skill.status === 'broken' ? `BROKEN: ${skill.issues[0]?.message ?? 'unknown reason'}` : skill.description;
		return `${skill.name}  ${note}`;
	});
	const broken = skills.filter((skill) => skill.status === 'broken').length;
	const count = `${skills.length - broken} ready${broken > 0 ? `, ${broken} broken` : ''}`;
	return { text: [...lines, count].join('\n'), json: skills.map(summary) };
}

/** @throws UsageError naming the skills there are */
export async function findSkill(dir: string, name: string | undefined): Promise<Skill | BrokenSkill> {
	const skills = await readSkills(dir);
	if (name === undefined && skills.length === 1 && skills[0]) return skills[0];
	const found = skills.find((skill) => skill.name === name || basename(skill.dir) === name);
	if (found) return found;
	const names = skills.map((skill) => skill.name).join(', ') || '(none)';
	throw new UsageError(
		name === undefined ? `Which skill? Available: ${names}` : `No skill named “${name}”. Available: ${names}`
	);
}

export function showSkill(skill: Skill | BrokenSkill): Shown {
	const issues = skill.issues.map(({ severity, field, message }) => `  ${severity} ${field}: ${message}`);
	if (skill.status === 'broken') {
		return { text: [`${skill.name} (broken)`, skill.path, ...issues].join('\n'), json: skill };
	}
	const facts = [
		['Description', skill.description],
		['Path', skill.path],
		['License', skill.license],
		['Compatibility', skill.compatibility],
		['Tools', skill.tools.map((tool) => tool.name).join(', ')],
		['Files', skill.files.join(', ')],
		['Tokens', String(estimateTokens(skill.body))]
	].flatMap(([label, value]) => (value ? [`${label}: ${value}`] : []));
	return { text: [skill.name, ...facts, ...issues, '', skill.body].join('\n'), json: skill };
}

export async function searchSkills(dir: string, query: string): Promise<Shown> {
	const ready = (await readSkills(dir)).filter((skill) => skill.status === 'ready');
	const found = createSkillIndex(ready)
		.rank(query, 25)
		.map(({ skill }) => ({ skill, ...scoreSkill(query, skill) }));
	const lines = found.map(({ skill, score }) => `${String(score).padStart(3)}  ${skill.name}  ${skill.description}`);
	return {
		text: lines.length > 0 ? lines.join('\n') : `No skills match “${query}”.`,
		json: found.map(({ skill, score, signals }) => ({ ...summary(skill), score, signals }))
	};
}

function summary(skill: Skill | BrokenSkill): Record<string, unknown> {
	const { name, description, status, path, issues } = skill;
	return { name, description, status, path: relative(process.cwd(), path), issues };
}

// `doctor`: what is wrong with skills and what can be done about it as a diff; with `--fix`, doing it (FEATURES F1).

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
		fixable > 0 && !fixes ? `\nRun again with --fix to fix ${count(fixable, 'file')}. The old text is kept.` : '';
	const end = skills.length === 0 ? `No SKILL.md found in ${dir}.` : counts.join(', ') + advice;
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
		const end = fixId === null ? '' : ` [fix available: ${fixId}]`;
		const where = file === undefined ? place : join(dirname(place), file);
		return `${where}:${line ?? 1}: ${severity} ${field}: ${message}${end}`;
	});
	return [
		...(keptAs ? [`${place}: fixed, old text kept in ${keptAs}`] : []),
		...(failure === undefined ? [] : [`${place}: not fixed: ${failure}`]),
		...found,
		...(fixed ? lineDiff(fixed.before, fixed.after).map((line) => `    ${line}`) : [])
	];
}

function count(number: number, noun: string): string {
	return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** The command was called in a way that cannot be: exit code 2. */
export class UsageError extends Error {
	override readonly name = 'UsageError';
}
