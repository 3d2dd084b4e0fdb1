/** Reads the Markdown of a skill: its lines of code with what is said about them, and what it says of each option. */
import { isName } from './slots.ts';

export interface CodeLine {
	code: string;
	/** Prose that tells what the line is for: headings, the paragraph or comment before it, the sentence around it. */
	context: string;
	isInline: boolean;
}

/** What the text says of an option or argument. */
interface Note {
	/** `--days`, or the lower-case name of an argument. */
	key: string;
	/** The placeholder that is shown beside a flag; '' for none. */
	argument: string;
	choices: string[];
	text: string;
	/** True and false where it says so. */
	isOptional: boolean | null;
}

export type Notes = ReadonlyMap<string, Note>;

const MAX_CODE_LINES = 2_000;
const MAX_NOTES = 400;
const MAX_CONTEXT = 600;

export function findCodeLines(markdown: string): CodeLine[] {
	const found: CodeLine[] = [];
	const headings: string[] = [];
	let paragraph = '';
	let isParagraphOver = false;
	let fence: string | null = null;
	let comment = '';
	let continued = '';

	const addCode = (line: string) => {
		const code = `${continued} ${line.trim()}`.trim();
		if (code.endsWith('\\')) {
			continued = code.slice(0, -1).trim();
			return;
		}
		continued = '';
		const remark = /^(?:#|\/\/|rem\s)\s*(.*)$/i.exec(code)?.[1];
		if (remark !== undefined) comment = remark;
		else if (code !== '') {
			found.push({ code, context: clip([...headings.slice(-2), paragraph, comment].join('\n')), isInline: false });
			comment = '';
		}
	};

	for (const line of markdown.split(/\r?\n/)) {
		if (found.length >= MAX_CODE_LINES) break;
		const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
		if (fence !== null) {
			const isClosed: boolean | undefined = mark?.startsWith(fence) && line.trim() === mark;
			if (isClosed) {
				if (continued !== '') addCode('');
				comment = '';
				fence = null;
			} else addCode(line);
			isParagraphOver = true;
			continue;
		}
		const heading = /^(#{1,6})\s+(.*)$/.exec(line);
		if (mark !== undefined) {
			fence = mark;
			// A list before a fence of its own speaks of other things.
			if (/^[-*+] /.test(paragraph) && line.startsWith(mark)) paragraph = '';
		} else if (heading) {
			headings.splice((heading[1]?.length ?? 1) - 1);
			headings.push(heading[2] ?? '');
			paragraph = '';
		} else if (line.trim() === '') isParagraphOver = true;
		else if (/^(?: {4}|\t)/.test(line)) addCode(line);
		else {
			paragraph = clip(isParagraphOver || /^\s*(?:[-*+]|\d+\.) /.test(line) ? line : `${paragraph} ${line}`);
			isParagraphOver = false;
			// A sentence of prose speaks of its own command, not of those beside it.
			for (const sentence of line.split(/(?<=[.;]) +(?=\p{Lu})/u)) {
				for (const code of codeSpans(sentence)) {
					const context = clip([...headings.slice(-2), sentence.replace(`\`${code}\``, ' ')].join('\n'));
					found.push({ code: code.replaceAll('\\|', '|'), context, isInline: true });
				}
			}
		}
	}
	return found;
}

/** Contents of the spans between single backticks in one line. */
function codeSpans(line: string): string[] {
	return line
		.slice(0, 4_000)
		.split('`')
		.filter((piece, index, pieces) => index % 2 === 1 && index < pieces.length - 1 && piece.trim() !== '')
		.map((piece) => piece.trim());
}

/** All that stands in code marks outside of fences: the words that are to be written exactly so. */
export function literalWords(markdown: string): Set<string> {
	return new Set(markdown.split('\n').slice(0, MAX_CODE_LINES).flatMap(codeSpans));
}

/** Options and arguments that the text explains: in a list, a table, a sentence, or the lines of a usage text. */
export function readNotes(markdown: string): Notes {
	const notes = new Map<string, Note>();
	let header: string[] = [];
	const all = markdown.split('\n');
	for (const [index, line] of all.entries()) {
		if (notes.size >= MAX_NOTES) break;
		const cells = line.trim().startsWith('|') ? cellsOf(line) : [];
		if (cells.length === 0) header = [];
		else if (/^[\s|:-]+$/.test(all[index + 1] ?? '')) {
			header = cells.map((cell) => cell.toLowerCase());
			continue;
		}
		const usage =
			/^\s{0,12}(-{1,2}[a-z][\w-]*(?:, --[a-z][\w-]*)?(?:[ =][A-Z<][\w<>|-]{0,40})?)(?:\s{2,}|\s+[-–:]\s+)\S/i;
		// `**list** shows …` tells of a sub-command.
		const bold =
			/^[\s*+-]{0,6}(?:\d+\. )?\*\*([a-z][\w-]*):?\*\*/.exec(line)?.[1] ??
			/^#{1,6} `?([a-z][\w-]*)`?(?= [—–:-] )/.exec(line)?.[1];
		const spans = bold !== undefined ? [bold] : codeSpans(cells.length > 0 ? line.replaceAll('\\|', '|') : line);
		readSpans(spans.length > 0 ? spans : [(usage.exec(line.slice(0, 500)) ?? [])[1] ?? ''], {
			text: line.replace(/^[\s|*+-]+/, '').slice(0, MAX_CONTEXT),
			isOptional: optionality(line, cells, header),
			isFirst: bold !== undefined || /^[\s|*+\d.-]*`/.test(line),
			notes
		});
	}
	return notes;
}

interface Line {
	text: string;
	isOptional: boolean | null;
	/** Does the line begin with code? Then it is about that. */
	isFirst: boolean;
	notes: Map<string, Note>;
}

function readSpans(spans: readonly string[], { text, isOptional, isFirst, notes }: Line): void {
	let note: Note | undefined;
	for (const [index, span] of spans.entries()) {
		const [, flag, argument = ''] = /^(?:-\w(?:, ?|\|))?(--?[a-z][\w-]*)(?:[ =]([^\s=]{1,60}))?$/i.exec(span) ?? [];
		const name = /^[<{$[]?([A-Za-z][\w -]{0,40}?)[>}\]]?(?:\.{3})?$/.exec(span)?.[1]?.toLowerCase();
		const key = flag ?? (index === 0 && isFirst && name !== undefined ? name : undefined);
		if (key !== undefined) {
			const bare = argument.replace(/[<>[\]{}]/g, '');
			const choices = bare.includes('|') ? bare.split('|') : [];
			note = notes.get(key) ?? { key, argument: bare, choices, text: '', isOptional: null };
			if (note.argument === '') note.argument = bare;
			note.text = clip(`${note.text} ${text}`);
			note.isOptional ??= isOptional;
			notes.set(key, note);
		} else if (note && isName(span) && !note.choices.includes(span) && !/\b(such as|e\.g\.|for example)/i.test(text))
			note.choices.push(span);
	}
}

function optionality(line: string, cells: readonly string[], header: readonly string[]): boolean | null {
	const cell = (name: RegExp) => cells[header.findIndex((title) => name.test(title))];
	const [byDefault, required] = [cell(/^default/), cell(/^required/)];
	if (required !== undefined) return /^\W*(?:no|optional|-|–|)\W*$/i.test(required);
	if (/\brequired\b/i.test(line.slice(0, 500))) return false;
	if (byDefault !== undefined && !/^[-–—\s]*$/.test(byDefault)) return true;
	return /\b(?:optional|defaults?|omit|left out|unless)\b/i.test(line.slice(0, 500)) ? true : null;
}

function cellsOf(line: string): string[] {
	return line
		.slice(0, 2_000)
		.replaceAll('\\|', '¦')
		.split('|')
		.slice(1, -1)
		.map((cell) => cell.trim());
}

function clip(text: string): string {
	return text.slice(-MAX_CONTEXT);
}
