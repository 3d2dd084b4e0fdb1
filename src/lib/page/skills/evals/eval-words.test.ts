import { expect, test } from 'vitest';
import { unmarked } from './eval-words.ts';

test('an answer in one line has none of the signs of Markdown', () => {
	const text = '# Tides\n\n| when | what |\n|---|:--:|\n| 04:12 | **high** |\n\n- `a` - b\n> c';
	expect(unmarked(text).replace(/\s+/g, ' ')).toBe('Tides when · what 04:12 · high a - b c');
});
