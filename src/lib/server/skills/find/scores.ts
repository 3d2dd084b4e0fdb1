/** Scores skills against what somebody asked, by the words they share (FEATURES B7, B8). */
import type { Skill } from '../types.ts';
import type { SearchableSkill } from './skill-reader.ts';
import { allWords, isStopWord, stem, tokenize, tokenizeName, wordsOf } from './words.ts';

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

// Search with the points of the Agent Zero document (FEATURES C5); pure.

export interface FoundSkill {
	skill: Skill;
	score: number;
}

const NAME = 3;
const DESCRIPTION = 2;
const TAG = 1;
/** Beyond the document: what is only in a trigger or in the instructions counts less than anything it names. */
const TRIGGER = 0.5;
const BODY = 0.25;
const MAX_TERMS = 32;

/**
 * For each term of the query: 3 points in the name, 2 in the description, 1 for each tag that holds it. Best first,
 * equals by name; at most `limit`.
 */
export function searchSkills(skills: readonly Skill[], query: string, limit = 25): FoundSkill[] {
	const terms = [...new Set(query.toLowerCase().split(/\s+/).filter(Boolean))].slice(0, MAX_TERMS);
	return skills
		.map((skill) => ({ skill, score: scoreOf(skill, terms) }))
		.filter(({ score }) => score > 0)
		.sort((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1))
		.slice(0, limit);
}

function scoreOf(skill: Skill, terms: readonly string[]): number {
	const name = skill.name.toLowerCase();
	const description = skill.description.toLowerCase();
	const tags = [...new Set(skill.tags.map((tag) => tag.toLowerCase()))];
	const triggers = skill.triggers.join('\n').toLowerCase();
	const body = skill.body.toLowerCase();
	let score = 0;
	for (const term of terms) {
		if (name.includes(term)) score += NAME;
		if (description.includes(term)) score += DESCRIPTION;
		score += TAG * tags.filter((tag) => tag.includes(term)).length;
		if (triggers.includes(term)) score += TRIGGER;
		if (body.includes(term)) score += BODY;
	}
	return score;
}
