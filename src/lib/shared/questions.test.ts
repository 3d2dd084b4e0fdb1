import { expect, test } from 'vitest';
import type { QuestionField } from './message-schema.ts';
import { ASKED, looksSecret, besideStep, offeredIn, questionReply, readContent } from './questions.ts';

const field = (more: Partial<QuestionField> = {}): QuestionField => ({
	...{ name: 'f', title: 'The field', type: 'text', isRequired: true },
	...more
});
const options = [
	{ value: 'a', title: 'A' },
	{ value: 'b', title: 'B' }
];

test('E36: of a form only its own fields are sent, and empty ones that aren’t needed are left out', () => {
	const fields = [field(), field({ name: 'g', isRequired: false }), field({ name: 'h', isRequired: false })];
	expect(readContent(fields, { f: 'x', g: '', other: 'y' })).toEqual({ f: 'x' });
	const hostile = JSON.parse('{"f":"x","__proto__":{"g":"y"}}') as Record<string, string>;
	expect(readContent(fields, hostile)).toEqual({ f: 'x' });
	expect(
		Object.keys(readContent([field({ name: '__proto__' })], JSON.parse('{"__proto__":"x"}') as object as never))
	).toEqual(['__proto__']);
});

test.each([
	[field(), '', '“The field” is missing.'],
	[field(), 3, '“The field” must be a text.'],
	[field({ min: 3 }), '👍👍', '“The field” must have at least 3 characters.'],
	[field({ max: 1 }), 'ab', '“The field” must have at most 1 characters.'],
	[field({ format: 'email' }), 'a@', '“The field” isn’t a valid email address.'],
	[field({ format: 'uri' }), 'a b', '“The field” isn’t a valid web address.'],
	[field({ format: 'date' }), '2026-02-30', '“The field” isn’t a valid date.'],
	[field({ format: 'date-time' }), 'now', '“The field” isn’t a valid date and time.'],
	[field({ type: 'number' }), 'x', '“The field” must be a number.'],
	[field({ type: 'integer' }), 1.5, '“The field” must be a whole number.'],
	[field({ type: 'number', min: 2 }), 1, '“The field” must be at least 2.'],
	[field({ type: 'number', max: 0 }), 1, '“The field” must be at most 0.'],
	[field({ type: 'boolean' }), 'yes', '“The field” must be yes or no.'],
	[field({ type: 'choice', options }), 'c', '“The field” isn’t one of the choices.'],
	[field({ type: 'choices', options }), ['a', 'c'], '“The field” isn’t among the choices.'],
	[field({ type: 'choices', options, min: 2 }), ['a'], '“The field” needs at least 2 choices.'],
	[field({ type: 'choices', options, max: 1 }), ['a', 'b'], '“The field” allows at most 1 choices.']
])('E36: %j with %j is refused with a sentence', (each, value, sentence) => {
	expect(() => readContent([each], { f: value })).toThrow(sentence);
});

test.each([
	[field({ format: 'email' }), 'a@example.org'],
	[field({ format: 'date-time' }), '2026-01-31T12:00:00+02:00'],
	[field({ type: 'number' }), -0.5],
	[field({ type: 'boolean' }), false],
	[field({ type: 'choices', options }), ['b']]
])('E36: %j takes %j', (each, value) => expect(readContent([each], { f: value })).toEqual({ f: value }));

test('E36: an answer is one of three, of limited size', () => {
	expect(questionReply.safeParse({ action: 'maybe' }).success).toBe(false);
	expect(questionReply.safeParse({ action: 'accept', content: { a: { b: 1 } } }).success).toBe(false);
	expect(questionReply.safeParse({ action: 'accept', content: { a: 'x'.repeat(10_001) } }).success).toBe(false);
});

test.each([
	['api_key', true],
	['Password', true],
	['cardNumber', true],
	['Recovery phrase', true],
	['one-time code', true],
	['verification_code', true],
	['Postal code', false],
	['city', false],
	['monkey', false]
])('SECURITY MCP servers: a field named %j looks like a secret: %j', (name, isSecret) =>
	expect(looksSecret(field({ name, title: name }))).toBe(isSecret)
);

test.each([
	['`run.py` failed: `No such city.`', ''],
	['`run.py` failed.\n\nIt took too long.\n\n**What to do**: Ask again.', ''],
	['`run.py` failed.\n\n```text\nNothing sent.\n\nWould have sent: hi\n```', ''],
	[
		'`run.py` failed: `No.`\n\nI used **a**: it fits best. To use another skill, reply “b”.',
		'I used **a**: it fits best. To use another skill, reply “b”.'
	],
	['It failed: no.', 'It failed: no.']
])('F9: beside a failed step %j says %j', (text, rest) => expect(besideStep(text)).toBe(rest));

test('F9: a button says all that it sends', () => {
	const hidden = '\u202e\u200b\x07';
	const closing = `I used **a**: it fits best. To use another skill, reply “yes${hidden}”.`;
	expect(offeredIn(`Done.\n\n${closing}`).answers).toEqual(['yes']);
	expect(offeredIn(`Which one?\n\n1. one${hidden}\n2. two\n\n${ASKED}`).answers).toEqual(['one', 'two']);
});
