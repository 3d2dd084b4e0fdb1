/** `validate`: every fault of a folder of skills by the strict rules, with file and line. */
import { join, relative } from 'node:path';
import { strictIssues } from '../doctor/strict-issues.ts';
import { readSkills, type Shown } from './read.ts';

/** What the standard forbids is an error here, though the app would load it with a warning. */
export async function validate(dir: string): Promise<Shown & { hasErrors: boolean }> {
	const skills = await readSkills(dir);
	const checked = skills.map((skill) => ({ skill, issues: strictIssues(skill) }));
	const lines = checked.flatMap(({ skill, issues }) =>
		issues.map(({ severity, field, message, file, line, fix }) => {
			const path = file === undefined ? skill.path : join(skill.dir, file);
			const place = `${relative(process.cwd(), path) || path}:${line ?? 1}`;
			return `${place}: ${severity} ${field}: ${message}${fix ? ` (write: ${fix})` : ''}`;
		})
	);
	const all = checked.flatMap(({ issues }) => issues);
	const errors = all.filter(({ severity }) => severity === 'error').length;
	const count = `${skills.length} skill${skills.length === 1 ? '' : 's'}, ${errors} error${errors === 1 ? '' : 's'}, ${all.length - errors} warning${all.length - errors === 1 ? '' : 's'}`;
	return {
		text: [...lines, skills.length === 0 ? `There is no SKILL.md in ${dir}.` : count].join('\n'),
		json: checked.map(({ skill, issues }) => ({ name: skill.name, path: skill.path, issues })),
		hasErrors: errors > 0 || skills.length === 0
	};
}
