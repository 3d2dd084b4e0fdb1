import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tokenAt } from './completion.svelte.ts';

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
