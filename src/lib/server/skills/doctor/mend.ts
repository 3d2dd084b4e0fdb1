/** Tries fixes on the text of a SKILL.md: only what mends an issue and leaves the instructions alone is one (FEATURES F1); pure. */
import { join } from 'node:path';
import { textIssues } from '../skill-issues.ts';
import type { SkillIssue } from '../types.ts';
import { FIXES, fixIdOf } from './fixes.ts';
import { linesOf, splitSkill } from './lines.ts';

/** There are fewer fixes, and each leaves nothing of its kind to be done. */
const MAX_STEPS = 30;

/** What the fix for this issue makes of the text; null where there is none that mends it. */
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

/** The text with all fixes that there are, or those of the given ids; what one brings to light is mended too. */
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

/** What stands below the front matter is as it was, byte for byte. */
function keepsBody(before: string, after: string): boolean {
	const [from, to] = [splitSkill(before), splitSkill(after)];
	if (!to) return false;
	if (from) return from.rest === to.rest;
	return before.endsWith(linesOf(to.rest).slice(1).join(''));
}
