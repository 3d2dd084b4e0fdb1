import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResponseItem } from './model.ts';
import { summaryItem, transcript } from './compaction.ts';

const user = (text: string): ResponseItem => ({
	type: 'message',
	role: 'user',
	content: [{ type: 'input_text', text }]
});

describe('F7: the conversation as the model reads it to summarise it', () => {
	test('is who said what, what was called and what came of it; reasoning is nobody else’s', () => {
		const items: ResponseItem[] = [
			user('What is in a.txt?'),
			{ type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'secret' }], encrypted_content: 'secret' },
			{ type: 'function_call', call_id: 'c', name: 'read', arguments: '{"path":"a.txt"}' },
			{ type: 'function_call_output', call_id: 'c', output: 'two lines' },
			{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Two ' }, { type: 'refusal' }] }
		];
		expect(transcript(items, 1000)).toBe(
			'User: What is in a.txt?\n\nCall of read: {"path":"a.txt"}\n\nResult: two lines\n\nAssistant: Two \n'
		);
	});

	test('keeps its first words, an earlier summary say, and the newest ones; the gap is marked', () => {
		const middle = Array.from({ length: 50 }, (_, index) => user(`message ${index}`));
		const text = transcript([summaryItem('EARLIER'), ...middle, user('NEWEST')], 600);
		expect(text).toContain('EARLIER');
		expect(text).toContain('[… more of the conversation …]');
		expect(text).not.toContain('message 3\n');
		expect(text.endsWith('User: message 49\n\nUser: NEWEST')).toBe(true);
	});

	test('tells of one long result only its beginning, so that there is room for the rest', () => {
		const items = [
			user('first'),
			{ type: 'function_call_output', call_id: 'c', output: 'x'.repeat(90_000) },
			user('last')
		];
		const text = transcript(items, 100_000);
		expect(text.length).toBeLessThan(3000);
		expect(text.endsWith('x …\n\nUser: last')).toBe(true);
	});

	test('is never longer than it may be, whatever the items hold', () => {
		const item = fc.oneof(
			fc.string({ maxLength: 500 }).map(user),
			fc.record({
				type: fc.constantFrom('message', 'function_call', 'function_call_output', 'reasoning', 'unknown'),
				role: fc.constantFrom('user', 'assistant', undefined),
				content: fc.jsonValue(),
				arguments: fc.jsonValue(),
				output: fc.jsonValue()
			})
		);
		fc.assert(
			fc.property(fc.array(item, { maxLength: 30 }), fc.integer({ min: 200, max: 2000 }), (items, length) => {
				expect(transcript(items, length).length).toBeLessThanOrEqual(length);
			})
		);
	});
});
