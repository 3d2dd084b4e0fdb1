/** Cuts phrases out of a message: what follows or precedes a word, runs of capitalised names. */
import { isCapitalised, isFree, isPath, isValueWord, quoteAt } from './filling.ts';
import type { Filling, Found } from './filling.ts';
import { isFiller } from './question.ts';
import type { Word } from './question.ts';

export const PREPOSITIONS = new Set(
	'in into to for of at from on onto by per with about near around as via using than over under'.split(' ')
);
const DETERMINERS = new Set(
	'the a an my our your his her its their this that these those following all some called named is are be was = set equal equals'.split(
		' '
	)
);
/** Nouns that only say what sort of thing the name beside them is. */
const CONTAINERS = new Set(
	'folder directory dir file files city town place location column field path called named channel value text string'.split(
		' '
	)
);
const TIME_WORDS = new Set(
	(
		'today tonight tomorrow yesterday now currently right next last week weekend month morning afternoon evening night noon midnight day days hour hours ' +
		'minute minutes later soon monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october ' +
		'november december'
	).split(' ')
);
const MODIFIERS = new Set(
	'descending ascending desc asc sorted only first instead again then afterwards together'.split(' ')
);
const NAME_LINKS = new Set(
	'de la le les los las del da do dos di du des der den van von of the am an upon sur and'.split(' ')
);
const MAX_WORDS = 8;

export type PhraseLength = 'word' | 'few' | 'clause';

/** Does the word say that a name beside it is that of a folder? */
export function isFolderNoun(word: Word): boolean {
	return /^(folder|directory|dir)$/.test(word.lower) && !word.isQuoted;
}

export function isTimeWord(word: Word): boolean {
	return TIME_WORDS.has(word.lower);
}

/** The phrase that begins after the word at `index`; null when none does. */
export function phraseAfter(index: number, filling: Filling, length: PhraseLength): Found | null {
	const { words } = filling.question;
	let at = index + 1;
	for (; at < words.length; at += 1) {
		const word = words[at];
		const before = words[at - 1];
		// A colon or comma may stand between a name and its value, the end of a sentence may not.
		if (!word || (at > index + 1 && before?.endsClause)) return null;
		if (word.isQuoted || isPath(word, filling.question)) break;
		const next = words[at + 1];
		const isMereNoun =
			CONTAINERS.has(word.lower) &&
			!word.endsClause &&
			!word.hasComma &&
			next !== undefined &&
			isNounTarget(next, filling);
		if (!DETERMINERS.has(word.lower) && !isMereNoun) break;
	}
	return phraseAt(at, filling, length);
}

function isNounTarget(word: Word, filling: Filling): boolean {
	return word.isQuoted || word.lower === 'of' || DETERMINERS.has(word.lower) || isValueWord(word, filling);
}

/** The phrase that begins with the word at `index`. */
function phraseAt(index: number, filling: Filling, length: PhraseLength): Found | null {
	const { question } = filling;
	const word = question.words[index];
	if (!word || !isFree(word, filling)) return null;
	const quote = quoteAt(word, question);
	if (quote) return quote;
	if (word.lower === 'of') return phraseAfter(index, filling, length);
	if (!isValueWord(word, filling) || PREPOSITIONS.has(word.lower) || CONTAINERS.has(word.lower)) return null;
	if (isPath(word, question)) return found([word], filling);
	const name = capitalRun(index, filling);
	if (name.length > 0) return found(name, filling);
	if (filling.ownWords.has(word.stem)) return null;
	return found(lowerRun(index, filling, length), filling);
}

/** The phrase that ends before the word at `index`. */
export function phraseBefore(index: number, filling: Filling): Found | null {
	const { words } = filling.question;
	let at = index - 1;
	while (at > 0 && CONTAINERS.has(words[at]?.lower ?? '') && !words[at]?.isQuoted && !words[at - 1]?.endsClause)
		at -= 1;
	const last = words[at];
	if (!last || last.endsClause || !isFree(last, filling)) return null;
	const quote = quoteAt(last, filling.question);
	if (quote) return quote;
	if (!isValueWord(last, filling) || filling.ownWords.has(last.stem)) return null;
	let first = at;
	while (isCapitalised(last) && first > 0) {
		const word = words[first - 1];
		if (
			!word ||
			!isCapitalised(word) ||
			word.endsClause ||
			!isValueWord(word, filling) ||
			filling.ownWords.has(word.stem)
		)
			break;
		first -= 1;
	}
	return found(words.slice(first, at + 1), filling);
}

/** Words of a name from `index` on: capitalised ones, the small ones between them, `Paris, Texas`. */
export function capitalRun(index: number, filling: Filling): Word[] {
	const { words } = filling.question;
	const run: Word[] = [];
	for (let at = index; at < words.length && run.length < MAX_WORDS; at += 1) {
		const word = words[at];
		if (!word || !isFree(word, filling) || word.isQuoted !== words[index]?.isQuoted) break;
		const isPart =
			isCapitalised(word) &&
			!isTimeWord(word) &&
			!(isFiller(word) && run.length === 0) &&
			!filling.ownWords.has(word.stem);
		if (!isPart && !isLink(word, words, at, run.length, filling)) break;
		run.push(word);
		if (word.endsClause) break;
	}
	while (run.length > 0 && !isCapitalised(run.at(-1) as Word)) run.pop();
	return run;
}

function isLink(word: Word, words: readonly Word[], at: number, length: number, filling: Filling): boolean {
	if (length === 0 || !NAME_LINKS.has(word.lower) || word.lower === 'and') return false;
	const next = words.slice(at + 1, at + 3).find((next) => !NAME_LINKS.has(next.lower));
	return next !== undefined && isCapitalised(next) && !isTimeWord(next) && isFree(next, filling);
}

function lowerRun(index: number, filling: Filling, length: PhraseLength): Word[] {
	const { words } = filling.question;
	const limit = length === 'word' ? 1 : length === 'few' ? 3 : MAX_WORDS;
	const run: Word[] = [];
	for (const word of words.slice(index, index + limit)) {
		const isBoundary = isFiller(word) || PREPOSITIONS.has(word.lower) || !isFree(word, filling) || word.isQuoted;
		const isOther =
			isTimeWord(word) || MODIFIERS.has(word.lower) || CONTAINERS.has(word.lower) || filling.vocabulary.has(word.stem);
		if (isBoundary || (run.length > 0 && (isOther || isPath(word, filling.question)))) break;
		run.push(word);
		if (word.endsClause || word.hasComma) break;
	}
	return run;
}

export function found(words: readonly Word[], filling: Filling, isSure = true): Found | null {
	const [first] = words;
	const last = words.at(-1);
	if (!first || !last) return null;
	const span = { start: first.start, end: last.end };
	return { value: filling.question.text.slice(span.start, span.end), spans: [span], isSure };
}
