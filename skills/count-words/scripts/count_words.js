/** The tool `count_words`: words, characters, lines and sentences of a text. */

/** Scripts that are written without spaces between words. */
const WITHOUT_SPACES =
	/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** The tool `count_words`. `args.text` is the text; throws a TypeError when it is not a string. */
export default async function countWords({ text }) {
	if (typeof text !== 'string') throw new TypeError(`"text" must be a string, not ${describe(text)}.`);
	const { characters, spaces } = countCharacters(text);
	return {
		words: countWordsOf(text),
		characters,
		charactersWithoutSpaces: characters - spaces,
		lines: countLines(text),
		sentences: countSentences(text)
	};
}

function describe(value) {
	if (value === undefined) return 'missing';
	return value === null ? 'null' : typeof value;
}

function countWordsOf(text) {
	const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
	let words = 0;
	// A dash stands between words even where no space is typed around it; a hyphen does not.
	for (const [run] of text.matchAll(/[^\s\u2013\u2014\u2015]+/gu)) {
		if (!LETTER_OR_DIGIT.test(run)) continue;
		if (!WITHOUT_SPACES.test(run)) words += 1;
		else for (const segment of segmenter.segment(run)) if (segment.isWordLike) words += 1;
	}
	return words;
}

function countCharacters(text) {
	// Dividing into graphemes is slow; in plain ASCII only CR LF is more than one code unit.
	if (/^[\0-\x7f]*$/.test(text)) {
		const joined = text.replaceAll('\r\n', '\n');
		return { characters: joined.length, spaces: joined.length - joined.replace(/\s/g, '').length };
	}
	let characters = 0;
	let spaces = 0;
	for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)) {
		characters += 1;
		if (/^\s+$/u.test(segment)) spaces += 1;
	}
	return { characters, spaces };
}

function countLines(text) {
	if (text === '') return 0;
	return text.replace(/(\r\n|\r|\n)$/, '').split(/\r\n|\r|\n/).length;
}

function countSentences(text) {
	let sentences = 0;
	for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text)) {
		if (LETTER_OR_DIGIT.test(segment)) sentences += 1;
	}
	return sentences;
}
