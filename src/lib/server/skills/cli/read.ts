/** The commands `list`, `show`, `search` and `doctor`. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { applyFixes, diagnose, type Diagnosis } from '../doctor/doctor.ts';
import { lineDiff } from '../doctor/words.ts';
import { scoreSkill } from '../find/scores.ts';
import { createSkillIndex } from '../find/skill-index.ts';
import { estimateTokens } from '../prompt.ts';
import { SKILL_FILES } from '../read/folder-walk.ts';
import { scanRoots } from '../read/scanner.ts';
import type { BrokenSkill, Skill, SkillIssue } from '../types.ts';

/** Output for people and for programs. */
export interface Shown {
	text: string;
	json: unknown;
}

/** The skills of a folder of skills, or the one skill whose folder it is. */
export async function readSkills(dir: string): Promise<(Skill | BrokenSkill)[]> {
	const folder = resolve(dir);
	const entry = await stat(folder).catch(() => null);
	if (!entry?.isDirectory()) throw new UsageError(`Folder not found: “${dir}”.`);
	const isSkill = SKILL_FILES.some((name) => existsSync(join(folder, name)));
	if (!isSkill) return scanRoots([folder], { withHidden: true });
	return (await scanRoots([dirname(folder)], { withHidden: true })).filter((skill) => skill.dir === folder);
}

// The list of plugins in a collection, as Claude Code reads it.

/** Relative to the collection. */
const MARKETPLACE = '.claude-plugin/marketplace.json';
const marketplace = z.object({
	metadata: z.object({ pluginRoot: z.string().optional() }).optional(),
	plugins: z.array(
		z.object({
			name: z.string(),
			/** A folder, or a place elsewhere. */
			source: z.union([z.string(), z.looseObject({})]),
			skills: z.union([z.string().transform((path) => [path]), z.array(z.string())]).optional()
		})
	)
});

/** What the list of plugins names and isn't there; null without a list. */
export async function checkMarketplace(
	dir: string,
	skills: readonly (Skill | BrokenSkill)[]
): Promise<{ path: string; issues: SkillIssue[] } | null> {
	const path = join(resolve(dir), MARKETPLACE);
	if (!existsSync(path)) return null;
	const issues: SkillIssue[] = [];
	const issue = (field: string, message: string, severity: SkillIssue['severity'] = 'error') =>
		issues.push({ field, message, severity });
	const read = marketplace.safeParse(parsed(path));
	for (const { path: at } of read.error?.issues ?? [])
		issue(at.join('.') || '_', 'isn’t what a list of plugins has here');
	const real = (folder: string) => (existsSync(folder) ? realpathSync(folder) : folder);
	const dirs = skills.map((skill) => real(skill.dir));
	const { metadata: shared, plugins = [] } = read.data ?? {};
	const root = resolve(dir, shared?.pluginRoot ?? '.');
	for (const { name, source, skills: named = [] } of plugins) {
		if (typeof source !== 'string') {
			issue(name, 'is in another place, so its skills aren’t checked', 'warning');
			continue;
		}
		const folder = join(root, source);
		if (!existsSync(folder)) issue(name, `has no folder ${source}`);
		else
			for (const wanted of named.map((each) => join(folder, each))) {
				if (dirs.some((found) => `${found}/`.startsWith(`${real(wanted)}/`))) continue;
				issue(name, `names ${relative(resolve(dir), wanted)}, which has no skill`);
			}
	}
	return { path, issues };
}

function parsed(path: string): unknown {
	try {
		return JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
	} catch {
		return null;
	}
}

/** One line per folder with skills, for a collection that has several. */
export function foldersRead(dir: string, skills: readonly (Skill | BrokenSkill)[]): string[] {
	const folders = [...new Set(skills.map((skill) => dirname(skill.dir)))];
	if (folders.length < 2) return [];
	return folders.map((folder) => {
		const found = skills.filter((skill) => dirname(skill.dir) === folder).map((skill) => basename(skill.dir));
		return `Read ${count(found.length, 'skill')} in ${relative(resolve(dir), folder) || '.'}: ${found.join(', ')}`;
	});
}

export async function listSkills(dir: string): Promise<Shown> {
	const skills = await readSkills(dir);
	const lines = skills.map((skill) => {
		const problem = skill.issues[0]?.message ?? 'unknown reason';
		return `${skill.name}  ${skill.status === 'broken' ? `BROKEN: ${problem}` : skill.description}`;
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

// `doctor`: the problems of skills, with a diff of the fixes; `--fix` applies them (F1).

/** `failure` says why a skill couldn't be fixed. */
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
	// A folder that can't be searched has no SKILL.md to fix.
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

export function count(number: number, noun: string): string {
	return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Wrong usage of a command: exit code 2. */
export class UsageError extends Error {
	override readonly name = 'UsageError';
}
