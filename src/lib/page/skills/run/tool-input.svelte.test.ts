import { describe, expect, test } from 'vitest';
import { ToolInput } from './tool-input.svelte.ts';

const schema = {
	type: 'object',
	properties: {
		text: { type: 'string', description: 'What to count.' },
		times: { type: 'integer' },
		share: { type: ['number', 'null'] },
		isLoud: { type: 'boolean' },
		colour: { enum: ['red', 7, null] },
		tags: { type: 'array', items: { type: 'string' } },
		any: {}
	},
	required: ['text', 'times', 'colour']
};

function type(input: ToolInput, drafts: Record<string, string>): void {
	for (const [name, draft] of Object.entries(drafts))
		input.drafts[input.fields.findIndex((field) => field.name === name)] = draft;
}

const problemsOf = ({ fields, problems }: ToolInput) =>
	fields.map(({ name }, index) => [name, problems[index]]).filter(([, problem]) => problem !== undefined);

describe('F6: the input of a tool from its schema', () => {
	test('that names no properties is written as JSON', () => {
		for (const each of [undefined, {}, { type: 'object' }, { properties: [] }, { properties: null }]) {
			const input = new ToolInput(each as Record<string, unknown> | undefined);
			expect([input.isText, input.fields, input.read()]).toEqual([true, [], {}]);
		}
	});

	test('has a field of the right kind for each property', () => {
		const kinds = new ToolInput(schema).fields.map(({ name, kind, isRequired }) => [name, kind, isRequired]);
		expect(kinds).toEqual([
			['text', 'text', true],
			['times', 'number', true],
			['share', 'number', false],
			['isLoud', 'boolean', false],
			['colour', 'choice', true],
			['tags', 'json', false],
			['any', 'json', false]
		]);
	});

	test('lets a file be chosen that is read, not one that is written', () => {
		const string = (description: string) => ({ type: 'string', description });
		const properties = {
			...{ file: string('CSV file to read'), 'chart-file': string('name of the SVG file, and draws it') },
			...{ output_path: string('') }
		};
		const { fields } = new ToolInput({ type: 'object', properties });
		expect(fields.map(({ isFile }) => isFile)).toEqual([true, false, false]);
	});

	test('says of each field what is wrong with it', () => {
		const input = new ToolInput(schema);
		type(input, { share: 'half', tags: '["a"' });
		expect(() => input.read()).toThrow('Check times, share, tags.');
		expect(problemsOf(input)).toEqual([
			['times', 'Fill this in: it can’t run without it.'],
			['share', 'Enter a number, such as 1.5.'],
			['tags', expect.stringMatching(/^Not valid JSON: /)]
		]);
		type(input, { times: '1.5' });
		expect(() => input.read()).toThrow();
		expect(problemsOf(input)[0]).toEqual(['times', 'Enter a whole number.']);
	});

	test('leaves out what was left empty, and keeps types', () => {
		const input = new ToolInput(schema);
		expect(input.drafts[4]).toBe('0');
		type(input, { times: '2', colour: '1', isLoud: 'false', tags: '["a"]' });
		expect(input.read()).toEqual({ text: '', times: 2, colour: 7, isLoud: false, tags: ['a'] });
		type(input, { colour: '2' });
		expect(input.read().colour).toBe(null);
	});

	test('begins with what the schema presets', () => {
		const properties = {
			a: { type: 'string', default: 'x' },
			b: { type: 'boolean', default: true },
			c: { default: [1] }
		};
		expect(new ToolInput({ properties }).read()).toEqual({ a: 'x', b: true, c: [1] });
	});

	test('becomes JSON and fields again without losing what was typed', () => {
		const input = new ToolInput(schema);
		type(input, { text: 'two words', times: 'three', tags: '[1' });
		input.showText();
		expect(JSON.parse(input.text)).toEqual({ text: 'two words', times: 'three', colour: 'red', tags: '[1' });
		input.text = '{"text": "other", "times": 3, "colour": 7, "more": {"deep": true}}';
		input.showFields();
		expect(input.isText).toBe(false);
		expect(input.drafts).toEqual(['other', '3', '', '', '1', '', '']);
		expect(input.read()).toEqual({ text: 'other', times: 3, colour: 7, more: { deep: true } });
	});

	test('stays JSON while that is no object, and says why', () => {
		const input = new ToolInput(schema);
		input.showText();
		for (const text of ['{"a": ', '[1]', 'null']) {
			input.text = text;
			input.showFields();
			expect([input.isText, input.text]).toEqual([true, text]);
			expect(input.problem).toMatch(/valid JSON|must be a JSON object/);
		}
	});

	test('of a schema with names like those of objects is not confused by them', () => {
		const properties = JSON.parse(
			'{"constructor": {"type": "string"}, "toString": {}, "__proto__": {"type": "number"}}'
		);
		const input = new ToolInput({ properties: properties as Record<string, unknown> });
		expect(Object.entries(input.read())).toEqual([]);
		type(input, { constructor: 'x' });
		input.drafts[2] = '5';
		const wanted = '{"constructor":"x","__proto__":5}';
		expect(JSON.stringify(input.read())).toBe(wanted);
		input.showText();
		input.showFields();
		expect(JSON.stringify(input.read())).toBe(wanted);
	});
});
