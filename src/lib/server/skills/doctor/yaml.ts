/** Mends front matter that is not valid YAML, line by line: what can be read stays as it is written (FEATURES A5, F1); pure. */
import { readFrontMatter } from '../front-matter.ts';
import { quotePlainValues } from '../yaml-repair.ts';
import { contentOf, endingOf, entryAt, joinSkill, splitSkill, withoutEntry, type RawSkill } from './lines.ts';

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
