/** Words for the same thing, mostly kinds of files: what one person calls an Excel sheet, the next calls a workbook. */
import { stem } from './stemming.ts';

const GROUPS = [
	'spreadsheet workbook excel xlsx xls sheet',
	'presentation slide deck powerpoint pptx keynote',
	'word docx doc',
	'picture photo image png jpeg jpg webp',
	'movie video clip film mp4 mov',
	'audio sound recording mp3 wav',
	'transcript transcribe transcription',
	'mail email inbox',
	'website webpage page html',
	'ui interface frontend',
	'database sql postgres mysql sqlite',
	'chart graph plot',
	'diagram flowchart',
	'bug defect error fault',
	'meeting call appointment',
	'calendar schedule',
	'translate translation translator language',
	'recipe dish cook cooking meal',
	'weather forecast rain temperature',
	'currency money exchange euro dollar',
	'regex regexp expression',
	'docker dockerfile container',
	'git commit rebase',
	'changelog release',
	'company brand corporate',
	'shrink compress resize',
	'cut trim crop',
	'join merge combine',
	'javascript js',
	'typescript ts',
	'python py',
	'color colour palette',
	'font typeface typography'
];

/** For each stem the stems of words for the same thing. */
export function synonyms(): ReadonlyMap<string, readonly string[]> {
	const groups = GROUPS.map((group) => [...new Set(group.split(' ').map(stem))]);
	const others = new Map<string, string[]>();
	for (const group of groups) {
		for (const word of group) {
			const known = others.get(word) ?? [];
			others.set(word, [...known, ...group.filter((other) => other !== word && !known.includes(other))]);
		}
	}
	return others;
}
