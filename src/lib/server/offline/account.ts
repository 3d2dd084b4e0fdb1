/** Accounts for every word of a message: what was said and would go nowhere is asked about, and what is said then settles it. Pure. */
import { allWords, isStopWord, stem, tokenizeName } from '../skills/find/words.ts';
import type { Action, Filled, Values } from './actions.ts';
import { type Ask, choicesOf } from './answers.ts';
import {
	fillAction,
	type Filling,
	isAlike,
	isAmong,
	isChoice,
	isNamed,
	isFree,
	isShaped,
	isUsed,
	PREPOSITIONS
} from './fill.ts';
import {
	filesIn,
	framing,
	isFiller,
	isOverview,
	type Message,
	overlaps,
	overlapsAny,
	type Piece,
	type Word
} from './message.ts';
import { extensionOf, isFileNoun, type Slot, speaksOf, wordsForFile } from './slots.ts';

/** They change what is asked: the command or a value speaks of them, or they are asked about. */
const RESTRICTING = new RegExp(
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

/** Wants a file changed: no question about it. */
const CHANGING =
	/^\W*((please|can you|could you|and|now|then|also) )*(delete|remove|drop|erase|rename|move|replace|change|edit|update|set|raise|increase|reduce|insert|append|add(?! up)|fix|clean|merge|split|convert|translate|write|draft|send|email(?! address)|upload|save|export|import|create|make(?! (it|that|this|them) (an?|by|per|for|only)\b)|book (?=(me |us )?an?\b))\b(?!( me| us)?( an?| the)?( \w+)? (chart|graph|plot|diagram|list|summary|overview|table of)\b)|\band (then )?(save|export|send|email|upload|delete|remove|convert)\b/i;
/** Say nothing about a file. */
const POLITE =
	/^(please|pls|hi|hello|hey|thanks|look|see|show|tell|give|make|take|check|whole|entire|full|attached|quick|quickly|short|brief|good|nice|here|now)$/;
const DATA_QUESTION =
	/^\W*((and|but|so|ok|okay)\W+)?(how (many|much|often|old|long)|who|whose|which|when|list|show( me)?|count|sort|compare)\b|\b(total|average|median|percent|percentage|share of|per (day|week|month|quarter|year))\b/i;
/** Opens a sentence that asks something of its own: with its mark at the end, it's no answer to what was asked. */
const QUESTION =
	/^\W*((and|but|so|ok|okay)\W+)?(who|what|when|where|why|how|which|is|are|was|were|do|does|did|can|could|will|would|should|has|have)(['’]\w+)?\b(?! about)/i;
const LOOKING = /^\W*((please|and|can you|could you) )*(find|look for|search for|quote|where|list)\b/i;
/** Up to here a question such as these needs no mark at its end. */
const SHORT_QUESTION = 60;
const UNMARKED = /^\W*(how much|who|when|where) (is|are|was|were|does|did)\b[^\n]*$/i;
/** A longer message is more than a question. */
const MAX_QUESTION = 500;

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
	const accounted = account(filling);
	const isFile = ({ lower, text }: Word) => isFileNoun(lower) || message.attached.includes(text);
	const telling = framing(message).filter(
		(word) => !isStopWord(word.lower) && !POLITE.test(word.lower) && !isOverview(word) && !isFile(word)
	);
	// Of a file that is only there, a question must be heard in it.
	const isAbout =
		message.attached.length > 0 ||
		filesIn(message).length > 0 ||
		isDataQuestion(message.text) ||
		telling.some((word) => isRestricting(word) || knows(action, word));
	const isOther =
		telling.length === 0 ||
		telling.some(({ text }) => text.startsWith('--')) ||
		!isAbout ||
		message.text.length > MAX_QUESTION ||
		!isAskedOf([...message.attached, ...filesIn(message)], message.text) ||
		isWishForChange(message.text);
	const asked = isOther ? null : withQuestion(action, filling.values, message.text);
	// How strange it is still tells whether another skill is meant.
	return asked
		? {
				values: asked,
				missing: missing.filter((slot) => !asked.has(slot)),
				left: [],
				vague: '',
				strange: accounted.strange
			}
		: { values: filling.values, missing, ...accounted };
}

/** Of a table a few words ask something; of a text only what is a question. */
export function isAskedOf(files: readonly string[], text: string): boolean {
	const isTable = (path: string) => wordsForFile(path).includes('table');
	const isShort = text.length <= SHORT_QUESTION && UNMARKED.test(text);
	return files.length === 0 || files.some(isTable) || isQuestion(text) || isShort || LOOKING.test(text);
}

/** For a script that reads questions about its file itself (`FILE --question TEXT`), the files with the question; null for others. */
export function withQuestion({ slots }: Action, values: Values, question: string): Map<Slot, string[]> | null {
	const asked = slots.find(takesQuestion);
	const files = [...values].flatMap(([slot, texts]): [Slot, string[]][] =>
		slot.kind === 'file' ? [[slot, [...texts]]] : []
	);
	return asked ? new Map([...files, [asked, [question]]]) : null;
}

/** With its mark at the end. */
export function isQuestion(text: string): boolean {
	return QUESTION.test(text) && /\?\W{0,9}$/.test(text);
}

/** Asks for figures, for rows or for what they have. */
export function isDataQuestion(text: string): boolean {
	return DATA_QUESTION.test(text);
}

export function isWishForChange(text: string): boolean {
	return CHANGING.test(text);
}

/** Of what is in a file, or of the file itself. */
export function isWishForEdit(text: string): boolean {
	return /\b(delete|remove|erase|rename|replace|change|edit|update|set|raise|increase|reduce|insert|append|add)\b/i.test(
		CHANGING.exec(text)?.[0] ?? ''
	);
}

export function takesQuestion({ flag }: Slot): boolean {
	return flag === '--question';
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
	// `per month`, where nothing is grouped by it.
	const isGroup = !isSmall && /(?<!\d \p{L}+ )\b(per|by) $/iu.test(message.text.slice(0, word.start));
	if (isMore || isGroup || (!isHint && !isName && (isRestricting(word) || open.some(isMade)))) return false;
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

/** A negation, a superlative, a limit or a digit. */
export function isRestricting({ lower }: Word): boolean {
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

/** Of the files that a call is given: 2 where the command itself speaks of such, 1 where only its skill does. */
export function fitFor({ action, filled }: { action: Action; filled: Filled }): number {
	const { own, prose, subject, slots } = action;
	const files = slots.flatMap((slot) => (slot.kind === 'file' ? (filled.values.get(slot) ?? []) : []));
	const told = slots.flatMap(({ labels, hints, example }) => [...labels, ...hints, extensionOf(example ?? '')]);
	const speaks = (stems: ReadonlySet<string>) => files.some((path) => speaksOf(path, stems) === 3);
	return speaks(new Set([...own, ...prose, ...told])) ? 2 : Number(speaks(subject));
}

/** Does the command, or what is said around it, speak of the word? */
export function knows({ own, prose, slots }: Action, word: Word): boolean {
	if (isOverview(word)) return isAmong(word, [...own, ...prose]);
	const { stem } = word;
	const isTold = slots.some(({ labels, hints }) => labels.includes(stem) || hints.includes(stem));
	const isProse = [...prose].some((each) => each === stem || (each.length > 3 && stem.startsWith(each)));
	return isTold || isProse || [...own].some((each) => isAlike(each, stem));
}

/** Where the colon only ends an address (`todo: list my tasks`, `For our demo: …`), what follows is no text to work on. */
export function withoutAddress(message: Message, actions: readonly Action[]): Message {
	const { payload, words } = message;
	if (payload?.start === 0) return message;
	const said = framing(message);
	const first = payload && words.find((word) => word.start >= payload.start && !word.isQuoted);
	const isCommand =
		first && actions.some(({ own }) => own.has(first.stem) && said.every(({ stem }) => stem !== first.stem));
	const isAbout = (action: Action) => said.some((word) => !isFiller(word) && isNamed(word, action));
	return isCommand || !actions.some(isAbout) ? { ...message, payload: null } : message;
}

// Answers to what was asked.

/** What answers to earlier questions have settled. */
export interface Settled {
	/** By the action's label and the slot's name. */
	values: ReadonlyMap<string, string[]>;
	/** Label or form of the action, or name of the skill. */
	chosen: ReadonlySet<string>;
	/** Was the action chosen from a list? Then words that only led there say nothing more. */
	isPicked?: boolean;
	/** Left over on purpose; '' for all. */
	ignored: ReadonlySet<string>;
}

export const SETTLED_NOTHING: Settled = { values: new Map(), chosen: new Set(), ignored: new Set() };

const ORDINALS = ['first', 'second', 'third'];
/** Beside the name or the number of what is chosen. */
const CHOOSING = /^(use|take|choose|pick|skill|command|number|option|instead|one|file)$/;
export function keyOf(action: Action, slot: Slot): string {
	return `${action.label} ${slot.flag ?? slot.name}`;
}

/** What the answer settles; null where it is no answer, but a request of its own. */
export function settle(asked: Ask, answer: Message, settled: Settled): Settled | null {
	const choosing = (name: string) => ({ ...settled, chosen: new Set([...settled.chosen, name]) });
	if (asked.about === 'file' || asked.about === 'work') return null;
	if (asked.about === 'skill' || asked.about === 'action') {
		const isPicked = asked.about === 'action';
		const forms = (actions: readonly Action[]) => actions.map(({ form }) => form);
		const options = isPicked
			? [...choicesOf(asked.actions)].map(([text, actions]) => [text, ...forms(actions)])
			: asked.skills.map((name) => [name]);
		const picked = pick(options, answer);
		return picked && { ...settled, chosen: new Set([...settled.chosen, ...picked]), isPicked };
	}
	const { action } = asked;
	const { text, words } = answer;
	const left = asked.about === 'left' ? asked.left : [];
	const letsGo = /^(yes|ok|okay|go|run|ahead|ignore|without|skip|drop|none|nothing|leave|away|out|anyway)$/;
	const isLetGo = words.length > 0 && words.every((word) => letsGo.test(word.lower) || isFiller(word, true));
	const next = choosing(action.label);
	if (left.length > 0 && isLetGo) return { ...next, ignored: new Set(['']) };
	const open = action.slots.filter((slot) => !settled.values.has(keyOf(action, slot)));
	const named = open.filter(({ flag, labels }) =>
		words.some((word) => word.text.split('=', 1)[0] === flag || labels.includes(word.stem))
	);
	// `It is the second argument`.
	const isPlace = words.some(({ lower }) => /^(argument|parameter|input)s?$/.test(lower));
	const place = isPlace ? ORDINALS.findIndex((word) => words.some(({ lower }) => lower === word)) : -1;
	const told = isPlace && named.length === 0 ? open : named;
	const placed = place < 0 ? undefined : action.slots.filter(({ flag }) => flag === null)[place];
	const only = place < 0 && told.length === 1 ? told[0] : placed;
	const slot = asked.about === 'value' ? asked.slot : only;
	if (!slot) return null;
	const wanted = { ...slot, isRequired: true };
	const read = understand({ ...action, slots: [wanted] }, answer, new Map());
	let texts = read.values.get(wanted);
	if (texts && read.left.length > 0) return null;
	const isSaid = words.some((word) => !isFiller(word)) && !words.some(({ lower }) => RESTRICTING.test(lower));
	const isWhole = isSaid && !text.endsWith('?') && words.length <= (slot.kind === 'text' ? Infinity : 4);
	if (!texts && left.length > 0) texts = left.slice(0, 1);
	else if (!texts && isWhole && slot.choices.length === 0 && /^(text|name)$/.test(slot.kind) && isShaped(slot, text))
		texts = [text.replace(/^["“'](.+)["”']$/s, '$1')];
	// Asked for a number, a bare one is it, however unlikely.
	else if (!texts && slot.kind === 'number' && /^[+-]?\d+(\.\d+)?$/.test(text)) texts = [text];
	if (!texts) return null;
	const others = asked.about === 'value' && asked.isEither ? [''] : left.length > 0 ? texts : [];
	const ignored = new Set([...settled.ignored, ...others]);
	return { ...next, ignored, values: new Map([...settled.values, [keyOf(action, slot), texts]]) };
}

/** The one that is meant: as it is shown, by its number or place, or by the words that only one of them has. */
export function pick(options: readonly string[][], { text, words }: Message): string[] | null {
	const plain = (each: string) =>
		each
			.toLowerCase()
			.replace(/[\s?!.]+$/, '')
			.trim();
	const shown = options.find((ways) => ways.some((way) => plain(way) === plain(text)));
	if (shown !== undefined) return shown;
	const telling = words.filter((word) => !isFiller(word) && !CHOOSING.test(word.lower));
	const only = telling.length === 1 ? (telling[0]?.lower ?? '') : '';
	const place = /^\d$/.test(only) ? Number(only) - 1 : ORDINALS.indexOf(only);
	if (place >= 0) return options[place] ?? null;
	// A question of its own has words of an option by chance.
	if (isQuestion(text) || /^\W*(who|whose|what|when|where|why|how|which)\b/i.test(text)) return null;
	const known = options.map((ways) => new Set(allWords(ways.join(' '))));
	const hits = known.map((own) => allWords(text).filter((word) => own.has(word)).length);
	const most = Math.max(...hits);
	const at = hits.indexOf(most);
	const isAll = (telling.length > 0 ? telling : words).every(({ lower }) =>
		allWords(lower).every((word) => known[at]?.has(word))
	);
	return most > 0 && hits.lastIndexOf(most) === at && isAll ? (options[at] ?? null) : null;
}
