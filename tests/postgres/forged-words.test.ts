/** F14: whoever may connect to the database may also send words to the servers (NOTIFY), without any right to its tables. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../support/folder.ts';
import { type App, createApp } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { CHANNEL } from '../../src/lib/server/store/replicas.ts';
import type { CustomRunEvent } from '../../src/lib/shared/events.ts';
import { eventually } from '../support/eventually.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';

describe.skipIf(lacksPostgres())('F14: words of somebody who may only connect to the database', () => {
	let postgres: TestPostgres;
	const root = emptyFolder();
	let stranger: Client;
	let apps: App[] = [];
	let count = 0;
	beforeAll(async () => {
		postgres = await startPostgres();
		await postgres.sql('create role stranger login');
	});
	afterAll(() => postgres.stop());
	beforeEach(async () => {
		await mkdir(join(root, 'be'));
		await writeFile(join(root, 'be/file'), 'not the app’s');
		const name = `words_${(count += 1)}`;
		const url = await postgres.createDatabase(name);
		for (let left = 2; left > 0; left -= 1) {
			const settings = { DATA_DIR: join(root, 'data'), SKILLS_HOME: 'false', SKILLS_SANDBOX: 'process' };
			apps.push(await createApp(loadConfig({ ...settings, DATABASE_URL: url, SECRETS_KEY: 'a key of all servers' })));
		}
		stranger = new Client(postgres.urlOf(name, 'stranger'));
		await stranger.connect();
	});
	afterEach(async () => {
		await stranger.end();
		for (const app of apps.splice(0)) await app.close();
	});

	const say = (...words: string[]) =>
		stranger.query('select pg_notify($1, $2)', [CHANNEL, `stranger ${words.join(' ')}`]);
	/** They have heard what was said before, and done it. */
	async function areDone(): Promise<void> {
		const leftover = join(root, 'data/servers/leftover');
		await mkdir(leftover);
		await say('gone', 'leftover');
		await eventually(() => expect(existsSync(leftover)).toBe(false));
	}

	test('that servers have stopped removes no folder but theirs', async () => {
		const folders = await readdir(join(root, 'data/servers'));
		expect(folders).toHaveLength(2);
		// Only the first letters of an id make the name of a folder.
		for (const id of ['../../be', '..', '.', ...folders]) await say('gone', id);
		await areDone();
		expect(await readdir(join(root, 'be'))).toEqual(['file']);
		expect(await readdir(join(root, 'data/servers'))).toEqual(folders);
	});

	test('a storm of them costs a few statements, so that no lease waits behind it', async () => {
		const [a] = apps as [App, App];
		const asked = (['takeWants', 'claim'] as const).map((name) => vi.spyOn(a.store.runs, name));
		const storm = 'select count(pg_notify($1, $2 || number)) from generate_series(1, 20000) as number';
		for (const topic of ['wants', 'lapsed']) await stranger.query(storm, [CHANNEL, `stranger ${topic} `]);
		await areDone();
		apps = apps.filter((app) => app !== a);
		// It waits for what is in line.
		await a.close();
		// Among them is what it does by itself.
		for (const { mock } of asked) expect(mock.calls.length).toBeLessThan(500);
	});

	test('E36: nobody’s answer “for this chat” counts unless a server says so', async () => {
		const heard: string[] = [];
		stranger.on('notification', ({ payload = '' }) => void heard.push(...payload.split(' ').slice(1)));
		await stranger.query(`listen ${CHANNEL}`);
		const [a, b] = apps as [App, App];
		const sample = { prompt: 'Think', maxTokens: 10 };
		/** Null: a person is asked. */
		const ask = async (app: App, conversationId: string, onAsked?: (id: string) => void) => {
			const stop = new AbortController();
			const emit = ({ name, value }: CustomRunEvent) => {
				if (name !== 'tool.question') return;
				if (onAsked) onAsked(value.id);
				else stop.abort();
			};
			const question = { message: 'May I?', server: 'demo', sample, grant: 'sample demo 1' };
			return (await app.questions.asker(conversationId)(question, { toolCallId: 't', signal: stop.signal, emit }))
				.action;
		};
		const wordOf = (conversationId: string) => base64url(JSON.stringify([conversationId, 'sample demo 1']));
		await say(
			'grant',
			wordOf('c'),
			`${Date.now()}.${wordOf('c')}.`,
			`${Date.now()}.${wordOf('c')}.${base64url('x'.repeat(32))}`
		);
		await areDone();
		for (const app of apps) expect(await ask(app, 'c')).toBe('cancel');

		const answer = (id: string) => void a.questions.reply('c', id, { action: 'accept', forChat: true });
		expect(await ask(a, 'c', answer)).toBe('accept');
		await eventually(async () => expect(await ask(b, 'c')).toBe('accept'));
		// What a server said of one chat is worth nothing for another.
		const word = heard[heard.indexOf('grant') + 1] ?? '';
		expect(word).toContain(wordOf('c'));
		await say('grant', word.replace(wordOf('c'), wordOf('other')));
		await areDone();
		for (const app of apps) expect(await ask(app, 'other')).toBe('cancel');
	});
});

function base64url(text: string): string {
	return Buffer.from(text).toString('base64url');
}
