/** Accounts for every word of a message: what was said and would go nowhere is asked about. Pure. */
import { answersAmounts, answersChecks } from './actions.ts';
import { type Filling, isChoice, isFree, isOpenWord, isUsed, TO } from './filling.ts';
import {
	framing,
	isFiller,
	isUnit,
	type Message,
	overlaps,
	overlapsAny,
	type Piece,
	type Span,
	type Word
} from './message.ts';
import type { Slot } from './slots.ts';

/** They change what is asked: they are used, or asked about. */
export const RESTRICTING = new RegExp(
	`^(${
		'no not never without except excluding exclude ignoring ignore skip skipping only unless until instead half double twice extra than other why who whose dont rather else ' +
		'above below within during beyond against neither nor both fewer less again behind minus plus off down back ' +
		'smallest largest biggest longest shortest highest lowest oldest newest latest earliest fastest slowest cheapest best worst least average mean median'
	}|\\p{L}{2,5}n['’]t)$`.replaceAll(' ', '|'),
	'u'
);
/** A text to work on that ends in what sounds like one more wish or question. */
const MIXED =
	/^[^\n]{0,200}[,.;!?] +(then|and (then|also)|please|but|without|with|how|what|which|make|also|only|except|max|at (most|least)|not|no)\b[^\n]*$|[^\n]\n+(then|please|but|and then|how|what|also|make)\b[^\n]*$|^[^\n]*(\?\s*|\bplease\b[^\n]*)$/i;
/** A part of a sentence that begins so tells what is, and asks for nothing. */
const TELLERS = /^(i|we|it|he|she|they|this|that|there|everybody|everyone|nobody)$|^(i|we|it|he|she|they|that)['’]/;
const OWNERS = /^(my|our|the|its|his|her|their)$/;
const VERBS =
	/^(is|are|was|were|be|been|has|have|had|do|does|did|will|can|says?|said|costs?|weighs?|comes?|came|goes|went|takes?|took|gets?|got|needs?|\p{L}{3,}ed)$/u;
const LINKS = /^(and|so|but|because|since|as)$/;
const WISHES = /^(need|want|would|like|must|should|wish|prefer|please|only)$|^(i|we|they|he|she|it|that)['’]d$/;
const CHECKS = /^(is|are|was|were|does|did|has|have|should|shall|must|may|am)$/;

// The account.

/** What was said and is not used: nothing runs as long as there is any. */
export function account(filling: Filling): { left: string[]; strange: number } {
	const { message, action, values, places, taken } = filling;
	const { payload, attached, text } = message;
	const isLost = (span: Span) => isFree(span, filling);
	const used = places.filter((place) => !isLost(place));
	// What is said twice is used once.
	const isTwice = ({ value }: Piece) => isUsed(value, filling) || used.some((other) => other.value === value);
	const isHard = ({ form }: Piece) => /^(number|date|time|url|email|file|quote|code)$/.test(form);
	// `$80` where a currency could be chosen, and is not.
	const takesCoins = action.slots.some((slot) => !values.has(slot) && slot.choices.some(isUnit));
	const isCoin = ({ unit = '' }: Piece) => /[$€£¥]/.test(unit) && takesCoins;
	const lost = places.filter((place) => isHard(place) && (isLost(place) ? !isTwice(place) : isCoin(place)));
	const isUnitOf = ({ start }: Span, { form, ...other }: Piece) =>
		form === 'number' && start > other.start && start - other.end < 2;
	const units = places.filter((place) => place.form === 'unit' && used.some((other) => isUnitOf(place, other)));
	const words = framing(message).filter((word) => !overlapsAny(word, [...taken, ...lost, ...units]));
	const talk = talkOf(message);
	// Of `look up the parcel` the `up` belongs to the verb.
	const isStrange = (word: Word, at: number) =>
		!isFiller(word, at === 0) && !/^(up|out)$/.test(word.lower) && isOpenWord(word, filling);
	// `this article` is the file that came along.
	const isAttached = ({ start }: Word) =>
		attached.some((path) => isUsed(path, filling)) && /\b(this|attached) $/i.test(text.slice(0, start));
	const strange = words.filter((word, at) => isStrange(word, at) && !isAttached(word));
	// `2 million`: what stands right after a value belongs to it.
	const isTalk = (word: Word) => values.size > 0 && talk.has(word) && !used.some(({ after }) => after === word);
	const telling = words.filter((word) => tells(word, filling) && (!talk.has(word) || RESTRICTING.test(word.lower)));
	const isRaw = payload?.value === text.slice(payload?.start, payload?.end);
	const isUnread = payload && isLost(payload) && !places.some((place) => overlaps(place, payload));
	const texts = payload && (isUnread || (isRaw && MIXED.test(payload.value.slice(-300)))) ? [payload] : [];
	const isReckoned = [...values.keys()].some(({ kind }) => kind === 'number');
	const isAnswered = ({ isAmount }: { isAmount: boolean }) =>
		isAmount ? isReckoned || answersAmounts(action) : answersChecks(action);
	const asked = questionsOf(message).filter((question) => !isAnswered(question));
	const spans = [...lost, ...texts, ...telling, ...asked];
	const files = attached.some((path) => isUsed(path, filling)) ? [] : attached;
	const left = [...spans.map(({ start, end }) => text.slice(start, Math.min(end, start + 60))), ...files];
	const odd = strange.filter((word) => !isTalk(word)).slice(0, 12);
	if (left.length === 0 && odd.length > 0) left.push(odd.map((word) => word.text).join(' '));
	return { left: [...new Set(left)], strange: strange.length };
}

/** Does an unused word change what is asked, although the skill may know it? */
function tells(word: Word, { message, action, values, taken }: Filling): boolean {
	const { words } = message;
	const { own, prose, subject, slots } = action;
	const isLost = (other: Word | undefined) => other !== undefined && !overlapsAny(other, taken);
	const [unused, used] = [slots.filter((slot) => !values.has(slot)), slots.filter((slot) => values.has(slot))];
	const isIn = ({ labels, hints }: Slot) => labels.includes(word.stem) || hints.includes(word.stem);
	const isCommon = [own, prose, subject].some((set) => set.has(word.stem)) || used.some(isIn) || isFiller(word);
	// It speaks of an option alone, or is a value that it could take.
	const isOption = !isCommon && unused.some((slot) => !slot.isRequired && isIn(slot));
	const isValue = unused.some(({ choices }) => choices.some((choice) => isChoice(word.text, choice)));
	const at = words.indexOf(word);
	const [value, link] = words.slice(Math.max(0, at - 2), at);
	const [next] = words.slice(at + 1);
	// `to French and Spanish`: there is more of what was taken. `all but 3`: it is not what is meant.
	const isMore =
		value && !isLost(value) && /^(and|or)$/.test(link?.lower ?? '') && isLost(next ?? word) && !own.has(word.stem);
	const isBut =
		word.lower === 'but' && (/^(all|(every|any|no)(thing|one|body|where)?)$/.test(link?.lower ?? '') || !isLost(next));
	// `hex … to text`: what comes after `to` is not the one that was taken.
	const isVerb = /^(need|want|like|going|how|have|has|try|trying|able|wish|love)$/.test(value?.lower ?? '');
	const isAim = TO.has(link?.lower ?? '') && !isVerb && used.some(({ side }) => side === 'target') && !isFiller(word);
	const isOwn = own.has(word.stem) || prose.has(word.stem) || used.some(isIn);
	return (
		(RESTRICTING.test(word.lower) && !isOwn) ||
		/\d/.test(word.text) ||
		isAim ||
		isOption ||
		isValue ||
		isBut ||
		(isMore === true && !isFiller(word))
	);
}

/** Words of the parts of sentences that only tell: `My aunt weighs 11 stone`, `the duck was dry`. */
function talkOf({ words }: Message): Set<Word> {
	const talk = new Set<Word>();
	for (let start = 0; start < words.length;) {
		const length = words.slice(start).findIndex((word) => word.endsClause || word.hasComma) + 1;
		const part = words.slice(start, length === 0 ? undefined : start + length);
		const first = part.find(({ lower }) => !LINKS.test(lower));
		const isPurpose = /^for (a|an|my|our|the)$/.test(`${part[0]?.lower} ${part[1]?.lower}`) && start > 0;
		const isTold =
			(isPurpose ||
				TELLERS.test(first?.lower ?? '') ||
				(OWNERS.test(first?.lower ?? '') && part.some(({ lower }) => VERBS.test(lower)))) &&
			!part.some(({ lower }) => WISHES.test(lower));
		if (isTold) for (const word of part) talk.add(word);
		start += part.length;
	}
	return talk;
}

/** Questions that running something is no answer to: for a number, or for a yes or no. */
function questionsOf(message: Message): (Span & { isAmount: boolean })[] {
	const words = framing(message);
	const ways = /^(how (many|much|often)|number of|(do|does) (we|i|you|they)|(is|are) there)$/;
	return words.flatMap((word, at): (Span & { isAmount: boolean })[] => {
		const [before, next] = [words[at - 1], words[at + 1]];
		const length = words.slice(at + 2).findIndex((each) => isFiller(each) || each.endsClause);
		const last = words[length < 0 ? words.length - 1 : at + 1 + length] ?? word;
		if (ways.test(`${word.lower} ${next?.lower}`)) return [{ isAmount: true, start: word.start, end: last.end }];
		const isStart = before === undefined || before.endsClause || before.hasComma;
		// `is it …?`, `when did …?`: for yes or no, or for what was.
		const isLeave = word.lower === 'can' && /^(i|we|one)$/.test(next?.lower ?? '');
		const isCheck =
			next !== undefined &&
			((isStart && (isLeave || CHECKS.test(word.lower)) && next.lower !== 'you') ||
				(/^(when|where|how|what)$/.test(word.lower) && /^(did|had|was|were)$/.test(next.lower)));
		return isCheck ? [{ isAmount: false, start: word.start, end: next.end }] : [];
	});
}
