import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { EVERY_ENDPOINT } from '../../../../tests/support/endpoints.ts';
import { createOpenApiDocument } from '../../server/openapi.ts';
import {
	curlOf,
	exampleOf,
	leastOf,
	missingOf,
	operationsByTag,
	pathOf,
	typeOf,
	type ApiDescription
} from './api-description.ts';

const SERVER = 'http://127.0.0.1:3000';
const description = JSON.parse(JSON.stringify(createOpenApiDocument(EVERY_ENDPOINT, '1', SERVER))) as ApiDescription;
const groups = operationsByTag(description);

test('every operation is shown, under its tag, once', () => {
	const paths = Object.values(description.paths).flatMap((methods) => Object.values(methods));
	const shown = groups.flatMap(({ operations }) => operations.map(({ operationId }) => operationId));
	expect(shown.toSorted()).toEqual(paths.map(({ operationId }) => operationId).toSorted());
	expect(groups.every(({ operations }) => operations.length > 0)).toBe(true);
});

test('examples are requests that a shell can send: one address, one method, a body that is JSON', () => {
	// Replaces curl: prints its arguments, one per line.
	const script = groups
		.flatMap(({ operations }) => operations)
		.map((operation) => curlOf(operation, SERVER).replace(/^curl/, `printf '%s\\0'`))
		.join("\nprintf '\\n'\n");
	const lines = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\n').filter(Boolean);
	expect(lines).toHaveLength(groups.flatMap(({ operations }) => operations).length);
	for (const line of lines) {
		const words = line.split('\0').slice(0, -1);
		expect(words.filter((word) => word.startsWith(SERVER))).toHaveLength(1);
		const body = words[words.indexOf('-d') + 1] ?? '';
		if (words.includes('-d')) expect(() => JSON.parse(body) as unknown).not.toThrow();
	}
});

test.each([
	['a choice', z.enum(['on', 'off']), 'on', '"on" | "off"'],
	['a default', z.number().int().default(7), 7, 'integer'],
	['the least number', z.number().min(3), 3, 'number'],
	['a number above another', z.number().positive(), 1, 'number'],
	['an address', z.url(), 'http://127.0.0.1:8000/v1', 'string (uri)'],
	['a pattern', z.string().regex(/^[0-9a-f]{64}$/), '0'.repeat(64), 'string'],
	['a shortest text', z.string().min(3), '………', 'string'],
	['nothing', z.null(), null, 'null'],
	['text with a form', z.iso.datetime(), '2026-01-01T00:00:00Z', 'string (date-time)'],
	['what is required alone', z.object({ a: z.string(), b: z.string().optional() }), { a: '…' }, 'object'],
	['the first of several', z.union([z.strictObject({ type: z.literal('a') }), z.string()]), { type: 'a' }, 'any'],
	['a list', z.array(z.string()), [], 'array'],
	['anything', z.unknown(), '…', 'any']
])('the example of %s', (_name, schema, example, type) => {
	const json = z.toJSONSchema(schema, { io: 'input' }) as Record<string, unknown>;
	expect(exampleOf(json)).toEqual(example);
	expect(typeOf(json)).toBe(type);
});

test('a quote in an example ends no argument', () => {
	const operation = { ...groups[0]?.operations[0], method: 'GET', path: "/api/it's", parameters: [] };
	expect(curlOf(operation as never, SERVER)).toBe(String.raw`curl 'http://127.0.0.1:3000/api/it'\''s'`);
});

test('every answer that is JSON has an example that ends, with no name of a schema left in it', () => {
	const { schemas } = description.components;
	let count = 0;
	for (const { responses } of groups.flatMap(({ operations }) => operations)) {
		for (const { content } of Object.values(responses)) {
			const schema = content?.['application/json']?.schema;
			if (!schema) continue;
			count++;
			const text = JSON.stringify(exampleOf(schema, { schemas, isWhole: true }));
			expect(text.length).toBeGreaterThan(1);
			expect(text.length).toBeLessThan(20_000);
			expect(text).not.toContain('$ref');
		}
	}
	expect(count).toBeGreaterThan(50);
});

test('every example of a body is one that its endpoint takes', () => {
	const bodies = EVERY_ENDPOINT.flatMap(({ spec }) =>
		'id' in spec && spec.body ? [{ id: spec.id, body: spec.body }] : []
	);
	expect(bodies.length).toBeGreaterThan(30);
	for (const { id, body } of bodies) {
		const operation = groups.flatMap(({ operations }) => operations).find(({ operationId }) => operationId === id);
		const example: unknown = JSON.parse(leastOf(operation!).body ?? '');
		expect(body.safeParse(example).error, id).toBeUndefined();
	}
});

test('what is typed goes into the address: values in the path with their slashes, empty ones of the query left out', () => {
	const text = { type: 'string' };
	const parameters = [
		{ name: 'id', in: 'path', required: true, schema: text },
		{ name: 'q', in: 'query', required: false, schema: text },
		{ name: 'page', in: 'query', required: false, schema: text }
	] as const;
	const operation = {
		...groups[0]!.operations[0]!,
		method: 'GET',
		path: '/api/skills/{id}',
		parameters: [...parameters]
	};
	const least = leastOf(operation);
	expect(missingOf(operation, least)).toEqual(['id']);
	const filled = { ...least, parameters: { id: 'a b/c', q: 'x&y', page: ' ' } };
	expect(missingOf(operation, filled)).toEqual([]);
	expect(pathOf(operation, filled)).toBe('/api/skills/a%20b/c?q=x%26y');
	expect(curlOf(operation, SERVER, filled, 'ors_1')).toBe(
		`curl '${SERVER}/api/skills/a%20b/c?q=x%26y' \\\n  -H 'authorization: Bearer ors_1'`
	);
});
