/** Every fault of a skill's folder: those of the SKILL.md by the strict rules, then those of its other files (FEATURES F1). */
import { lstatSync } from 'node:fs';
import { readSafely } from '../safe-read.ts';
import { textIssues, withoutRepeats } from '../skill-issues.ts';
import type { BrokenSkill, Skill, SkillIssue } from '../types.ts';

/** Of a skill as it was loaded. */
export function strictIssues(skill: Skill | BrokenSkill): SkillIssue[] {
	return withTextIssues(readText(skill.path), skill);
}

/** The same, of a text that was read already; null is one that cannot be read. */
export function withTextIssues(text: string | null, { path, issues }: Skill | BrokenSkill): SkillIssue[] {
	return withoutRepeats([...(text === null ? [] : textIssues(text, path)), ...issues]);
}

/** Null where it cannot be read: that is an issue of the skill already. */
function readText(path: string): string | null {
	try {
		return readSafely(path, lstatSync(path).isSymbolicLink()).toString();
	} catch {
		return null;
	}
}
