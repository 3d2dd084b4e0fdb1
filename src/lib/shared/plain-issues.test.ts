import { expect, test } from 'vitest';
import { z } from 'zod';
import { inPlainWords, sentenceOf } from './plain-issues.ts';

const cases: [schema: z.ZodType, value: unknown, sentence: string][] = [
	[z.object({ title: z.string() }), {}, 'title is missing.'],
	[z.object({ title: z.string() }), { title: 5 }, 'title must be text.'],
	[z.object({ limit: z.coerce.number() }), { limit: 'x' }, 'limit must be a number.'],
	[z.object({ limit: z.int() }), { limit: 1.5 }, 'limit must be a whole number.'],
	[z.object({ limit: z.int().min(1).max(200) }), { limit: 0 }, 'limit must be at least 1.'],
	[z.object({ limit: z.int().min(1).max(200) }), { limit: 201 }, 'limit must be at most 200.'],
	[z.object({ title: z.string().min(1) }), { title: '' }, 'title must not be empty.'],
	[z.object({ title: z.string().max(1000) }), { title: 'x'.repeat(1001) }, 'title must have at most 1,000 characters.'],
	[z.object({ ids: z.array(z.string()).min(1) }), { ids: [] }, 'ids must have at least 1 item.'],
	[z.object({ ids: z.array(z.string()) }), { ids: ['a', 5] }, 'ids.1 must be text.'],
	[z.object({ mode: z.enum(['on', 'off']) }), { mode: 'up' }, 'mode must be one of “on”, “off”.'],
	[z.object({ mode: z.enum(['on', 'off']) }), {}, 'mode is missing.'],
	[z.object({ kind: z.literal('chat') }), { kind: 'x' }, 'kind must be “chat”.'],
	[z.object({ url: z.url() }), { url: 'x' }, 'url must be a web address.'],
	[z.strictObject({}), { titel: 1 }, 'body has an unknown field: “titel”.'],
	[z.object({ text: z.union([z.string(), z.array(z.string())]) }), { text: 5 }, 'text must be text or a list.'],
	[z.object({ text: z.union([z.string(), z.array(z.string())]) }), { text: [5] }, 'text.0 must be text.'],
	[z.string(), 5, 'body must be text.'],
	[z.object({ name: z.string().regex(/^a/, 'must start with a') }), { name: 'b' }, 'name must start with a.']
];

test.each(cases)('what zod has against a value is said in plain words: %#', (schema, value, sentence) => {
	const { error } = schema.safeParse(value, { error: inPlainWords });
	expect(sentenceOf(error?.issues[0], 'body').sentence).toBe(sentence);
});
