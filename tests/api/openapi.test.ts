/** The API description, checked against the existing routes and the rules of OpenAPI 3.1. */
import { expect, test } from 'vitest';
import { createOpenApiDocument } from '../../src/lib/server/openapi.ts';
import { skillPatch, skillQuery } from '../../src/lib/shared/skills.ts';
import { MANAGER } from '../../src/lib/server/access/caller.ts';
import * as openapi from '../../src/routes/api/openapi.json/+server.ts';
import { EVERY_ENDPOINT } from '../support/endpoints.ts';

const document = createOpenApiDocument(EVERY_ENDPOINT, '1.2.3', 'http://127.0.0.1:3000');

interface Described {
	operationId: string;
	tags: string[];
	parameters?: { name: string; in: string; required: boolean; schema: unknown; description?: string }[];
	requestBody?: { content: Record<string, { schema: Record<string, unknown> }> };
	responses: Record<string, { description?: string; $ref?: string; content?: Record<string, { schema?: unknown }> }>;
}

const described = Object.entries(document.paths).flatMap(([path, methods]) =>
	Object.entries(methods).map(([method, value]) => ({ path, method, operation: value as unknown as Described }))
);

/** Every nested value with its path. */
function* walk(value: unknown, at = '#'): Generator<[string, unknown]> {
	yield [at, value];
	if (typeof value !== 'object' || value === null) return;
	for (const [key, inner] of Object.entries(value)) yield* walk(inner, `${at}/${key}`);
}

test('E2, E10: every method of every route of /api is described, and nothing else is', () => {
	const served = EVERY_ENDPOINT.filter(({ path }) => path.startsWith('/api/')).map(
		({ method, path }) => `${method} ${path}`
	);
	expect(served.length).toBeGreaterThan(80);
	expect(described.map(({ method, path }) => `${method.toUpperCase()} ${path}`).toSorted()).toEqual(served.toSorted());
});

test('DESIGN §5: every answer is described: JSON with its schema, a stream or a file with its type, or nothing', () => {
	const without = described.flatMap(({ path, method, operation }) =>
		Object.entries(operation.responses).flatMap(([status, { content = {} }]) => {
			const json = content['application/json'];
			const isFine = json === undefined || (json.schema ?? Object.keys(content).length > 1) || path.endsWith('/export');
			return isFine ? [] : [`${method} ${path}: ${status}`];
		})
	);
	expect(without).toEqual([]);
});

test('E2: the server answers the same document, which describes the call that it is asked with as well', async () => {
	const url = new URL('http://127.0.0.1:3000/api/openapi.json');
	const answer = await openapi.GET({
		url,
		request: new Request(url),
		params: {},
		locals: { caller: MANAGER }
	} as never);
	const served = (await answer.json()) as typeof document;
	expect(served.paths).toEqual(document.paths);
	expect(served.paths['/api/openapi.json']).toBeDefined();
});

test('answers may hold more than is described, bodies may not', () => {
	for (const [at, value] of walk(document.components.schemas))
		expect(Object(value), at).not.toHaveProperty('additionalProperties', false);
	const asked = JSON.stringify(described.map(({ operation }) => operation.requestBody));
	expect(asked).toContain('"additionalProperties":false');
});

test('schemas that have a name are said once, and each is used', () => {
	const names = Object.keys(document.components.schemas ?? {});
	expect(names).toEqual(expect.arrayContaining(['ConversationDetail', 'Message', 'SkillDetail', 'SkillExecution']));
	const text = JSON.stringify(document);
	for (const name of names) expect(text).toContain(`"#/components/schemas/${name}"`);
});

test('every operation has a name of its own, a tag that is listed, and answers', () => {
	const ids = described.map(({ operation }) => operation.operationId);
	expect(new Set(ids).size).toBe(ids.length);
	const tags = document.tags.map(({ name }) => name);
	for (const { operation } of described) {
		expect(tags).toEqual(expect.arrayContaining(operation.tags));
		const statuses = Object.keys(operation.responses);
		expect(statuses.every((status) => /^[2-5]\d\d$/.test(status))).toBe(true);
		expect(statuses.some((status) => status.startsWith('2'))).toBe(true);
		expect(statuses).toContain('500');
		for (const answer of Object.values(operation.responses)) expect(answer.$ref ?? answer.description).toBeTruthy();
		expect(operation.responses['204']?.content).toBeUndefined();
	}
});

test('parameters of a path are declared, each once, with words for people', () => {
	for (const { path, operation } of described) {
		const parameters = operation.parameters ?? [];
		const inPath = parameters.filter((parameter) => parameter.in === 'path');
		expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
		expect(inPath.every(({ required }) => required)).toBe(true);
		expect(new Set(parameters.map((parameter) => `${parameter.in} ${parameter.name}`)).size).toBe(parameters.length);
		expect(parameters.filter(({ description }) => !description).map(({ name }) => `${path}: ${name}`)).toEqual([]);
		expect(parameters.every(({ schema }) => typeof schema === 'object')).toBe(true);
	}
});

test('reading operations have no body, and two paths never mean the same', () => {
	expect(described.filter(({ method, operation }) => method === 'get' && operation.requestBody)).toEqual([]);
	const shapes = Object.keys(document.paths).map((path) => path.replace(/\{\w+\}/g, '{}'));
	expect(new Set(shapes).size).toBe(shapes.length);
});

test('it is plain JSON, and all references lead somewhere', () => {
	expect(JSON.parse(JSON.stringify(document))).toEqual(document);
	for (const [at, value] of walk(document)) {
		expect(value, at).not.toBeUndefined();
		if (!at.endsWith('/$ref')) continue;
		const target = String(value).slice(2).split('/');
		const found = target.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], document);
		expect(found, String(value)).toBeDefined();
	}
});

test('patterns are regular expressions, types are types, and what is required is there', () => {
	const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
	for (const [at, value] of walk(document.paths)) {
		if (typeof value !== 'object' || value === null || !('type' in value)) continue;
		const schema = value as { type: unknown; pattern?: string; required?: string[]; properties?: object };
		// Properties can have any name, and a body's example isn't a schema.
		if (at.endsWith('/properties') || /\/application\/json\/example(\/|$)/.test(at)) continue;
		expect(types, at).toEqual(expect.arrayContaining([schema.type].flat()));
		if (schema.pattern !== undefined) expect(() => new RegExp(schema.pattern ?? '', 'u'), at).not.toThrow();
		if (Array.isArray(schema.required)) {
			expect(Object.keys(schema.properties ?? {}), at).toEqual(expect.arrayContaining(schema.required));
		}
	}
});

test('E2, E3: queries and bodies are those that requests are checked with', () => {
	const queryOf = (path: string) =>
		(document.paths[path]?.get as unknown as Described).parameters?.map(({ name }) => name);
	expect(queryOf('/api/skills')).toEqual([...Object.keys(skillQuery.shape), 'page', 'limit']);
	const put = document.paths['/api/skills/{id}']?.put as unknown as Described;
	expect(put.requestBody?.content['application/json']?.schema).toMatchObject({
		additionalProperties: false,
		properties: Object.fromEntries(Object.keys(skillPatch.shape).map((key) => [key, expect.anything()]))
	});
});
