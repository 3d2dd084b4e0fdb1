import { expect, test } from 'vitest';
import { buildEnvironment } from './environment.ts';
import type { Skill } from './types.ts';

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
		HOME: '/work',
		SKILL_DIR: '/skills/demo',
		CLAUDE_SKILL_DIR: '/skills/demo',
		PYTHONPATH: '/skills/demo',
		PYTHONUNBUFFERED: '1',
		PYTHONDONTWRITEBYTECODE: '1',
		PYTHONIOENCODING: 'utf-8'
	});
});
test('D7: without a locale of the host, text is UTF-8', () => {
	expect(build()).toMatchObject({ LANG: 'C.UTF-8' });
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
test('D14: a skill cannot declare its way to a secret of the host, to its own home or to a prototype', () => {
	const metadata = { env: `${Object.keys(secrets).join(' ')} SKILL_DIR __proto__ constructor toString A=B ../x` };
	const environment = build(
		{ metadata },
		{ host: secrets, offered: { HOME: '/etc', SKILL_DIR: '/etc', PYTHONPATH: '/etc' } }
	);
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
	expect(environment).toMatchObject({ PATH: '/bin', EDITOR: 'vi', HOME: '/work' });
	for (const name of ['OPENROUTER_API_KEY', 'DATABASE_URL', 'NODE_OPTIONS', 'LD_PRELOAD', 'npm_config_token']) {
		expect(environment).not.toHaveProperty(name);
	}
	expect(build({}, { host })).not.toHaveProperty('EDITOR');
});
