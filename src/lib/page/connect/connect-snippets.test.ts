import { execFileSync } from 'node:child_process';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { ANY_KEY } from './app-settings.ts';
import { CLIENTS, clientOf, snippetsOf, WITHOUT_KEY } from './connect-snippets.ts';

const PLACE = { origin: 'https://skills.example:8443', key: 'ors_k-_1', model: 'maker/model' };
const all = CLIENTS.flatMap((client) => snippetsOf(client, PLACE).map((snippet) => ({ client, ...snippet })));

describe('F12: settings to copy', () => {
	test.each(all.map((each) => [each.client, each.id, each]))('F12: %s, %s: ends where it should', (_c, _i, each) => {
		const { title, language, text } = each;
		expect(text).toBe(text.trim());
		expect(title).toMatch(/\w/);
		if (language === 'json') expect(() => JSON.parse(text) as unknown).not.toThrow();
		expect(text).not.toMatch(/undefined|\[object/);
	});

	test('F12: whatever goes to this server goes to its own origin, with the key', () => {
		for (const { client, id, text } of all) {
			const addresses = text.match(/https?:\/\/[^'"\s]+/g) ?? [];
			for (const address of addresses)
				expect(address.startsWith(`${PLACE.origin}/`) || address === PLACE.origin).toBe(true);
			if (addresses.length > 0 && id !== 'card') expect(text, `${client} ${id}`).toContain(PLACE.key);
		}
	});

	test('F12: where no key is needed, none is sent; a program that insists on one gets any text', () => {
		const open = CLIENTS.flatMap((client) =>
			snippetsOf(client, { ...PLACE, key: ANY_KEY }).map((snippet) => ({ client, ...snippet }))
		);
		const sent = open.filter(({ text }) => text.includes(`Bearer ${ANY_KEY}`));
		expect(sent.map(({ client }) => client)).toEqual([]);
		for (const { language, text } of open) {
			expect(text).toBe(text.trim());
			if (language === 'json') expect(() => JSON.parse(text) as unknown).not.toThrow();
		}
		expect(open.find(({ client }) => client === 'openai')?.text).toContain(ANY_KEY);
	});

	test('F12: what is run once counts for all folders', () => {
		const commands = all.filter(({ text }) => / mcp add /.test(text));
		expect(commands.map(({ client }) => client)).toEqual(['claude-code', 'gemini', 'qwen']);
		for (const { text } of commands) expect(text).toContain('--scope user');
	});

	test('F12: the library, and a program that is started here, are told no key', () => {
		const without = all.filter(({ client }) => WITHOUT_KEY.has(client));
		expect(without).toHaveLength(7);
		for (const { text } of without) expect(text).not.toContain(PLACE.key);
	});

	test('F12: an address names a client, or none', () => {
		expect(CLIENTS.map((client) => clientOf(`#${client}`))).toEqual([...CLIENTS]);
		// Older links use these.
		const former = ['#responses', '#agui', '#mcp', '#a2a', '#rest', '#library'];
		expect(former.map(clientOf)).toEqual(['openai', 'ag-ui', 'claude-code', 'a2a', 'curl', 'library']);
		expect(['', '#', '#nothing', 'mcp', '#constructor'].map(clientOf)).toEqual([null, null, null, null, null]);
	});

	const NAME = `x"'\\$(echo\${IFS}evil)\`echo\${IFS}evil\`!#`;
	const named = CLIENTS.flatMap((client) => snippetsOf(client, { ...PLACE, model: NAME }));
	const withName = (language: string) =>
		named.filter((each) => each.language === language && each.text.includes('evil'));

	test('F12: SECURITY: the name of a model, whatever its server calls it, is run by no shell', () => {
		const snippets = withName('bash');
		expect(snippets.length).toBeGreaterThan(1);
		for (const { text } of snippets) {
			// `curl` says what it was given.
			const script = `curl() { printf '%s\\n' "$@"; }\n${text}\nprintf '%s\\n' "$OPENAI_MODEL"`;
			const said = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
			expect([NAME, JSON.stringify(NAME)].some((each) => said.includes(each))).toBe(true);
		}
	});

	test('F12: SECURITY: it is a text in code, and in settings', () => {
		const texts = [...withName('javascript'), ...withName('python'), ...withName('toml'), ...withName('yaml')];
		expect(texts.length).toBeGreaterThan(8);
		for (const { text } of texts) {
			const found = [JSON.stringify(NAME), `'${NAME.replaceAll(/[\\']/g, '\\$&')}'`].filter((each) =>
				text.includes(each)
			);
			expect(found).toHaveLength(1);
			expect(runInNewContext(found[0] ?? '')).toBe(NAME);
			expect(text.replaceAll(found[0] ?? '', '')).not.toContain('evil');
		}
	});
});
