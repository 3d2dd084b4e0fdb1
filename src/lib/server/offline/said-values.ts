/** Finds values that the message states outright: assigned, chosen, of an unmistakable form, or beside their own name. */
import { stem } from '../skills/find/scores.ts';
import { type Filling, type Found, isFree, isOpen, isPath, isValueWord } from './filling.ts';
import { phraseAfter, phraseBefore, PREPOSITIONS } from './phrases.ts';
import { isFiller, type NumberPiece, type Span, type Word } from './question.ts';
import { isDomain, type Slot, slotWords } from './slots.ts';

/** Words in a name that say too little to look for. */
const VAGUE = new Set(
	'name value string text id number num column field input arg argument param path file file1 count n the new of by'.split(
		' '
	)
);
const JOINERS = new Set(['of', 'is', '=', 'to', 'be', 'at', 'the', 'a']);

/** `--days 5`, `--days=5`, `days=5`, and `city: Berlin` for what is no long text. */
export function assigned(slot: Slot, filling: Filling): Found | null {
	const { words, text } = filling.question;
	const names = [slot.name.toLowerCase(), slot.flag?.toLowerCase(), slot.flag?.replace(/^-+/, '').toLowerCase()].filter(
		(name) => name !== undefined && name !== ''
	);
	for (const [index, word] of words.entries()) {
		if (!isFree(word, filling)) continue;
		const equals = word.lower.indexOf('=');
		if (equals > 0 && names.includes(word.lower.slice(0, equals))) return assignedValue(word, equals, filling);
		const next = words[index + 1];
		const isFlag = slot.flag !== null && word.lower === slot.flag.toLowerCase();
		const isLabel = slot.kind !== 'text' && names.includes(word.lower) && text.charAt(word.end) === ':';
		if (!next || (!isFlag && !isLabel) || !isFree(next, filling)) continue;
		const quote = filling.question.quotes.find((quote) => quote.start <= next.start && next.start < quote.end);
		if (quote) return { value: quote.value, spans: [{ start: word.start, end: quote.end }], isSure: true };
		const last = isFlag ? next : endOfList(index + 1, words, text);
		return { value: text.slice(next.start, last.end), spans: [{ start: word.start, end: last.end }], isSure: true };
	}
	return null;
}

function assignedValue(word: Word, equals: number, filling: Filling): Found {
	const { quotes, text } = filling.question;
	const start = word.start + equals + 1;
	const quote = quotes.find((quote) => quote.start === start) ?? quoteFrom(text, start);
	if (quote) return { value: quote.value, spans: [{ start: word.start, end: quote.end }], isSure: true };
	return { value: text.slice(start, word.end), spans: [word], isSure: true };
}

/** The mark stands right after `=`, where the reader of quotes sees an inner one. */
function quoteFrom(text: string, start: number): (Span & { value: string }) | null {
	const mark = text.charAt(start);
	const end = mark === '"' || mark === "'" ? text.indexOf(mark, start + 1) : -1;
	return end < 0 ? null : { start, end: end + 1, value: text.slice(start + 1, end) };
}

/** Up to a comma, the end of the line, or the next `name:`. */
function endOfList(index: number, words: readonly Word[], text: string): Word {
	let last = words[index] as Word;
	for (const word of words.slice(index, index + 12)) {
		const isNextLabel = text.charAt(word.end) === ':';
		if (isNextLabel || text.slice(last.end, word.start).includes('\n')) break;
		last = word;
		if (word.hasComma || word.endsClause) break;
	}
	return last;
}

/** One of the values that the placeholder takes, said in so many words. */
export function chosen(slot: Slot, filling: Filling): Found | null {
	const { words } = filling.question;
	const asked = slot.choices.map((choice) => (choice.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(stem));
	for (const [index, word] of words.entries()) {
		for (const [number, choice] of asked.entries()) {
			const run = words.slice(index, index + choice.length);
			const isSaid =
				choice.length > 0 &&
				choice.every((part, offset) => run[offset]?.stem === part) &&
				run.every((part) => isFree(part, filling));
			if (!isSaid || isFiller(word)) continue;
			return {
				value: slot.choices[number] ?? '',
				spans: [{ start: word.start, end: run.at(-1)?.end ?? word.end }],
				isSure: true
			};
		}
	}
	return null;
}

/** Addresses, mail addresses, dates, identifiers, sums. */
export function patterned(slot: Slot, filling: Filling): Found | null {
	if (slot.words.some((word) => /^(expr|expression|formula|equation|calculation)$/.test(word)))
		return arithmetic(filling);
	const test = slot.kind === 'id' ? (isOpen(slot) ? idTest(slot) : null) : (PATTERNS[slot.kind] ?? null);
	const word = test && filling.question.words.find((word) => isFree(word, filling) && test(word.text));
	if (!word) return null;
	const isBare = slot.kind === 'url' && !/^[a-z]+:\/\//i.test(word.text);
	return { value: isBare ? `https://${word.text}` : word.text, spans: [word], isSure: true };
}

function arithmetic({ question }: Filling): Found | null {
	for (const match of question.text.slice(0, 4_000).matchAll(/[\d(][\d\s+\-*/^().,%×÷]*/g)) {
		const value = match[0].replace(/[\s.,]+$/, '');
		const span = { start: match.index, end: match.index + value.length };
		if (/\d\s*[+\-*/^%×÷]\s*[\d(-]/.test(value)) return { value, spans: [span], isSure: true };
	}
	return null;
}

const PATTERNS: Partial<Record<Slot['kind'], (text: string) => boolean>> = {
	url: (text) => /^(https?|ftp):\/\/\S+$/i.test(text) || isDomain(text),
	email: (text) => /^[^\s@]+@[^\s@]+\.[a-z]{2,}$/i.test(text),
	date: (text) => /^\d{4}-\d{1,2}(-\d{1,2})?$/.test(text) || /^\d{1,2}[./]\d{1,2}[./]\d{2,4}$/.test(text)
};

function idTest(slot: Slot): (text: string) => boolean {
	return (text) => {
		if (slot.words.includes('channel') && text.startsWith('#')) return true;
		if (slot.words.includes('user') && text.startsWith('@')) return true;
		if (slot.words.some((word) => word === 'host' || word === 'domain')) return isDomain(text);
		if (slot.words.some((word) => word.startsWith('repo'))) return /^[\w.-]+\/[\w.-]+$/.test(text);
		return /^#?\d{2,}$/.test(text) || /^[A-Z]+-\d+$/i.test(text) || /^(?=.*\d)[0-9a-f-]{7,}$/i.test(text);
	};
}

/** Beside its own name: `5 days`, `group by region`, `the dev channel`, `width of 800`. */
export function labelled(slot: Slot, filling: Filling): Found | null {
	if (slot.kind === 'file' || slot.kind === 'output') return null;
	const flagWords = slotWords(slot.flag ?? '');
	const labels = [...flagWords, ...slot.words].filter((word) => !VAGUE.has(word) && word.length > 1);
	if (slot.kind === 'number') return labelledNumber(labels, filling);
	if (flagWords.length > 1) {
		const found = besideLabel(flagWords, slot, filling);
		if (found) return found;
	}
	const last = flagWords.at(-1) ?? '';
	if (PREPOSITIONS.has(last) && (slot.flag !== null || slot.side !== null)) {
		const found = besideLabel([last], slot, filling) ?? (last === 'by' ? besideLabel(['per'], slot, filling) : null);
		if (found) return found;
	}
	for (const label of new Set(labels)) {
		if (PREPOSITIONS.has(label)) continue;
		const found = besideLabel([label], slot, filling);
		if (found) return found;
	}
	return null;
}

function labelledNumber(labels: readonly string[], filling: Filling): Found | null {
	const { words, numbers } = filling.question;
	const isLabel = (text: string | undefined) =>
		text !== undefined && text.length > 1 && labels.some((label) => isSameWord(stem(text), label));
	const labelOf = ({ word, unit }: NumberPiece): Span[] | null => {
		if (isLabel(unit)) return [];
		const before = words[word - 1];
		const name = before !== undefined && JOINERS.has(before.lower) ? words[word - 2] : before;
		if (name !== undefined && !name.hasComma && isLabel(name.lower)) return [name];
		const after = words[word]?.endsClause || words[word]?.hasComma ? undefined : words[word + 1];
		return after !== undefined && isLabel(after.lower) ? [after] : null;
	};
	for (const number of numbers.filter((number) => isFree(number, filling))) {
		const label = labelOf(number);
		if (label) return { value: number.value, spans: [number, ...label], isSure: true };
	}
	return null;
}

function besideLabel(label: readonly string[], slot: Slot, filling: Filling): Found | null {
	const { words } = filling.question;
	const isPreposition = label.length === 1 && PREPOSITIONS.has(label[0] ?? '');
	for (const [index, word] of words.entries()) {
		const matches = label.every((part, offset) => isSameWord(words[index + offset]?.stem ?? '', part));
		const last = words[index + label.length - 1];
		if (!matches || !last || word.isQuoted) continue;
		const length = slot.kind === 'text' ? 'clause' : slot.kind === 'column' || slot.kind === 'place' ? 'few' : 'word';
		const after =
			last.endsClause && filling.question.text.charAt(last.end) !== ':'
				? null
				: phraseAfter(index + label.length - 1, filling, length);
		if (after && isFitFor(after, slot, filling)) return after;
		// Only a name can stand before its noun: `metric units`, `the dev channel`.
		const before = isPreposition || slot.kind === 'text' ? null : phraseBefore(index, filling);
		if (before && isFitFor(before, slot, filling)) return before;
	}
	return null;
}

function isFitFor(found: Found, slot: Slot, filling: Filling): boolean {
	const [span] = found.spans;
	const word = filling.question.words.find((word) => word.start === span?.start);
	if (word === undefined) return true;
	const isPathLike = isPath(word, filling.question) && slot.kind !== 'folder' && slot.side === null;
	const isNumberLike = /^\d/.test(word.text) && (slot.kind === 'column' || slot.kind === 'place');
	return !isPathLike && !isNumberLike && isValueWord(word, filling);
}

/** `lang` and `language` are the same label. */
function isSameWord(askedStem: string, label: string): boolean {
	const labelStem = stem(label);
	if (askedStem === labelStem) return true;
	const [short, long] = askedStem.length < labelStem.length ? [askedStem, labelStem] : [labelStem, askedStem];
	return short.length >= 4 && long.length >= short.length + 3 && long.startsWith(short);
}
