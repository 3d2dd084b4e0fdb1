/** Another agent asks this one: the client of @a2a-js/sdk against the built app, in both versions of A2A (FEATURES E16). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TaskState, type Task } from '@a2a-js/sdk';
import type { NewApiKey } from '../../src/lib/shared/api-keys.ts';
import { a2aClient, all, filePart, replayed, says, sendTask, textOfArtifact } from '../support/a2a-client.ts';
import { report, type ReportRow } from '../support/protocol-report.ts';
import { expect, test } from './app.ts';

const COUNT = 'Count the words of “the quick brown fox jumps”';
const SUMMARISE = 'summarise sales.csv by region';
const SALES = 'region,amount\nNorth,100.50\nSouth,20\nNorth,11.25\nWest,7\nSouth,30\n';
const TOKEN = 'the-token-of-this-test-0123456789';
const JSON_TYPE = { 'content-type': 'application/json' };

const sdk = join(import.meta.dirname, '../../node_modules/@a2a-js/sdk/package.json');
const { version: release } = JSON.parse(readFileSync(sdk, 'utf8')) as { version: string };
const isCompleted = (task: Task) => expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);

test('E16: the words of a sentence are counted, and a table that comes with a message is summarised', async ({
	app
}) => {
	const rows: ReportRow[] = [];
	for (const version of ['1.0', '0.3'] as const) {
		const client = await a2aClient(app.url, version);
		const passed = (task: string, method: string) =>
			rows.push({ client: `@a2a-js/sdk ${release}, A2A ${version}`, task, method, result: 'true answer' });

		const counted = await sendTask(client, says(COUNT));
		isCompleted(counted);
		expect(textOfArtifact(counted)).toMatch(/\b5\b/);
		passed(COUNT, version === '1.0' ? 'SendMessage' : 'message/send');

		const events = await all(client.sendMessageStream(says(SUMMARISE, { parts: [filePart('sales.csv', SALES)] })));
		const summary = replayed(events);
		isCompleted(summary);
		expect(textOfArtifact(summary)).toMatch(/North[^\n]*111\.75/);
		expect(textOfArtifact(summary)).toMatch(/South[^\n]*50/);
		expect(textOfArtifact(summary)).toMatch(/West[^\n]*7/);
		const chart = summary.artifacts.find(({ name }) => name.endsWith('.svg'))?.parts[0];
		expect(chart).toMatchObject({ mediaType: 'image/svg+xml' });
		expect(chart?.content?.$case === 'raw' && Buffer.from(chart.content.value).toString()).toContain('<svg');
		passed(SUMMARISE, version === '1.0' ? 'SendStreamingMessage' : 'message/stream');

		await app.restart();
		expect(textOfArtifact(await client.getTask({ tenant: '', id: summary.id }))).toBe(textOfArtifact(summary));
	}
	await report('a2a', rows);
});

test('E16: what is no call of A2A is refused at the door or in its words', async ({ app }) => {
	const post = async (headers: Record<string, string>, body: string) => {
		const response = await fetch(`${app.url}/a2a`, { method: 'POST', headers, body });
		return { status: response.status, body: (await response.json()) as { error?: { code: unknown } } };
	};
	expect(await post({ 'content-type': 'text/plain' }, '{}')).toMatchObject({ status: 415 });
	expect(await post({ ...JSON_TYPE, origin: 'http://other.example' }, '{}')).toMatchObject({ status: 403 });
	expect(await post(JSON_TYPE, '{')).toMatchObject({ status: 200, body: { error: { code: -32700 } } });
	expect((await fetch(`${app.url}/a2a`)).status).toBe(405);
});

test.describe('with ADMIN_TOKEN', () => {
	test.use({ appOptions: { env: { ADMIN_TOKEN: TOKEN } } });

	test('E16: strangers see how to come in; a program with a key sees the skills, and has tasks of its own', async ({
		app
	}) => {
		const card = async (headers: Record<string, string> = {}) => {
			const response = await fetch(`${app.url}/.well-known/agent-card.json`, { headers });
			expect(response.status).toBe(200);
			return (await response.json()) as { url: string; skills: { id: string }[] };
		};
		const keyFor = async (name: string) => {
			const body = JSON.stringify({ name, scopes: ['read', 'execute'] });
			const headers = { ...JSON_TYPE, authorization: `Bearer ${TOKEN}` };
			const response = await fetch(`${app.url}/api/keys`, { method: 'POST', headers, body });
			return ((await response.json()) as NewApiKey).key;
		};
		expect(await card()).toMatchObject({ url: `${app.url}/a2a`, skills: [{ id: 'agent' }] });
		const key = await keyFor('one');
		const known = await card({ authorization: `Bearer ${key}` });
		expect(known.skills.map(({ id }) => id)).toContain('skill:count-words');

		const unknown = await fetch(`${app.url}/a2a`, { method: 'POST', headers: JSON_TYPE, body: '{}' });
		expect({ status: unknown.status, asks: unknown.headers.get('www-authenticate') }).toEqual({
			status: 401,
			asks: 'Bearer'
		});
		const own = await a2aClient(app.url, '1.0', key);
		const task = await sendTask(own, says(COUNT));
		isCompleted(task);
		const other = await a2aClient(app.url, '1.0', await keyFor('two'));
		await expect(other.getTask({ tenant: '', id: task.id })).rejects.toThrow('no such task');
	});
});
