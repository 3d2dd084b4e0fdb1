/** What is different between two texts, line by line, for a terminal; pure. */
import { markHiddenInText } from '../../../shared/characters.ts';
import { contentOf, linesOf } from './lines.ts';

/** Past so many pairs of lines the old ones are shown as wholly replaced: front matter has far fewer. */
const MAX_PAIRS = 2_000_000;

/** Lines that begin with `-` and `+`; what is the same is left out. */
export function lineDiff(before: string, after: string): string[] {
	const [from, to] = [linesOf(before), linesOf(after)];
	let start = 0;
	while (start < Math.min(from.length, to.length) && from[start] === to[start]) start += 1;
	let end = 0;
	const most = Math.min(from.length, to.length) - start;
	while (end < most && from.at(-1 - end) === to.at(-1 - end)) end += 1;
	const [removed, added] = [from.slice(start, from.length - end), to.slice(start, to.length - end)];
	const isTooLong = removed.length * added.length > MAX_PAIRS;
	return isTooLong ? [...removed.map(minus), ...added.map(plus)] : shortest(removed, added);
}

/** By the longest common subsequence, from the end, so that it can be read off from the beginning. */
function shortest(removed: readonly string[], added: readonly string[]): string[] {
	const width = added.length + 1;
	const common = new Uint32Array((removed.length + 1) * width);
	for (let a = removed.length - 1; a >= 0; a -= 1) {
		for (let b = added.length - 1; b >= 0; b -= 1) {
			const [below, right] = [common[(a + 1) * width + b] ?? 0, common[a * width + b + 1] ?? 0];
			const diagonal = common[(a + 1) * width + b + 1] ?? 0;
			common[a * width + b] = removed[a] === added[b] ? diagonal + 1 : Math.max(below, right);
		}
	}
	const lines: string[] = [];
	for (let a = 0, b = 0; a < removed.length || b < added.length;) {
		const [old, fresh] = [removed[a], added[b]];
		if (old !== undefined && old === fresh) {
			a += 1;
			b += 1;
		} else if (
			old !== undefined &&
			(fresh === undefined || (common[(a + 1) * width + b] ?? 0) >= (common[a * width + b + 1] ?? 0))
		) {
			lines.push(minus(old));
			a += 1;
		} else {
			lines.push(plus(fresh ?? ''));
			b += 1;
		}
	}
	return lines;
}

function minus(line: string): string {
	return `-${visible(line)}`;
}

function plus(line: string): string {
	return `+${visible(line)}`;
}

/** A byte order mark would be a change that nobody sees, and a control character could move the cursor. Tabs are as they were. */
function visible(line: string): string {
	return markHiddenInText(contentOf(line).replaceAll('\uFEFF', '<BOM>'));
}
