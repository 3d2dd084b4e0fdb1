/** Ranks the skills of a snapshot against what somebody asked, without looking at each of them (FEATURES B7, A17). */
import { createSkillReader, type IndexedSkill, type IndexedTerms } from './skill-reader.ts';
import { createPace } from './slices.ts';
import { allWords } from './words.ts';

export type { IndexedSkill };

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

/** A skill whose whole name was said. */
const NAMED = 1.5;
const MAX_WORDS = 64;
const MAX_QUERY = 4000;

/** Reads all names, descriptions, tags and triggers once: make one index a snapshot. */
export function createSkillIndex<Skill extends IndexedSkill>(skills: readonly Skill[]): SkillIndex<Skill> {
	const reader = createSkillReader();
	for (const skill of skills) reader.add(skill);
	return indexOf(skills, reader.finish());
}

/** `createSkillIndex` with the event loop free between slices, for libraries of many thousand skills. */
export async function createSkillIndexInSlices<Skill extends IndexedSkill>(
	skills: readonly Skill[]
): Promise<SkillIndex<Skill>> {
	const reader = createSkillReader();
	const pace = createPace();
	for (const skill of skills) {
		const rest = pace();
		if (rest) await rest;
		reader.add(skill);
	}
	return indexOf(skills, reader.finish());
}

function indexOf<Skill extends IndexedSkill>(skills: readonly Skill[], terms: IndexedTerms): SkillIndex<Skill> {
	const { idOf, starts, holders, points, isInName, nameWords } = terms;
	const rarity = (count: number) => Math.log(1 + (skills.length - count + 0.5) / (count + 0.5));
	// Kept between calls and cleared by each, so that a query costs no more than the skills that hold its words.
	const totals = new Float64Array(skills.length);
	const coverage = new Float64Array(skills.length);
	const named = new Uint8Array(skills.length);

	return {
		rank(query, maxSkills = 8) {
			const words = [...new Set(allWords(query.slice(0, MAX_QUERY)))].slice(0, MAX_WORDS);
			const ranges = words.flatMap((word) => {
				const id = idOf(word);
				const [start = 0, end = 0] = id === undefined ? [] : starts.subarray(id, id + 2);
				return start === end ? [] : [{ word, start, end }];
			});
			const touched: number[] = [];
			let mass = 0;
			for (const { start, end } of ranges) {
				const weight = rarity(end - start);
				mass += weight;
				for (let index = start; index < end; index += 1) {
					const at = holders[index] ?? 0;
					if (totals[at] === 0) touched.push(at);
					totals[at] = (totals[at] ?? 0) + weight * (points[index] ?? 0);
					coverage[at] = (coverage[at] ?? 0) + weight;
					if (isInName[index] === 1) named[at] = (named[at] ?? 0) + 1;
				}
			}
			const scoreOf = (at: number) => {
				const part = 0.5 + (0.5 * (coverage[at] ?? 0)) / mass;
				const wanted = nameWords[at] ?? 0;
				return (totals[at] ?? 0) * part * (wanted > 0 && (named[at] ?? 0) >= wanted ? NAMED : 1);
			};
			const best = pickBest(touched, scoreOf, maxSkills, (a, b) => compareBy(skills, a, b));
			for (const at of touched) totals[at] = coverage[at] = named[at] = 0;
			return best.flatMap(({ at, score }) => {
				const skill = skills[at];
				if (!skill) return [];
				const found = ranges.filter(({ start, end }) => holds(holders, start, end, at)).map(({ word }) => word);
				return [{ skill, score, words: found }];
			});
		}
	};
}

/** Is `wanted` among the ascending numbers from `low` on, before `high`? */
function holds(numbers: Uint32Array, low: number, high: number, wanted: number): boolean {
	const end = high;
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((numbers[middle] ?? 0) < wanted) low = middle + 1;
		else high = middle;
	}
	return low < end && numbers[low] === wanted;
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
