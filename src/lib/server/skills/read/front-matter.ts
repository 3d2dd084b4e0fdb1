/** Splits a SKILL.md into front matter and body, and reads the YAML with nothing in it that can run or explode (A3–A5). */
import matter from 'gray-matter';
import { FAILSAFE_SCHEMA, load, YAMLException } from 'js-yaml';
import type { SkillIssue } from '../types.ts';
import { quotePlainValues } from './yaml-repair.ts';

/** Front matter is refused above this many characters before YAML sees it. */
const MAX_FRONT_MATTER = 64 * 1024;
const MAX_LINES = 1000;
/** Each may stand for as much text as there is: so many of them are 1 MiB at most. */
const MAX_ALIASES = 16;

export interface FrontMatter {
	/** Null prototype; every scalar is text (failsafe schema). */
	data: Record<string, unknown>;
	body: string;
	/** Line of the file on which each key stands, from 1: `metadata`, and `metadata.author` for one in the map below it. */
	lines: ReadonlyMap<string, number>;
	/** Line of the opening fence: where to look for what is missing. */
	top: number;
	/** How the YAML was mended before it could be read; null when it was valid. */
	repair: SkillIssue | null;
	/** What the standard forbids and can be read all the same, the repair among it. */
	warnings: SkillIssue[];
}

/** Reads `contents`; a string is the reason, as an issue, why there is no front matter to read. */
export function readFrontMatter(contents: string): FrontMatter | SkillIssue {
	const warnings: SkillIssue[] = [];
	const text = contents.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
	const first = text.search(/\S/);
	if (first < 0) return whole('is empty', 1);
	const start = text.lastIndexOf('\n', first) + 1;
	/** Line of the opening fence. */
	const top = text.slice(0, start).split('\n').length;
	if (top > 1) {
		warnings.push({ field: '_', severity: 'warning', line: 1, message: 'has blank lines before the front matter' });
	}
	// gray-matter takes the word after the fence as a language, and `js` runs: only a bare fence reaches it.
	const open = /^---[ \t]*(?=\n|$)/.exec(text.slice(start));
	if (!open) return whole('must start with a line that is exactly ---', top, '---');
	const rest = text.slice(start + open[0].length);
	const close = /\n---[ \t]*(?:\n|$)/.exec(rest);
	if (!close) return whole('has no closing --- after the front matter', top, '---');
	const yaml = rest.slice(1, close.index);
	if (yaml.length > MAX_FRONT_MATTER) return whole('has front matter longer than 64 KiB', top);
	// gray-matter's search for comments takes the square of this many steps: 65,000 blank lines held a server for 7 s.
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
		// A5: the common fault is an unquoted ": " in a value; quoting plain values mends it.
		const mended = quotePlainValues(lines);
		data = parseYaml(mended.join('\n')).data;
		const at = parsed.line ?? 1;
		if (!data)
			return whole(`has front matter that isn’t valid YAML: ${parsed.reason}`, top + at, fixFor(parsed.reason));
		// A value over several lines is mended where it begins; its fault may show on a line below.
		const isMended = (line: string, index: number) => line !== '' && line !== lines[index];
		const before = mended.slice(0, at).findLastIndex(isMended);
		const mendedAt = before < 0 ? mended.findIndex(isMended) : before;
		repair = {
			field: '_',
			severity: 'warning',
			line: top + mendedAt + 1,
			fix: (mended[mendedAt] ?? '').trim(),
			message: `isn’t valid YAML (${parsed.reason}), but works with the value in quotes`
		};
		warnings.push(repair);
	}
	return { data, body, lines: keyLines(lines, top), top, repair, warnings };
}

/** Without blank lines around it. The first line keeps its indentation: a code block that loses it becomes prose. */
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
			// Below a value, as below the sign of a block, nothing is a key.
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
	/** It is valid YAML, and not read all the same: nothing is to be mended. */
	isRefused?: boolean;
	/** Line within the front matter, from 1. */
	line?: number;
}

function parseYaml(yaml: string): Parsed {
	try {
		// Options are always passed: without them gray-matter keeps every text it ever saw.
		// With its own closing delimiter it would stop at any line that only begins with ---.
		const delimiters: [string, string] = ['---', '---\n'];
		const { data } = matter(`---\n${yaml}\n---\n`, { language: 'yaml', engines: ENGINES, delimiters });
		return { data: Object.assign(Object.create(null) as Record<string, unknown>, data) };
	} catch (error) {
		if (error instanceof RefusedAlias) return { reason: error.message, isRefused: true };
		if (!(error instanceof YAMLException)) {
			return { reason: error instanceof Error ? error.message : String(error) };
		}
		// gray-matter hands over the text with the newline of the fence before it, so the mark counts from 1.
		return { reason: error.reason, line: Math.max(1, error.mark?.line ?? 1) };
	}
}

function refuse(): never {
	throw new Error('has front matter that isn’t YAML');
}

// Every engine that gray-matter knows, under each of its names, is replaced.
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
	if (typeof value !== 'object' || value === null || Array.isArray(value)) {
		throw new Error('has front matter that isn’t a list of “key: value” lines');
	}
	return value as Record<string, unknown>;
}

function loadYaml(yaml: string): unknown {
	try {
		return load(yaml, { schema: FAILSAFE_SCHEMA, maxAliases: MAX_ALIASES });
	} catch (error) {
		if (!(error instanceof YAMLException) || !error.reason.startsWith('aliases exceeded')) throw error;
		throw new RefusedAlias(`has more than ${MAX_ALIASES} YAML aliases`, { cause: error });
	}
}

/** An alias of YAML stands for a text and no more: a map or a list that occurs twice may grow without end as JSON. */
function refuseShared(value: unknown, seen: Set<object>): void {
	if (typeof value !== 'object' || value === null) return;
	if (seen.has(value)) throw new RefusedAlias('uses a YAML alias for a list or a map. Only text is allowed');
	seen.add(value);
	for (const inner of Object.values(value)) refuseShared(inner, seen);
}

class RefusedAlias extends Error {}

function fixFor(reason = ''): string {
	if (reason.includes('duplicated')) return 'keep one of them';
	if (reason.includes('tab')) return 'replace the tab with spaces';
	if (reason.includes('map of keys')) return 'name: …';
	return 'put the value in quotes';
}
