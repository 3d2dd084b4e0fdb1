/** What a text would be as the SKILL.md of a folder, by the strict rules; nothing is read or written (FEATURES F1). */
import { join, resolve } from 'node:path';
import { readFacts } from '../facts.ts';
import { parseSkill } from '../parser.ts';
import { estimateTokens } from '../prompt.ts';
import { textIssues, withoutRepeats } from '../skill-issues.ts';
import { SkillLoadError, type SkillIssue } from '../types.ts';
import { fixIdOf } from './fixes.ts';
import { createMender } from './mend.ts';

interface TextCheck {
	status: 'ready' | 'broken';
	/** Empty where it cannot be read. */
	name: string;
	description: string;
	issues: (SkillIssue & { fixId: string | null })[];
	/** The text with one fix applied, by its name. */
	fixes: Record<string, string>;
	/** Of the instructions. */
	tokens: number;
}

/** `dir` names the folder that the name is held against; it need not be there. */
export function checkText(text: string, dir: string): TextCheck {
	const folder = resolve(dir);
	const path = join(folder, 'SKILL.md');
	const read = readLeniently(text, path);
	const mend = createMender(text, folder);
	const fixes: Record<string, string> = {};
	const issues = withoutRepeats([...textIssues(text, path), ...read.issues]).map((issue) => {
		const after = mend(issue);
		const fixId = after === null ? null : fixIdOf(issue);
		if (fixId !== null && after !== null) fixes[fixId] = after;
		return { ...issue, fixId };
	});
	return { ...read, issues, fixes };
}

function readLeniently(text: string, path: string): Omit<TextCheck, 'fixes' | 'issues'> & { issues: SkillIssue[] } {
	try {
		const { spec, warnings } = parseSkill(text, path, { mode: 'lenient' });
		const issues = [...warnings, ...readFacts(spec).issues];
		const status = issues.some(({ severity }) => severity === 'error') ? 'broken' : 'ready';
		const { name, description, body } = spec;
		return { status, name, description, issues, tokens: estimateTokens(body) };
	} catch (error) {
		if (!(error instanceof SkillLoadError)) throw error;
		return { status: 'broken', name: '', description: '', issues: [...error.issues], tokens: estimateTokens(text) };
	}
}
