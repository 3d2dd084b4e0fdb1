import { expect, test } from 'vitest';
import { contextUse, dearSend, printUsage, usageRows } from './usage.ts';

const CONTEXT = { limit: 1000, system: 100, catalog: 50, skills: 0, tools: 25, results: 0, messages: 75 };

test('F7: the context is told by part, without the empty ones, as a share of what the model takes', () => {
	const use = contextUse(CONTEXT);
	expect(use).toMatchObject({ tokens: 250, share: 0.25 });
	expect(use.parts.map(({ tokens }) => tokens)).toEqual([75, 50, 25, 100]);
	expect(contextUse({ ...CONTEXT, limit: null }).share).toBe(null);
	expect(contextUse({ ...CONTEXT, messages: 5000 }).share).toBe(1);
});

test('F11: only an unusually dear message is announced, and only where the price is known', () => {
	const price = { input: 3, output: 15 };
	expect(dearSend(140_000, price)).toBe('Costs up to $0.42 to send (140k tokens)');
	expect(dearSend(80_000, price)).toBe(null);
	expect(dearSend(9_000, { input: 75, output: 300 })).toBe(null);
	expect(dearSend(900_000, { input: 0, output: 0 })).toBe(null);
	expect(dearSend(900_000, null)).toBe(null);
	expect(dearSend(900_000, undefined)).toBe(null);
});

test('F14: the figures of an answer are a line, and a table with what else is known', () => {
	const usage = {
		model: 'a/b\u202e',
		inputTokens: 12_345,
		outputTokens: 67,
		cachedTokens: 12_000,
		reasoningTokens: 40,
		cost: 0.0042
	};
	expect(printUsage(usage)).toBe('a/b⟨U+202E⟩ · 12,345 in · 67 out · 12,000 cached · 40 reasoning · $0.0042');
	expect(printUsage({ model: 'a/b', inputTokens: 0, outputTokens: 0 })).toBe('a/b');
	expect(printUsage(null)).toBe('');
	expect(usageRows({ model: 'm', inputTokens: 1, outputTokens: 2 }, [], 2500)).toEqual([
		['Model', 'm'],
		['Input tokens', '1'],
		['Output tokens', '2'],
		['Total time', '2.5 s']
	]);
	expect(usageRows({ model: 'm', inputTokens: 1, outputTokens: 2, firstTextMs: 840 }, [], null).at(-1)).toEqual([
		'Time to first text',
		'0.8 s'
	]);
	expect(usageRows({ ...usage, tokensPerSecond: 84.6 }, [], null)).toContainEqual(['Speed', '85 tokens/s']);
	expect(usageRows(usage, [], null).map(([name]) => name)).not.toContain('Total time');
	expect(usageRows({ ...usage, saved: 0.0042 }, [], null)).toContainEqual(['Saved by cache', '$0.0042']);
	expect(usageRows({ ...usage, saved: 0 }, [], null).map(([name]) => name)).not.toContain('Saved by cache');
});

test('F11: a model that answered instead of the one asked for is named', () => {
	const usage = { model: 'a/one', answeredBy: 'b/two', inputTokens: 3, outputTokens: 4 };
	expect(printUsage(usage)).toBe('a/one · answered by b/two · 3 in · 4 out');
	expect(usageRows(usage, [], null)[1]).toEqual(['Answered by', 'b/two']);
	const notAsked = ['c/three\u202e can’t see pictures, so it wasn’t asked as a fallback.'];
	const row = ['Fallback 1', 'c/three⟨U+202E⟩ can’t see pictures, so it wasn’t asked as a fallback.'];
	expect(usageRows({ ...usage, notAsked }, [], null)).toContainEqual(row);
});

test('F12: demo mode is called by its name, not by its id', () => {
	const usage = { model: 'offline', inputTokens: 3, outputTokens: 4 };
	expect(printUsage(usage)).toBe('Demo mode · 3 in · 4 out');
	expect(usageRows(usage, [], null)[0]).toEqual(['Model', 'Demo mode']);
});
