import fc from 'fast-check';
import { expect, test, describe } from 'vitest';
import { completionsFor, type CompletionSources, type Token, type Trigger, tokenAt } from './completion.svelte.ts';

const skill = (name: string, change: Partial<CompletionSources['skills'][number]> = {}) => ({
	...{ id: name, name, description: `Does ${name}.`, status: 'ready' as const, mode: 'auto' as const, diagnostics: [] },
	...change
});
const command = (name: string) => ({ name, description: 'Does something.', run: () => undefined });
const sources: CompletionSources = {
	commands: [command('new'), command('model'), command('help')],
	skills: [
		skill('aside', { mode: 'off' }),
		skill('asunder', {
			status: 'broken',
			diagnostics: [{ severity: 'error', field: 'description', message: 'is missing' }]
		}),
		skill('count-words', { description: 'Counts the words of a text.' }),
		skill('assess')
	],
	files: [
		{ path: 'out/table.csv', bytes: 1 },
		{ path: 'notes.txt', bytes: 2 }
	]
};
const token = (trigger: Trigger, query: string): Token => ({ trigger, query, from: 0, to: 0, isTentative: false });
const labels = (trigger: Trigger, query: string): string[] =>
	completionsFor(token(trigger, query), sources).map(({ label }) => label);

test('F7: a slash finds commands, and skills after them', () => {
	expect(labels('command', '')).toEqual(['/new', '/model', '/help', '$count-words', '$assess', '$aside', '$asunder']);
	expect(labels('command', 'mod')).toEqual(['/model']);
});

test('F7: a dollar finds skills alone; those that are off or broken come last and say so', () => {
	const found = completionsFor(token('skill', 'as'), sources);
	expect(found.map(({ name, obstacle }) => [name, obstacle])).toEqual([
		['assess', null],
		['aside', 'off'],
		['asunder', 'broken']
	]);
	// The reason, in place of what may be a line of its instructions.
	expect(found.at(-1)?.description).toBe('The description is missing.');
});

test('F7: a skill is found by letters of its name, by a word of its description, and by nothing else', () => {
	expect(labels('skill', 'cw')).toEqual(['$count-words']);
	expect(labels('skill', 'text')).toEqual(['$count-words']);
	expect(labels('skill', 'ount')).toEqual(['$count-words']);
	expect(labels('skill', 'onw')).toEqual([]);
	expect(labels('skill', 'HOME')).toEqual([]);
});

test('a file is found by any part of its path', () => {
	expect(labels('file', 'tab')).toEqual(['out/table.csv']);
	expect(labels('file', '')).toEqual(['out/table.csv', 'notes.txt']);
});

test('of a large library at most 50 are offered at once', () => {
	const skills = Array.from({ length: 2000 }, (_, index) => skill(`skill-${index}`));
	expect(completionsFor(token('skill', 's'), { ...sources, skills })).toHaveLength(50);
});

test('F7: the last row of the skills installs one, unless a name is being typed', () => {
	const all = { ...sources, commands: [...sources.commands, command('install')] };
	const rows = (query: string) => completionsFor(token('skill', query), all).map(({ label }) => label);
	expect(rows('').at(-1)).toBe('Install a skill…');
	expect(rows('ass')).toEqual(['$assess']);
	expect(rows('ins')).toEqual([]);
});

/** The bar marks the caret. */
const at = (marked: string) => tokenAt(marked.replace('|', ''), marked.indexOf('|'));

describe('F7: a name is begun by', () => {
	test.each([
		['/', '/|', 'command', ''],
		['a letter after /', '/ne|', 'command', 'ne'],
		['/ on a later line', 'first\n/he|', 'command', 'he'],
		['/ after blanks', '  /he|', 'command', 'he'],
		['$ at the start', '$co|', 'skill', 'co'],
		['$ in the middle', 'use $count-w| for this', 'skill', 'count-w'],
		['$ after a bracket', 'it (see $co|', 'skill', 'co'],
		['@ with a path', 'read @out/table.c| now', 'file', 'out/table.c']
	])('%s', (_name, marked, trigger, query) => {
		expect(at(marked)).toMatchObject({ trigger, query });
	});
});

describe('F7: nothing is named by', () => {
	test.each([
		['a price', 'it costs $5|'],
		['a price in words', 'US$|'],
		['a path', 'cd /usr|'],
		['a path that begins a line', '/usr/bin|'],
		['a fraction', '1/2|'],
		['a shell variable in braces', '${HOME|'],
		['a command substitution', '$(date|'],
		['an address', 'me@example.org|'],
		['a name that is over', '$count-words and |'],
		['plain words', 'hello there|'],
		['the beginning', '|/new']
	])('%s', (_name, marked) => {
		expect(at(marked)).toBeNull();
	});
});

test('F7: a name goes on after the caret, to the end of the word', () => {
	const text = 'use $count-words now';
	const token = tokenAt(text, 'use $cou'.length);
	expect(token).toMatchObject({ query: 'cou' });
	expect(text.slice(token?.from, token?.to)).toBe('$count-words');
});

test('F7: a bare sign is only tentative after other words', () => {
	expect(at('$|')).toMatchObject({ isTentative: false });
	expect(at('that is 5 $|')).toMatchObject({ isTentative: true });
	expect(at('that is 5 $c|')).toMatchObject({ isTentative: false });
	expect(at('one\n@|')).toMatchObject({ isTentative: false });
});

test('whatever is written, a token is a stretch of the text that begins with its sign and holds the caret', () => {
	const text = fc.string({ unit: fc.constantFrom('/', '$', '@', 'a', '-', '5', ' ', '\n', '(', 'é'), maxLength: 40 });
	fc.assert(
		fc.property(text, fc.nat(40), (written, place) => {
			const caret = Math.min(place, written.length);
			const token = tokenAt(written, caret);
			if (!token) return;
			expect('/$@').toContain(written[token.from]);
			expect(written.slice(token.from + 1, caret)).toBe(token.query);
			expect(token.to).toBeGreaterThanOrEqual(caret);
		})
	);
});
