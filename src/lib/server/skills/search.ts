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
	return scoreTokens(readQuery(query), skill);
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
	const isPlainName = wordsOf(skill.name).every(isStopWord);
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
