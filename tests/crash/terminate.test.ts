/** F14: on SIGTERM, runs get time to finish, new ones are refused, and slow ones are interrupted but not lost. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../support/folder.ts';
import { startApp, type App } from '../support/app-process.ts';
import { ask, follow, type Question, type SeenEvent } from '../support/crash-client.ts';
import { readAftermath, requireAccepted } from '../support/crash-rounds.ts';
import { call, startModelServer, text, type ModelServer } from '../support/model-server.ts';
import { eventually } from '../support/eventually.ts';
import { isRunning, processesWith } from '../support/processes.ts';

/** Ends when the file named in its first argument exists, not on SIGTERM. */
const SCRIPT = `trap '' TERM
echo "waiting"
while [ ! -e "$1" ]; do sleep 0.05; done
echo "went on"
`;
const SKILL = '---\nname: patient\ndescription: Waits.\n---\nRun `scripts/wait.sh`.\n';
/** Longer than any test. */
const FOR_EVER = '600000';

const folder = emptyFolder();
let model: ModelServer;
let app: App;

beforeEach(async () => {
	goFile = `go-${randomUUID()}`;
	await putFile(folder, 'skills/patient/SKILL.md', SKILL);
	await putFile(folder, 'skills/patient/scripts/wait.sh', SCRIPT);
	model = await startModelServer();
});

afterEach(async () => {
	await app?.stop();
	await model.close();
}, 30_000);

const question: Question = { runId: 'run-1', conversationId: 'c', messageId: 'message-1', text: 'wait, please' };
/** Its unique name identifies the script's process. */
let goFile: string;
const isScriptRunning = () => processesWith(goFile).length > 0;

/** The app with a run whose script is waiting. */
async function startWaiting(shutdownTimeoutMs: string, command?: [string, ...string[]]) {
	app = await startApp({
		command,
		skillsFrom: join(folder, 'skills'),
		env: {
			OPENROUTER_BASE_URL: model.url,
			OPENROUTER_API_KEY: 'test',
			OPENROUTER_MODEL: 'test/model',
			SHUTDOWN_TIMEOUT_MS: shutdownTimeoutMs
		}
	});
	model.push([text('I wait.'), call('use_skill', { skill: 'patient', script: 'wait.sh', args: [goFile] })]);
	await requireAccepted(await ask(app.url, question));
	const running = Promise.withResolvers<void>();
	const onEvent = ({ event }: SeenEvent): void => {
		if (event.type !== 'CUSTOM' || event.name !== 'skill.output') return;
		if (event.value.text.includes('waiting')) running.resolve();
	};
	const following = follow(app.url, question.runId, { onEvent });
	await running.promise;
	return { following, server: app.pid() };
}

/** Did the process end its runs itself? If not, the next one logs that it had to. */
const endedItself = () => !app.logs.some((line) => line.includes('run was interrupted by the last stop'));

/** The response to a new run once the server has the signal; until then the chat is busy. */
async function askUntilRefused(): Promise<Response> {
	let answer: Response | undefined;
	await expect
		.poll(async () => {
			answer = await ask(app.url, { ...question, runId: 'run-2', messageId: 'message-2' });
			return answer.status;
		})
		.not.toBe(409);
	if (!answer) throw new Error('nothing was asked');
	return answer;
}

describe('F14: at SIGTERM', { timeout: 120_000 }, () => {
	test('new runs are refused with 503 and Retry-After, and what runs is read and ends as it would have', async () => {
		const { following, server } = await startWaiting(FOR_EVER);
		const restarting = app.restart();
		// npm forwards a Ctrl+C that the terminal has already sent.
		process.kill(server, 'SIGTERM');

		const refused = await askUntilRefused();
		expect(refused.status).toBe(503);
		expect(refused.headers.get('retry-after')).toBe('5');
		expect(await refused.json()).toMatchObject({ error: { code: 'unavailable' } });
		expect((await readAftermath(app, { ...question, runId: 'run-2' })).run).toBeNull();
		const reading = await fetch(`${app.url}/api/runs/${question.runId}`);
		expect(await reading.json()).toMatchObject({ state: 'running' });

		model.push(text('Done.'));
		await writeFile(join(app.dataDir, 'workspaces', question.conversationId, goFile), '');
		const { events, isCut } = await following;
		expect(isCut).toBe(false);
		expect(events.at(-1)?.event).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
		await restarting;
		const { run, answer } = await readAftermath(app, question);
		expect(run?.state).toBe('success');
		expect(answer).toMatchObject({
			status: 'complete',
			parts: [{ text: 'I wait.' }, { status: 'done', execution: { exitCode: 0 } }, { text: 'Done.' }]
		});
		expect(endedItself()).toBe(true);
		model.assertDone();
	});

	test('what is not done in time is interrupted: its script is ended, its text stays, its page is told', async () => {
		const { following } = await startWaiting('500');
		await app.restart();
		expect(isScriptRunning()).toBe(false);
		const { events, isCut } = await following;
		expect(isCut).toBe(false);
		expect(events.at(-1)?.event).toMatchObject({ type: 'RUN_ERROR', code: 'interrupted' });
		const { run, answer, replay } = await readAftermath(app, question);
		expect(run?.state).toBe('interrupted');
		expect(replay?.events.map(({ seq, event }) => ({ seq, event }))).toEqual(
			events.map(({ seq, event }) => ({ seq, event }))
		);
		expect(answer).toMatchObject({ status: 'interrupted', parts: [{ text: 'I wait.' }, { name: 'use_skill' }] });
		expect(endedItself()).toBe(true);
		model.assertDone();
	});

	test('told again, it does not wait any longer, and ends as cleanly', async () => {
		const { following, server } = await startWaiting(FOR_EVER);
		const restarting = app.restart();
		const again = setInterval(() => isRunning(server) && process.kill(server, 'SIGTERM'), 200);
		const { events, isCut } = await following.finally(() => clearInterval(again));
		await restarting;
		expect(isCut).toBe(false);
		expect(events.at(-1)?.event).toMatchObject({ type: 'RUN_ERROR', code: 'interrupted' });
		expect(isScriptRunning()).toBe(false);
		expect(endedItself()).toBe(true);
	});
});

describe('F14: a server whose terminal or npm ends', { timeout: 120_000 }, () => {
	test('a SIGTERM to npm start ends it in order, though npm passes it on to a shell alone', async () => {
		const { following, server: npm } = await startWaiting('500', ['npm', 'start']);
		process.kill(npm, 'SIGTERM');
		const { events, isCut } = await following;
		expect(isCut).toBe(false);
		expect(events.at(-1)?.event).toMatchObject({ type: 'RUN_ERROR', code: 'interrupted' });
		await eventually(() => expect(fetch(app.url)).rejects.toThrow());
		expect(isScriptRunning()).toBe(false);
	});

	test('a hangup, as of a window that is closed, ends it in order', async () => {
		const { following, server } = await startWaiting('500');
		process.kill(server, 'SIGHUP');
		const { events, isCut } = await following;
		expect(isCut).toBe(false);
		expect(events.at(-1)?.event).toMatchObject({ type: 'RUN_ERROR', code: 'interrupted' });
		await eventually(() => expect(isRunning(server)).toBe(false));
	});
});
