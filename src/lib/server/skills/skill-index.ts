/** Ranks the skills of a snapshot against what somebody asked, without looking at each of them (FEATURES B7, A17). */
import { allWords, tokenizeNameWith, tokenizeWith, type SearchableSkill } from './search.ts';
import { stem } from './stemming.ts';

export interface IndexedSkill extends SearchableSkill {
	triggers?: readonly string[] | undefined;
}

export interface SkillIndex<Skill> {
	/** Skills that share a word with the query, best first, equals by name; at most `maxSkills` (default 8). */
	rank(query: string, maxSkills?: number): RankedSkill<Skill>[];
}

export interface RankedSkill<Skill> {
	skill: Skill;
	/** Comparable within one query only. */
	score: number;
	/** Words of the query that it was found by, as stems. */
	words: string[];
}

/** What a word counts by where it stands, and how soon more of the same stop to count (BM25F). */
const WEIGHTS = { name: 3, tags: 2, triggers: 2, description: 1 };
const SATURATION = 1.2;
/** How far a long text is held against a skill. */
const LENGTH = 0.6;
/** A skill whose whole name was said. */
const NAMED = 1.5;
const MAX_WORDS = 64;
const MAX_QUERY = 4000;

/** The skills that hold a word. */
interface Postings {
	skills: number[];
	points: number[];
	isInName: boolean[];
}

/** Reads all names, descriptions, tags and triggers once: make one index a snapshot. */
export function createSkillIndex<Skill extends IndexedSkill>(skills: readonly Skill[]): SkillIndex<Skill> {
	const { postings, nameWords } = readSkills(skills);
	const rarity = (count: number) => Math.log(1 + (skills.length - count + 0.5) / (count + 0.5));
	// Kept between calls and cleared by each, so that a query costs no more than the skills that hold its words.
	const totals = new Float64Array(skills.length);
	const coverage = new Float64Array(skills.length);
	const named = new Uint8Array(skills.length);

	return {
		rank(query, maxSkills = 8) {
			const words = [...new Set(allWords(query.slice(0, MAX_QUERY)))].slice(0, MAX_WORDS);
			const touched: number[] = [];
			let mass = 0;
			for (const word of words) {
				const { skills: holders, points, isInName } = postings.get(word) ?? NONE;
				if (holders.length === 0) continue;
				const weight = rarity(holders.length);
				mass += weight;
				for (let index = 0; index < holders.length; index += 1) {
					const at = holders[index] ?? 0;
					if (totals[at] === 0) touched.push(at);
					totals[at] = (totals[at] ?? 0) + weight * (points[index] ?? 0);
					coverage[at] = (coverage[at] ?? 0) + weight;
					if (isInName[index]) named[at] = (named[at] ?? 0) + 1;
				}
			}
			const scoreOf = (at: number) => {
				const part = 0.5 + (0.5 * (coverage[at] ?? 0)) / mass;
				const isNamed = nameWords[at] !== undefined && nameWords[at] > 0 && (named[at] ?? 0) >= nameWords[at];
				return (totals[at] ?? 0) * part * (isNamed ? NAMED : 1);
			};
			const best = pickBest(touched, scoreOf, maxSkills, (a, b) => compareBy(skills, a, b));
			for (const at of touched) totals[at] = coverage[at] = named[at] = 0;
			return best.flatMap(({ at, score }) => {
				const skill = skills[at];
				if (!skill) return [];
				const isHeld = (word: string) => holds(postings.get(word)?.skills, at);
				return [{ skill, score, words: words.filter(isHeld) }];
			});
		}
	};
}

const NONE: Postings = { skills: [], points: [], isInName: [] };

/** Is `wanted` in the ascending numbers? */
function holds(numbers: readonly number[] = [], wanted: number): boolean {
	let [low, high] = [0, numbers.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((numbers[middle] ?? 0) < wanted) low = middle + 1;
		else high = middle;
	}
	return numbers[low] === wanted;
}

function readSkills(skills: readonly IndexedSkill[]): { postings: Map<string, Postings>; nameWords: number[] } {
	const postings = new Map<string, Postings>();
	const stems = new Map<string, string>();
	// The same words come again and again.
	const toStem = (word: string): string => {
		const known = stems.get(word) ?? stem(word);
		stems.set(word, known);
		return known;
	};
	const nameWords: number[] = [];
	const lengths: number[] = [];
	for (const [at, skill] of skills.entries()) {
		const fields = {
			name: tokenizeNameWith(toStem, skill.name),
			tags: (skill.tags ?? []).flatMap((tag) => tokenizeNameWith(toStem, tag)),
			triggers: (skill.triggers ?? []).flatMap((trigger) => tokenizeWith(toStem, trigger)),
			description: tokenizeWith(toStem, skill.description)
		};
		nameWords.push(new Set(fields.name).size);
		lengths.push(Object.values(fields).reduce((sum, words) => sum + words.length, 0));
		const counts = new Map<string, number>();
		for (const [field, weight] of Object.entries(WEIGHTS)) {
			for (const word of fields[field as keyof typeof WEIGHTS]) counts.set(word, (counts.get(word) ?? 0) + weight);
		}
		for (const [word, count] of counts) {
			let list = postings.get(word);
			if (!list) postings.set(word, (list = { skills: [], points: [], isInName: [] }));
			list.skills.push(at);
			list.points.push(count);
			list.isInName.push(fields.name.includes(word));
		}
	}
	const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
	for (const { skills: holders, points } of postings.values()) {
		for (const [index, at] of holders.entries()) {
			const count = (points[index] ?? 0) / (1 - LENGTH + (LENGTH * (lengths[at] ?? average)) / average);
			points[index] = count / (SATURATION + count);
		}
	}
	return { postings, nameWords };
}

function compareBy(skills: readonly IndexedSkill[], a: number, b: number): number {
	const [first = '', second = ''] = [skills[a]?.name, skills[b]?.name];
	return first < second ? -1 : Number(first > second);
}

/** The best few, in order, without sorting the rest. */
function pickBest(
	candidates: readonly number[],
	scoreOf: (at: number) => number,
	count: number,
	compare: (a: number, b: number) => number
): { at: number; score: number }[] {
	const best: { at: number; score: number }[] = [];
	for (const at of candidates) {
		const score = scoreOf(at);
		const isAfter = (other: { at: number; score: number }) =>
			other.score > score || (other.score === score && compare(other.at, at) < 0);
		const last = best.at(-1);
		if (best.length >= count && (!last || isAfter(last))) continue;
		let place = best.length;
		while (place > 0 && !isAfter(best[place - 1] ?? { at, score: Infinity })) place -= 1;
		best.splice(place, 0, { at, score });
		if (best.length > count) best.pop();
	}
	return best;
}
