/** Divides text and names into words that can be compared, in any script; pure (FEATURES B7). */
import { isStopWord, stem } from './stemming.ts';

/** Scripts that are written without spaces: their words are taken as pairs of neighbouring characters. */
const SPACELESS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}`;
const RUNS = new RegExp(String.raw`[${SPACELESS}]+|(?:(?![${SPACELESS}])[\p{L}\p{M}\p{N}])+`, 'gu');
// Every character that ASCII has.
const IS_ASCII = /^[\0-\x7f]*$/;
const HAS_NO_CAPITAL = /^[\0-@[-\x7f]*$/;
const IS_SPACELESS = new RegExp(`^[${SPACELESS}]`, 'u');

/**
 * The words that carry meaning, in their order, repeats kept: lower-case, without accents, plural and other endings
 * folded (`summaries`, `summarise`, `Summarizing` are one word), stop-words and single letters left out.
 */
export function tokenize(text: string): string[] {
	return wordsOf(text)
		.filter((word) => !isStopWord(word))
		.map(stem);
}

/** Every word, stop-words too, as `tokenize` would give it. */
export function allWords(text: string): string[] {
	return wordsOf(text).map(stem);
}

/** The words of an identifier such as `get_weather`, `getWeather` or `csv.tools`; stop-words only if there are no others. */
export function tokenizeName(name: string): string[] {
	const divided = divideName(name);
	const words = tokenize(divided);
	return words.length > 0 ? words : allWords(divided);
}

/** `getWeather` as `get Weather`. */
export function divideName(name: string): string {
	// Most names have no capitals.
	return HAS_NO_CAPITAL.test(name) ? name : name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2');
}

/** Every word of a text, in lower case and without accents, stop-words too. */
export function wordsOf(text: string): string[] {
	// Most names and descriptions: the same words, in a tenth of the time.
	if (IS_ASCII.test(text)) return text.toLowerCase().match(/[a-z0-9]{2,}/g) ?? [];
	return [...text.normalize('NFKC').toLowerCase().matchAll(RUNS)].flatMap(([run]) => {
		if (IS_SPACELESS.test(run)) return pairsOf([...run]);
		const word = withoutAccents(run);
		return word.length > 1 ? [word] : [];
	});
}

function pairsOf(characters: readonly string[]): string[] {
	if (characters.length < 2) return [...characters];
	return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Of Latin letters only: in other scripts the marks are letters of their own. */
function withoutAccents(word: string): string {
	return word
		.normalize('NFD')
		.replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
		.normalize('NFC');
}
