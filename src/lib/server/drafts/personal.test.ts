import { describe, expect, test } from 'vitest';
import { createHider } from './personal.ts';

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const hider = (known: Record<string, string> = {}) => createHider(new Map(Object.entries(known)));

describe('F8: secrets become variables that each language reads', () => {
	test.each([
		['run.sh', `curl -H "Authorization: ${TOKEN}"`, 'curl -H "Authorization: ${API_TOKEN}"'],
		['run.sh', `send '${TOKEN}'`, 'send "${API_TOKEN}"'],
		['run.mjs', `call('${TOKEN}')`, 'call(process.env.API_TOKEN)'],
		['run.mjs', `call("key ${TOKEN}!")`, 'call("key " + process.env.API_TOKEN + "!")'],
		['run.mjs', `call(\`key ${TOKEN}\`)`, 'call(`key ${process.env.API_TOKEN}`)'],
		['run.py', `import os\ncall("${TOKEN}")`, 'import os\ncall(os.environ["API_TOKEN"])'],
		[
			'run.py',
			`#!/usr/bin/env python3\ncall('${TOKEN}')`,
			'#!/usr/bin/env python3\nimport os\ncall(os.environ["API_TOKEN"])'
		],
		['SKILL.md', `Use ${TOKEN}.`, 'Use <API_TOKEN>.']
	])('%s: %s', (path, text, expected) => {
		expect(hider().hide(text, path)).toBe(expected);
	});

	test('the same secret is the same variable in every file, another one isn’t', () => {
		const one = hider();
		expect(one.hide(`${TOKEN} sk-${'x'.repeat(20)}`)).toBe('<API_TOKEN> <API_TOKEN_2>');
		expect(one.hide(`sk-${'x'.repeat(20)}`)).toBe('<API_TOKEN_2>');
		expect(one.hidden).toEqual([
			{ name: 'API_TOKEN', what: 'a token' },
			{ name: 'API_TOKEN_2', what: 'a token' }
		]);
	});

	test('the value of a skill’s variable is found wherever it stands, by its own name', () => {
		const one = hider({ WEATHER_KEY: 'rain-or-shine' });
		expect(one.hide('https://x.example/?q=rain-or-shine')).toBe('https://x.example/?q=<WEATHER_KEY>');
		expect(one.hidden).toEqual([{ name: 'WEATHER_KEY', what: 'a secret of a skill' }]);
	});
});

test.each([
	['postgres://me:hunter22@db.example/x', 'postgres://me:<PASSWORD>@db.example/x'],
	['password = "hunter22"', 'password = "<SECRET>"'],
	['GITHUB_TOKEN=abcdef12345 make', 'GITHUB_TOKEN=<SECRET> make'],
	['Authorization: Bearer abcdefghijklmnop1234', 'Authorization: Bearer <API_TOKEN>'],
	['-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----', '<PRIVATE_KEY>'],
	['mail ann.lee@firm.co.uk', 'mail someone@example.com'],
	['open /home/ann/sales.csv', 'open ~/sales.csv'],
	['open C:\\Users\\Ann\\sales.csv', 'open ~\\sales.csv'],
	['ssh 192.168.1.20', 'ssh <HOST_ADDRESS>']
])('F8: %s', (text, expected) => {
	expect(hider().hide(text)).toBe(expected);
});

test.each([
	'export TOKEN="$TOKEN"',
	'password: "<your password>"',
	'process.env.API_KEY',
	'mail someone@example.com',
	'version 1.20.30.40',
	'the secret of a good soup',
	'https://example.com/home/user-guide',
	'127.0.0.1:3000',
	'sk-short'
])('F8: nothing personal is in “%s”', (text) => {
	const one = hider();
	expect(one.hide(text)).toBe(text);
	expect(one.hidden).toEqual([]);
});

test('F8: a long hostile text is searched in time', () => {
	const text = `${'token_'.repeat(20_000)}${'a@'.repeat(20_000)}${'x://y:'.repeat(20_000)}`;
	expect(hider().hide(text, 'a.mjs')).toHaveLength(text.length);
});
