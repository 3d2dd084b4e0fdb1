import { expect, test } from 'vitest';
import { contextUse } from './usage.ts';

const CONTEXT = { limit: 1000, system: 100, catalog: 50, skills: 0, tools: 25, results: 0, messages: 75 };

test('F7: the context is told by part, without the empty ones, as a share of what the model takes', () => {
	const use = contextUse(CONTEXT);
	expect(use).toMatchObject({ tokens: 250, share: 0.25 });
	expect(use.parts.map(({ tokens }) => tokens)).toEqual([75, 50, 25, 100]);
	expect(contextUse({ ...CONTEXT, limit: null }).share).toBe(null);
	expect(contextUse({ ...CONTEXT, messages: 5000 }).share).toBe(1);
});
