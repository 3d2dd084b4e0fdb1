/** Accounts for every word of a message: what was said and would go nowhere is asked about. Pure. */
import { stem, tokenizeName } from '../skills/find/words.ts';
import type { Action } from './actions.ts';
import { fillAction, type Filling, isAmong, isChoice, isNamed, isFree, isUsed, PREPOSITIONS } from './fill.ts';
import { framing, isFiller, type Message, overlaps, overlapsAny, type Piece, type Word } from './message.ts';
import { type Slot, wordsForFile } from './slots.ts';

export interface Filled {
	/** One text for each slot; several for one that is repeated. */
	values: Map<Slot, string[]>;
	/** Required, and the message has nothing certain for them. */
	missing: Slot[];
	/** What was said and would go nowhere: it must be asked about. */
	left: string[];
	/** The part of it that is but words nothing speaks of. */
	vague: string;
	/** How many words nothing in the skill speaks of, talk included. */
	strange: number;
}

/** They change what is asked: the command or a value speaks of them, or they are asked about. */
export const RESTRICTING = new RegExp(
	`^(${
		'no not never without except excluding exclude ignoring ignore skip skipping only unless until instead half double twice extra than other why who whose dont rather else but ' +
		'above below within during beyond against neither nor both fewer less again behind minus plus off down back ' +
		'smallest largest biggest longest shortest highest lowest oldest newest latest earliest fastest slowest cheapest best worst least average mean median first last'
	}|\\p{L}{2,5}n['’]t)$`.replaceAll(' ', '|'),
	'u'
);
/** A text to work on that ends in what sounds like one more wish or question. */
const MIXED =
	/^[^\n]{0,200}[,.;!?] +(then|and (then|also)|please|but|without|with|how|what|which|make|also|only|except|max|at (most|least)|not|no)\b[^\n]*$|[^\n]\n+(then|please|but|and then|how|what|also|make)\b[^\n]*$|^[^\n]*(\?\s*|\bplease\b[^\n]*)$/i;
/** A part of a sentence that tells what is, and asks for nothing: `My aunt weighs 11 stone`, `the duck was dry`. */
const TELLING =
	/^((and|so|but|because|since|as) )*((i|we|it|he|she|they|this|that|there|every(body|one)|no(body| one))\b|(my|our|the|its|his|her|their) .*\b(is|are|was|were|be|been|has|have|had|do|does|did|will|can|says?|said|costs?|weighs?|comes?|came|goes|went|takes?|took|gets?|got|needs?|\p{L}{3,}ed)\b)/iu;
const WISHING = /\b(need|want|would|like|must|should|wish|prefer|please|only)\b|\b\w+['’]d\b/i;

/** Questions for a number, for yes or no, or for what was: by the words of a command that answers such. */
const QUESTIONS: [RegExp, string[]][] = [
	[
		/\b(how (many|much|often)|number of|(do|does) (we|i|you|they)|(is|are) there)\b/gi,
		'count number total many much often sum amount statistics stats calculate compute'.split(' ').map(stem)
	],
	[
		/(?<=^|[.,;:!?] +)((is|are|was|were|does|did|has|have|should|shall|must|may|am)(?= (?!you\b))|can (i|we|one)\b)|\b(when|where|how|what) (did|had|was|were)\b/gi,
		'whether check rate rates test verify validate valid compare contrast readable strong enough status if'
			.split(' ')
			.map(stem)
	]
];

/** Fills the action, and tells what that leaves. Given are the values that answers to earlier questions have settled. */
export function understand(action: Action, message: Message, given: ReadonlyMap<Slot, string[]>): Filled {
	const filling = fillAction(action, message, given);
	const missing = action.slots.filter((slot) => slot.isRequired && !filling.values.has(slot));
	return { values: filling.values, missing, ...account(filling) };
}

function account(filling: Filling): Pick<Filled, 'left' | 'vague' | 'strange'> {
	const { message, values, places, taken } = filling;
	const { payload, attached, text } = message;
	const used = places.filter((place) => !isFree(place, filling));
	// What is said twice is used once.
	const isTwice = ({ value }: Piece) => isUsed(value, filling) || used.some((other) => other.value === value);
	const lost = places.filter((place) => {
		const isHard = /^(number|date|time|url|email|file|quote|code)$/.test(place.form);
		return isHard && isFree(place, filling) && !isTwice(place) && place.value.toLowerCase() !== filling.action.skill;
	});
	const units = places.filter(
		({ form, start }) =>
			form === 'unit' && used.some((other) => other.form === 'number' && start > other.start && start - other.end < 2)
	);
	const talk = values.size > 0 ? talkOf(message) : [];
	const strange = framing(message).filter(
		(word) => !overlapsAny(word, [...taken, ...lost, ...units]) && !isExplained(word, filling)
	);
	const odd = strange.filter(
		(word) => isRestricting(word) || !talk.includes(word) || used.some(({ after }) => after === word)
	);
	const isUnread = payload && isFree(payload, filling) && !places.some((place) => overlaps(place, payload));
	const isRaw = payload?.value === text.slice(payload?.start, payload?.end);
	const texts = payload && (isUnread || (isRaw && MIXED.test(payload.value.slice(-300)))) ? [payload] : [];
	const spans = [...lost, ...texts, ...questionsOf(filling)];
	const files = attached.some((path) => isUsed(path, filling)) ? [] : attached;
	const left = [...spans.map(({ start, end }) => text.slice(start, Math.min(end, start + 60))), ...files];
	left.push(...odd.filter(isRestricting).map((word) => word.text));
	const others = odd.filter((word) => !isRestricting(word)).slice(0, 12);
	const vague = others.map((word) => word.text).join(' ');
	if (vague !== '') left.push(vague);
	return { left: [...new Set(left)], vague, strange: strange.length };
}

/** Does the word hold the sentence together, or does the skill, its command or a slot that is filled speak of it? */
function isExplained(word: Word, { action, values, taken, message }: Filling): boolean {
	const { own, slots, skill } = action;
	const isIn = (stems: Iterable<string>) => isAmong(word, stems);
	const [filled, open] = [slots.filter((slot) => values.has(slot)), slots.filter((slot) => !values.has(slot))];
	const isMade = ({ choices }: Slot) => choices.some((choice) => isChoice(word.text, choice));
	const isSmall =
		isFiller(word, message.words[0] === word) || PREPOSITIONS.has(word.lower) || /^(up|out)$/.test(word.lower);
	// `to French and Spanish`: there is more of what was taken.
	const isMore = !isSmall && taken.some(({ end }) => /^,? (and|or) $/.test(message.text.slice(end, word.start)));
	if (isIn(own) || filled.some(({ labels }) => isIn(labels))) return true;
	const isHint = filled.some(({ hints }) => isIn(hints));
	const isName =
		word.lower === skill || filled.some((slot) => slot.kind === 'file' && namesFile(values.get(slot), word));
	if (isMore || (!isHint && !isName && (isRestricting(word) || open.some(isMade)))) return false;
	return (
		isSmall ||
		isHint ||
		isName ||
		isNamed(word, action) ||
		open.some(({ labels, isRequired }) => isRequired && isIn(labels))
	);
}

/** `my expenses`, `this spreadsheet` with `expenses.csv`. */
function namesFile(paths: readonly string[] = [], { stem: said, lower }: Word): boolean {
	const words = (path: string) => [...tokenizeName(path.replace(/^.*\/|\.\w+$/g, '')), ...wordsForFile(path)];
	return paths.some((path) => words(path).some((word) => word === said || word === lower));
}

function isRestricting({ lower }: Word): boolean {
	return RESTRICTING.test(lower) || /\d/.test(lower);
}

function talkOf({ words, text }: Message): Word[] {
	const ends = words.flatMap((word, at) => (word.endsClause || word.hasComma || at === words.length - 1 ? at + 1 : []));
	return ends.flatMap((end, at) => {
		const part = words.slice(ends[at - 1] ?? 0, end);
		const said = text.slice(part[0]?.start, part.at(-1)?.end);
		const isPurpose = at > 0 && /^for (an?|my|our|the) /.test(said);
		return (isPurpose || TELLING.test(said)) && !WISHING.test(said) ? part : [];
	});
}

/** Questions that running the command is no answer to. */
function questionsOf({ message, action, values }: Filling): { start: number; end: number }[] {
	const { own, prose, subject } = action;
	const said = message.text.slice(0, Math.min(message.payload?.start ?? Infinity, 3_000));
	return QUESTIONS.flatMap(([pattern, answers], at) => {
		const isReckoned = at === 0 && [...values.keys()].some(({ kind }) => kind === 'number');
		if (isReckoned || answers.some((word) => own.has(word) || prose.has(word) || subject.has(word))) return [];
		return [...said.matchAll(pattern)].map(({ 0: all, index }) => ({ start: index, end: index + all.length }));
	});
}
