/** AG-UI's own client against the built app: the tasks, a tool of the client, consent. */
import { readFile } from 'node:fs/promises';
import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas';
import { aguiClient, kindsOf } from '../support/agui-client.ts';
import { report, type ReportRow } from '../support/protocol-report.ts';
import { expect, test } from './app.ts';

const COUNT = 'Count the words of "the quick brown fox jumps over the lazy dog"';
const SUMMARISE = 'summarise sales.csv by region';

const { version: release } = await readPackage('@ag-ui/client');
const rows: ReportRow[] = [];
const passed = (task: string) =>
	rows.push({ client: `@ag-ui/client ${release}, HttpAgent`, task, method: 'POST /api/chat', result: 'true answer' });
test.afterAll(() => report('agui', rows));

async function readPackage(name: string): Promise<{ version: string }> {
	const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
	return JSON.parse(await readFile(file, 'utf8')) as { version: string };
}

test('F13: HttpAgent has the words of a sentence counted, and sees the script run', async ({ app }) => {
	const client = aguiClient(app.url);
	const answer = await client.run(COUNT);
	expect(answer).toMatch(/words\W+9/i);
	expect(kindsOf(client.events).has('skill.finished')).toBe(true);
	expect(client.last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
	passed(COUNT);
});

test('F13: HttpAgent has an uploaded sales.csv summarised by region, with the true sums', async ({ app }) => {
	const client = aguiClient(app.url);
	const uploaded = await fetch(`${app.url}/api/conversations/${client.agent.threadId}/files/sales.csv`, {
		method: 'PUT',
		headers: { 'content-type': 'text/csv' },
		body: await readFile(new URL('../fixtures/sales.csv', import.meta.url))
	});
	expect(uploaded.status).toBe(201);
	const answer = await client.run(SUMMARISE);
	for (const sum of ['4072.35', '3786.7', '3191.4', '2222.6']) expect(answer).toContain(sum);
	passed(SUMMARISE);
});

test('F13: the capabilities are as AG-UI has them', async ({ app }) => {
	const response = await fetch(`${app.url}/api/agent/capabilities`);
	expect(AgentCapabilitiesSchema.parse(await response.json())).toMatchObject({ tools: { clientProvided: true } });
});

test('F13: a thread of HttpAgent is a conversation that the page shows, with its steps', async ({ app, page }) => {
	const client = aguiClient(app.url);
	await client.run('Count the words of "one two three"');
	await page.goto(`${app.url}/c/${client.agent.threadId}`);
	await expect(page.locator('[data-testid=message][data-role=assistant]')).toHaveAttribute('data-status', 'complete');
	await expect(page.locator('[data-testid=message][data-role=user]')).toContainText('one two three');
});
