/** Scores skills against a query by the words they share (B7, B8). */
import type { Skill } from '../types.ts';
import type { SearchableSkill } from './skill-reader.ts';
import { allWords, isStopWord, tokenize, tokenizeName, wordsOf } from './words.ts';

/** The score's parts, to explain why a skill was chosen. */
export interface SkillSignals {
	/** 6 if the whole name occurs, ignoring separators. */
	name: number;
	/** 2 for each word of the name that occurs. */
	nameTokens: number;
	/** 3 for each tag that occurs. */
	tags: number;
	/** 1 for each distinct word of the description that occurs. */
	description: number;
}

export interface SkillScore {
	score: number;
	signals: SkillSignals;
}

/** The default scorer of FEATURES B7; pure. `query` is the user's text. */
export function scoreSkill(query: string, skill: SearchableSkill): SkillScore {
	return createScorer(query)(skill);
}

/** `scoreSkill` for many skills: reads the query once. */
export function createScorer(query: string): (skill: SearchableSkill) => SkillScore {
	const [asked, all] = [readText(tokenize(query)), readText(allWords(query))];
	return (skill) => {
		const name = tokenizeName(skill.name);
		// A name made of stop words, such as `say-hello`, is found by them.
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
	/** Positions of each word. */
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

/** True if `words` occur next to each other in a text; false for no words. */
function isSequenceIn(words: readonly string[], text: ReadText): boolean {
	const [first] = words;
	if (first === undefined) return false;
	const starts = text.places.get(first) ?? [];
	return starts.some((start) => words.every((word, offset) => text.words[start + offset] === word));
}

// Search, scored as in the Agent Zero document (C5); pure.

export interface FoundSkill {
	skill: Skill;
	score: number;
}

const NAME = 3;
const DESCRIPTION = 2;
const TAG = 1;
/** Not in the document: matches in triggers and instructions count less than any other. */
const TRIGGER = 0.5;
const BODY = 0.25;
const MAX_TERMS = 32;

/** Per term: 3 points in the name, 2 in the description, 1 for each tag with it. Best first, ties by name. */
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
