/** Splits a SKILL.md into lines with their endings, and edits single entries (F1); pure. */
import { lineOf } from '../read/fields.ts';

/** The whole text in parts; joined, they are the file again, byte for byte. */
export interface RawSkill {
	/** Text before the opening fence, usually none. */
	before: string;
	open: string;
	/** Lines of the front matter, each with its ending. */
	yaml: readonly string[];
	/** The closing fence and everything after it. */
	rest: string;
	/** Ending of added lines. */
	eol: string;
}

/** The lines of a text, each with its ending. */
export function linesOf(text: string): string[] {
	return text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
}

/** Splits the text where the parser would; null if it finds no front matter. */
export function splitSkill(text: string): RawSkill | null {
	const lines = linesOf(text);
	const top = lines.findIndex((line, index) => /\S/.test(index === 0 ? line.replace(/^\uFEFF/, '') : line));
	const open = lines[top];
	if (open === undefined || !isFence(top === 0 ? open.replace(/^\uFEFF/, '') : open)) return null;
	const close = lines.findIndex((line, index) => index > top && isFence(line));
	if (close < 0) return null;
	return {
		before: lines.slice(0, top).join(''),
		open,
		yaml: lines.slice(top + 1, close),
		rest: lines.slice(close).join(''),
		eol: endingOf(open)
	};
}

export function joinSkill({ before, open, yaml, rest }: RawSkill): string {
	return before + open + yaml.join('') + rest;
}

export function isFence(line: string): boolean {
	return /^---[ \t]*[\r\n]*$/.test(line);
}

/** A line's ending; `\n` by default. */
export function endingOf(line: string): string {
	return /[\r\n]+$/.exec(line)?.[0] ?? '\n';
}

export function contentOf(line: string): string {
	return line.replace(/[\r\n]+$/, '');
}

/** Range of an entry's lines: from its key to before the next one, without comments and blank lines at the end. */
export function entryAt(yaml: readonly string[], start: number): { start: number; end: number } {
	const indent = indentOf(yaml[start] ?? '');
	let end = start + 1;
	for (let at = end; at < yaml.length; at += 1) {
		const line = yaml[at] ?? '';
		if (!line.trim() || (/^\s*#/.test(line) && indentOf(line) <= indent)) continue;
		// The items of a list may be indented like their key.
		if (indentOf(line) <= indent && !(indentOf(line) === indent && /^\s*-(?:\s|$)/.test(line))) break;
		end = at + 1;
	}
	return { start, end };
}

/** Sets the value of the entry at this line to a text; keeps a comment after a single-line value. */
export function withValue({ yaml, eol, ...raw }: RawSkill, start: number, key: string, value: string): RawSkill {
	const { end } = entryAt(yaml, start);
	const line = contentOf(yaml[start] ?? '');
	const comment = end === start + 1 ? commentOf(line) : '';
	const entry = `${' '.repeat(indentOf(line))}${textLine(key, value)}${comment}${endingOf(yaml[start] ?? eol)}`;
	return { ...raw, eol, yaml: [...yaml.slice(0, start), entry, ...yaml.slice(end)] };
}

/** Adds an entry before this line. */
export function withEntry({ yaml, eol, ...raw }: RawSkill, at: number, key: string, value: string): RawSkill {
	return { ...raw, eol, yaml: [...yaml.slice(0, at), textLine(key, value) + eol, ...yaml.slice(at)] };
}

/** Comments an entry out, so that nothing is lost. */
export function withoutEntry({ yaml, ...raw }: RawSkill, start: number): RawSkill {
	const { end } = entryAt(yaml, start);
	const comments = yaml.slice(start, end).map((line) => (line.trim() ? line.replace(/^ */, '$&# ') : line));
	return { ...raw, yaml: [...yaml.slice(0, start), ...comments, ...yaml.slice(end)] };
}

/** A line that every YAML parser reads as text, whatever the value looks like. */
export function textLine(key: string, value: string): string {
	const name = /^[A-Za-z_][\w.-]*$/.test(key) ? key : JSON.stringify(key);
	const text = value.replace(/[\uFFFE\uFFFF]/g, ' ');
	const looksElse = /^(?:[\d.+-]|(?:true|false|null|yes|no|on|off|y|n)$)/i.test(text.trim());
	return looksElse ? `${name}: ${JSON.stringify(text.trim())}` : lineOf(name, text);
}

function indentOf(line: string): number {
	return /^ */.exec(line)?.[0].length ?? 0;
}

function commentOf(line: string): string {
	const value = /^\s*(?:"[^"]*"|'[^']*'|[^\s:][^:]*):(.*)$/.exec(line)?.[1] ?? '';
	return /^\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#](?:[^#]|(?<!\s)#)*?)?(\s+#.*)$/.exec(value)?.[1] ?? '';
}
