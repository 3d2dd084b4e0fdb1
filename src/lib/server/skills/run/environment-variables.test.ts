import { describe, expect, test } from 'vitest';
import { declaredVariables } from '../needs/variables.ts';
import { buildEnvironment } from './environment.ts';
import type { Skill } from '../types.ts';

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
