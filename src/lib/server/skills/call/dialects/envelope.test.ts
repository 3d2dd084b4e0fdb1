import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findEnvelope, readEnvelope } from './agent-zero.ts';

const call = {
	thoughts: ['a { brace'],
	headline: 'Reading "x"',
	tool_name: 'skills_tool',
	tool_args: { method: 'list' }
};

test('C17: the envelope is found in a model\u2019s text, fenced or bare, with what it is about', () => {
	const json = JSON.stringify(call, null, 4);
	for (const text of [json, `~~~json\n${json}\n~~~`, `I will look {now}.\n\`\`\`\n${json}\n\`\`\`\nDone.`]) {
		expect(findEnvelope(text)).toEqual({
			name: 'skills_tool',
			args: { method: 'list' },
			headline: 'Reading "x"',
			thoughts: ['a { brace']
		});
	}
});

test('C17: what is no call is none', () => {
	for (const value of [null, 'x', [], {}, { tool_name: '' }, { tool_name: 5 }, { tool_name: 'x', tool_args: [] }]) {
		expect(readEnvelope(value)).toBeNull();
	}
	expect(findEnvelope('{"tool_name": "x"')).toBeNull();
	expect(findEnvelope('no call here')).toBeNull();
	expect(readEnvelope({ tool_name: 'x' })).toEqual({ name: 'x', args: {}, thoughts: [] });
});

test('C17: reading any text ends, and never throws', () => {
	const piece = fc.constantFrom('{', '}', '"', '\\', '{"tool_name":"x","tool_args":', 'a', '\n');
	fc.assert(
		fc.property(fc.array(piece, { maxLength: 300 }), (parts) => void findEnvelope(parts.join(''))),
		{ numRuns: 2000 }
	);
	expect(findEnvelope('{'.repeat(500_000))).toBeNull();
});
