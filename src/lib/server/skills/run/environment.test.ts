import { expect, test, describe } from 'vitest';
import { readScriptArguments, buildEnvironment, limitsOf, MAX_TIMEOUT_MS, timeoutOf } from './environment.ts';
import { declaredVariables } from '../needs/variables.ts';
import type { Skill } from '../types.ts';
import { DEFAULT_LIMITS } from '../../sandbox/sandbox.ts';

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

const skillWith = (part: Partial<Skill>) => ({ metadata: {}, extra: {}, dir: '/skills/demo', ...part }) as Skill;
function build(skill: Partial<Skill> = {}, options: Partial<Parameters<typeof buildEnvironment>[0]> = {}) {
	return buildEnvironment({
		skill: skillWith(skill),
		folders: { skill: '/skills/demo', workspace: '/work' },
		host: {},
		offered: {},
		...options
	});
}

const secrets = {
	OPENROUTER_API_KEY: 'sk-secret',
	ADMIN_TOKEN: 'token',
	DATABASE_URL: 'postgres://user:word@host/db',
	AWS_SECRET_ACCESS_KEY: 'key',
	NODE_OPTIONS: '--require /evil.js',
	NODE_PATH: '/evil',
	LD_PRELOAD: '/evil.so',
	LD_LIBRARY_PATH: '/evil',
	DYLD_INSERT_LIBRARIES: '/evil.dylib',
	PYTHONPATH: '/evil',
	PYTHONSTARTUP: '/evil.py',
	PYTHONHOME: '/evil',
	BASH_ENV: '/evil.sh',
	ENV: '/evil.sh',
	HOME: '/home/operator',
	SSH_AUTH_SOCK: '/agent'
};

test('D14: of the host only what is on the list: no secret, nothing that changes how a program starts', () => {
	const environment = build(
		{},
		{ host: { ...secrets, PATH: '/bin', LANG: 'de_DE.UTF-8', TZ: 'UTC', LC_ALL: undefined } }
	);
	expect(environment).toEqual({
		PATH: '/bin',
		LANG: 'de_DE.UTF-8',
		TZ: 'UTC',
		SKILL_DIR: '/skills/demo',
		CLAUDE_SKILL_DIR: '/skills/demo',
		PYTHONPATH: '/skills/demo',
		PYTHONUNBUFFERED: '1',
		PYTHONDONTWRITEBYTECODE: '1',
		PYTHONIOENCODING: 'utf-8',
		npm_config_fetch_retry_mintimeout: '500',
		npm_config_fetch_retry_maxtimeout: '2000'
	});
});
test.each<[string, Record<string, string>]>([
	['no locale', {}],
	['LANG=C', { LANG: 'C' }],
	['LC_ALL=POSIX over a LANG with UTF-8', { LANG: 'de_DE.UTF-8', LC_ALL: 'POSIX' }],
	['LC_CTYPE=en_US.ISO-8859-1', { LANG: 'de_DE.UTF-8', LC_CTYPE: 'en_US.ISO-8859-1' }]
])('D7: on a host with %s, text is UTF-8', (_, host) => {
	for (const inherit of [false, true]) {
		const { LANG, LC_ALL, LC_CTYPE } = build({}, { host, inherit });
		expect({ LANG, LC_ALL, LC_CTYPE }).toEqual({ LANG: 'C.UTF-8', LC_ALL: undefined, LC_CTYPE: undefined });
	}
});
test.each<[string, Partial<Skill>]>([
	['metadata.env, by commas', { metadata: { env: 'TOKEN_A, TOKEN_B' } }],
	['metadata.env, by spaces and lines', { metadata: { env: 'TOKEN_A\n  TOKEN_B' } }],
	['env as text', { extra: { env: 'TOKEN_A TOKEN_B' } }],
	['env as a list', { extra: { env: ['TOKEN_A', 'TOKEN_B'] } }]
])('A18: variables declared in %s are passed, if the operator offers them; others are not', (_name, skill) => {
	const environment = build(skill, { host: { TOKEN_B: 'of the host' }, offered: { TOKEN_A: 'yes', TOKEN_C: 'no' } });
	expect(environment).toMatchObject({ TOKEN_A: 'yes' });
	expect(environment).not.toHaveProperty('TOKEN_B');
	expect(environment).not.toHaveProperty('TOKEN_C');
});
test('D14: a skill cannot declare its way to a secret of the host, to another folder or to a prototype', () => {
	const metadata = { env: `${Object.keys(secrets).join(' ')} SKILL_DIR __proto__ constructor toString A=B ../x` };
	const environment = build({ metadata }, { host: secrets, offered: { SKILL_DIR: '/etc', PYTHONPATH: '/etc' } });
	expect(environment).toEqual(build());
	expect(Object.getPrototypeOf(environment)).toBe(Object.prototype);
});
test('D14: with `inherit` the host’s variables come along, its secrets and what changes a start do not', () => {
	const host = {
		PATH: '/bin',
		EDITOR: 'vi',
		OPENROUTER_API_KEY: 's',
		DATABASE_URL: 's',
		NODE_OPTIONS: '-r x',
		LD_PRELOAD: 'x',
		npm_config_token: 's',
		HOME: '/root'
	};
	const environment = build({}, { host, inherit: true });
	expect(environment).toMatchObject({ PATH: '/bin', EDITOR: 'vi' });
	for (const name of ['HOME', 'OPENROUTER_API_KEY', 'DATABASE_URL', 'NODE_OPTIONS', 'LD_PRELOAD', 'npm_config_token']) {
		expect(environment).not.toHaveProperty(name);
	}
	expect(build({}, { host })).not.toHaveProperty('EDITOR');
});
test('D14: a PATH that the sandbox sets stands in place of the host’s', () => {
	const host = { PATH: '/host/bin' };
	for (const inherit of [false, true]) expect(build({}, { host, path: '/bin', inherit }).PATH).toBe('/bin');
	expect(build({}, { host: {}, path: '' }).PATH).toBe('');
});

describe('A18: the variables that a skill declares', () => {
	const declared = (skill: Partial<Skill>) =>
		declaredVariables(skillWith(skill)).map(({ name, isOptional }) => (isOptional ? `${name}?` : name));

	test.each<[string, Partial<Skill>]>([
		['metadata.env', { metadata: { env: 'A_KEY' } }],
		['metadata.env that is no text', { extra: { 'metadata.env': ['A_KEY'] } }],
		['env', { extra: { env: 'A_KEY' } }],
		['requires', { extra: { requires: { env: ['A_KEY'] } } }],
		['metadata.requires', { extra: { 'metadata.requires': { env: ['A_KEY'] } } }],
		['requires.env', { extra: { 'requires.env': ['A_KEY'] } }],
		['metadata.requires.env', { extra: { 'metadata.requires.env': ['A_KEY'] } }],
		['metadata.requires.env that is a text', { metadata: { 'requires.env': 'A_KEY' } }]
	])('are read from %s', (_where, skill) => {
		expect(declared(skill)).toEqual(['A_KEY']);
	});

	test.each<[string, unknown, string[]]>([
		['text with commas, blanks and lines', ' A_KEY , B_KEY?\n  C_KEY,,D_KEY? ', ['A_KEY', 'B_KEY?', 'C_KEY', 'D_KEY?']],
		['a list of texts', ['A_KEY', ' B_KEY ', 'C_KEY? '], ['A_KEY', 'B_KEY', 'C_KEY?']],
		[
			'a list of records',
			[{ name: 'A_KEY' }, { name: 'B_KEY', optional: 'true' }, { name: 'C_KEY', required: 'false' }],
			['A_KEY', 'B_KEY?', 'C_KEY?']
		],
		[
			'records that say they are needed',
			[
				{ name: 'A_KEY', optional: 'false' },
				{ name: 'B_KEY', required: 'true' }
			],
			['A_KEY', 'B_KEY']
		],
		['the keys of a record', { A_KEY: 'what it is', B_KEY: { optional: true } }, ['A_KEY', 'B_KEY?']],
		['what is none of these', [5, null, '', { title: 'A_KEY' }], []],
		['a number', 5, []]
	])('may be %s', (_what, env, expected) => {
		expect(declared({ extra: { env } })).toEqual(expected);
	});

	test('are none that no environment can have', () => {
		expect(declared({ metadata: { env: 'A=B ../x 1A a-b A?B ? A??' } })).toEqual([]);
	});

	test('are required when they are named so in one place, whichever comes first', () => {
		expect(declared({ metadata: { env: 'A_KEY? B_KEY C_KEY? C_KEY?' }, extra: { env: 'A_KEY B_KEY?' } })).toEqual([
			'A_KEY',
			'B_KEY',
			'C_KEY?'
		]);
	});
});

test('D10: a skill may ask for less than the host gives, never for more, but for address space', () => {
	const asking = (metadata: Record<string, string>) => limitsOf({ metadata }, DEFAULT_LIMITS);
	expect(asking({})).toEqual(DEFAULT_LIMITS);
	expect(asking({ memory: '64mb', processes: '8', 'file-size': '1', 'open-files': '32', cpu: '5s' })).toEqual({
		...DEFAULT_LIMITS,
		memoryBytes: 64 * 1024 ** 2,
		processes: 8,
		fileBytes: 1024 ** 2,
		openFiles: 32,
		cpuSeconds: 5
	});
	expect(asking({ memory: '64 GB', processes: '100000' })).toEqual(DEFAULT_LIMITS);
	for (const nonsense of [
		'',
		'much',
		'-1',
		'1e9',
		'5 parsecs',
		'5 s later',
		'5s5',
		'1.',
		'1.5.5',
		'1.x',
		'0x10',
		'9'.repeat(40)
	])
		expect(asking({ memory: nonsense, cpu: nonsense })).toEqual(DEFAULT_LIMITS);
	expect(asking({ processes: '0' }).processes).toBe(1);
	// It takes no memory.
	expect(asking({ 'virtual-memory': '1tb' }).virtualBytes).toBe(1024 ** 4);
	expect(asking({ 'virtual-memory': '9000 tb' }).virtualBytes).toBe(4 * 1024 ** 4);
});

test('D10: the time limit is the call’s, else the skill’s, else the host’s; 300 s at most', () => {
	expect(timeoutOf({ metadata: {} }, undefined, 30_000)).toBe(30_000);
	expect(timeoutOf({ metadata: { timeout: '90' } }, undefined, 30_000)).toBe(90_000);
	expect(timeoutOf({ metadata: { timeout: '2m' } }, undefined, 30_000)).toBe(120_000);
	expect(timeoutOf({ metadata: { timeout: ' 1.25 m ' } }, undefined, 30_000)).toBe(75_000);
	expect(timeoutOf({ metadata: { timeout: '1ms' } }, undefined, 30_000)).toBe(100);
	expect(timeoutOf({ metadata: { timeout: '500ms' } }, undefined, 30_000)).toBe(500);
	expect(timeoutOf({ metadata: { timeout: '2m' } }, 1000, 30_000)).toBe(1000);
	expect(timeoutOf({ metadata: { timeout: '2h' } }, undefined, 30_000)).toBe(30_000);
	expect(timeoutOf({ metadata: {} }, 9_999_999, 30_000)).toBe(MAX_TIMEOUT_MS);
});
