/** Ranks the skills of a snapshot against a query, without reading each of them (B7, A17). */
import { createPace } from '../read/lean.ts';
import { stem, wordsOf, divideName, isStopWord, meaningfulWords, wordsOfName } from './words.ts';

export interface SkillIndex<Skill> {
	/** Skills that share a word with the query, best first, ties by name; at most `maxSkills` (8 by default). */
	rank(query: string, maxSkills?: number): RankedSkill<Skill>[];
	/** Where each skill's score comes from, in order. Reads these skills again (F2). */
	explain(query: string, skills: readonly Skill[]): ExplainedSkill<Skill>[];
}

export interface ExplainedSkill<Skill> {
	skill: Skill;
	/** Its score to a millionth, equal to the sum of `signals`; 0 if it shares no word with the query. */
	points: number;
	/** Most points first; empty without points. */
	signals: SkillSignal[];
}

/** `whole name` is the bonus for a query that contains the whole name. */
export interface SkillSignal {
	signal: SkillField | 'whole name';
	/** As written in the query. */
	words: string[];
	points: number;
}

export interface RankedSkill<Skill> {
	skill: Skill;
	/** Comparable within one query only. */
	score: number;
	/** Matching words of the query, as stems. */
	words: string[];
}

/** Factor for a query that contains the whole name. */
const NAMED = 1.5;
const MAX_WORDS = 64;
const MAX_QUERY = 4000;

/** Indexes names, descriptions, tags and triggers. Create one index per snapshot. */
export function createSkillIndex<Skill extends IndexedSkill>(skills: readonly Skill[]): SkillIndex<Skill> {
	const reader = createSkillReader();
	for (const skill of skills) reader.add(skill);
	return indexOf(skills, reader.finish());
}

/** `createSkillIndex` in slices that leave the event loop free, for many thousands of skills. */
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
	// Reused and cleared by each call, so that a query costs only as much as the skills with its words.
	const totals = new Float64Array(skills.length);
	const coverage = new Float64Array(skills.length);
	const named = new Uint8Array(skills.length);

	/** Words of a query that skills have, in order, each with its range in `holders`. */
	const rangesOf = (query: string, stemOf: (word: string) => string = stem) => {
		const words = new Map<string, string>();
		for (const said of wordsOf(query.slice(0, MAX_QUERY))) {
			const word = stemOf(said);
			if (!words.has(word)) words.set(word, said);
			if (words.size === MAX_WORDS) break;
		}
		return [...words].flatMap(([word, said]) => {
			const id = idOf(word);
			const [start = 0, end = 0] = id === undefined ? [] : starts.subarray(id, id + 2);
			return start === end ? [] : [{ word, said, start, end }];
		});
	};
	/** A skill's score from the `total` of its words and the `part` of the query's weight they cover. */
	const scoreFrom = (total: number, part: number, isNamed: boolean) =>
		total * (0.5 + 0.5 * part) * (isNamed ? NAMED : 1);
	let places: Map<Skill, number> | null = null;
	const placeOf = (skill: Skill) => (places ??= new Map(skills.map((each, at) => [each, at]))).get(skill);

	return {
		rank(query, maxSkills = 8) {
			const ranges = rangesOf(query);
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
				const wanted = nameWords[at] ?? 0;
				return scoreFrom(totals[at] ?? 0, (coverage[at] ?? 0) / mass, wanted > 0 && (named[at] ?? 0) >= wanted);
			};
			const best = pickBest(touched, scoreOf, maxSkills, (a, b) => compareBy(skills, a, b));
			for (const at of touched) totals[at] = coverage[at] = named[at] = 0;
			return best.flatMap(({ at, score }) => {
				const skill = skills[at];
				if (!skill) return [];
				const found = ranges.filter(({ start, end }) => find(holders, start, end, at) >= 0).map(({ word }) => word);
				return [{ skill, score, words: found }];
			});
		},

		explain(query, wanted) {
			const stemOf = createStemming();
			const ranges = rangesOf(query, stemOf);
			const saidAs = new Map(ranges.map(({ word, said }) => [word, said]));
			const mass = ranges.reduce((sum, { start, end }) => sum + rarity(end - start), 0);
			return wanted.map((skill) => {
				const at = placeOf(skill);
				if (at === undefined) return { skill, points: 0, signals: [] };
				const held = ranges.flatMap(({ word, start, end }) => {
					const index = find(holders, start, end, at);
					const weight = rarity(end - start);
					return index < 0 ? [] : [{ word, weight, worth: weight * (points[index] ?? 0) }];
				});
				if (held.length === 0) return { skill, points: 0, signals: [] };
				const { counts, nameStems } = countByField(skill, { isWanted: (word) => saidAs.has(word), stemOf });
				const part = held.reduce((sum, { weight }) => sum + weight, 0) / mass;
				const isNamed = nameStems.size > 0 && [...nameStems].every((word) => saidAs.has(word));
				const shares = createShares();
				let total = 0;
				for (const { word, worth } of held) {
					total += worth;
					// A word's points are shared among the fields that have it.
					const fields = Object.entries(counts.get(word) ?? {}) as [SkillField, number][];
					const sum = fields.reduce((all, [, count]) => all + count, 0);
					const said = saidAs.get(word) ?? word;
					for (const [field, count] of fields) shares.add(field, said, scoreFrom((worth * count) / sum, part, false));
				}
				if (isNamed) {
					const bonus = scoreFrom(total, part, true) - scoreFrom(total, part, false);
					for (const word of nameStems) shares.add('whole name', saidAs.get(word) ?? word, bonus / nameStems.size);
				}
				return { skill, ...shares.sum() };
			});
		}
	};
}

/** Collects points by signal, in millionths, so that the signals add up to the sum. */
function createShares() {
	const signals = new Map<SkillSignal['signal'], SkillSignal>();
	return {
		add(signal: SkillSignal['signal'], word: string, points: number): void {
			const known = signals.get(signal) ?? { signal, words: [], points: 0 };
			known.words.push(word);
			known.points += points;
			signals.set(signal, known);
		},
		sum(): { points: number; signals: SkillSignal[] } {
			const millionths = [...signals.values()].map((signal) => ({ signal, count: Math.round(signal.points * 1e6) }));
			const sum = millionths.reduce((all, { count }) => all + count, 0);
			return {
				points: sum / 1e6,
				signals: millionths
					.sort((a, b) => b.count - a.count)
					.map(({ signal, count }) => ({ ...signal, points: count / 1e6 }))
			};
		}
	};
}

/** Binary search for `wanted` in ascending numbers, from `low` to before `high`; -1 if absent. */
function find(numbers: Uint32Array, low: number, high: number, wanted: number): number {
	const end = high;
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((numbers[middle] ?? 0) < wanted) low = middle + 1;
		else high = middle;
	}
	return low < end && numbers[low] === wanted ? low : -1;
}

function compareBy(skills: readonly IndexedSkill[], a: number, b: number): number {
	const [first = '', second = ''] = [skills[a]?.name, skills[b]?.name];
	return first < second ? -1 : Number(first > second);
}

/** The best candidates in order, without sorting the rest. */
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

// Indexes the words of many skills, as numbers that can be summed quickly; pure (B7, A17).

/** The searchable fields of a skill. */
export interface SearchableSkill {
	name: string;
	description: string;
	tags?: readonly string[] | undefined;
}

export interface IndexedSkill extends SearchableSkill {
	triggers?: readonly string[] | undefined;
}

/** An inverted index: the skills with a word are `holders` from `starts[id]` to before `starts[id + 1]`, ascending. */
interface IndexedTerms {
	/** The id of a stem; undefined if no skill has it. */
	idOf(stem: string): number | undefined;
	starts: Uint32Array;
	holders: Uint32Array;
	/** Parallel to `holders`: the word's points. */
	points: Float64Array;
	/** Parallel to `holders`: 1 for a word of the name. */
	isInName: Uint8Array;
	/** Number of distinct words in each skill's name. */
	nameWords: number[];
}

/** A word's weight by field, and how soon repeats stop counting (BM25F). */
const FIELD_WEIGHTS = { name: 3, tag: 2, trigger: 2, description: 1 } as const;
const SATURATION = 1.2;
/** How much a long text lowers the score. */
const LENGTH = 0.6;

/** Reads skills one by one. Looking up words takes nearly all the time, so each is looked up once. */
function createSkillReader(): { add(skill: IndexedSkill): void; finish(): IndexedTerms } {
	const idsByStem = new Map<string, number>();
	/** `~id` for a stop word. */
	const idsByWord = new Map<string, number>();
	/** Weights of the current skill's words, by id. */
	const counts: number[] = [];
	const holding: number[] = [];
	// Entries for each skill and each of its words, one after another.
	const terms: number[] = [];
	const values: number[] = [];
	const ends: number[] = [];
	const nameFlags: number[] = [];
	const nameWords: number[] = [];
	const lengths: number[] = [];

	const readWord = (word: string): number => {
		const folded = stem(word);
		let id = idsByStem.get(folded);
		if (id === undefined) {
			id = counts.push(0) - 1;
			holding.push(0);
			idsByStem.set(folded, id);
		}
		const known = isStopWord(word) ? ~id : id;
		idsByWord.set(word, known);
		return known;
	};
	const idOfWord = (word: string): number => idsByWord.get(word) ?? readWord(word);
	const count = (id: number, weight: number): void => {
		const before = counts[id] ?? 0;
		if (before === 0) terms.push(id);
		counts[id] = before + weight;
	};
	/** Returns the number of words counted. */
	const readText = (text: string, weight: number): number => {
		let read = 0;
		for (const word of wordsOf(text)) {
			const id = idOfWord(word);
			if (id < 0) continue;
			count(id, weight);
			read += 1;
		}
		return read;
	};
	/** The same for a name, whose stop words count if it has no other words. */
	const readName = (name: string, weight: number): number => {
		const divided = divideName(name);
		const read = readText(divided, weight);
		if (read > 0) return read;
		const words = wordsOf(divided);
		for (const word of words) count(~idOfWord(word), weight);
		return words.length;
	};

	return {
		add({ name, description, tags = [], triggers = [] }) {
			const start = terms.length;
			let length = readName(name, FIELD_WEIGHTS.name);
			const inName = terms.length - start;
			nameWords.push(inName);
			for (const tag of tags) length += readName(tag, FIELD_WEIGHTS.tag);
			for (const trigger of triggers) length += readText(trigger, FIELD_WEIGHTS.trigger);
			length += readText(description, FIELD_WEIGHTS.description);
			lengths.push(length);
			for (let index = start; index < terms.length; index += 1) {
				const id = terms[index] ?? 0;
				values.push(counts[id] ?? 0);
				counts[id] = 0;
				nameFlags.push(index < start + inName ? 1 : 0);
				holding[id] = (holding[id] ?? 0) + 1;
			}
			ends.push(terms.length);
		},
		finish() {
			const starts = new Uint32Array(holding.length + 1);
			for (const [id, held] of holding.entries()) starts[id + 1] = (starts[id] ?? 0) + held;
			const next = starts.slice();
			const holders = new Uint32Array(terms.length);
			const points = new Float64Array(terms.length);
			const isInName = new Uint8Array(terms.length);
			const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
			let from = 0;
			for (let at = 0; at < ends.length; at += 1) {
				const end = ends[at] ?? from;
				const norm = 1 - LENGTH + (LENGTH * (lengths[at] ?? average)) / average;
				for (let index = from; index < end; index += 1) {
					const id = terms[index] ?? 0;
					const place = next[id] ?? 0;
					next[id] = place + 1;
					const value = (values[index] ?? 0) / norm;
					holders[place] = at;
					points[place] = value / (SATURATION + value);
					isInName[place] = nameFlags[index] ?? 0;
				}
				from = end;
			}
			return { idOf: (word) => idsByStem.get(word), starts, holders, points, isInName, nameWords };
		}
	};
}

// Finds which fields of a skill contain which words, to explain its rank; pure (F2, B7).

type SkillField = keyof typeof FIELD_WEIGHTS;

/** A word's weight in each field that contains it. */
type FieldCounts = Partial<Record<SkillField, number>>;

/** Reads a skill like `createSkillReader`, but counts only stems that are `isWanted`. */
function countByField(
	{ name, description, tags = [], triggers = [] }: IndexedSkill,
	{ isWanted, stemOf }: { isWanted: (stem: string) => boolean; stemOf: (word: string) => string }
): { counts: Map<string, FieldCounts>; nameStems: Set<string> } {
	const counts = new Map<string, FieldCounts>();
	const count = (words: readonly string[], field: SkillField) => {
		for (const word of words) {
			const folded = stemOf(word);
			if (!isWanted(folded)) continue;
			const known = counts.get(folded) ?? {};
			known[field] = (known[field] ?? 0) + FIELD_WEIGHTS[field];
			counts.set(folded, known);
		}
	};
	const nameWords = wordsOfName(name);
	count(nameWords, 'name');
	for (const tag of tags) count(wordsOfName(tag), 'tag');
	for (const trigger of triggers) count(meaningfulWords(trigger), 'trigger');
	count(meaningfulWords(description), 'description');
	return { counts, nameStems: new Set(nameWords.map(stemOf)) };
}

/** `stem` with a cache. */
function createStemming(): (word: string) => string {
	const stems = new Map<string, string>();
	return (word) => {
		let known = stems.get(word);
		if (known === undefined) stems.set(word, (known = stem(word)));
		return known;
	};
}
