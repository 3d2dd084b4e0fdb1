/** Finds files, folders and outputs for the placeholders that ask for one. */
import { tokenize } from '../skills/find/scores.ts';
import {
	type FillContext,
	type Filling,
	type Found,
	hasValue,
	isFree,
	isOpen,
	isPath,
	type Source
} from './filling.ts';
import {
	afterOwnWords,
	afterPreposition,
	afterTextNoun,
	besideFolder,
	fallback,
	leftNumber,
	namedColumn
} from './left-values.ts';
import type { Question, Span } from './question.ts';
import { assigned, chosen, labelled, patterned } from './said-values.ts';
import { extensionOf, kindOfWords, type Slot, slotWords, wantedExtensions } from './slots.ts';
import { afterColon, calledName, describedAs, paired, placed, quoted, shaped } from './told-values.ts';

interface Candidate {
	path: string;
	spans: Span[];
}

const OUTPUT_PREPOSITIONS = new Set(['to', 'as', 'into', 'in']);

/** Files that the message names or brings along. */
function namedFile(slot: Slot, filling: Filling): Found | null {
	if (slot.kind === 'output') return namedOutput(slot, filling);
	if (!takesFile(slot)) return null;
	const named = mentions(filling).filter(({ path }) => !hasValue(path, filling));
	const attached = filling.question.attachedFiles
		.filter((path) => !hasValue(path, filling) && !named.some((mention) => mention.path === path))
		.map((path) => ({ path, spans: [] }));
	const fitting = fit([...named, ...attached], slot);
	// A file of another sort is better than none if the user named it; the script will say what is wrong with it.
	return asFound(fitting.length > 0 ? fitting : named.length > 0 ? named : attached, slot, true);
}

/** Files that are there already, when the message names none: the only one, or the one it seems to speak of. */
function impliedFile(slot: Slot, filling: Filling): Found | null {
	if (!takesFile(slot) || !slot.isRequired) return null;
	const { question } = filling;
	const all = [...new Set([...question.earlierFiles, ...question.workspaceFiles])].filter(
		(path) => !hasValue(path, filling)
	);
	const fitting = fit(
		all.map((path) => ({ path, spans: [] })),
		slot
	);
	const asked = new Set(tokenize(question.text.slice(0, 2_000)));
	const spokenOf = fitting.filter(({ path }) => {
		const words = tokenize(withoutExtension(path));
		return words.length > 0 && words.every((word) => asked.has(word));
	});
	const earlier = fitting.filter(({ path }) => question.earlierFiles.includes(path));
	// `analyze_csv.py FILE` wants the one CSV among what other runs have left there.
	const ofItsSort = fitting.filter(({ path }) => filling.ownWords.has(extensionOf(path)));
	const only = [ofItsSort, fitting].find(({ length }) => length === 1) ?? [];
	const choice = [spokenOf, earlier].find(({ length }) => length > 0) ?? only;
	return asFound(choice, slot, spokenOf.length > 0);
}

/** `photo-resize.png` for an output that nobody named. */
function derivedOutput(slot: Slot, filling: Filling): Found | null {
	if (slot.kind !== 'output' || !slot.isRequired) return null;
	const input = [...filling.found].find(([other]) => other.kind === 'file')?.[1].value;
	if (input === undefined) return null;
	const shown = slot.example === null ? '' : extensionOf(slot.example);
	const format = filling.question.words.find((word) =>
		/^(csv|tsv|json|xml|yaml|html|md|txt|png|jpe?g|webp|gif|svg|pdf|xlsx)$/.test(word.lower)
	);
	const extension = format?.lower ?? (shown === '' ? extensionOf(input) : shown);
	const stem = withoutExtension(input);
	const name = extension === extensionOf(input) ? `${stem}-out` : stem;
	return { value: extension === '' ? name : `${name}.${extension}`, spans: [], isSure: false };
}

/** Known and unknown paths in the message, in their order. */
export function mentions(filling: Filling): Candidate[] {
	const { question } = filling;
	const quoted = question.quotes
		.filter(({ value }) => allFiles(question).some((path) => isSameFile(path, value)))
		.map((quote) => ({ path: knownPath(quote.value, question), spans: [quote] }));
	const words = question.words
		.filter((word) => isPath(word, question) || allFiles(question).some((path) => isSameFile(path, word.text)))
		.filter(
			(word) => !quoted.some(({ spans }) => spans.some((span) => span.start <= word.start && word.end <= span.end))
		)
		.map((word) => ({ path: knownPath(word.text, question), spans: [{ start: word.start, end: word.end }] }));
	return [...quoted, ...words]
		.filter(({ spans }) => spans.every((span) => isFree(span, filling)))
		.sort((a, b) => startOf(a) - startOf(b));
}

function takesFile(slot: Slot): boolean {
	if (slot.kind !== 'file' && !(slot.kind === 'folder' && slot.flag === null)) return false;
	return isOpen(slot) || kindOfWords(slotWords(slot.flag ?? '')) === 'file' || /^-[fi]$/.test(slot.flag ?? '');
}

/** `save it as out.svg`, `convert a.csv to b.json`: the path after such a word, or the one that does not exist yet. */
function namedOutput(slot: Slot, filling: Filling): Found | null {
	const { question } = filling;
	const candidates = mentions(filling).filter(({ path }) => !hasValue(path, filling));
	const announced = candidates.filter(({ spans: [span] }) => {
		const index = question.words.findIndex((word) => word.start >= (span?.start ?? 0));
		return OUTPUT_PREPOSITIONS.has(question.words[index - 1]?.lower ?? '');
	});
	const isNew = ({ path }: Candidate) => !allFiles(question).includes(path);
	const choice =
		announced.filter(isNew).at(-1) ?? (candidates.length > 1 ? candidates.filter(isNew).at(-1) : undefined);
	return asFound(choice ? [choice] : [], { ...slot, isRepeated: false }, true);
}

function asFound(candidates: readonly Candidate[], slot: Slot, isSure: boolean): Found | null {
	const [first] = candidates;
	if (!first) return null;
	const all = slot.isRepeated ? candidates : [first];
	return { value: first.path, values: all.map(({ path }) => path), spans: all.flatMap(({ spans }) => spans), isSure };
}

function fit(candidates: readonly Candidate[], slot: Slot): Candidate[] {
	const wanted = wantedExtensions(slot);
	return wanted.length === 0 ? [...candidates] : candidates.filter(({ path }) => wanted.includes(extensionOf(path)));
}

function allFiles(question: Question): string[] {
	return [...question.attachedFiles, ...question.workspaceFiles, ...question.earlierFiles];
}

function knownPath(text: string, question: Question): string {
	return (
		allFiles(question).find((path) => path === text) ??
		allFiles(question).find((path) => isSameFile(path, text)) ??
		text
	);
}

function isSameFile(path: string, text: string): boolean {
	const [whole, asked] = [path.toLowerCase(), text.toLowerCase()];
	return whole === asked || (asked.includes('.') && whole.endsWith(`/${asked}`));
}

function withoutExtension(path: string): string {
	return (path.split('/').at(-1) ?? path).replace(/\.[A-Za-z0-9]{1,6}$/, '');
}

function startOf({ spans }: Candidate): number {
	return spans[0]?.start ?? 0;
}

// Fills placeholders from a message: surest signs first, and no piece of the message is used twice.

/** In the order of trust. Each is tried for all placeholders before the next. */
const SOURCES: readonly Source[] = [
	assigned,
	chosen,
	patterned,
	namedFile,
	calledName,
	labelled,
	paired,
	quoted,
	afterColon,
	describedAs,
	shaped,
	placed,
	leftNumber,
	impliedFile,
	afterTextNoun,
	afterOwnWords,
	besideFolder,
	afterPreposition,
	derivedOutput,
	namedColumn,
	fallback
];
/** A placeholder with a list of values takes no others; one that is known by an example, what looks like that. */
const CHOICE_SOURCES: ReadonlySet<Source> = new Set([assigned, chosen, fallback]);
const SHAPE_SOURCES: ReadonlySet<Source> = new Set([assigned, shaped, fallback]);

export interface Filled {
	found: ReadonlyMap<Slot, Found>;
	/** Required, and the message has nothing for them. */
	missing: Slot[];
	/** Everything in the message that went into a value. */
	taken: Filling['taken'];
}

export function fillSlots(slots: readonly Slot[], context: FillContext, taken: Filling['taken'] = []): Filled {
	const filling: Filling = { ...context, slots, found: new Map(), taken: [...taken] };
	const ordered = [...slots.filter((slot) => slot.isRequired), ...slots.filter((slot) => !slot.isRequired)];
	for (const source of SOURCES) {
		for (const slot of ordered) {
			if (filling.found.has(slot) || !mayUse(slot, source)) continue;
			const found = sameName(slot, filling) ?? source(slot, filling);
			if (!found || found.value === '') continue;
			filling.found.set(slot, found);
			filling.taken.push(...found.spans);
		}
	}
	return {
		found: filling.found,
		missing: ordered.filter((slot) => slot.isRequired && !filling.found.has(slot)),
		taken: filling.taken
	};
}

function mayUse(slot: Slot, source: Source): boolean {
	if (slot.choices.length > 0) return CHOICE_SOURCES.has(source);
	return slot.kind === 'word' && slot.example !== null && slot.fallback !== null ? SHAPE_SOURCES.has(source) : true;
}

/** A placeholder that is written twice has one value. */
function sameName(slot: Slot, filling: Filling): Found | null {
	if (slot.example !== null) return null;
	const twin = [...filling.found].find(([other]) => other.name === slot.name && other.flag === slot.flag);
	return twin ? { ...twin[1], spans: [] } : null;
}
