/** Invalid skill names, and ids that look like paths: every call accepts the ids the list returns. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putFile, sharedFolder } from '../support/folder.ts';
import { MANAGER } from '../../src/lib/server/access/caller.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { SkillDetail, SkillList, SkillSummary } from '../../src/lib/shared/skills.ts';
import { fromSkillId, toSkillId } from '../../src/lib/shared/names.ts';
import * as list from '../../src/routes/api/skills/+server.ts';
import * as one from '../../src/routes/api/skills/[...id]/+server.ts';
import * as executions from '../../src/routes/api/skills/executions/+server.ts';
import { checkedAnswer } from '../support/checked-answer.ts';

/** Paths, references, names other systems refuse, invisible characters, and names that are too long. */
const NAMES = [
	...[
		'..',
		'.',
		'../..',
		'a/b/c',
		'/tmp/x',
		'a@b',
		'@a',
		'a@1.0.0',
		'a\\b',
		'C:\\x',
		'a:b',
		'~install',
		'-a',
		'.hidden'
	],
	...['a?b', 'a#b', 'a%2fb', 'a*b', '**a**', 'a|b', 'a<b>', 'a"b', 'a\u0000b', 'a\nb', 'a\u001b[31mb', 'a\u007fb'],
	...['a\u202eb', 'a\u200bb', 'a\u2060b', 'a\u00adb', 'a\u2028b', 'a\ufff9b', 'a\u{e0041}b', 'a\u3164b', 'a\ud800b'],
	...['builtin/browser', 'a'.repeat(300)]
];

const root = sharedFolder();
let app: App;
beforeAll(async () => {
	for (const [index, name] of NAMES.entries()) {
		const text = `---\nname: ${JSON.stringify(name)}\ndescription: Has a hostile name.\n---\nText.`;
		await put(`folder-${index}`, text);
	}
	await put('mail@home', '---\ndescription: Has none.\n---\nText.');
	await put('~~x\u202e y', '---\ndescription: Has none.\n---\nText.');
	const folders = { DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills') };
	app = await createApp(loadConfig({ ...folders, SKILLS_SANDBOX: 'process' }));
});
afterAll(async () => {
	await app.close();
});

async function put(folder: string, text: string): Promise<void> {
	await putFile(root, `skills/${folder}/SKILL.md`, text);
	await putFile(root, `skills/${folder}/scripts/say.sh`, 'echo said\n');
}

async function send<Answer>(handler: (event: never) => Response | Promise<Response>, id = '', body?: unknown) {
	const url = new URL('http://localhost/?limit=200&source=skills');
	const request = new Request(url, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
	const event = { url, request, params: { id }, locals: { app, caller: MANAGER } };
	const response = await checkedAnswer(handler, await handler(event as never));
	return { status: response.status, body: (await response.json()) as Answer };
}

const skills = async (): Promise<SkillSummary[]> => (await send<SkillList>(list.GET)).body.data;

describe('A6: a name that cannot be one', () => {
	test('is not taken: the folder’s stands in, and the list says so', async () => {
		const all = await skills();
		expect(all.map(({ status }) => status)).toEqual(all.map(() => 'ready'));
		const folders = NAMES.map((_name, index) => `folder-${index}`);
		expect(all.map(({ name }) => name).toSorted()).toEqual([...folders, 'mail-home', 'x--y'].toSorted());
		for (const { name, diagnostics } of all.filter(({ name }) => name.startsWith('folder-'))) {
			expect([name, diagnostics.some(({ field }) => field === 'name')]).toEqual([name, true]);
		}
	});

	test('can be read, loaded, run and switched off by the id of the list', async () => {
		const { skills: provider, modes } = app;
		for (const { id, name } of await skills()) {
			expect((await send<SkillDetail>(one.GET, id)).body).toMatchObject({ id, name });
			const session = provider.createSession({ snapshot: provider.registry.snapshot(), modeOf: modes.modeOf });
			const loaded = await session.call('load_skill', { skill: name }, { cwd: root });
			expect([id, loaded.ok]).toEqual([id, true]);
			const ran = await send<unknown>(executions.POST, '', { skillName: id, script: 'scripts/say.sh' });
			expect([id, ran]).toMatchObject([id, { status: 201, body: { result: { stdout: 'said\n' } } }]);
			expect((await send<SkillDetail>(one.PUT, id, { mode: 'off' })).body).toMatchObject({ id, mode: 'off' });
		}
		expect((await skills()).map(({ mode }) => mode)).toEqual((await skills()).map(() => 'off'));
	});
});

describe('E2: the id of a skill', () => {
	test('is no word of an address below /api/skills or /skills: those that there are have a sign before them', async () => {
		const routes = join(import.meta.dirname, '../../src/routes');
		const folders = await Promise.all(
			['api/skills', 'skills'].map((path) => readdir(join(routes, path), { recursive: true, withFileTypes: true }))
		);
		const isWord = (name: string) => /^[a-z]/.test(name);
		const words = folders
			.flat()
			.filter((entry) => entry.isDirectory() && isWord(entry.name))
			.map(({ name }) => name);
		expect(words.length).toBeGreaterThan(20);
		for (const word of [...words, '.', '..']) expect([word, toSkillId(word)]).toEqual([word, `~${word}`]);
		expect(toSkillId('trash/evals/plain@1.0.0')).toBe('~trash/~evals/plain@1.0.0');
	});

	test('is one already, or comes back as what it was made of', () => {
		for (const id of ['plain', 'install', 'a/cases', 'skills/install@1.0.0', '~tilde', 'x/.']) {
			expect(toSkillId(toSkillId(id))).toBe(toSkillId(id));
			expect(fromSkillId(toSkillId(id))).toBe(id);
		}
	});
});
