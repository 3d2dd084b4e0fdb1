/** F14: two servers and a worker reach Postgres through PgBouncer in transaction mode. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { isTerminal } from '../../src/lib/shared/events.ts';
import { startApp, type App } from '../support/app-process.ts';
import { ask, follow, type Question, readRun } from '../support/crash-client.ts';
import { requireAccepted } from '../support/crash-rounds.ts';
import { call, gate, startModelServer, text, type ModelServer } from '../support/model-server.ts';
import { lacksPgbouncer, type Pooler, startPgbouncer } from '../support/pgbouncer.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { startProcess } from '../support/worker-rig.ts';

describe.skipIf(lacksPostgres() || lacksPgbouncer())('F14: behind a pooler', () => {
	const dataDir = sharedFolder();
	let model: ModelServer;
	let postgres: TestPostgres;
	let pooler: Pooler;
	let env: Record<string, string>;
	const servers: App[] = [];

	beforeAll(async () => {
		model = await startModelServer();
		postgres = await startPostgres();
		pooler = await startPgbouncer(postgres);
		env = {
			...{ OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'test', OPENROUTER_MODEL: 'test/model' },
			...{ DATABASE_DIRECT_URL: await postgres.createDatabase('app'), DATABASE_URL: pooler.urlOf('app') },
			...{ SECRETS_KEY: 'a long secret of the two servers', DATA_DIR: dataDir },
			...{ SKILLS_RUN_ON: 'workers', SKILLS_SANDBOX: 'process' }
		};
		for (let count = 0; count < 2; count += 1) servers.push(await startApp({ env }));
	}, 300_000);
	afterAll(async () => {
		for (const server of servers) await server.stop();
		await pooler?.stop();
		await postgres?.stop();
		await model?.close();
	});

	const questionOf = (id: string): Question => ({
		...{ runId: `run-${id}`, conversationId: `conversation-${id}`, messageId: `message-${id}` },
		text: 'Go.'
	});
	const [owner, other] = [() => servers[0] as App, () => servers[1] as App];

	test('an answer is read live at both servers, and the other one goes on with it when its own is killed', async () => {
		const held = gate();
		model.push(text('one ', held, 'never'), text('two'));
		const question = questionOf('killed');
		await requireAccepted(await ask(owner().url, question));
		const begun = Promise.withResolvers<void>();
		const watching = follow(other().url, question.runId, {
			onEvent: ({ event }) => {
				if (event.type === 'TEXT_MESSAGE_CONTENT') begun.resolve();
			}
		});
		await begun.promise;
		await owner().signal('SIGKILL');
		const { events } = await watching;
		held.open();
		expect(events.map(({ event }) => (event.type === 'TEXT_MESSAGE_CONTENT' ? event.delta : '')).join('')).toBe(
			'one two'
		);
		expect(events.filter(({ event }) => isTerminal(event))).toHaveLength(1);
		expect(await readRun(other().url, question.runId)).toMatchObject({ state: 'success' });
		model.assertDone();
	});

	test('a worker runs a script', async () => {
		const worker = await startProcess('src/lib/server/cli/worker.ts', env, 'Worker ready');
		model.push(call('load_skill', { skill: 'count-words' }), call('count_words', { text: 'a b c' }), text('done'));
		const question = questionOf('script');
		await requireAccepted(await ask(other().url, question));
		const { events } = await follow(other().url, question.runId);
		const results = events.map(({ event }) => (event.type === 'TOOL_CALL_RESULT' ? event.content : ''));
		expect(results.join('\n')).toMatch(/\bwords\W+3\b/);
		await worker.stop();
	});
});
