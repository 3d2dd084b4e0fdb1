/** Scores skills against what somebody asked, by the words they share (FEATURES B7, B8). */
import { isStopWord, stem } from './stemming.ts';
import type { SearchableSkill } from './skill-reader.ts';
import { allWords, tokenize, tokenizeName, wordsOf } from './words.ts';

export { isStopWord, stem, tokenize, tokenizeName };
export type { SearchableSkill };

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

/** The default scorer of FEATURES B7. Pure; `query` is what the user wrote. */
export function scoreSkill(query: string, skill: SearchableSkill): SkillScore {
	return createScorer(query)(skill);
}

/** `scoreSkill` for many skills: reads the query once. */
export function createScorer(query: string): (skill: SearchableSkill) => SkillScore {
	const [asked, all] = [readText(tokenize(query)), readText(allWords(query))];
	return (skill) => {
		const name = tokenizeName(skill.name);
		// A name such as `say-hello` is made of stop-words, and is found by them.
		const nameIn = wordsOf(skill.name).every(isStopWord) ? all : asked;
		const tags = skill.tags?.map(tokenizeName).filter((tag) => isSequenceIn(tag, asked)) ?? [];
		const signals: SkillSignals = {
			name: isSequenceIn(name, nameIn) ? 6 : 0,
			nameTokens: 2 * countIn(name, nameIn),
			tags: 3 * new Set(tags.map(String)).size,
			description: countIn(tokenize(skill.description), asked)
		};
		return { score: signals.name + signals.nameTokens + signals.tags + signals.description, signals };
	};
}

interface ReadText {
	words: readonly string[];
	/** Of each word, where it stands. */
	places: ReadonlyMap<string, readonly number[]>;
}

function readText(words: readonly string[]): ReadText {
	const places = new Map<string, number[]>();
	for (const [index, word] of words.entries()) {
		const known = places.get(word);
		if (known) known.push(index);
		else places.set(word, [index]);
	}
	return { words, places };
}

function countIn(words: readonly string[], { places }: ReadText): number {
	return new Set(words.filter((word) => places.has(word))).size;
}

/** Do all of `words` occur in a text side by side? Nothing occurs nowhere. */
function isSequenceIn(words: readonly string[], text: ReadText): boolean {
	const [first] = words;
	if (first === undefined) return false;
	const starts = text.places.get(first) ?? [];
	return starts.some((start) => words.every((word, offset) => text.words[start + offset] === word));
}
