/** Splits text and names into comparable words, in any script; pure (B7). */

/** Scripts written without spaces, in which pairs of adjacent characters count as words. */
const SPACELESS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}`;
const RUNS = new RegExp(String.raw`[${SPACELESS}]+|(?:(?![${SPACELESS}])[\p{L}\p{M}\p{N}])+`, 'gu');
const IS_ASCII = /^[\0-\x7f]*$/;
const HAS_NO_CAPITAL = /^[\0-@[-\x7f]*$/;
const IS_SPACELESS = new RegExp(`^[${SPACELESS}]`, 'u');

/**
 * Meaningful words in order: lowercase, without accents, stop words and single letters, and stemmed (`summaries`,
 * `Summarizing` are one word).
 */
export function tokenize(text: string): string[] {
	return meaningfulWords(text).map(stem);
}

export function meaningfulWords(text: string): string[] {
	return wordsOf(text).filter((word) => !isStopWord(word));
}

/** Like `tokenize`, but with stop words. */
export function allWords(text: string): string[] {
	return wordsOf(text).map(stem);
}

/** The words of an identifier such as `get_weather` or `getWeather`; stop words only if there are no others. */
export function tokenizeName(name: string): string[] {
	return wordsOfName(name).map(stem);
}

/** `tokenizeName` without stemming. */
export function wordsOfName(name: string): string[] {
	const divided = divideName(name);
	const words = meaningfulWords(divided);
	return words.length > 0 ? words : wordsOf(divided);
}

/** `getWeather` as `get Weather`. */
export function divideName(name: string): string {
	// Fast path: most names have no capitals.
	return HAS_NO_CAPITAL.test(name) ? name : name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2');
}

/** All words of a text, lowercase and without accents, including stop words. */
export function wordsOf(text: string): string[] {
	// Fast path for most names and descriptions: the same words in a tenth of the time.
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

/** Latin letters only: in other scripts the marks are letters of their own. */
function withoutAccents(word: string): string {
	return word
		.normalize('NFD')
		.replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
		.normalize('NFC');
}

// Folds English words to a common stem, British and American spelling alike; other languages pass unchanged.

/** Words that occur in any request and say nothing about its subject. */
const STOP_WORDS = new Set(
	(
		'a an the and or but nor so if then else than as at by for from in into of off on onto out over per to toward up upon with without within ' +
		'about above across after again against along among around before behind below beneath between beyond down during near since through under until via ' +
		'i me my mine myself you your yours we us our ours he him his she her hers it its they them their theirs this that these those here there ' +
		'what which who whom whose when where why how am is are was were be been being do does did done doing has have had having ' +
		'can could may might must shall should will would ought don doesn didn isn aren wasn weren won wouldn couldn shouldn can cannot ' +
		'let lets ll re ve not no yes ok okay all any both each either every few more most neither none other another some such only own same too very just also ' +
		'please thanks thank hello hi hey hallo good morning evening greetings bye cheers sorry dear ' +
		'use uses used using user users want wants wanted need needs needed like likes ask asks asked asking give gives given get gets got make makes made ' +
		'show shows tell tells say says said know knows help helps helping able etc eg ie via now ' +
		'something anything everything thing things someone anyone way ways lot much one ones kind sort perhaps maybe ' +
		'whether while because therefore however otherwise rather still already yet ever never always often well really quite'
	).split(' ')
);

export function isStopWord(lowerCaseWord: string): boolean {
	return STOP_WORDS.has(lowerCaseWord);
}

/** The stem of a lowercase word. Only for comparison: stems aren't words. */
export function stem(word: string): string {
	if (word.length < 4 || !/^[a-z]+$/.test(word) || word === 'news') return word;
	return withoutLastVowel(withoutEnding(singular(word)));
}

function singular(word: string): string {
	if (/.{2}ies$/.test(word)) return `${word.slice(0, -3)}y`;
	if (/(?:ss|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
	return /[^sui]s$/.test(word) ? word.slice(0, -1) : word;
}

function withoutEnding(word: string): string {
	const verb = /^(.{4,})i[sz](?:e|ed|ing|ation|er)$/.exec(word)?.[1];
	if (verb !== undefined) return verb;
	const analysis = /^(.{3,}y)[sz](?:e|ed|ing|er|is)$/.exec(word)?.[1];
	if (analysis !== undefined) return `${analysis}z`;

	if (word.endsWith('conversion')) return 'convert';

	const american = word.length > 5 ? word.replace(/our$/, 'or') : word;
	const base =
		/^(.{5,})ment$/.exec(american)?.[1] ??
		/^(.{4,}[ts])ion$/.exec(american)?.[1] ??
		/^(.{3,})ing$/.exec(american)?.[1] ??
		/^(.{2,}[^e])ed$/.exec(american)?.[1] ??
		/^(.{4,})[eo]r$/.exec(american)?.[1];
	if (base === undefined || !/[aeiouy]/.test(base)) return american;
	return /([bdfgmnprt])\1$/.test(base) ? base.slice(0, -1) : base;
}

function withoutLastVowel(word: string): string {
	const short = word.length > 3 ? word.replace(/e$/, '') : word;
	return short.length > 3 ? short.replace(/([^aeiou])[yi]$/, '$1') : short;
}

/** Scripts of its own that a SKILL.md names, each with the place where it stands first. */
export function scriptsNamedIn(text: string): Map<string, number> {
	const named = new Map<string, number>();
	for (const { 0: path, index } of text.matchAll(/(?<![\w./-])scripts\/[\w./-]*\w\.\w+/g)) {
		// Load the skill `data-analysis` and run `scripts/analyze_csv.mjs`: that one's.
		const isOfOther = /\bskill [`*“"][^\n]*$/i.test(text.slice(Math.max(0, index - 200), index));
		if (!isOfOther && !named.has(path)) named.set(path, index);
	}
	return named;
}
