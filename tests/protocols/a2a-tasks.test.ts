/** The two tasks that every client is given, over A2A with the built-in responder and the bundled skills (FEATURES E16). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TaskState, type Task } from '@a2a-js/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
	a2aClient,
	all,
	filePart,
	replayed,
	says,
	sendTask,
	startA2ARig,
	textOfArtifact,
	type A2AClient,
	type A2ARig
} from '../support/a2a-rig.ts';
import { report, type ReportRow } from '../support/protocol-report.ts';

const COUNT = 'Count the words of “the quick brown fox jumps”';
const SUMMARISE = 'summarise sales.csv by region';
const SALES = 'region,amount\nNorth,100.50\nSouth,20\nNorth,11.25\nWest,7\nSouth,30\n';

const sdk = join(import.meta.dirname, '../../node_modules/@a2a-js/sdk/package.json');
const { version: release } = JSON.parse(readFileSync(sdk, 'utf8')) as { version: string };

let rig: A2ARig;
const rows: ReportRow[] = [];
beforeAll(async () => {
	rig = await startA2ARig({ SKILLS_DIRS: join(import.meta.dirname, '../../skills') });
});
afterAll(async () => {
	await report('a2a', rows);
	await rig.close();
});

describe.each(['1.0', '0.3'] as const)('with the client of A2A %s', (version) => {
	let client: A2AClient;
	beforeAll(async () => {
		client = await a2aClient(rig.url, version);
	});
	const isCompleted = (task: Task) => expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
	const passed = (task: string, how: string) =>
		rows.push({ client: `@a2a-js/sdk ${release} (A2A ${version})`, task, how, result: 'true answer' });

	test('E16: the words of a sentence are counted', async () => {
		const task = await sendTask(client, says(COUNT));
		isCompleted(task);
		expect(textOfArtifact(task)).toMatch(/\b5\b/);
		passed(COUNT, version === '1.0' ? 'SendMessage' : 'message/send');
	});

	test('E16: a table that comes with the message is summarised, and the chart comes back as an artifact', async () => {
		const task = replayed(
			await all(client.sendMessageStream(says(SUMMARISE, { parts: [filePart('sales.csv', SALES)] })))
		);
		isCompleted(task);
		const answer = textOfArtifact(task);
		expect(answer).toMatch(/North[^\n]*111\.75/);
		expect(answer).toMatch(/South[^\n]*50/);
		expect(answer).toMatch(/West[^\n]*7/);
		const chart = task.artifacts.find(({ name }) => name.endsWith('.svg'))?.parts[0];
		expect(chart).toMatchObject({ mediaType: 'image/svg+xml' });
		expect(chart?.content?.$case === 'raw' && Buffer.from(chart.content.value).toString()).toContain('<svg');
		passed(SUMMARISE, version === '1.0' ? 'SendStreamingMessage' : 'message/stream');
	});
});
