/** Takes the words out of many skills, once, into numbers that can be summed up quickly; pure (FEATURES B7, A17). */
import { divideName, isStopWord, stem, wordsOf } from './words.ts';

/** What a skill is found by. */
export interface SearchableSkill {
	name: string;
	description: string;
	tags?: readonly string[] | undefined;
}

export interface IndexedSkill extends SearchableSkill {
	triggers?: readonly string[] | undefined;
}

/** Which skills hold a word: those at `starts[id]` to `starts[id + 1]` of `holders`, ascending. */
export interface IndexedTerms {
	/** Of a stem; undefined when no skill holds it. */
	idOf(stem: string): number | undefined;
	starts: Uint32Array;
	holders: Uint32Array;
	/** Beside `holders`: what the word is worth there. */
	points: Float64Array;
	/** Beside `holders`: 1 when it is a word of the name. */
	isInName: Uint8Array;
	/** How many different words the name of each skill has. */
	nameWords: number[];
}

/** What a word counts by where it stands, and how soon more of the same stop to count (BM25F). */
export const FIELD_WEIGHTS = { name: 3, tag: 2, trigger: 2, description: 1 } as const;
const SATURATION = 1.2;
/** How far a long text is held against a skill. */
const LENGTH = 0.6;

/** Reads skills one by one; nearly all of the time goes into looking up words, so each is looked up once. */
export function createSkillReader(): { add(skill: IndexedSkill): void; finish(): IndexedTerms } {
	const idsByStem = new Map<string, number>();
	/** A stop-word is `~id`. */
	const idsByWord = new Map<string, number>();
	/** By id, of the skill that is read: what its words count. */
	const counts: number[] = [];
	const holding: number[] = [];
	// One after another for each skill and each of its words.
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
	/** How many words of the text counted. */
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
	/** The same, of a name, whose stop-words count when it has no other words. */
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

// Says which words of a text stand in which field of a skill, for why it was ranked as it was; pure (FEATURES F2, B7).

export type SkillField = keyof typeof FIELD_WEIGHTS;

/** Of one word: by how much each field that holds it counts. */
export type FieldCounts = Partial<Record<SkillField, number>>;

/** Reads a skill as `createSkillReader` does, and counts those words alone that `isWanted`, given as stems. */
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
	for (const trigger of triggers) count(meaningful(trigger), 'trigger');
	count(meaningful(description), 'description');
	return { counts, nameStems: new Set(nameWords.map(stemOf)) };
}

/** `stem`, which remembers. */
export function createStemming(): (word: string) => string {
	const stems = new Map<string, string>();
	return (word) => {
		let known = stems.get(word);
		if (known === undefined) stems.set(word, (known = stem(word)));
		return known;
	};
}

function wordsOfName(name: string): string[] {
	const divided = divideName(name);
	const words = meaningful(divided);
	return words.length > 0 ? words : wordsOf(divided);
}

function meaningful(text: string): string[] {
	return wordsOf(text).filter((word) => !isStopWord(word));
}
