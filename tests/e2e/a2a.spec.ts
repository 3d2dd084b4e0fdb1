/** The @a2a-js/sdk client against the built app (E16). For both tasks, see clients.spec.ts. */
import { TaskState, type Task } from '@a2a-js/sdk';
import type { NewApiKey } from '../../src/lib/shared/settings.ts';
import { a2aClient, filePart, says, sendTask, textOfArtifact } from '../support/a2a-client.ts';
import { COUNT_WORDS, SALES, SUMMARISE } from '../support/tasks.ts';
import { expect, test } from './app.ts';

const TOKEN = 'the-token-of-this-test-0123456789';
const JSON_TYPE = { 'content-type': 'application/json' };

const isCompleted = (task: Task) => expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);

test('E16: what a script made is an artifact of its task, and the task is there after a restart', async ({ app }) => {
	for (const version of ['1.0', '0.3'] as const) {
		const client = await a2aClient(app.url, version);
		const summary = await sendTask(client, says(SUMMARISE, { parts: [filePart(SALES.name, SALES.text)] }));
		isCompleted(summary);
		const chart = summary.artifacts.find(({ name }) => name.endsWith('.svg'))?.parts[0];
		expect(chart).toMatchObject({ mediaType: 'image/svg+xml' });
		expect(chart?.content?.$case === 'raw' && Buffer.from(chart.content.value).toString()).toContain('<svg');
		await app.restart();
		expect(textOfArtifact(await client.getTask({ tenant: '', id: summary.id }))).toBe(textOfArtifact(summary));
	}
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
		const task = await sendTask(own, says(COUNT_WORDS));
		isCompleted(task);
		const other = await a2aClient(app.url, '1.0', await keyFor('two'));
		await expect(other.getTask({ tenant: '', id: task.id })).rejects.toThrow('Task not found');
	});
});
