import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Execution } from '../../shared/message.ts';
import { headAndTail, kindOfOutput, lastLines, splitText, TerminalOutput } from './terminal.ts';

type Output = Execution['output'];
const textOf = (terminal: TerminalOutput, output: Output): string =>
	terminal
		.read(output)
		.flatMap(({ runs }) => runs.map(({ text }) => text))
		.join('');

test('output that grows is shown as output that was there at once', () => {
	const terminal = new TerminalOutput();
	const out = (text: string) => ({ stream: 'stdout' as const, text });
	const err = (text: string) => ({ stream: 'stderr' as const, text });
	terminal.read([]);
	terminal.read([out('on')]);
	terminal.read([out('one\n')]);
	terminal.read([out('one\n'), err('careful')]);
	const all = [out('one\n'), err('careful\n'), out('two\n')];
	expect(textOf(terminal, all)).toBe('one\ncareful\ntwo\n');
	expect(terminal.read(all)).toEqual(new TerminalOutput().read(all));
	expect(terminal.length).toBe(16);
	expect(textOf(terminal, [out('other')])).toBe('other');
	expect(terminal.length).toBe(5);
});

test('of a long list the beginning and the end are painted', () => {
	const items = [0, 1, 2, 3, 4, 5, 6];
	expect(headAndTail(items, 2, 3)).toEqual({ head: [0, 1], hidden: [2, 3], tail: [4, 5, 6] });
	expect(headAndTail(items, 3, 3)).toEqual({ head: items, hidden: [], tail: [] });
});

test.each([
	['', ''],
	['a', 'a'],
	['a\nb\nc\nd\n', 'b\nc\nd\n'],
	['a\nb\nc\nd', 'b\nc\nd'],
	['a\nb\n', 'a\nb\n']
])('the last three lines of %j are %j', (text, last) => {
	expect(lastLines(text, 3)).toBe(last);
});

test('a long text is split into pieces that are not too long, and nothing is lost', () => {
	fc.assert(
		fc.property(fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 500 }), (text) => {
			const pieces = splitText(text, 20);
			expect(pieces.join('')).toBe(text);
			expect(Math.max(0, ...pieces.map(({ length }) => length))).toBeLessThanOrEqual(41);
		})
	);
});

test.each([
	['{"words": 4}\n', 'json'],
	['[1, 2', null],
	['region,revenue\nEast,7764\nWest,12\n', 'table'],
	['region\trevenue\nEast\t7764\nWest\t12\n', 'table'],
	['Hello, world\nBye, all\nSo, then\n', null],
	['a,b\n1,2,3\n4,5\n', null],
	['Highest: **East**.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n', 'markdown'],
	['# Report\n\n- one\n- two\n', 'markdown'],
	['# a comment of a script\necho 1\n', null],
	['glob **/*.ts and **/*.js\n', null],
	['words: 4\n', null],
	['', null],
	[`{"long": "${'x'.repeat(50_000)}"}`, null]
])('UI 10: the output %j is shown as %s', (text, kind) => {
	expect(kindOfOutput(text)).toBe(kind);
});
