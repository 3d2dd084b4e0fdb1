/** Indexes the words of many skills, as numbers that can be summed quickly; pure (B7, A17). */
import { divideName, isStopWord, meaningfulWords, stem, wordsOf, wordsOfName } from './words.ts';

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
export interface IndexedTerms {
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
export const FIELD_WEIGHTS = { name: 3, tag: 2, trigger: 2, description: 1 } as const;
const SATURATION = 1.2;
/** How much a long text lowers the score. */
const LENGTH = 0.6;

/** Reads skills one by one. Looking up words takes nearly all the time, so each is looked up once. */
export function createSkillReader(): { add(skill: IndexedSkill): void; finish(): IndexedTerms } {
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

export type SkillField = keyof typeof FIELD_WEIGHTS;

/** A word's weight in each field that contains it. */
export type FieldCounts = Partial<Record<SkillField, number>>;

/** Reads a skill like `createSkillReader`, but counts only stems that are `isWanted`. */
export function countByField(
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
export function createStemming(): (word: string) => string {
	const stems = new Map<string, string>();
	return (word) => {
		let known = stems.get(word);
		if (known === undefined) stems.set(word, (known = stem(word)));
		return known;
	};
}
