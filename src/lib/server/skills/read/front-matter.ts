/** Splits a SKILL.md into front matter and body; YAML can't run code or explode through aliases (A3–A5). */
import matter from 'gray-matter';
import { FAILSAFE_SCHEMA, load, YAMLException } from 'js-yaml';
import { estimateTokens } from '../../../shared/characters.ts';
import { isObject } from '../../../shared/json.ts';
import type { SkillIssue } from '../types.ts';

/** Longer front matter (in characters) is refused before parsing. */
const MAX_FRONT_MATTER = 64 * 1024;
const MAX_LINES = 1000;
/** Each may repeat the whole text, so together they are 1 MiB at most. */
const MAX_ALIASES = 16;

export interface FrontMatter {
	/** Null prototype; every scalar is text (failsafe schema). */
	data: Record<string, unknown>;
	body: string;
	/** Line numbers of keys, starting at 1: `metadata`, and `metadata.author` for a nested one. */
	lines: ReadonlyMap<string, number>;
	/** Line of the opening fence, reported for missing fields. */
	top: number;
	/** How invalid YAML was repaired; null if it was valid. */
	repair: SkillIssue | null;
	/** Violations that don't prevent reading, including the repair. */
	warnings: SkillIssue[];
}

/** Returns an issue if there is no readable front matter. */
export function readFrontMatter(contents: string): FrontMatter | SkillIssue {
	const warnings: SkillIssue[] = [];
	const text = contents.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
	const first = text.search(/\S/);
	if (first < 0) return whole('is empty', 1);
	const start = text.lastIndexOf('\n', first) + 1;
	const top = text.slice(0, start).split('\n').length;
	if (top > 1) {
		warnings.push({ field: '_', severity: 'warning', line: 1, message: 'has blank lines before the front matter' });
	}
	// gray-matter reads a word after the fence as a language, and runs `js`: only give it a bare fence.
	const open = /^---[ \t]*(?=\n|$)/.exec(text.slice(start));
	if (!open) return whole('has no front matter: its first line must be exactly ---', top, '---');
	const rest = text.slice(start + open[0].length);
	const close = /\n---[ \t]*(?:\n|$)/.exec(rest);
	if (!close) return whole('has no closing --- after the front matter', top, '---');
	const yaml = rest.slice(1, close.index);
	if (yaml.length > MAX_FRONT_MATTER) return whole('has front matter longer than 64 KiB', top);
	// gray-matter's comment search is quadratic in lines: 65,000 blank ones blocked a server for 7 s.
	if (yaml.split(/[\n\u2028\u2029]/).length > MAX_LINES) {
		return whole(`has more than ${MAX_LINES} lines of front matter`, top);
	}
	const body = withoutBlankLines(rest.slice(close.index + close[0].length));
	const lines = yaml.split('\n');

	const parsed = parseYaml(yaml);
	let data = parsed.data;
	let repair: SkillIssue | null = null;
	if (!data && parsed.isRefused) {
		const at = lines.findIndex((line) => /(?:^|[\s,[{])\*\S/.test(line)) + 1;
		return whole(parsed.reason ?? '', top + at, 'write the value instead');
	}
	if (!data) {
		// A5: usually an unquoted ": " in a value; quoting plain values repairs it.
		const repaired = quotePlainValues(lines);
		data = parseYaml(repaired.join('\n')).data;
		const at = parsed.line ?? 1;
		const open = unclosedIn(lines);
		if (!data && open) {
			const { sign, index } = open;
			const reason = `${SIGN_WORDS[sign] ?? `“${sign}”`} is opened here and never closed`;
			return whole(
				`has front matter that isn’t valid YAML: ${reason}`,
				top + index + 1,
				`close it with ${CLOSING[sign]}`
			);
		}
		if (!data)
			return whole(
				`has front matter that isn’t valid YAML: ${inWords(parsed.reason)}`,
				top + at,
				fixFor(parsed.reason)
			);
		// A multi-line value is repaired at its first line; the error may point further down.
		const isRepaired = (line: string, index: number) => line !== '' && line !== lines[index];
		const before = repaired.slice(0, at).findLastIndex(isRepaired);
		const repairedAt = before < 0 ? repaired.findIndex(isRepaired) : before;
		repair = {
			field: '_',
			severity: 'warning',
			line: top + repairedAt + 1,
			fix: (repaired[repairedAt] ?? '').trim(),
			message: `isn’t valid YAML (${open?.index === repairedAt ? `${SIGN_WORDS[open.sign] ?? `“${open.sign}”`} is never closed` : inWords(parsed.reason)}), but works with the value in quotes`
		};
		warnings.push(repair);
	}
	return { data, body, lines: keyLines(lines, top), top, repair, warnings };
}

/** Tokens of a SKILL.md's instructions, as every page counts them: without front matter, and what loading adds to them. */
export function instructionTokens(contents: string): number {
	const front = readFrontMatter(contents);
	return estimateTokens('body' in front ? front.body : contents);
}

/** Strips surrounding blank lines, but not the first line's indentation, which may make it a code block. */
export function withoutBlankLines(text: string): string {
	return text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
}

function keyLines(lines: readonly string[], top: number): Map<string, number> {
	const found = new Map<string, number>();
	let parent = '';
	let indent: string | undefined;
	const add = (key: string, index: number) => {
		if (!found.has(key)) found.set(key, top + index + 1);
	};
	lines.forEach((line, index) => {
		const [start, blanks = '', written = ''] = /^( *)([^\s:#][^:]*):(?=\s|$)/.exec(line) ?? [];
		const key = written.trimEnd().replace(/^(["'])(.*)\1$/, '$2');
		if (start === undefined) return;
		if (!blanks) {
			add(key, index);
			// Nothing below a value or a block scalar is a key.
			parent = /^\s*(?:#|$)/.test(line.slice(start.length)) ? key : '';
			indent = undefined;
		} else if (parent && blanks === (indent ??= blanks)) {
			add(`${parent}.${key}`, index);
		}
	});
	return found;
}

function whole(message: string, line: number, fix?: string): SkillIssue {
	return { field: '_', severity: 'error', message, line, fix };
}

interface Parsed {
	data?: Record<string, unknown>;
	reason?: string;
	/** Valid YAML that we refuse, so there is nothing to repair. */
	isRefused?: boolean;
	/** Line within the front matter, from 1. */
	line?: number;
}

function parseYaml(yaml: string): Parsed {
	try {
		// Always pass options: without them gray-matter caches every text. Its own closing delimiter matches any line that
		// starts with ---.
		const delimiters: [string, string] = ['---', '---\n'];
		const { data } = matter(`---\n${yaml}\n---\n`, { language: 'yaml', engines: ENGINES, delimiters });
		return { data: Object.assign(Object.create(null) as Record<string, unknown>, data) };
	} catch (error) {
		if (error instanceof RefusedAlias) return { reason: error.message, isRefused: true };
		if (!(error instanceof YAMLException)) {
			return { reason: error instanceof Error ? error.message : String(error) };
		}
		// gray-matter passes the text with the fence's newline, so the mark counts from 1.
		return { reason: error.reason, line: Math.max(1, error.mark?.line ?? 1) };
	}
}

function refuse(): never {
	throw new Error('has front matter that isn’t YAML');
}

// Replaces every gray-matter engine, under each of its names.
const ENGINES = {
	yaml: { parse: parseFailsafe, stringify: refuse },
	yml: { parse: parseFailsafe, stringify: refuse },
	json: { parse: refuse, stringify: refuse },
	js: { parse: refuse, stringify: refuse },
	javascript: { parse: refuse, stringify: refuse },
	coffee: { parse: refuse, stringify: refuse },
	coffeescript: { parse: refuse, stringify: refuse },
	cson: { parse: refuse, stringify: refuse },
	toml: { parse: refuse, stringify: refuse }
};

function parseFailsafe(yaml: string): Record<string, unknown> {
	const value = loadYaml(yaml);
	refuseShared(value, new Set());
	if (!isObject(value)) throw new Error('has front matter that isn’t a list of “key: value” lines');
	return value;
}

function loadYaml(yaml: string): unknown {
	try {
		return load(yaml, { schema: FAILSAFE_SCHEMA, maxAliases: MAX_ALIASES });
	} catch (error) {
		if (!(error instanceof YAMLException) || !error.reason.startsWith('aliases exceeded')) throw error;
		throw new RefusedAlias(`has more than ${MAX_ALIASES} YAML aliases`, { cause: error });
	}
}

/** Allows aliases for text only: repeated maps and lists could grow without limit as JSON. */
function refuseShared(value: unknown, seen: Set<object>): void {
	if (typeof value !== 'object' || value === null) return;
	if (seen.has(value)) throw new RefusedAlias('uses a YAML alias for a list or a map. Only text is allowed');
	seen.add(value);
	for (const inner of Object.values(value)) refuseShared(inner, seen);
}

class RefusedAlias extends Error {}

/** Quotes in quotes can't be read. */
const SIGN_WORDS: Record<string, string> = { '"': 'a double quote', "'": 'a single quote' };

/** Fixes go by it. */
export const REPEATED = 'this field is there twice';

/** The parser's reasons that only someone who knows YAML understands. */
function inWords(reason = ''): string {
	if (reason.includes('duplicated')) return REPEATED;
	if (reason.includes('tab characters')) return 'this line is indented with a tab';
	if (reason.includes('bad indentation')) return 'there’s a colon in the value, or the line is indented wrongly';
	return /end of the stream|multiline key/.test(reason) ? 'this line isn’t “field: value”' : reason;
}

function fixFor(reason = ''): string {
	if (reason.includes('duplicated')) return 'keep one of them';
	if (reason.includes('tab')) return 'replace the tab with spaces';
	if (reason.includes('map of keys')) return 'name: …';
	return 'put the value in quotes';
}

// Quotes plain values, so that an unquoted `: ` or `[x] — …` parses as intended (A5); pure.

/** Neither key, item nor comment: if indented further, it continues the value above. */
const CONTINUES = /^ +(?![\s#]|- |[\w.-]+:(?:\s|$))/;

/**
 * Turns `key: it rains: stay # comment`, with its indented continuation lines, into `key: "it rains: stay" # comment`.
 * Valid YAML stays as it is. Joined lines become empty, so that line numbers stay the same. Linear time.
 */
export function quotePlainValues(lines: readonly string[]): string[] {
	const mended = [...lines];
	const aliases = aliasesOf(lines);
	for (let at = 0; at < lines.length; at += 1) {
		const entry = entryOf(lines[at] ?? '');
		if (!entry) continue;
		const { head, column, value } = entry;
		// Blocks and quoted text continue while lines are indented further, whatever they look like.
		const inside = /^[|>"'[{]/.test(value) ? linesFurtherIn(lines, at + 1, column) : [];
		let last = at + inside.length;
		if (isPlain(value, inside)) {
			const parts = [splitComment(value)];
			for (let next = at + 1; goesOn(lines[next] ?? '', column); next += 1) parts.push(splitComment(lines[next] ?? ''));
			const text = parts.map((part) => part.text).join(' ');
			if (aliases.has(text.split(/\s/, 1)[0] ?? '')) continue;
			if (isFault(text) || parts.slice(0, -1).some(({ comment }) => comment)) {
				mended.fill('', at, at + parts.length);
				mended[at] = `${head}${JSON.stringify(text)}${parts.map(({ comment }) => comment).join('')}`;
			}
			last = Math.max(last, at + parts.length - 1);
		}
		at = last;
	}
	return mended;
}

/** `*name` and `&name` of each alias with an anchor: text that starts with these is a real alias. */
export function aliasesOf(lines: readonly string[]): ReadonlySet<string> {
	const text = lines.join('\n');
	const namesOf = (sign: RegExp) => [...text.matchAll(sign)].map(([, name = '']) => name);
	const anchors = new Set(namesOf(/(?<![^\s,[{])&([^\s,[\]{}]+)/g));
	const used = namesOf(/(?<![^\s,[{])\*([^\s,[\]{}]+)/g).filter((name) => anchors.has(name));
	return new Set(used.flatMap((name) => [`*${name}`, `&${name}`]));
}

/** True if YAML would misread the text. Anything else stays as written. */
function isFault(text: string): boolean {
	return /:(?:\s|$)/.test(text) || /^[-?:,[\]{}#&*!|>'"%@`]/.test(text);
}

/** Parses `key: value`, `- value` or `- key: value`; the value's other lines are indented further than `column`. */
function entryOf(line: string): { head: string; column: number; value: string } | null {
	let start = indentOf(line);
	let column = -1;
	while (line.startsWith('- ', start)) {
		column = start;
		start += 1 + indentOf(line.slice(start + 1));
	}
	const key = /^[A-Za-z_][\w.-]*:[ \t]+/.exec(line.slice(start))?.[0] ?? '';
	if (key) column = start;
	const head = line.slice(0, start) + key;
	const value = line.slice(head.length);
	return column < 0 || !value || value.startsWith('#') ? null : { head, column, value };
}

const CLOSING = { '[': ']', '{': '}', '"': '"', "'": "'" } as const;

/** The first value that opens a list, a map or a quoted text and doesn’t close it: what YAML says about it is said of a later line. */
function unclosedIn(lines: readonly string[]): { sign: keyof typeof CLOSING; index: number } | null {
	for (let at = 0; at < lines.length; at += 1) {
		const entry = entryOf(lines[at] ?? '');
		const sign = entry?.value.charAt(0) ?? '';
		if (!entry || !/[|>"'[{]/.test(sign)) continue;
		const inside = linesFurtherIn(lines, at + 1, entry.column);
		if (isOpening(sign) && !isClosed([entry.value, ...inside].join('\n'))) return { sign, index: at };
		at += inside.length;
	}
	return null;
}

function isOpening(sign: string): sign is keyof typeof CLOSING {
	return Object.hasOwn(CLOSING, sign);
}

function isClosed(text: string): boolean {
	if (text.startsWith('"')) return /^"(?:[^"\\]|\\[^])*"/.test(text);
	return text.startsWith("'") ? /^'(?:[^']|'')*'/.test(text) : endOfFlow(text) >= 0;
}

function linesFurtherIn(lines: readonly string[], from: number, column: number): readonly string[] {
	let end = from;
	for (let line = lines[end]; line !== undefined && (!line.trim() || indentOf(line) > column); line = lines[end])
		end += 1;
	return lines.slice(from, end);
}

function goesOn(line: string, column: number): boolean {
	return CONTINUES.test(line) && indentOf(line) > column;
}

function indentOf(line: string): number {
	return line.search(/[^ ]|$/);
}

function isPlain(value: string, inside: readonly string[]): boolean {
	switch (value.charAt(0)) {
		case '|':
		case '>':
			return false;
		// `"Quick" fix: all` only starts like a quoted string, `[file] [line]` like a list.
		case '"':
			return /^"(?:[^"\\]|\\.)*"\s*[^\s#]/.test(value);
		case "'":
			return /^'(?:[^']|'')*'\s*[^\s#']/.test(value);
		case '[':
		case '{': {
			const whole = [value, ...inside].join('\n');
			const end = endOfFlow(whole);
			return end < 0 || !/^\s*(?:#|$)/.test(whole.slice(end));
		}
		default:
			return true;
	}
}

/** Index after the list or map at the start of `text`; -1 if it never closes. */
function endOfFlow(text: string): number {
	let depth = 0;
	let quote = '';
	/** The last non-blank character: a quoted string only starts where a value may. */
	let before = '';
	for (let at = 0; at < text.length; at += 1) {
		const character = text.charAt(at);
		if (quote) {
			if (quote === '"' ? character === '\\' : text.startsWith("''", at)) at += 1;
			else if (character === quote) quote = '';
		} else if (/["']/.test(character) && /[[{,:]/.test(before)) {
			quote = character;
		} else if (/[[{]/.test(character)) {
			depth += 1;
		} else if (/[\]}]/.test(character) && (depth -= 1) === 0) {
			return at + 1;
		}
		if (character.trim()) before = character;
	}
	return -1;
}

/** Splits off a YAML comment: from the first `#` after a space. */
function splitComment(value: string): { text: string; comment: string } {
	const at = value.search(/[ \t]#/);
	const text = at < 0 ? value : value.slice(0, at);
	return { text: text.trim(), comment: at < 0 ? '' : value.slice(at).trimEnd() };
}
