import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkArguments, parseManifest } from './manifest.ts';
import type { SkillTool } from '../types.ts';

const entry = (name: string, rest: Record<string, unknown> = {}) => ({ name, description: `Does ${name}.`, ...rest });
const parse = (...entries: unknown[]) => parseManifest(JSON.stringify(entries));

/** A manifest's only tool, with these parameters. */
function toolWith(parameters: Record<string, unknown>): SkillTool {
	const { tools, issues } = parse(entry('demo', { parameters }));
	expect(issues).toEqual([]);
	return tools[0] as SkillTool;
}

describe('reading', () => {
	test('D15: name, description, script and parameters; the last two may be left out', () => {
		const { tools, issues } = parse(
			entry('count', { script: 'scripts/count.js', parameters: { text: { type: 'string' } } }),
			entry('bare')
		);
		expect(issues).toEqual([]);
		expect(tools).toMatchObject([
			{ name: 'count', description: 'Does count.', script: 'scripts/count.js' },
			{ name: 'bare', inputSchema: { type: 'object', properties: {}, required: [] } }
		]);
		expect(tools[1]).not.toHaveProperty('script');
	});
	test('D16: parameters become JSON Schema: required unless optional, everything else as it was', () => {
		const items = {
			type: 'object',
			properties: { id: { type: 'integer', optional: true }, optional: { type: 'boolean' } }
		};
		const tool = toolWith({
			text: { type: 'string', description: 'What', enum: ['a', 'b'] },
			count: { type: 'integer', optional: true, minimum: 1 },
			rows: { type: 'array', items, optional: false }
		});
		expect(tool.inputSchema).toEqual({
			type: 'object',
			properties: {
				text: { type: 'string', description: 'What', enum: ['a', 'b'] },
				count: { type: 'integer', minimum: 1 },
				rows: {
					type: 'array',
					items: { type: 'object', properties: { id: { type: 'integer' }, optional: { type: 'boolean' } } }
				}
			},
			required: ['text', 'rows'],
			additionalProperties: false
		});
	});
	test.each([
		['a name with capitals', entry('Bad'), 'name'],
		['a name with a hyphen', entry('a-b'), 'name'],
		['a name that begins with a digit', entry('1a'), 'name'],
		['a name of 65 characters', entry('a'.repeat(65)), 'name'],
		['no name', { description: 'x' }, 'name'],
		['no description', { name: 'x' }, 'description'],
		['an empty description', entry('x', { description: '  ' }), 'description'],
		['a script that is no text', entry('x', { script: 5 }), 'script'],
		['a parameter of an unknown type', entry('x', { parameters: { a: { type: 'date' } } }), 'parameters.a.type'],
		['a parameter that is no object', entry('x', { parameters: { a: 'string' } }), 'parameters.a'],
		['parameters as a list', entry('x', { parameters: [] }), 'parameters'],
		['null', null, ''],
		['a list', [], ''],
		['a text', 'x', '']
	])('D15: %s is reported with its place, and the others load', (_name, bad, field) => {
		const { tools, issues } = parse(entry('first'), bad, entry('last'));
		expect(tools.map(({ name }) => name)).toEqual(['first', 'last']);
		expect(issues).toMatchObject([{ field: `tools.json[1${field ? `.${field}` : ''}]`, severity: 'warning' }]);
	});
	test('D16: parameters that are a JSON Schema as other formats have it are reported with what to write', () => {
		const parameters = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
		expect(parse(entry('x', { parameters })).issues).toMatchObject([
			{
				field: 'tools.json[0.parameters]',
				message: expect.stringContaining(
					'must list the parameters by name, without “type”, “properties” and “required”'
				) as string
			}
		]);
		expect(toolWith({ type: { type: 'string' }, properties: { type: 'object' } }).inputSchema).toMatchObject({
			required: ['type', 'properties']
		});
	});
	test.each([
		['a pattern that is none', { type: 'string', pattern: '(' }],
		['a reference that leads nowhere', { type: 'string', $ref: '#/nowhere' }],
		['a condition', { type: 'string', if: {} }]
	])('D16: %s can’t be used: reported when it is read, not at every call', (_name, schema) => {
		const { tools, issues } = parse(entry('first', { parameters: { a: schema } }), entry('last'));
		expect(tools.map(({ name }) => name)).toEqual(['last']);
		expect(issues).toMatchObject([{ field: 'tools.json[0.parameters]', severity: 'warning' }]);
	});
	test('D15: a field that is none is reported, with the fields that there are, and the tool is used', () => {
		const { tools, issues } = parseManifest(
			JSON.stringify([{ name: 'add', description: 'Adds.', script: 'a.py', parametres: { a: { type: 'number' } } }])
		);
		expect(tools.map(({ name }) => name)).toEqual(['add']);
		expect(issues).toEqual([
			expect.objectContaining({
				field: 'tools.json[0.parametres]',
				severity: 'warning',
				message: expect.stringMatching(/^is ignored\. The fields of a tool are name, description, (\w+, )+output$/)
			})
		]);
	});

	test('D16: a schema nested too deep to be read is reported likewise', () => {
		const deep = `${'{"type":"object","properties":{"a":'.repeat(20_000)}{}${'}}'.repeat(20_000)}`;
		const { tools, issues } = parseManifest(
			`[{"name":"x","description":"x","parameters":{"a":${deep}}},${JSON.stringify(entry('y'))}]`
		);
		expect(tools.map(({ name }) => name)).toEqual(['y']);
		expect(issues).toMatchObject([{ field: 'tools.json[0.parameters]' }]);
	});
	test('D15: each fault names the file and the line that it stands on', () => {
		const lineOf = (text: string) => parseManifest(text).issues.map(({ file, line }) => [file, line]);
		expect(lineOf('[\n  {"name": "a",\n   "description": }\n]')).toEqual([['tools.json', 3]]);
		expect(lineOf('[\n  {"name": "a",\n')).toEqual([['tools.json', 2]]);
		expect(lineOf('{"name": "a"}')).toEqual([['tools.json', 1]]);
		const text = [
			'[',
			'  { "name": "first", "description": "[{," },',
			'',
			'  {',
			'    "description": "x", "parameters": { "name": { "type": "string" } },',
			'    "name": "Second"',
			'  }, 5,',
			'  { "name": "third" }',
			']'
		].join('\n');
		expect(lineOf(text)).toEqual([
			['tools.json', 6],
			['tools.json', 7],
			['tools.json', 8]
		]);
	});
	test('D15: a line is found in any way of writing JSON, and after text that goes on', () => {
		const text = [
			'[{"name" :"a_tool","description":"\\"]},{"},',
			'  {"name": "b_tool", "description": "x", "parameters": {"p": {"type": "array", "items": {"type": "string"},',
			'    "enum": [[1, -2.5e3, true], {"name": "x"}]}}},',
			'  [], null, -1,',
			...Array.from({ length: 8 }, (_, index) => `  ${JSON.stringify(entry(`t${index}`))},`),
			'  {"description": "x",',
			'',
			'   "name": "Wrong"},',
			'  {"name": "Too", "description"',
			'   : "x",',
			'   "parameters": {"name": {"type": "string"}}}',
			']'
		].join('\n');
		expect(parseManifest(text).issues.map(({ field, line }) => [field, line])).toEqual([
			['tools.json[2]', 4],
			['tools.json[3]', 4],
			['tools.json[4]', 4],
			['tools.json[13.name]', 15],
			['tools.json[14.name]', 16]
		]);
		const late = '[{"name": "x", "description"\n\n: 5}]';
		expect(parseManifest(`${late.slice(0, -1)},\n5]`).issues.map(({ line }) => line)).toEqual([1, 4]);
		expect(parseManifest('[]\n\nmore').issues).toMatchObject([{ line: 3 }]);
	});
	test('D15: a script takes the call where there is a handler too; one that may be called again says so', () => {
		const { tools } = parse(
			entry('a', { script: 'a.js', handler: 'run', idempotent: true }),
			entry('b', { handler: 'run', idempotent: false })
		);
		expect(tools[0]).toMatchObject({ script: 'a.js', isIdempotent: true });
		expect(tools[0]).not.toHaveProperty('handler');
		expect(tools[1]).toMatchObject({ handler: 'run' });
		expect(tools[1]).not.toHaveProperty('isIdempotent');
	});
	test('D17: a tool of a built-in tool’s name is kept, and reported', () => {
		const { tools, issues } = parse(entry('load_skill'), entry('own'));
		expect(tools.map(({ name }) => name)).toEqual(['load_skill', 'own']);
		expect(issues).toMatchObject([
			{
				field: 'tools.json[0.name]',
				message: expect.stringContaining('“load_skill” is a built-in tool') as string
			}
		]);
	});
	test('D15: what is wrong with the path of a script is reported, and asked only of tools that have one', () => {
		const { tools, issues } = parseManifest(
			JSON.stringify([entry('a', { script: '../x.js' }), entry('b', { script: 'b.js' }), entry('c')]),
			() => false,
			(script) => (script.startsWith('..') ? `“${script}” lies outside` : null)
		);
		expect(tools).toHaveLength(3);
		expect(issues).toMatchObject([{ field: 'tools.json[0.script]', message: '“../x.js” lies outside' }]);
	});
	test('D16: a part of a schema that allows nothing goes on allowing nothing', () => {
		const tool = toolWith({ rows: { type: 'object', properties: { no: false } } });
		expect(tool.inputSchema).toMatchObject({ properties: { rows: { properties: { no: false } } } });
		expect(checkArguments(tool, { rows: {} })).toBeNull();
		expect(checkArguments(tool, { rows: { no: 1 } })).toContain('rows.no must be left out');
	});
	test('D17: of two tools of one name the first is used and the second reported', () => {
		const { tools, issues } = parse(
			entry('same', { script: 'one.js' }),
			entry('same', { script: 'two.js' }),
			entry('other')
		);
		expect(tools.map(({ name, script }) => [name, script])).toEqual([
			['same', 'one.js'],
			['other', undefined]
		]);
		expect(issues).toMatchObject([
			{ field: 'tools.json[1.name]', message: expect.stringContaining('twice') as string }
		]);
	});
	test('D15: more than 64 tools: the first 64 load, the rest is reported', () => {
		const most = Array.from({ length: 64 }, (_, index) => entry(`tool_${index}`));
		expect(parse(...most).issues).toEqual([]);
		const { tools, issues } = parse(...Array.from({ length: 70 }, (_, index) => entry(`tool_${index}`)));
		expect(tools).toHaveLength(64);
		expect(issues).toMatchObject([{ field: 'tools.json[64]', message: expect.stringContaining('64') as string }]);
	});
	test.each(['', '{', '{"name":"x"}', 'null', '"text"', '['.repeat(100_000)])(
		'D15: a manifest that is no array of tools is one issue: %#',
		(text) => {
			const { tools, issues } = parseManifest(text);
			expect(tools).toEqual([]);
			expect(issues).toMatchObject([{ field: 'tools.json', severity: 'warning' }]);
		}
	);
	test('D15: a byte order mark is passed over', () => {
		const { tools } = parseManifest(`\uFEFF${JSON.stringify([entry('x', { description: 'a\uFEFFb' })])}`);
		expect(tools).toMatchObject([{ description: 'a\uFEFFb' }]);
	});
	test('D15: any JSON at all gives tools and issues, never an exception', () => {
		const odd = fc.record({
			name: fc.constantFrom('a', 'b', 'C'),
			description: fc.string(),
			parameters: fc.jsonValue()
		});
		fc.assert(
			fc.property(fc.array(fc.oneof(fc.jsonValue(), odd)), (entries) => {
				const { tools, issues } = parse(...entries);
				expect(tools.length + issues.length).toBe(entries.length);
			})
		);
	});
});

describe('checking arguments', () => {
	const tool = toolWith({
		text: { type: 'string' },
		size: { type: 'integer', optional: true },
		kind: { type: 'string', enum: ['a', 'b'], optional: true },
		rows: { type: 'array', items: { type: 'number' }, optional: true }
	});
	test.each([
		['the required ones', { text: 'x' }],
		['all of them', { text: '', size: 3, kind: 'b', rows: [1, 2.5] }]
	])('D16: %s are right', (_name, args) => {
		expect(checkArguments(tool, args)).toBeNull();
	});
	test.each([
		['a missing one', {}, 'text is missing'],
		['one of another type', { text: 5 }, 'text must be text'],
		['null', { text: null }, 'text must be text'],
		['a fraction for an integer', { text: 'x', size: 1.5 }, 'size must be a whole number'],
		['a value that is not in the list', { text: 'x', kind: 'c' }, 'kind must be one of'],
		['a wrong item', { text: 'x', rows: [1, 'b'] }, 'rows.1 must be a number'],
		['an unknown one', { text: 'x', txet: 'y' }, 'txet'],
		['a prototype key', JSON.parse('{"text":"x","__proto__":{"size":"big"}}') as Record<string, unknown>, '__proto__']
	])('D16: %s is refused by name', (_name, args, field) => {
		expect(checkArguments(tool, args)).toContain(field);
	});
	test('D16: every wrong one is named, at most five', () => {
		const many = toolWith(Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((id) => [`p${id}`, { type: 'string' }])));
		const wrong = checkArguments(many, {});
		expect(wrong).toContain('p1 is missing');
		expect(wrong?.split('; ')).toHaveLength(5);
	});
	test('D16: a parameter named like a member of every object is checked as any other', () => {
		const odd = toolWith({ constructor: { type: 'string', optional: true }, toString: { type: 'string' } });
		expect(checkArguments(odd, { toString: 'x' } as never)).toBeNull();
		expect(checkArguments(odd, {})).toContain('toString is missing');
	});
	test('D19: __workDir is not the model\u2019s to give: a manifest cannot declare it', () => {
		const reserved = toolWith({ __workDir: { type: 'string' }, text: { type: 'string' } });
		expect(reserved.inputSchema).toMatchObject({ properties: { text: { type: 'string' } }, required: ['text'] });
		expect(checkArguments(reserved, { text: 'x', __workDir: '/' })).toContain('__workDir');
	});
});

test('D16: a pattern that would be tried for ever is given up, and the sentence says so; a quick one decides', () => {
	const parameters = { text: { type: 'string', pattern: '^(a+)+$' } };
	const { tools } = parseManifest(
		JSON.stringify([{ name: 'check_it', description: 'Checks.', script: 'a.py', parameters }])
	);
	const [tool] = tools;
	if (!tool) throw new Error('no tool');
	expect(checkArguments(tool, { text: `${'a'.repeat(50)}!` })).toContain('takes too long');
	expect(checkArguments(tool, { text: 'aaa' })).toBeNull();
	expect(checkArguments(tool, { text: 'b' })).toContain('text');
});
