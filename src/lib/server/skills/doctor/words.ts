/** Takes a description from the instructions, and shortens a long one; pure (F1, A8, A9). */
import { markHiddenInText } from '../../../shared/characters.ts';
import { lengthOf, NAME } from '../read/fields.ts';
import { contentOf, linesOf } from './lines.ts';

/** The first real paragraph, without Markdown; else the first heading; else empty. */
export function firstWords(body: string): string {
	const text = body.replace(/<!--[\s\S]*?(?:-->|$)/g, '').replace(/^(```|~~~)[\s\S]*?(?:^\1.*$|$(?![\s\S]))/gm, '\n\n');
	const parts = text.split(/\n[^\S\n]*\n/).flatMap((part) => {
		// A heading may be directly above its paragraph.
		const lines = part.split('\n').filter((line) => line.trim());
		const isHeading = (line: string) => /^\s*#{1,6}(?:\s|$)/.test(line);
		return [
			{ isHeading: true, text: plain(lines.filter(isHeading).slice(0, 1)) },
			{ isHeading: false, text: plain(lines.filter((line) => !isHeading(line))) }
		];
	});
	const said = parts.filter((part) => /\p{L}/u.test(part.text));
	const words = said.find((part) => !part.isHeading)?.text ?? said[0]?.text ?? '';
	return cutAtSentence(words, 1024);
}

function plain(lines: readonly string[]): string {
	return lines
		.filter((line) => !/^\s*(?:[-=*_|:\s]+|\|.*\|)\s*$/.test(line))
		.map((line) => line.replace(/^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+|\d+[.)]\s+)/, ''))
		.join(' ')
		.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
		.replace(/(\*\*|__|`)(.*?)\1/g, '$2')
		.replace(/\s+/g, ' ')
		.trim();
}

/** At most `most` characters: cut after a sentence if one ends in the second half, else after a word. */
export function cutAtSentence(text: string, most: number): string {
	const flat = text.replace(/\s+/g, ' ').trim();
	if (lengthOf(flat) <= most) return flat;
	const cut = [...flat].slice(0, most + 1).join('');
	const ends = [...cut.matchAll(/[.!?。！？](?=\s)/gu)].map(({ index }) => index + 1);
	const sentence = ends.at(-1) ?? 0;
	if (sentence > cut.length / 2) return cut.slice(0, sentence);
	const short = [...cut].slice(0, most - 1).join('');
	const blank = short.lastIndexOf(' ');
	return `${(blank > short.length / 2 ? short.slice(0, blank) : short).trimEnd()}…`;
}

// A line diff of two texts, for a terminal; pure.

/** With more pairs of lines than this, all lines are shown as replaced; front matter has far fewer. */
const MAX_PAIRS = 2_000_000;

/** Changed lines, starting with `-` or `+`; unchanged ones are left out. */
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

/** The shortest diff, by longest common subsequence: computed from the end, read from the start. */
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

/** Marks byte order marks, which are invisible, and control characters, which could move the cursor; keeps tabs. */
function visible(line: string): string {
	return markHiddenInText(contentOf(line).replaceAll('\uFEFF', '<BOM>'));
}

// Makes valid skill names from invalid ones (A6); pure.

export function isName(text: string): boolean {
	return text === text.normalize('NFKC') && lengthOf(text) <= 64 && NAME.test(text);
}

/** `Fetch_Weather v2!` → `fetch-weather-v2`; empty if nothing is left. */
export function slugOf(text: string): string {
	const lower = text.normalize('NFKC').toLowerCase().normalize('NFKC');
	const plain = lower.replace(/[^\p{Ll}\p{Lo}\p{Lm}\p{N}]+/gu, '-').replace(/^-/, '');
	const slug = [...plain].slice(0, 64).join('').replace(/-$/, '');
	return isName(slug) ? slug : '';
}
