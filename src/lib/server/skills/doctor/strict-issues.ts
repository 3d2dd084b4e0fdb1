/** Every fault of a skill's folder: those of the SKILL.md by the strict rules, then those of its other files (FEATURES F1). */
import { lstatSync } from 'node:fs';
import { TOOLS_FILE } from '../manifest.ts';
import { readSkillText } from '../safe-read.ts';
import { textIssues, withoutRepeats } from '../skill-issues.ts';
import type { BrokenSkill, Skill, SkillIssue } from '../types.ts';

/** Of a skill as it was loaded. */
export function strictIssues(skill: Skill | BrokenSkill): SkillIssue[] {
	const read = readFile(skill.path);
	const { path, issues } = skill;
	const wrong = (read?.issues ?? []).map((issue) => ({ ...issue, severity: 'error' as const }));
	return withTextIssues(read?.text ?? null, { path, issues: [...wrong, ...issues] });
}

/** The same, of a text that was read already; null is one that cannot be read. */
export function withTextIssues(
	text: string | null,
	{ path, issues }: Pick<Skill | BrokenSkill, 'path' | 'issues'>
): SkillIssue[] {
	// What is wrong with a tools.json costs the skill tools, and the app no more: by the rules it is an error.
	const strict = issues.map((issue) => (issue.file === TOOLS_FILE ? { ...issue, severity: 'error' as const } : issue));
	return withoutRepeats([...(text === null ? [] : textIssues(text, path)), ...strict]);
}

/** Null where it cannot be read: that is an issue of the skill already. */
function readFile(path: string): ReturnType<typeof readSkillText> | null {
	try {
		return readSkillText(path, lstatSync(path).isSymbolicLink());
	} catch {
		return null;
	}
}
