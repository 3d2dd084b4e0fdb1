/** The fixes for problems of a SKILL.md (F1); pure. */
import { coerce } from 'semver';
import { asObject, isObject } from '../../../shared/json.ts';
import { SPEC_KEYS } from '../parser.ts';
import { lengthOf } from '../read/fields.ts';
import { readFolderName } from '../read/folder-walk.ts';
import { type FrontMatter, readFrontMatter, REPEATED, aliasesOf, quotePlainValues } from '../read/front-matter.ts';
import type { SkillIssue } from '../types.ts';
import {
	endingOf,
	entryAt,
	joinSkill,
	type RawSkill,
	splitSkill,
	textLine,
	withEntry,
	withoutEntry,
	withValue,
	contentOf,
	isFence,
	linesOf
} from './lines.ts';
import { cutAtSentence, firstWords, isName, slugOf } from './words.ts';

/** Returns the text with one problem fixed; null if that's not possible. `earlier`: the description that it had last. */
type Fix = (text: string, dir: string, earlier?: string) => string | null;

/** Fixes for issues of the whole file, by a part of the message. */
const FILE_FIXES: [part: string, fixId: string][] = [
	['blank lines before', 'start'],
	['byte order mark', 'start'],
	['has no front matter', 'opening'],
	['no closing ---', 'closing'],
	['isn’t valid YAML', 'yaml']
];
/** Fields with a fix, whatever the message. */
const FIELD_FIXES = new Set([...SPEC_KEYS, 'version']);

/** Id of the fix for an issue; null if there is none. It may not work for this file. */
export function fixIdOf({ field, message }: SkillIssue): string | null {
	if (field === '_') return FILE_FIXES.find(([part]) => message.includes(part))?.[1] ?? null;
	return FIELD_FIXES.has(field) ? field : null;
}

/** Whether a fix has made up the description of what the instructions begin with: that rarely says when to use the skill. */
export function isGuess(fixId: string, after: string): boolean {
	if (fixId !== 'description' && fixId !== 'opening') return false;
	const front = readFrontMatter(after);
	return !('field' in front) && front.data.description === firstWords(front.body);
}

/** Whether a fix has brought back the description that the skill had last. */
export function isEarlier(fixId: string, after: string, earlier: string | undefined): boolean {
	if (earlier === undefined || (fixId !== 'description' && fixId !== 'opening')) return false;
	const front = readFrontMatter(after);
	return !('field' in front) && front.data.description === earlier;
}

export const FIXES: Readonly<Record<string, Fix>> = {
	start: withoutStart,
	opening: (text, dir, earlier) => withOpening(text, readFolderName(dir).name, earlier),
	closing: withClosing,
	yaml: mendYaml,
	name: edit((raw, front, dir) => {
		const folder = readFolderName(dir).name.normalize('NFKC');
		const given = [front.data.name, front.data.skill].find((value) => typeof value === 'string' && value.trim());
		const name = isName(folder) ? folder : slugOf(typeof given === 'string' ? given : '') || slugOf(folder);
		return name ? withText(raw, front, 'name', name, 0) : null;
	}),
	description: edit((raw, front, _dir, earlier) => {
		const { data } = front;
		const fields = [data.description, earlier, data.when_to_use, data['when-to-use'], data.summary];
		const text = cutAtSentence(fields.map((field) => textOf(field)).find(Boolean) ?? firstWords(front.body), 1024);
		const below = front.lines.get('name');
		return text ? withText(raw, front, 'description', text, below === undefined ? 0 : below - front.top) : null;
	}),
	license: edit((raw, front) => withTextOrNone(raw, front, 'license')),
	compatibility: edit((raw, front) => withTextOrNone(raw, front, 'compatibility')),
	metadata: edit(withTextMap),
	'allowed-tools': edit((raw, front) => {
		const { data } = front;
		const metadata = asObject(data.metadata);
		const own = 'allowed-tools' in data ? textOf(data['allowed-tools'], ' ') : undefined;
		if (own === '') return withoutKey(raw, front, 'allowed-tools');
		const wish = [own, data.allowed_tools, data.tools, metadata.allowed_tools, metadata.tools]
			.map((value) => textOf(value, ' '))
			.find(Boolean);
		return wish ? withText(raw, front, 'allowed-tools', wish, raw.yaml.length) : null;
	}),
	version: edit((raw, front) => {
		const isOwn = ![undefined, null, ''].includes(front.data.version as string);
		const given = (isOwn ? front.data : asObject(front.data.metadata)).version;
		const version = coerce(typeof given === 'string' ? given.slice(0, 256) : '')?.version ?? '1.0.0';
		const line = front.lines.get(isOwn ? 'version' : 'metadata.version');
		return line === undefined ? null : withValue(raw, line - front.top - 1, 'version', version);
	})
};

function edit(change: (raw: RawSkill, front: FrontMatter, dir: string, earlier?: string) => RawSkill | null): Fix {
	return (given, dir, earlier) => {
		const read = readFrontMatter(given);
		if ('field' in read) return null;
		// Entries can only be found in valid YAML.
		const text = read.repair ? mendYaml(given) : given;
		if (text === null) return null;
		const [raw, front] = [splitSkill(text), readFrontMatter(text)];
		if (!raw || 'field' in front) return null;
		// Changing an anchor's value would change its aliases too.
		if (aliasesOf(raw.yaml).size > 0) return null;
		const changed = change(raw, front, dir, earlier);
		return changed && joinSkill(changed);
	};
}

/** Sets a top-level key to a text, in place or else before line `at` of the front matter. */
function withText(raw: RawSkill, front: FrontMatter, key: string, text: string, at: number): RawSkill {
	const line = front.lines.get(key);
	return line === undefined ? withEntry(raw, at, key, text) : withValue(raw, line - front.top - 1, key, text);
}

/** Sets a key to a text of at most `most` characters; comments out an empty one. */
/** Of a license, or of what a skill is compatible with. */
const MAX_TEXT = 500;

function withTextOrNone(raw: RawSkill, front: FrontMatter, key: string): RawSkill | null {
	const text = textOf(front.data[key]);
	if (!text) return withoutKey(raw, front, key);
	return withText(raw, front, key, lengthOf(text) > MAX_TEXT ? cutAtSentence(text, MAX_TEXT) : text, raw.yaml.length);
}

function withoutKey(raw: RawSkill, front: FrontMatter, key: string): RawSkill | null {
	const line = front.lines.get(key);
	return line === undefined ? null : withoutEntry(raw, line - front.top - 1);
}

/** The text that was meant: `- Bash(git: *)` in a list parses as a map. */
function textOf(value: unknown, separator = ', '): string {
	if (typeof value === 'string') return value.trim();
	const textsOf = (items: unknown[]) => items.map((item) => textOf(item, separator)).filter(Boolean);
	if (Array.isArray(value)) return textsOf(value).join(separator);
	if (!isObject(value)) return '';
	return Object.entries(value)
		.map((entry) => textsOf(entry).join(': '))
		.join(separator);
}

// Makes the metadata of a SKILL.md a map of text to text (A13, F1); pure.

/** Converts lists and blanks to text; comments out metadata that isn't a map. Another client's settings stay as they are. */
function withTextMap(raw: RawSkill, front: FrontMatter): RawSkill | null {
	const line = front.lines.get('metadata');
	if (line === undefined) return null;
	const start = line - front.top - 1;
	const { metadata } = front.data;
	if (!isObject(metadata)) return withoutEntry(raw, start);
	const entries = Object.entries(metadata);
	const wrong = entries.filter(([, value]) => typeof value !== 'string' && textLike(value) !== null);
	if (wrong.length === 0) return null;
	const placed = wrong.map(([key, value]) => ({ key, value, line: front.lines.get(`metadata.${key}`) }));
	if (placed.some((entry) => entry.line === undefined)) return rewritten(raw, start, entries);
	// Last to first, so that the other entries keep their lines.
	return placed
		.sort((a, b) => (b.line ?? 0) - (a.line ?? 0))
		.reduce(
			(next, { key, value, line: at = 0 }) => withValue(next, at - front.top - 1, key, textLike(value) ?? ''),
			raw
		);
}

/** Rewrites metadata that is on one line: `metadata: {a: [b]}`. */
function rewritten({ yaml, ...raw }: RawSkill, start: number, entries: [string, unknown][]): RawSkill {
	const { end } = entryAt(yaml, start);
	const eol = endingOf(yaml[start] ?? raw.eol);
	const lines = entries.map(([key, value]) => {
		const text = textLike(value);
		// JSON is YAML.
		return `  ${text === null ? `${JSON.stringify(key)}: ${JSON.stringify(value)}` : textLine(key, text)}${eol}`;
	});
	return { ...raw, yaml: [...yaml.slice(0, start), `metadata:${eol}`, ...lines, ...yaml.slice(end)] };
}

/** The text that a value stands for; null for one with parts of its own. */
function textLike(value: unknown): string | null {
	if (typeof value === 'string') return value;
	if (value === null || value === undefined) return '';
	const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
	return isList ? value.join(', ') : null;
}

// Repairs invalid YAML in front matter, line by line; readable lines stay as written (A5, F1); pure.

/** Each step repairs one kind of problem; a file with more is left to a person. */
const MAX_STEPS = 20;

/** Makes the front matter valid YAML; null if nothing helps. */
function mendYaml(text: string): string | null {
	let raw = splitSkill(text);
	for (let step = 0; raw && step < MAX_STEPS; step += 1) {
		const front = readFrontMatter(joinSkill(raw));
		if (!('field' in front)) {
			if (!front.repair) return joinSkill(raw);
			raw = withQuotes(raw);
			continue;
		}
		const index = (front.line ?? 1) - linesBefore(raw) - 1;
		raw = nextStep(raw, front.message, index);
	}
	return null;
}

function nextStep(raw: RawSkill, reason: string, index: number): RawSkill | null {
	if (reason.includes(REPEATED)) return withoutRepeat(raw, index);
	for (const step of [withSpaces, withQuotes, withClosedQuotes]) {
		const next = step(raw);
		if (joinSkill(next) !== joinSkill(raw)) return next;
	}
	return null;
}

/** Number of lines above the front matter's first. */
function linesBefore({ before, open }: RawSkill): number {
	return (before + open).split(/\r\n?|\n/).length - 1;
}

function withQuotes(raw: RawSkill): RawSkill {
	const lines = raw.yaml.map(contentOf);
	const mended = quotePlainValues(lines);
	const yaml = raw.yaml.flatMap((line, index) => {
		if (mended[index] === lines[index]) return [line];
		return mended[index] ? [mended[index] + endingOf(line)] : []; // joined to the line above
	});
	return { ...raw, yaml };
}

function withSpaces(raw: RawSkill): RawSkill {
	return { ...raw, yaml: raw.yaml.map((line) => line.replace(/^[ \t]+/, (indent) => indent.replaceAll('\t', '  '))) };
}

/** Closes the quotes of `key: "text`, if the next line is another entry. */
function withClosedQuotes(raw: RawSkill): RawSkill {
	const yaml = raw.yaml.map((line, index) => {
		const next = raw.yaml[index + 1];
		const isLast = next === undefined || /^\s*(?:[\w.-]+:(?:\s|$)|#|$)/.test(next);
		const match = /^(\s*[\w.-]+:[ \t]+)(?:"((?:[^"\\]|\\.)*)|'((?:[^']|'')*))$/.exec(contentOf(line));
		if (!isLast || !match) return line;
		return `${match[1]}${JSON.stringify((match[2] ?? match[3] ?? '').trim())}${endingOf(line)}`;
	});
	return { ...raw, yaml };
}

/** Comments out one of two entries with the same key, keeping the first that has a value. */
function withoutRepeat(raw: RawSkill, index: number): RawSkill | null {
	const keyOf = (line = '') => /^ *(?:- +)?("[^"]*"|'[^']*'|[^\s:#][^:]*):(?=\s|$)/.exec(contentOf(line))?.[1];
	const plainKey = (line = '') =>
		keyOf(line)
			?.trim()
			.replace(/^(["'])(.*)\1$/, '$2');
	const at = [index, index - 1].find((line) => plainKey(raw.yaml[line]) !== undefined);
	if (at === undefined || /^ *- /.test(raw.yaml[at] ?? '')) return null;
	const first = raw.yaml.findIndex((line, other) => other < at && plainKey(line) === plainKey(raw.yaml[at]));
	if (first < 0) return null;
	const { start, end } = entryAt(raw.yaml, first);
	const isBlank = end === start + 1 && /:\s*(?:#.*)?$/.test(contentOf(raw.yaml[first] ?? ''));
	return withoutEntry(raw, isBlank ? first : at);
}

// Adds or corrects the fences of the front matter (A3, F1); pure.

/** `---js`, ` ---`, `----`, `———`: meant as a fence. */
const LIKE_FENCE = /^[ \t]*[-\u2010-\u2015]{2,}[ \t]*[\w-]*[ \t]*$/;
/** `-`, `- - -`, `***`, `oops`: so is this, if an entry is below it. */
const SIGNS = /^(?:[^\p{L}\p{N}]+|[^\s:]{1,20})$/u;
const ENTRY = /^(?:"[^"]*"|'[^']*'|[A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]|$)/;

/** Removes everything before the opening fence: a byte order mark, blank lines. */
function withoutStart(text: string): string | null {
	const raw = splitSkill(text);
	return raw && joinSkill({ ...raw, before: '', open: raw.open.replace(/^\uFEFF/, '') });
}

/** Adds an opening fence: in place of a similar line, above the first entry, or with a whole front matter. */
function withOpening(text: string, folder: string, earlier?: string): string | null {
	const lines = linesOf(text.replace(/^\uFEFF/, ''));
	const top = lines.findIndex((line) => /\S/.test(line));
	const first = lines[top];
	if (first === undefined) return null;
	const eol = endingOf(first);
	const from = (start: number) => lines.slice(start).join('');
	const candidates: string[] = [];
	const isAboveEntry = ENTRY.test(lines[top + 1] ?? '');
	const isLikeFence = LIKE_FENCE.test(contentOf(first)) || (SIGNS.test(contentOf(first)) && isAboveEntry);
	if (isLikeFence || ENTRY.test(first)) {
		const fenced = `---${eol}${from(isLikeFence ? top + 1 : top)}`;
		candidates.push(fenced);
		const likeClose = lines.findIndex((line, index) => index > top && LIKE_FENCE.test(contentOf(line)));
		const close = lines[likeClose];
		if (isLikeFence && close !== undefined && !lines.slice(top + 1).some(isFence)) {
			const middle = lines.slice(top + 1, likeClose).join('');
			candidates.push(`---${eol}${middle}---${endingOf(close)}${from(likeClose + 1)}`);
		}
		const closed = withClosing(fenced);
		if (closed !== null) candidates.push(closed);
	}
	const readable = candidates.find((candidate) => isReadable(candidate));
	if (readable !== undefined) return readable;
	const description = earlier ?? firstWords(lines.join('').replace(/\r\n?/g, '\n'));
	const name = slugOf(folder);
	if (!description || !name || candidates.length > 0) return null;
	const entries = [textLine('name', name), textLine('description', description)];
	return ['---', ...entries, '---'].map((line) => line + eol).join('') + from(top);
}

/** Adds a closing fence after the last line that can be front matter. */
function withClosing(text: string): string | null {
	const lines = linesOf(text);
	const top = lines.findIndex((line, index) => isFence(index === 0 ? line.replace(/^\uFEFF/, '') : line));
	const open = lines[top];
	if (open === undefined) return null;
	let end = top + 1;
	let isInValue = false;
	for (let at = end; at < lines.length; at += 1) {
		const line = contentOf(lines[at] ?? '');
		if (LIKE_FENCE.test(line)) {
			const instead = [...lines.slice(0, at), `---${endingOf(lines[at] ?? '')}`, ...lines.slice(at + 1)].join('');
			if (isReadable(instead)) return instead;
			break;
		}
		const isEntry = ENTRY.test(line);
		if (isEntry || (isInValue && /^(?:[ \t]+\S|-[ \t]|#(?!#*[ \t]+\p{L}))/u.test(line))) {
			isInValue = true;
			end = at + 1;
		} else if (line.trim()) {
			break;
		}
	}
	if (end === top + 1) return null;
	const eol = endingOf(open);
	const last = lines[end - 1] ?? '';
	const front = lines.slice(0, end - 1).join('') + contentOf(last) + eol;
	const closed = `${front}---${eol}${lines.slice(end).join('')}`;
	return isReadable(closed) ? closed : null;
}

/** True if it can be read, perhaps after repairing its YAML. */
function isReadable(text: string): boolean {
	return !('field' in readFrontMatter(text)) || mendYaml(text) !== null;
}
