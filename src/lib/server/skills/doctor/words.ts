/** Takes a description from the instructions, and cuts one that is too long; pure (FEATURES F1, A8, A9). */
import { lengthOf } from '../fields.ts';

/** The first paragraph that says something, without its Markdown; else the first heading; else nothing. */
export function firstWords(body: string): string {
	const text = body.replace(/<!--[\s\S]*?(?:-->|$)/g, '').replace(/^(```|~~~)[\s\S]*?(?:^\1.*$|$(?![\s\S]))/gm, '\n\n');
	const parts = text.split(/\n[^\S\n]*\n/).flatMap((part) => {
		// A heading may stand right above its paragraph.
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

/** At most so many characters: whole sentences where one fits in the second half of them, else whole words. */
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
