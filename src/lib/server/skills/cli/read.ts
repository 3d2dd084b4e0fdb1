/** The commands that show what is there: list, show, search. */
import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { estimateTokens } from '../prompt.ts';
import { scanRoots } from '../scanner.ts';
import { scoreSkill } from '../search.ts';
import { createSkillIndex } from '../skill-index.ts';
import type { BrokenSkill, Skill } from '../types.ts';
import { UsageError } from './usage-error.ts';

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
	if (!isFolder) throw new UsageError(`There is no folder “${dir}”.`);
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
		name === undefined ? `Which skill? There are: ${names}` : `There is no skill “${name}”. There are: ${names}`
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
		text: lines.length > 0 ? lines.join('\n') : `Nothing fits “${query}”.`,
		json: found.map(({ skill, score, signals }) => ({ ...summary(skill), score, signals }))
	};
}

function summary(skill: Skill | BrokenSkill): Record<string, unknown> {
	const { name, description, status, path, issues } = skill;
	return { name, description, status, path: relative(process.cwd(), path), issues };
}
