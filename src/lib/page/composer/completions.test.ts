import { expect, test } from 'vitest';
import { completionsFor, type CompletionSources, type Token, type Trigger } from './completion.svelte.ts';

const skill = (name: string, change: Partial<CompletionSources['skills'][number]> = {}) => ({
	...{ id: name, name, description: `Does ${name}.`, status: 'ready' as const, mode: 'auto' as const },
	...change
});
const command = (name: string) => ({ name, description: 'Does something.', run: () => undefined });
const sources: CompletionSources = {
	commands: [command('new'), command('model'), command('help')],
	skills: [
		skill('aside', { mode: 'off' }),
		skill('asunder', { status: 'broken' }),
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
	expect(labels('command', '')).toEqual([
		...['/new', '/model', '/help'],
		...['$count-words', '$assess', '$aside', '$asunder']
	]);
	expect(labels('command', 'mod')).toEqual(['/model']);
});

test('F7: a dollar finds skills alone; those that are off or broken come last and say so', () => {
	const found = completionsFor(token('skill', 'as'), sources);
	expect(found.map(({ name, obstacle }) => [name, obstacle])).toEqual([
		['assess', null],
		['aside', 'off'],
		['asunder', 'broken']
	]);
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
