/** Tries fixes on a SKILL.md, keeping those that work without changing the instructions (FEATURES F1); pure. */
import { lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { NOT_STANDARD, parseSkill, SPEC_KEYS } from '../parser.ts';
import { estimateTokens } from '../prompt.ts';
import { readFrontMatter } from '../read/front-matter.ts';
import { TOOLS_FILE } from '../read/manifest.ts';
import { readSkillText } from '../read/safe-read.ts';
import { readFacts, textIssues, withoutRepeats } from '../read/skill-loader.ts';
import { type BrokenSkill, type Skill, type SkillIssue, SkillLoadError } from '../types.ts';
import { FIXES, fixIdOf } from './fixes.ts';
import { linesOf, splitSkill } from './lines.ts';

/** More than there are fixes, each of which is needed once. */
const MAX_STEPS = 30;

/** Returns the text with the issue fixed; null if no fix works. */
export function createMender(text: string, dir: string): (issue: SkillIssue) => string | null {
	const tried = new Map<string, { after: string; issues: readonly SkillIssue[] } | null>();
	const attempt = (fixId: string) => {
		const after = FIXES[fixId]?.(text, dir) ?? null;
		if (after === null || after === text || !keepsBody(text, after)) return null;
		return { after, issues: textIssues(after, join(dir, 'SKILL.md')) };
	};
	return (issue) => {
		const fixId = fixIdOf(issue);
		if (fixId === null) return null;
		const known = tried.get(fixId);
		const result = known === undefined ? attempt(fixId) : known;
		tried.set(fixId, result);
		const isLeft = result?.issues.some(({ field, message }) => field === issue.field && message === issue.message);
		return result && !isLeft ? result.after : null;
	};
}

/** The text with all or the given fixes applied, repeated for problems that appear only after another fix. */
export function mendAll(text: string, dir: string, wanted?: ReadonlySet<string>): string {
	const seen = new Set([text]);
	let mended = text;
	for (let step = 0; step < MAX_STEPS; step += 1) {
		const mend = createMender(mended, dir);
		const next = firstOf(textIssues(mended, join(dir, 'SKILL.md')), (issue) => {
			if (wanted && !wanted.has(fixIdOf(issue) ?? '')) return null;
			const after = mend(issue);
			return after !== null && !seen.has(after) ? after : null;
		});
		if (next === null) break;
		seen.add(next);
		mended = next;
	}
	return mended;
}

function firstOf<Item>(items: readonly Item[], read: (item: Item) => string | null): string | null {
	for (const item of items) {
		const found = read(item);
		if (found !== null) return found;
	}
	return null;
}

/** True if everything below the front matter is unchanged, byte for byte. */
function keepsBody(before: string, after: string): boolean {
	const [from, to] = [splitSkill(before), splitSkill(after)];
	if (!to) return false;
	if (from) return from.rest === to.rest;
	return before.endsWith(linesOf(to.rest).slice(1).join(''));
}

// Checks a text as the SKILL.md of a folder, by the strict rules; reads and writes nothing (FEATURES F1).

interface TextCheck {
	status: 'ready' | 'broken';
	/** Empty if it can't be read. */
	name: string;
	description: string;
	issues: (SkillIssue & { fixId: string | null })[];
	/** The text with one fix applied, by the fix's id. */
	fixes: Record<string, string>;
	/** Estimated tokens of the instructions. */
	tokens: number;
}

/** `dir` is the folder whose name must match; it needn't exist. */
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

// All issues of a skill's folder: of the SKILL.md by the strict rules, then of its other files (FEATURES F1).

/** Issues of a loaded skill; every field outside the standard is one, also those that we read. */
export function strictIssues(skill: Skill | BrokenSkill): SkillIssue[] {
	const read = readFile(skill.path);
	const { path, issues } = skill;
	const wrong = (read?.issues ?? []).map((issue) => ({ ...issue, severity: 'error' as const }));
	const found = withTextIssues(read?.text ?? null, { path, issues: [...wrong, ...issues] });
	return wrong.length > 0 ? found : withoutRepeats([...found, ...fieldIssues(read?.text ?? '')]);
}

function fieldIssues(text: string): SkillIssue[] {
	const front = readFrontMatter(text);
	if ('field' in front) return [];
	const fields = Object.keys(front.data).filter((field) => !SPEC_KEYS.has(field));
	return fields.map((field) => {
		return { field, severity: 'warning', message: NOT_STANDARD, line: front.lines.get(field) ?? front.top };
	});
}

/** The same for a text that was already read; null if it can't be read. */
export function withTextIssues(
	text: string | null,
	{ path, issues }: Pick<Skill | BrokenSkill, 'path' | 'issues'>
): SkillIssue[] {
	// Problems in tools.json cost the app only tools, but are errors by the strict rules.
	const strict = issues.map((issue) => (issue.file === TOOLS_FILE ? { ...issue, severity: 'error' as const } : issue));
	return withoutRepeats([...(text === null ? [] : textIssues(text, path)), ...strict]);
}

/** null if it can't be read, which is already an issue of the skill. */
function readFile(path: string): ReturnType<typeof readSkillText> | null {
	try {
		return readSkillText(path, lstatSync(path).isSymbolicLink());
	} catch {
		return null;
	}
}
