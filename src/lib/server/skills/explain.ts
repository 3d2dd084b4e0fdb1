/** Says which words of a text stand in which field of a skill, for why it was ranked as it was; pure (FEATURES F2, B7). */
import { isStopWord, stem } from './stemming.ts';
import { FIELD_WEIGHTS, type IndexedSkill } from './skill-reader.ts';
import { divideName, wordsOf } from './words.ts';

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
