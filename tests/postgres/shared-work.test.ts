/** F14: work that goes on at one of several servers, and is seen, answered and stopped at another. */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/lib/server/app.ts';
import { ownerOf } from '../../src/lib/server/sandbox/workspace.ts';
import { mcpServerPut } from '../../src/lib/shared/mcp-servers.ts';
import { type Message, openQuestions, type ToolPart } from '../../src/lib/shared/message.ts';
import { evalStart } from '../../src/lib/shared/try-out.ts';
import { eventually } from '../support/eventually.ts';
import { startFixtureHttp } from '../support/mcp-fixture.ts';
import { call, gate, hang, type ModelServer, type Reply, startModelServer, text } from '../support/model-server.ts';
import { openPackageIndex } from '../support/package-index.ts';
import { processesWith } from '../support/processes.ts';
import { lacksPostgres } from '../support/postgres.ts';
import { createSharedApps } from '../support/shared-apps.ts';

const NOW = '2026-11-27T12:00:00.000Z';
const ASKER = { apiKeyId: null, scopes: [] };
const NAP = `987.${randomInt(1e12)}`;
const SKILL: Record<string, string> = {
	'greeter/SKILL.md': '---\nname: greeter\ndescription: Says hello.\n---\nHi.',
	'greeter/scripts/wait.sh': `echo waiting; exec sleep ${NAP}\n`,
	'greeter/evals/evals.json': JSON.stringify({
		skill_name: 'greeter',
		evals: [{ id: 1, prompt: 'Greet me.', expected_output: 'A greeting.', expectations: [] }]
	})
};

describe.skipIf(lacksPostgres())('F14: several servers', () => {
	let model: ModelServer;
	let environment: Record<string, string> = {};
	// Before the apps' own hook, which then runs first.
	afterEach(() => model?.close());
	const shared = createSharedApps(() => ({
		...{ OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'test', OPENROUTER_MODEL: 'test/model' },
		...{ CHAT_TITLES: 'false', ...environment }
	}));
	const { open } = shared;
	beforeEach(async () => {
		environment = {};
		for (const [path, content] of Object.entries(SKILL)) await shared.put(path, content);
	});

	async function start(script: Reply[]): Promise<[App, App]> {
		model = await startModelServer(script);
		return [await open(), await open()];
	}
	const begin = async (app: App): Promise<string> => {
		const signal = new AbortController().signal;
		const { events } = await app.responses.respond({ input: 'Hi', background: true }, ASKER, signal);
		for await (const event of events) return (event.response as { id: string }).id;
		throw new Error('there is no response');
	};
	const bodyOf = (app: App, id: string) => app.responses.retrieve(id, ASKER, []);

	const toolOf = (message: Message | undefined) =>
		message?.parts.find((part): part is ToolPart => part.type === 'tool');
	const ask = (app: App, runId: string) => {
		const message = { id: `m-${runId}`, text: 'go', files: [] };
		return app.runner.start({ kind: 'ask', runId, conversationId: 'c', message, tools: [] });
	};
	const answerOf = async (app: App, runId: string): Promise<Message> => {
		const messages = await app.store.messages.list('c');
		const found = messages.find((message) => message.runId === runId && message.role === 'assistant');
		if (!found) throw new Error('no answer');
		return app.runner.current(found);
	};
	const questionOn = (app: App, runId: string) =>
		eventually(async () => {
			const tool = toolOf(await answerOf(app, runId));
			const [question] = tool ? openQuestions(tool) : [];
			if (!question) throw new Error('no question yet');
			return question;
		});

	test('F12: a response in the background is read and followed where it isn’t written, to its end', async () => {
		const held = gate();
		const [a, b] = await start([text('one ', held, 'two')]);
		const id = await begin(a);
		await eventually(async () => expect((await bodyOf(b, id)).status).toBe('in_progress'));
		const seen: { type: string; sequence_number: number }[] = [];
		const follow = await b.responses.follow(id, ASKER, null);
		const following = (async () => {
			for await (const event of follow(new AbortController().signal)) seen.push(event);
		})();
		await eventually(() => expect(seen.map(({ type }) => type)).toContain('response.output_text.delta'));
		held.open();
		await following;
		expect(seen.map(({ sequence_number: number }) => number)).toEqual(seen.map((_, index) => index));
		expect(seen.at(-1)?.type).toBe('response.completed');
		expect(JSON.stringify((await bodyOf(b, id)).output)).toContain('one two');
	});

	test('F12: a response in the background is cancelled from any server, and removed', async () => {
		const [a, b] = await start([hang(), hang()]);
		const id = await begin(a);
		await eventually(() => expect(model.requests).toHaveLength(1));
		expect((await b.responses.cancel(id, ASKER)).status).toBe('cancelled');
		expect((await bodyOf(a, id)).status).toBe('cancelled');
		const other = await begin(a);
		expect(await b.responses.remove(other, ASKER)).toMatchObject({ deleted: true });
		await expect(bodyOf(a, other)).rejects.toMatchObject({ status: 404 });
	});

	test('F16: evals are watched and cancelled from any server, and run once at a time', async () => {
		const [a, b] = await start([hang(), hang()]);
		const run = await a.evals.start('greeter', evalStart.parse({ without: false }));
		await eventually(() => expect(model.requests).toHaveLength(1));
		expect(await b.evals.get('greeter', run.id)).toMatchObject({ state: 'running' });
		await expect(b.evals.start('greeter', evalStart.parse({}))).rejects.toThrow('already running');
		expect(await b.evals.cancel('greeter', run.id)).toMatchObject({ state: 'cancelled' });
		expect(await a.evals.get('greeter', run.id)).toMatchObject({ state: 'cancelled' });
	});

	test('F8: a trial of a draft is watched and stopped at any server, runs once at a time, and is over with its server', async () => {
		const [a, b] = await start([hang(), hang()]);
		const { id, revision } = await a.drafts.start({ skill: 'greeter' });
		const wanted = { revision, prompt: 'Greet me.' };
		expect(await b.drafts.trial(id)).toBeNull();
		const both = await Promise.allSettled([a, a, b, b].map((app) => app.drafts.try(id, wanted)));
		expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
		await eventually(() => expect(model.requests).toHaveLength(1));
		for (const app of [a, b]) {
			expect(await app.drafts.trial(id)).toMatchObject({ state: 'running' });
			await expect(app.drafts.try(id, wanted)).rejects.toThrow('being tried already');
		}
		const isOnA = both.slice(0, 2).some(({ status }) => status === 'fulfilled');
		const [owner, other] = isOnA ? [a, b] : [b, a];
		expect(await other.drafts.stopTrial(id)).toMatchObject({ state: 'cancelled' });
		expect(await owner.drafts.trial(id)).toMatchObject({ state: 'cancelled' });

		await other.drafts.try(id, wanted);
		await eventually(() => expect(model.requests).toHaveLength(2));
		expect(await owner.drafts.trial(id)).toMatchObject({ state: 'running' });
		const client = new Client(shared.url);
		await client.connect();
		await client.query(`update shown_work set boot_id = 'killed'`);
		await client.end();
		expect(await owner.drafts.trial(id)).toMatchObject({
			state: 'failed',
			error: expect.stringContaining('has stopped')
		});
		await other.drafts.remove(id);
	});

	test('D46: packages that one server looks up are shown, allowed and stopped at any other', async () => {
		const index = await openPackageIndex([{ name: 'tiny-lib' }]);
		try {
			await shared.put('greeter/requirements.txt', 'tiny-lib\n');
			environment = { SKILLS_PIP_INDEX_URL: index.pipIndexUrl };
			const [a, b] = await start([]);
			const skillOf = (app: App) => app.skills.registry.snapshot().skills.find(({ name }) => name === 'greeter')!;
			const stateAt = (app: App) => app.packages.stateOf(skillOf(app));
			index.intercept = () => true;
			await a.packages.lookUp(skillOf(a), []);
			await eventually(async () => expect((await stateAt(b)).work).toMatchObject({ kind: 'looking-up' }));
			await expect(b.packages.lookUp(skillOf(b), [])).rejects.toThrow('are being installed');
			await b.packages.remove(skillOf(b), 'pending');
			for (const app of [a, b]) {
				expect(await stateAt(app)).toEqual({ installed: null, proposed: null, work: null, problem: null });
			}

			index.intercept = null;
			await a.packages.lookUp(skillOf(a), []);
			await a.packages.settled(skillOf(a));
			const { proposed } = await stateAt(b);
			expect(proposed?.packages.map(({ name }) => name)).toEqual(['tiny-lib']);
			await b.packages.install(skillOf(b), proposed?.digest ?? '');
			await b.packages.settled(skillOf(b));
			for (const app of [a, b]) {
				expect(await stateAt(app)).toMatchObject({ installed: { state: 'ready' }, proposed: null, work: null });
			}
			await a.packages.remove(skillOf(a));
			for (const app of [a, b]) expect(await stateAt(app)).toMatchObject({ installed: null, problem: null });
		} finally {
			await index.close();
		}
	});

	test('a server that starts ends nothing of a live one: evals, responses, drafts and scripts go on', async () => {
		const held = gate();
		model = await startModelServer([
			call('use_skill', { skill: 'greeter', script: 'wait.sh' }),
			...[text(held, 'Hello.'), text(held, 'Hello.'), hang()]
		]);
		const a = await open();
		await ask(a, 'run-1');
		await eventually(() => expect(processesWith(NAP)).not.toEqual([]));
		const run = await a.evals.start('greeter', evalStart.parse({ without: false }));
		const id = await begin(a);
		await eventually(() => expect(model.requests).toHaveLength(3));
		const draft = await a.drafts.start({ skill: 'greeter' });
		await a.drafts.improve(draft.id, { revision: draft.revision, wish: 'Shorter.' });
		const b = await open();
		expect(processesWith(NAP)).not.toEqual([]);
		expect(await b.drafts.get(draft.id)).toMatchObject({ state: 'writing', problem: null });
		expect(await b.evals.get('greeter', run.id)).toMatchObject({ state: 'running' });
		expect((await bodyOf(b, id)).status).toBe('in_progress');
		held.open();
		await eventually(async () => {
			expect(await b.evals.get('greeter', run.id)).toMatchObject({ state: 'done' });
			expect((await bodyOf(b, id)).status).toBe('completed');
		});
		expect(await b.drafts.stop(draft.id)).toMatchObject({ state: 'ready' });
		expect(await b.runner.stop('run-1')).toBe(true);
		await eventually(() => expect(processesWith(NAP)).toEqual([]));
	});

	test('what a server that is gone has left is ended by another, once', async () => {
		const held = gate();
		const [a, b] = await start([text(held, 'Hello.'), text(held, 'Hello.')]);
		const run = await a.evals.start('greeter', evalStart.parse({ without: false }));
		const id = await begin(a);
		await eventually(() => expect(model.requests).toHaveLength(2));
		// As if it were killed: what is its own is another's, whose lock nobody holds.
		const dead = 'dead0000-0000-4000-8000-000000000000';
		await mkdir(join(shared.root, 'data/servers/dead0000'));
		const marker = `${ownerOf(join(shared.root, 'data'), dead)}.x`;
		spawn('/bin/sleep', [NAP], { env: { SKILLS_EXECUTION: marker }, detached: true, stdio: 'ignore' }).unref();
		await eventually(() => expect(processesWith(NAP)).toHaveLength(1));
		const client = new Client(shared.url);
		await client.connect();
		for (const table of ['eval_runs', 'responses']) {
			await client.query(`update ${table} set boot_id = $1`, [dead]);
		}
		await client.end();
		await b.store.replicas.beat({ id: dead, lockKey: 1 });
		await eventually(async () => {
			expect(await b.evals.get('greeter', run.id)).toMatchObject({ finishedAt: expect.any(String) });
			const [stored] = await b.store.evalRuns.list('skills/greeter', 1);
			expect(stored).toMatchObject({ state: 'failed', error: expect.stringContaining('server stopped') });
			expect(await b.store.responses.get(id, null)).toMatchObject({ isRunning: false, body: { status: 'failed' } });
			expect(await readdir(join(shared.root, 'data/servers'))).toHaveLength(2);
			expect(processesWith(NAP)).toEqual([]);
		});
		held.open();
	});

	test('E36: a tool’s question is answered on any server, checked there, and an answer for the chat counts on all', async () => {
		const [a, b] = await start([
			...[call('mcp__demo__book'), text('Booked.')],
			...[call('mcp__demo__think'), text('42'), text('It thought.')],
			...[call('mcp__demo__think'), text('43'), text('Again.')]
		]);
		const fixture = await startFixtureHttp();
		try {
			await a.mcpServers.put(
				'demo',
				mcpServerPut.parse({ transport: { type: 'http', url: fixture.url }, approval: 'auto' })
			);
			for (const app of [a, b])
				await eventually(() => expect(app.mcpServers.get('demo').status.state).toBe('connected'));

			await ask(a, 'run-1');
			const booking = await questionOn(b, 'run-1');
			const marks = () => Promise.all([a, b].map((app) => app.store.conversations.get('c')));
			expect(await marks()).toMatchObject([{ isWaiting: true }, { isWaiting: true }]);
			const content = { name: 'Ada', guests: 2 };
			const wrong = b.questions.reply('c', booking.id, { action: 'accept', content: { ...content, guests: 9 } });
			await expect(wrong).rejects.toThrow('must be at most 8');
			const forChat = b.questions.reply('c', booking.id, { action: 'accept', content, forChat: true });
			await expect(forChat).rejects.toThrow('only answer this once');
			await expect(b.questions.reply('other', booking.id, { action: 'decline' })).rejects.toThrow('no longer open');
			await expect(b.questions.reply('c', 'unknown', { action: 'decline' })).rejects.toThrow('no longer open');
			await b.questions.reply('c', booking.id, { action: 'decline' });
			await eventually(async () => expect(await answerOf(b, 'run-1')).toMatchObject({ status: 'complete' }));
			expect(await marks()).toMatchObject([{ isWaiting: false }, { isWaiting: false }]);
			await expect(b.questions.reply('c', booking.id, { action: 'decline' })).rejects.toThrow('no longer open');

			await ask(a, 'run-2');
			const { id } = await questionOn(b, 'run-2');
			await b.questions.reply('c', id, { action: 'accept', forChat: true });
			await eventually(async () => expect(await answerOf(a, 'run-2')).toMatchObject({ status: 'complete' }));
			await ask(b, 'run-3');
			await eventually(async () => expect(await answerOf(a, 'run-3')).toMatchObject({ status: 'complete' }));
			expect(toolOf(await answerOf(a, 'run-3'))).toMatchObject({ status: 'done' });
			expect(toolOf(await answerOf(a, 'run-3'))?.questions).toBeUndefined();
		} finally {
			await fixture.stop();
		}
	});

	test('E16: a push goes on at one server when its own has stopped, and only there', async () => {
		const [a, b] = await start([]);
		await a.store.conversations.create({ id: 'c', title: 'x', createdAt: NOW });
		const push = { contextId: 'c', messageId: 'm', id: 'p', taskId: 't', sealed: 'x', isOpen: true };
		await a.store.tasks.putPush(push, NOW, 'gone');
		const live = [...(await a.store.replicas.live())];
		const claims = await Promise.all(live.map((id, index) => [a, b][index]?.store.tasks.claimPushes(id, 10)));
		expect(claims.flat()).toEqual([push]);
		const own = await Promise.all(live.map((id) => a.store.tasks.isPushOf(push, id)));
		expect(own.sort()).toEqual([false, true]);
		await expect(Promise.all(live.map((id) => a.store.tasks.claimPushes(id, 10)))).resolves.toEqual([[], []]);
	});
});
