import { expect, test } from 'vitest';
import { tailOf } from './terminal.ts';

test('short output is whole, its streams apart', () => {
	const output = [
		{ stream: 'stdout' as const, text: 'one\n' },
		{ stream: 'stderr' as const, text: '\u001b[31mtwo\u001b[0m\n' }
	];
	expect(tailOf(output)).toEqual({
		chunks: [
			{ stream: 'stdout', text: 'one\n' },
			{ stream: 'stderr', text: 'two\n' }
		],
		hidden: 0
	});
});

test('of long output the last characters are shown, and the rest is counted', () => {
	const output = [
		{ stream: 'stdout' as const, text: 'a'.repeat(100) },
		{ stream: 'stderr' as const, text: 'b'.repeat(8) },
		{ stream: 'stdout' as const, text: 'c'.repeat(5) }
	];
	expect(tailOf(output, 20)).toEqual({
		chunks: [
			{ stream: 'stdout', text: 'a'.repeat(7) },
			{ stream: 'stderr', text: 'b'.repeat(8) },
			{ stream: 'stdout', text: 'c'.repeat(5) }
		],
		hidden: 93
	});
});
