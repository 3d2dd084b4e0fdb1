/** Finds files, folders and outputs for the placeholders that ask for one. */
import { tokenize } from '../../skills/search.ts';
import { hasValue, isFree, isOpen, isPath } from './filling.ts';
import type { Filling, Found } from './filling.ts';
import type { Question, Span } from './question.ts';
import { extensionOf, kindOfWords, slotWords, wantedExtensions } from './slots.ts';
import type { Slot } from './slots.ts';

interface Candidate {
	path: string;
	spans: Span[];
}

const OUTPUT_PREPOSITIONS = new Set(['to', 'as', 'into', 'in']);

/** Files that the message names or brings along. */
export function namedFile(slot: Slot, filling: Filling): Found | null {
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
export function impliedFile(slot: Slot, filling: Filling): Found | null {
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
export function derivedOutput(slot: Slot, filling: Filling): Found | null {
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
