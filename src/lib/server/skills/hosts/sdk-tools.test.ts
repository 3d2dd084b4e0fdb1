import { expect, test } from 'vitest';
import { createSdkTools } from './adapters.ts';
import type { ToolDefinition } from '../types.ts';

function toolWith(parameters: Record<string, unknown>): ToolDefinition {
	return { type: 'function', name: 'greet', description: 'Greet', parameters };
}

test('B17: an SDK tool checks its arguments with Zod and hands them to the one function that runs tools', async () => {
	const properties = { name: { type: 'string' }, times: { type: 'integer' } };
	const parameters = { type: 'object', properties, required: ['name'], additionalProperties: false };
	const [tool] = createSdkTools([toolWith(parameters)], (name, args) => Promise.resolve({ name, args }));
	expect(tool).toMatchObject({ type: 'function', function: { name: 'greet', description: 'Greet' } });
	const { inputSchema, execute } = tool!.function;
	expect(inputSchema.parse({ name: 'Ada' })).toEqual({ name: 'Ada' });
	expect(inputSchema.safeParse({}).success).toBe(false);
	expect(inputSchema.safeParse({ name: 'Ada', age: 1 }).success).toBe(false);
	expect(await execute({ name: 'Ada' })).toEqual({ name: 'greet', args: { name: 'Ada' } });
});

test.each<[string, Record<string, unknown>]>([
	['if', { if: { required: ['name'] }, then: { required: ['times'] } }],
	['not', { not: { required: ['other'] } }],
	['patternProperties', { patternProperties: { '^x-': { type: 'string' } } }],
	['anyOf', { anyOf: [{ required: ['name'] }, { required: ['times'] }] }]
])('B17: a schema with `%s`, which is no Zod object, keeps its properties', (_, more) => {
	const parameters = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], ...more };
	const [tool] = createSdkTools([toolWith(parameters)], () => Promise.resolve(null));
	expect(tool!.function.inputSchema.safeParse({ name: 'Ada' }).success).toBe(true);
	expect(tool!.function.inputSchema.safeParse({ name: 1 }).success).toBe(false);
	expect(tool!.function.inputSchema.safeParse({}).success).toBe(false);
});

test('B17: a pattern that JavaScript cannot read leaves the other arguments checked', () => {
	const properties = { code: { type: 'string', pattern: '(' }, times: { type: 'integer' } };
	const [tool] = createSdkTools([toolWith({ type: 'object', properties })], () => Promise.resolve(null));
	expect(tool!.function.inputSchema.safeParse({ code: 'x', times: 2 }).success).toBe(true);
	expect(tool!.function.inputSchema.safeParse({ times: 'x' }).success).toBe(false);
});
