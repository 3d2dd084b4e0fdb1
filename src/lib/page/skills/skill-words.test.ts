import { expect, test } from 'vitest';
import { askFor, changesIn, firstSentence, inputIn, problemOf, shortOf } from './skill-words.ts';

test.each([
	['Reads files. It also writes.', 'Reads files.'],
	['Counts words (.txt, .md). Use it.', 'Counts words (.txt, .md).'],
	['Reads tables, e.g. CSV. Fast.', 'Reads tables, e.g. CSV.'],
	['Runs Node.js v1.2 scripts\nand more! Really?', 'Runs Node.js v1.2 scripts\nand more!'],
	['读取文件。也写。', '读取文件。'],
	['No mark', 'No mark'],
	['', '']
])('the first sentence of %j', (text, sentence) => {
	expect(firstSentence(text)).toBe(sentence);
});

test.each([
	['Draws charts. Totals, averages and medians. Use when someone asks.', 'Draws charts.'],
	['PDF toolkit - reads, fills in and joins.', 'PDF toolkit - reads, fills in and joins.'],
	[
		'Publish a build - copy a finished build folder to a target folder in one step, with a checksum for every file.',
		'Publish a build.'
	]
])('F3: a list shows one sentence of %j; of a long one, what stands before its dash', (description, short) => {
	expect(shortOf(description)).toBe(short);
});

test.each([
	['Tells tides. Use when someone asks about tides or high water.', 'Ask about tides or high water'],
	['Reviews. Use when the user asks for a review, or about a diff.', 'Ask for a review'],
	['Makes skills. Use when the user wants one.', 'Ask demo anything'],
	['', 'Ask demo anything']
])('F7: what can be asked, by %j', (description, words) => {
	expect(askFor({ name: 'demo', description })).toBe(words);
});

test.each([
	['What is 1987 in Roman numerals?', 'number'],
	['Convert -3.5 to kelvin', 'number'],
	['Repeat “1987”', 'text'],
	['Count the words of notes.txt', 'file'],
	['Flip a coin', 'text'],
	['', 'text']
])('F8: the question %j hands %s to a script', (question, input) => {
	expect(inputIn(question)).toBe(input);
});

test('F1: an edit says what was renamed beside what else it changed', () => {
	const renamed = [
		{ path: 'scripts/b.mjs', kind: 'added' as const, from: 'scripts/a.mjs' },
		{ path: 'scripts/a.mjs', kind: 'removed' as const }
	];
	expect(changesIn(renamed)).toBe('Renamed scripts/a.mjs to scripts/b.mjs');
	expect(changesIn([...renamed, { path: 'SKILL.md', kind: 'changed' }])).toBe(
		'Renamed scripts/a.mjs to scripts/b.mjs, changed SKILL.md'
	);
});

test('F1: why a skill is broken is one plain sentence, without what follows from it', () => {
	const of = (field: string, message: string) => problemOf({ diagnostics: [{ severity: 'error', field, message }] });
	expect(of('description', 'is missing, so the model won’t know when to use the skill')).toBe(
		'The description is missing.'
	);
	expect(of('_', 'isn’t valid YAML: a bracket is open. Close it.')).toBe(
		'SKILL.md isn’t valid YAML: a bracket is open.'
	);
});
