/** Mends front matter that is not valid YAML, line by line: what can be read stays as it is written (FEATURES A5, F1); pure. */
import { readFrontMatter } from '../read/front-matter.ts';
import { quotePlainValues } from '../read/yaml-repair.ts';
import {
	contentOf,
	endingOf,
	entryAt,
	isFence,
	joinSkill,
	linesOf,
	type RawSkill,
	splitSkill,
	textLine,
	withoutEntry
} from './lines.ts';
import { firstWords, slugOf } from './words.ts';

/** Each step mends one kind of fault, so a file with more than so many is left to a person. */
const MAX_STEPS = 20;

/** The text with front matter that is valid YAML; null when nothing helps. */
export function mendYaml(text: string): string | null {
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
	if (reason.includes('duplicated')) return withoutRepeat(raw, index);
	for (const step of [withSpaces, withQuotes, withClosedQuotes]) {
		const next = step(raw);
		if (joinSkill(next) !== joinSkill(raw)) return next;
	}
	return null;
}

/** Lines above the first of the front matter. */
function linesBefore({ before, open }: RawSkill): number {
	return (before + open).split(/\r\n?|\n/).length - 1;
}

function withQuotes(raw: RawSkill): RawSkill {
	const lines = raw.yaml.map(contentOf);
	const mended = quotePlainValues(lines);
	const yaml = raw.yaml.flatMap((line, index) => {
		if (mended[index] === lines[index]) return [line];
		return mended[index] ? [mended[index] + endingOf(line)] : []; // went into the one above
	});
	return { ...raw, yaml };
}

function withSpaces(raw: RawSkill): RawSkill {
	return {
		...raw,
		yaml: raw.yaml.map((line) => line.replace(/^[ \t]+/, (indent) => indent.replaceAll('\t', '  ')))
	};
}

/** `key: "text` whose quotation never ends, though the next line is another entry. */
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

/** Of two entries with one key the first that says something stays, the other becomes a remark. */
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

// Gives a SKILL.md the fences of its front matter, where they are missing or written otherwise (FEATURES A3, F1); pure.

/** `---js`, ` ---`, `----`, `———`: meant as a fence. */
const LIKE_FENCE = /^[ \t]*[-\u2010-\u2015]{2,}[ \t]*[\w-]*[ \t]*$/;
const ENTRY = /^(?:"[^"]*"|'[^']*'|[A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]|$)/;

/** Without what stands before the opening fence: a byte order mark, blank lines. */
export function withoutStart(text: string): string | null {
	const raw = splitSkill(text);
	return raw && joinSkill({ ...raw, before: '', open: raw.open.replace(/^\uFEFF/, '') });
}

/** With an opening fence: the line that is meant as one, one above the first entry, or a whole front matter. */
export function withOpening(text: string, folder: string): string | null {
	const lines = linesOf(text.replace(/^\uFEFF/, ''));
	const top = lines.findIndex((line) => /\S/.test(line));
	const first = lines[top];
	if (first === undefined) return null;
	const eol = endingOf(first);
	const from = (start: number) => lines.slice(start).join('');
	const candidates: string[] = [];
	if (LIKE_FENCE.test(contentOf(first))) {
		const likeClose = lines.findIndex((line, index) => index > top && LIKE_FENCE.test(contentOf(line)));
		const fenced = `---${eol}${from(top + 1)}`;
		candidates.push(fenced);
		const close = lines[likeClose];
		if (close !== undefined && !lines.slice(top + 1).some(isFence)) {
			const middle = lines.slice(top + 1, likeClose).join('');
			candidates.push(`---${eol}${middle}---${endingOf(close)}${from(likeClose + 1)}`);
		}
		const closed = withClosing(fenced);
		if (closed !== null) candidates.push(closed);
	} else if (ENTRY.test(first)) {
		const fenced = `---${eol}${from(top)}`;
		candidates.push(fenced);
		const closed = withClosing(fenced);
		if (closed !== null) candidates.push(closed);
	}
	const readable = candidates.find((candidate) => isReadable(candidate));
	if (readable !== undefined) return readable;
	const description = firstWords(lines.join('').replace(/\r\n?/g, '\n'));
	const name = slugOf(folder);
	if (!description || !name || candidates.length > 0) return null;
	const entries = [textLine('name', name), textLine('description', description)];
	return ['---', ...entries, '---'].map((line) => line + eol).join('') + from(top);
}

/** With a closing fence behind the last line that can be front matter. */
export function withClosing(text: string): string | null {
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

/** As it is, or once its YAML is mended. */
function isReadable(text: string): boolean {
	return !('field' in readFrontMatter(text)) || mendYaml(text) !== null;
}
