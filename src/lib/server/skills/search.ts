/** Scores skills against what somebody asked, by the words they share (FEATURES B7, B8). */
import { isStopWord, stem } from './stemming.ts';

export { isStopWord, stem };

/** What a skill is found by. */
export interface SearchableSkill {
	name: string;
	description: string;
	tags?: readonly string[] | undefined;
}

/** The score's parts, for "why was this skill chosen". */
export interface SkillSignals {
	/** 6 when the whole name occurs, its separators being of no matter. */
	name: number;
	/** 2 for each word of the name. */
	nameTokens: number;
	/** 3 for each tag that occurs. */
	tags: number;
	/** 1 for each different word of the description. */
	description: number;
}

export interface SkillScore {
	score: number;
	signals: SkillSignals;
}

export interface RankOptions {
	/** Default 3 (FEATURES B8). */
	minScore?: number;
	/** Default 5 (FEATURES B8). */
	maxSkills?: number;
}

/** Scripts that are written without spaces: their words are taken as pairs of neighbouring characters. */
const SPACELESS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}`;
const RUNS = new RegExp(String.raw`[${SPACELESS}]+|(?:(?![${SPACELESS}])[\p{L}\p{M}\p{N}])+`, 'gu');
// Every character that ASCII has.
const IS_ASCII = /^[\0-\x7f]*$/;
const IS_SPACELESS = new RegExp(`^[${SPACELESS}]`, 'u');

/**
 * The words that carry meaning, in their order, repeats kept: lower-case, without accents, plural and other endings
 * folded (`summaries`, `summarise`, `Summarizing` are one word), stop-words and single letters left out.
 */
export function tokenize(text: string): string[] {
	return tokenizeWith(stem, text);
}

/** `tokenize` with another way to a stem, such as one that remembers. */
export function tokenizeWith(toStem: (word: string) => string, text: string): string[] {
	return runsOf(text)
		.filter((word) => !isStopWord(word))
		.map((word) => toStem(word));
}

/** Every word, stop-words too, as `tokenize` would give it. */
export function allWords(text: string): string[] {
	return runsOf(text).map(stem);
}

/** The words of an identifier such as `get_weather`, `getWeather` or `csv.tools`; stop-words only if there are no others. */
export function tokenizeName(name: string): string[] {
	return tokenizeNameWith(stem, name);
}

export function tokenizeNameWith(toStem: (word: string) => string, name: string): string[] {
	const spaced = name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2');
	const words = tokenizeWith(toStem, spaced);
	return words.length > 0 ? words : runsOf(spaced).map((word) => toStem(word));
}

/** The default scorer of FEATURES B7. Pure; `query` is what the user wrote. */
export function scoreSkill(query: string, skill: SearchableSkill): SkillScore {
	return scoreTokens(readQuery(query), skill);
}

/** Skills that reach the minimum, best first, equals by name. */
export function rankSkills<Skill extends SearchableSkill>(
	query: string,
	skills: readonly Skill[],
	options: RankOptions = {}
): ({ skill: Skill } & SkillScore)[] {
	const words = readQuery(query);
	return skills
		.map((skill) => ({ skill, ...scoreTokens(words, skill) }))
		.filter(({ score }) => score >= (options.minScore ?? 3))
		.sort((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : Number(a.skill.name > b.skill.name)))
		.slice(0, options.maxSkills ?? 5);
}

interface QueryWords {
	/** Without stop-words. */
	tokens: string[];
	all: string[];
}

function readQuery(query: string): QueryWords {
	return { tokens: tokenize(query), all: allWords(query) };
}

function scoreTokens(query: QueryWords, skill: SearchableSkill): SkillScore {
	const asked = new Set(query.tokens);
	const name = tokenizeName(skill.name);
	// A name such as `say-hello` is made of stop-words, and is found by them.
	const isPlainName = runsOf(skill.name).every(isStopWord);
	const tags = skill.tags?.map(tokenizeName).filter((tag) => isSequenceIn(tag, query.tokens)) ?? [];
	const signals: SkillSignals = {
		name: isSequenceIn(name, isPlainName ? query.all : query.tokens) ? 6 : 0,
		nameTokens: 2 * countIn(name, isPlainName ? new Set(query.all) : asked),
		tags: 3 * new Set(tags.map(String)).size,
		description: countIn(tokenize(skill.description), asked)
	};
	return { score: signals.name + signals.nameTokens + signals.tags + signals.description, signals };
}

function countIn(words: readonly string[], asked: ReadonlySet<string>): number {
	return [...new Set(words)].filter((word) => asked.has(word)).length;
}

/** Do all of `words` occur in `text` side by side? Nothing occurs nowhere. */
function isSequenceIn(words: readonly string[], text: readonly string[]): boolean {
	if (words.length === 0) return false;
	return text.some((_, start) => words.every((word, offset) => text[start + offset] === word));
}

function runsOf(text: string): string[] {
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
