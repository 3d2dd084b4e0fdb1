/** Reads the Markdown of a skill: its lines of code with what is said about them, and what it says of each option. */
import { isName } from './slots.ts';

export interface CodeLine {
	code: string;
	/** Prose that tells what the line is for: headings, the paragraph or comment before it, the sentence around it. */
	context: string;
	/** What it does, in the words of the text; '' where they don't say. */
	purpose: string;
	isInline: boolean;
}

/** What the text says of an option or argument. */
export interface Note {
	/** `--days`, or the lower-case name of an argument. */
	key: string;
	/** The placeholder that is shown beside a flag; '' for none. */
	argument: string;
	choices: string[];
	text: string;
}

export type Notes = ReadonlyMap<string, Note>;

const MAX_LINES = 4_000;
const MAX_LINE = 2_000;
const MAX_NOTES = 400;
const MAX_CONTEXT = 600;

export function findCodeLines(markdown: string): CodeLine[] {
	const found: CodeLine[] = [];
	let paragraph = '';
	let fence: string | null = null;
	let comment = '';
	let continued = '';
	for (const line of linesOf(markdown)) {
		const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
		if (mark !== undefined && (fence === null || mark.startsWith(fence))) {
			fence = fence === null ? mark : null;
			// A list before a fence of its own speaks of other things.
			if (/^[-*+] /.test(paragraph)) paragraph = '';
		} else if (fence !== null || /^(?: {4}|\t)/.test(line)) {
			const code = `${continued} ${line.trim()}`.trim();
			const remark = /^(?:#|\/\/)\s*(.*)$/.exec(code)?.[1];
			continued = code.endsWith('\\') ? code.slice(0, -1).trim() : '';
			if (continued !== '' || code === '') continue;
			const purpose = comment || (/:\s*$/.test(paragraph) ? paragraph : '');
			if (remark === undefined) found.push({ code, context: `${paragraph}\n${comment}`, purpose, isInline: false });
			comment = remark ?? '';
		} else if (line.trim() !== '') {
			paragraph = clip(line);
			// A sentence of prose speaks of its own command, not of those beside it.
			for (const sentence of line.split(/(?<=[.;]) +(?=[\p{Lu}`])/u))
				for (const code of codeSpans(sentence))
					found.push({
						code: code.replaceAll('\\|', '|'),
						context: sentence.replace(`\`${code}\``, ' '),
						purpose: '',
						isInline: true
					});
		}
	}
	return found;
}

function linesOf(markdown: string): string[] {
	return markdown.split(/\r?\n/, MAX_LINES).map((line) => line.slice(0, MAX_LINE));
}

/** Contents of the spans between single backticks in one line. */
function codeSpans(line: string): string[] {
	const pieces = line.split('`');
	return pieces.flatMap((piece, index) => (index % 2 === 1 && index < pieces.length - 1 && piece.trim()) || []);
}

/** All that stands in code marks outside of fences: the words that are to be written exactly so. */
export function literalWords(markdown: string): Set<string> {
	return new Set(linesOf(markdown).flatMap(codeSpans));
}

/** Options and arguments that the text explains: in a list, a table or a sentence. */
export function readNotes(markdown: string): Notes {
	const notes = new Map<string, Note>();
	for (const line of linesOf(markdown)) {
		if (notes.size >= MAX_NOTES) break;
		// `**list** shows …` tells of a sub-command.
		const bold = /^[\s*+-]{0,6}(?:\d+\. )?\*\*([a-z][\w-]*):?\*\*/.exec(line)?.[1];
		const spans = bold === undefined ? codeSpans(line.replaceAll('\\|', '|')) : [bold];
		const text = line.replace(/^[\s|*+-]+/, '').slice(0, MAX_CONTEXT);
		// Does the line begin with code? Then it is about that.
		const isFirst = bold !== undefined || /^[\s|*+\d.-]*`/.test(line);
		let note: Note | undefined;
		for (const [index, span] of spans.entries()) {
			const [, flag, argument = ''] = /^(?:-\w(?:, ?|\|))?(--?[a-z][\w-]*)(?:[ =]([^\s=]{1,60}))?$/i.exec(span) ?? [];
			const name = /^[<{$[]?([A-Za-z][\w -]{0,40}?)[>}\]]?(?:\.{3})?$/.exec(span)?.[1]?.toLowerCase();
			const key = flag ?? (index === 0 && isFirst ? name : undefined);
			if (key !== undefined) {
				const bare = argument.replace(/[<>[\]{}]/g, '');
				const choices = bare.includes('|') ? bare.split('|') : [];
				note = notes.get(key) ?? { key, argument: '', choices, text: '' };
				note.argument ||= bare;
				note.text = clip(`${note.text} ${text}`);
				notes.set(key, note);
			} else if (note && isName(span) && !note.choices.includes(span) && !/\b(such as|e\.g\.|for example)/i.test(text))
				note.choices.push(span);
		}
	}
	return notes;
}

function clip(text: string): string {
	return text.slice(-MAX_CONTEXT);
}
