import { expect, test } from 'vitest';
import { readScriptArguments } from './environment.ts';

const args = {
	input_pdf: '/w/a b.pdf',
	'out-dir': 'x',
	pages: 3,
	quick: true,
	tags: ['a', 'b'],
	none: null,
	deep: { a: 1 }
};
const env = {
	SKILL_ARG_INPUT_PDF: '/w/a b.pdf',
	SKILL_ARG_OUT_DIR: 'x',
	SKILL_ARG_PAGES: '3',
	SKILL_ARG_QUICK: 'true',
	SKILL_ARG_TAGS: '["a","b"]',
	SKILL_ARG_DEEP: '{"a":1}'
};

test('D1: a list is passed as it is, shell characters and all', () => {
	expect(readScriptArguments(['send', 'a b', '$(rm -rf /)', '--x=1', ''])).toEqual({
		argv: ['send', 'a b', '$(rm -rf /)', '--x=1', ''],
		env: {}
	});
	expect(readScriptArguments([1, true])).toEqual({ argv: ['1', 'true'], env: {} });
	expect(readScriptArguments(undefined)).toEqual({ argv: [], env: {} });
	expect(readScriptArguments(null)).toEqual({ argv: [], env: {} });
});

test('D3: positional is the default: values in the order of the object; booleans as true and false', () => {
	const argv = ['/w/a b.pdf', 'x', '3', 'true', '["a","b"]', '{"a":1}'];
	expect(readScriptArguments(args)).toEqual({ argv, env });
	expect(readScriptArguments(args, 'positional')).toEqual({ argv, env });
});

test('D3: named gives --key value pairs; a list repeats its key', () => {
	const { argv } = readScriptArguments(args, 'named');
	expect(argv).toEqual([
		...['--input_pdf', '/w/a b.pdf', '--out-dir', 'x', '--pages', '3', '--quick', 'true'],
		...['--tags', 'a', '--tags', 'b', '--deep', '{"a":1}']
	]);
});

test('D3: env gives no arguments, json gives the object on standard input', () => {
	expect(readScriptArguments(args, 'env')).toEqual({ argv: [], env });
	expect(readScriptArguments(args, 'json')).toEqual({ argv: [], env, input: JSON.stringify(args) });
	expect(readScriptArguments(undefined, 'json')).toEqual({ argv: [], env: {}, input: '{}' });
});

test('D4: SKILL_ARG_<KEY> is set in every style', () => {
	for (const style of ['positional', 'named', 'env', 'json']) expect(readScriptArguments(args, style).env).toEqual(env);
});

test('D3: an unknown style, and what cannot be an argument, are refused by name', () => {
	expect(() => readScriptArguments({ a: 1 }, 'shell')).toThrow('one of positional, named, env, json, not "shell"');
	expect(() => readScriptArguments('a b')).toThrow('“args” must be a list');
	expect(() => readScriptArguments(['a', { b: 1 }])).toThrow('“args[1]” must be text');
	expect(() => readScriptArguments(['a\0b'])).toThrow('“args[0]” contains a NUL');
	expect(() => readScriptArguments({ 'a b': 1 }, 'named')).toThrow('isn’t a valid option name');
	expect(() => readScriptArguments({ '-x': 1 }, 'named')).toThrow('isn’t a valid option name');
});

test('D3: what is refused is InvalidArgs, so that the model knows whose fault it is', () => {
	const invalid = expect.objectContaining({ type: 'InvalidArgs' }) as Error;
	expect(() => readScriptArguments({ a: 1 }, 'shell')).toThrow(invalid);
	expect(() => readScriptArguments('a b')).toThrow(invalid);
	expect(() => readScriptArguments([null])).toThrow(invalid);
	expect(() => readScriptArguments({ a: () => 1 })).toThrow(invalid);
	expect(() => readScriptArguments({ a: 'x\0' })).toThrow(invalid);
	expect(() => readScriptArguments({ 'a b': 1 }, 'named')).toThrow(invalid);
});

test('D3: a key without a value is left out, and no style is the default one', () => {
	expect(readScriptArguments({ a: undefined, b: null, c: 1 }, null)).toEqual({
		argv: ['1'],
		env: { SKILL_ARG_C: '1' }
	});
});
