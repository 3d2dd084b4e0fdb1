import fc from 'fast-check';
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { argsOf, commandsOf, inputOf, labelOf, runsAsIs, schemaOf, takesNothing } from './arguments.ts';
import { argumentsIn, wordsOf } from './scripts.ts';
import { sampleDetail } from '../../../../../tests/support/sample-skills.ts';

const filesOf = (script: string, text: string, instructions = '') =>
	Object.entries({ [script]: text, 'SKILL.md': instructions }).map(([path, said]) => ({
		...{ path, bytes: said.length, text: said }
	}));
const of = (text: string, script = 'scripts/x.py', instructions = '') =>
	commandsOf(filesOf(script, text, instructions), script);
const fieldsOf = (text: string, script?: string, instructions?: string) =>
	of(text, script, instructions).map((command) => schemaOf(command).properties);

test('F6: a script takes nothing if neither it nor SKILL.md says so, and it uses no file that might', () => {
	const takes = (text: string, more: Record<string, string> = {}): boolean => {
		const others = Object.entries(more).flatMap(([path, said]) => filesOf(path, said).slice(0, 1));
		return !takesNothing([...filesOf('scripts/x.py', text), ...others], 'scripts/x.py');
	};
	expect(takes('print("hello")')).toBe(false);
	expect(takes('for f in *.txt; do wc -l "$f"; done')).toBe(false);
	for (const text of [
		'import sys; sys.argv[1]',
		'echo "$1"',
		'while read line; do',
		'p.parse_args()',
		'input("Name?")'
	])
		expect(takes(text), text).toBe(true);
	expect(takes('from common import main\nmain()', { 'scripts/common.py': '' })).toBe(true);
	expect(takes('from common import main\nmain()')).toBe(false);
	// Read once, however hostile.
	expect(takes('\n'.repeat(400_000))).toBe(false);
	expect(takesNothing(filesOf('scripts/x.py', 'go()', 'Run `scripts/x.py FILE`'), 'scripts/x.py')).toBe(false);
	expect(takesNothing([], 'scripts/unknown.py')).toBe(false);
});

test('F6: a script or tool runs as it is if nothing is required', () => {
	const skill = sampleDetail({
		files: [
			...filesOf('free.py', "p.add_argument('--limit')"),
			...filesOf('strict.py', "p.add_argument('file')"),
			...filesOf('bare.py', 'print(1)')
		],
		inputSchemas: { ping: { type: 'object' }, add: { type: 'object', required: ['a'] } }
	});
	const asIs = (kind: 'script' | 'tool', name: string): boolean => runsAsIs(skill, { kind, name });
	expect(['free.py', 'strict.py', 'bare.py'].map((name) => asIs('script', name))).toEqual([true, false, true]);
	expect(['ping', 'add'].map((name) => asIs('tool', name))).toEqual([true, false]);
});

test.each([
	['FILE', 'File'],
	['FILE 2', 'File 2'],
	['CHANNEL_ID', 'Channel ID'],
	['URL', 'URL'],
	['YYYY-MM-DD', 'YYYY-MM-DD'],
	['HH:MM', 'HH:MM'],
	['--limit', '--limit'],
	['a', 'a']
])('F6: the field of %s is called %s', (name, label) => {
	expect(labelOf(name)).toBe(label);
});

describe('F6: the parameters of a script are read from', () => {
	test('argparse, with their types, choices and help; what stands by its place is written first', () => {
		const text = `
p.add_argument("--where", "-w", help='Such as "region = North", or (a, b)')
p.add_argument('file',
    help="File to read")
p.add_argument('--limit', type=int, required=True, default=10)
p.add_argument('--format', choices=['csv', "json"], default='csv')
p.add_argument('--columns', nargs='+')
p.add_argument('-v', '--verbose', action='store_true')
p.add_argument('--version', action='version', version='1')`;
		const [command] = of(text);
		expect(command && schemaOf(command)).toEqual({
			type: 'object',
			properties: {
				file: { type: 'string', description: 'File to read', minLength: 1 },
				'--where': { type: 'string', description: 'Such as "region = North", or (a, b)' },
				'--limit': { type: 'integer', minLength: 1 },
				'--format': { type: 'string', enum: ['csv', 'json'], description: 'Default: csv' },
				'--columns': { type: 'array', format: 'lines', items: { type: 'string' } },
				'--verbose': { type: 'boolean' }
			},
			required: ['file', '--limit']
		});
		const input = { file: 'a b.csv', '--where': '-x', '--limit': 5, '--columns': ['a', 'b'], '--verbose': true };
		const args = ['a b.csv', '--where=-x', '--limit', '5', '--columns', 'a', 'b', '--verbose'];
		expect(command && argsOf(command, input)).toEqual(args);
		expect(command && inputOf(command, args)).toEqual(input);
		expect(command && inputOf(command, ['a', '-w', 'b', '-v'])).toEqual({
			...{ file: 'a', '--where': 'b', '--verbose': true }
		});
	});

	test('parseArgs of Node', () => {
		const text = `parseArgs({ args, allowPositionals: true, options: { 'group-by': { type: 'string', short: 'g' },
			all: { type: 'boolean' }, each: { type: 'string', multiple: true }, help: { type: 'boolean' } } })`;
		expect(fieldsOf(text, 'run.mjs')).toEqual([
			{
				arguments: { type: 'array', format: 'lines', items: { type: 'string' } },
				'--group-by': { type: 'string' },
				'--all': { type: 'boolean' }
			}
		]);
	});

	test('a usage text, with what it says of each and over several lines', () => {
		const text = `const USAGE = \`Usage: x.mjs FILE [--group-by COLUMN] [-q|--quiet]
                     [--out=FILE] [MORE...]

  --group-by COLUMN  one line for each value
  -q, --quiet        prints nothing\`;`;
		expect(fieldsOf(text, 'scripts/x.mjs')).toEqual([
			{
				FILE: { type: 'string', minLength: 1 },
				'--group-by': { type: 'string', description: 'one line for each value' },
				'--quiet': { type: 'boolean', description: 'prints nothing' },
				'--out': { type: 'string', description: 'Path of a file' },
				MORE: { type: 'array', format: 'lines', items: { type: 'string' } }
			}
		]);
	});

	test('a hint that ends in a bracket, and places that say how their value is written', () => {
		const text = '# Usage: x.sh HH:MM [--clean]\n#   --clean   delete all (which must have been made here)\n';
		expect(fieldsOf(text, 'scripts/x.sh')).toEqual([
			{
				'HH:MM': { type: 'string', minLength: 1, examples: ['09:30'] },
				'--clean': { type: 'boolean', description: 'delete all (which must have been made here)' }
			}
		]);
	});

	test('a comment of a shell script, which says its own name', () => {
		expect(fieldsOf('#!/bin/sh\n# Usage: $0 SOURCE <target> [--mode {fast,slow}]\n\ncp', 'scripts/x.sh')).toEqual([
			{
				SOURCE: { type: 'string', minLength: 1 },
				target: { type: 'string', minLength: 1 },
				'--mode': { type: 'string', enum: ['fast', 'slow'], description: '{fast,slow}' }
			}
		]);
	});

	test('SKILL.md, if the script itself says nothing; its examples are none', () => {
		const [time] = of('process.argv[2]', 'scripts/t.mjs', 'Run `scripts/t.mjs HH:MM`.');
		expect(time?.parameters).toMatchObject([{ name: 'HH:MM', isRequired: true }]);
		const said = '```\npython scripts/x.py FILE [--all]\npython scripts/x.py sales.csv --all\n```\n';
		expect(of('print(1)', 'scripts/x.py', said).map(({ label }) => label)).toEqual(['FILE [--all]']);
	});

	test('a usage with commands of its own, each with its fields', () => {
		const text = 'Usage: pdf.mjs info FILE   what it is\n       pdf.mjs join FILE FILE...\n       pdf.mjs list\n';
		const commands = of(text, 'scripts/pdf.mjs');
		expect(commands.map(({ label, words }) => [label, words])).toEqual([
			['info FILE – what it is', ['info']],
			['join FILE FILE...', ['join']]
		]);
		const join = commands[1];
		const input = { FILE: 'a.pdf', 'FILE 2': ['b.pdf', 'c.pdf'] };
		expect(join && argsOf(join, input)).toEqual(['join', 'a.pdf', 'b.pdf', 'c.pdf']);
		expect(join && inputOf(join, ['join', 'a.pdf', 'b.pdf', 'c.pdf'])).toEqual(input);
		expect(join && inputOf(join, ['info', 'a.pdf'])).toBeNull();
	});

	test.each([
		'Usage: x.py (A | B) FILE',
		'Usage: x.py FILE sometimes [--all',
		'Usage: x.py [options] FILE',
		'add_subparsers(); p.add_argument("--a")',
		'p.add_argument("--a"',
		''
	])('nothing that isn’t sure: %s', (text) => {
		expect(of(text)).toEqual([]);
	});
});

test('F6: all bundled scripts with a usage have fields', async () => {
	const skills = new URL('../../../../../skills/', import.meta.url);
	const paths = (await readdir(skills, { recursive: true })).filter((path) => /scripts\/[^/]+$/.test(path));
	const known: string[] = [];
	for (const path of paths) {
		const script = path.replace(/^[^/]+\//, '');
		const text = await readFile(new URL(path, skills), 'utf8');
		if (/usage:/i.test(text)) known.push(`${path}: ${commandsOf(filesOf(script, text), script).length}`);
	}
	expect(known.length).toBeGreaterThan(8);
	expect(known.filter((each) => each.endsWith(': 0'))).toEqual([]);
});

test('F6: arguments that became fields are the same arguments again, whatever they are', () => {
	const [command] = of('p.add_argument("file")\np.add_argument("--by")\np.add_argument("--n", type=int)\n');
	const value = fc.string({ minLength: 1 }).filter((text) => !text.startsWith('-'));
	const input = fc.record({ file: value, '--by': fc.string({ minLength: 1 }), '--n': fc.integer() });
	fc.assert(
		fc.property(input, (given) => {
			expect(command && inputOf(command, argsOf(command, given))).toEqual(given);
		})
	);
});

test('F6: hostile text is read in no time, and breaks nothing', () => {
	for (const part of ['.add_argument(', '[', '--a ', '"', 'usage: x.py ', 'options: {', '\n', '-a|'])
		expect(() => of(`usage: x.py [--a\nparseArgs({ options: { ${part.repeat(50_000)}`)).not.toThrow();
	expect(of('p.add_argument("__proto__")\np.add_argument("toString")').map((command) => argsOf(command, {}))).toEqual([
		[]
	]);
});

test('F6: the words of a line are read without their quotes', () => {
	expect(wordsOf(`x.sh "two words" 'it is' a"b c"d "say \\"hi\\"" --f=""`)).toEqual([
		...['x.sh', 'two words', 'it is', 'ab cd', 'say "hi"', '--f=']
	]);
});

test('arguments are one per line; a flag with its value is two, as in a shell', () => {
	expect(argumentsIn('--file x.txt\n-n 3 --title "Two words"\nTwo words\n--a=b c\n- item\n-- x\n-5 apples')).toEqual([
		...['--file', 'x.txt', '-n', '3', '--title', 'Two words', 'Two words', '--a=b c', '- item', '-- x', '-5 apples']
	]);
});
