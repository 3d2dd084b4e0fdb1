/** Everything that is wrong with the text of a SKILL.md by the strict rules; pure (FEATURES F1, A20–A23). */
import { readFacts } from './facts.ts';
import { readFrontMatter } from './front-matter.ts';
import { parseSkill } from './parser.ts';
import { SkillLoadError, type SkillIssue } from './types.ts';

/** What the standard forbids is an error here, though the app would load it with a warning; each has its line. */
export function textIssues(text: string, path: string): SkillIssue[] {
	const issues: SkillIssue[] = [];
	if (text.startsWith('\uFEFF')) {
		const message = 'begins with a byte order mark, which some clients take for text before the front matter';
		issues.push({ field: '_', severity: 'warning', message, line: 1 });
	}
	try {
		parseSkill(text, path);
	} catch (error) {
		issues.push(...issuesOf(error));
	}
	try {
		const { spec, warnings } = parseSkill(text, path, { mode: 'lenient' });
		issues.push(...warnings, ...withLines(readFacts(spec).issues, text));
	} catch (error) {
		issues.push(...issuesOf(error));
	}
	return withoutRepeats(issues);
}

/** Each thing is said once; the first wins. */
export function withoutRepeats(issues: readonly SkillIssue[]): SkillIssue[] {
	const said = new Set<string>();
	return issues.filter(({ field, message }) => {
		const mark = `${field}\n${message}`;
		return !said.has(mark) && said.add(mark);
	});
}

function issuesOf(error: unknown): readonly SkillIssue[] {
	if (error instanceof SkillLoadError) return error.issues;
	throw error;
}

/** Facts are read from what was parsed, which has no lines any more. */
function withLines(issues: readonly SkillIssue[], text: string): SkillIssue[] {
	const front = issues.length > 0 ? readFrontMatter(text) : null;
	if (!front || 'field' in front) return [...issues];
	return issues.map((issue) => {
		const line = front.lines.get(issue.field) ?? front.lines.get(`metadata.${issue.field}`) ?? front.top;
		return { ...issue, line };
	});
}
