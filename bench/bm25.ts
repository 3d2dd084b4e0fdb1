/** Plain BM25 over name and description, words as they are written: what a search engine does without further thought. */

const K1 = 1.2;
const B = 0.75;

export function createBm25(skills: readonly { name: string; description: string }[]): (query: string) => string[] {
	const texts = skills.map(({ name, description }) => wordsOf(`${name} ${description}`));
	const average = texts.reduce((sum, words) => sum + words.length, 0) / texts.length;
	const postings = new Map<string, Map<number, number>>();
	for (const [index, words] of texts.entries()) {
		for (const word of words) {
			const counts = postings.get(word) ?? new Map<number, number>();
			postings.set(word, counts.set(index, (counts.get(index) ?? 0) + 1));
		}
	}
	return (query) => {
		const scores = new Map<number, number>();
		for (const word of new Set(wordsOf(query))) {
			const counts = postings.get(word);
			if (!counts) continue;
			const rarity = Math.log(1 + (texts.length - counts.size + 0.5) / (counts.size + 0.5));
			for (const [index, count] of counts) {
				const length = texts[index]?.length ?? average;
				const points = (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / average));
				scores.set(index, (scores.get(index) ?? 0) + points);
			}
		}
		const best = [...scores].sort((a, b) => b[1] - a[1]).slice(0, 8);
		return best.map(([index]) => skills[index]?.name ?? '');
	};
}

function wordsOf(text: string): string[] {
	return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}
