import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../../tests/support/eventually.ts';
import { type ModelServer, startModelServer } from '../../../../tests/support/model-server.ts';
import { call, gate, type Reply, text } from '../../../../tests/support/model-server.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../../../../tests/support/postgres.ts';
import { createRunRig, folded, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import { isTerminal } from '../../shared/events.ts';
import type { Message, ToolPart } from '../../shared/message.ts';
import { createLog } from '../log.ts';
import { openReplica } from '../replica.ts';
import { connectPostgres, openPostgresStore } from '../store/postgres.ts';

/** Servers on one Postgres, with the same folders and model. */
describe.skipIf(lacksPostgres())('F14: several servers', () => {
	let postgres: TestPostgres;
	beforeAll(async () => {
		postgres = await startPostgres();
	});
	afterAll(() => postgres.stop());

	let rigs: RunRig[] = [];
	let root: string;
	let model: ModelServer;
	let count = 0;
	afterEach(async () => {
		for (const rig of rigs) await rig.close();
		rigs = [];
		await model.close();
		await rm(root, { recursive: true, force: true });
	});

	async function start(script: Reply[], options: RigOptions = {}): Promise<[RunRig, RunRig]> {
		root = await mkdtemp(join(tmpdir(), 'run-sharing-'));
		model = await startModelServer(script);
		const url = await postgres.createDatabase(`sharing_${(count += 1)}`);
		const open = async (): Promise<RunRig> => {
			const log = createLog(() => undefined);
			const store = await openPostgresStore(url);
			const connect = () => connectPostgres(url, { startMs: 0 });
			const replica = await openReplica({ connect, replicas: store.replicas, log });
			const rig = await createRunRig([], { ...options, among: { root, server: model, store, replica } });
			rigs.push(rig);
			await rig.runner.recover();
			await replica.start();
			return rig;
		};
		return [await open(), await open()];
	}

	const textOf = (message: Message) => message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
	const toolsOf = (message: Message) => message.parts.filter((part): part is ToolPart => part.type === 'tool');
	const use = (script: string, ...args: string[]) => call('use_skill', { skill: 'demo', script, args });

	test('an answer is followed, from any event on, on a server that doesn’t write it', async () => {
		const held = gate();
		const [a, b] = await start([text('one ', 'two ', held, 'three')]);
		const { runId } = await a.ask('go');
		const following = b.events(runId);
		await eventually(async () => expect(textOf(await b.runner.current(await b.answer(runId)))).toBe('one two '));
		held.open();
		const seen = await following;
		expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index + 1));
		expect(seen).toEqual(await a.events(runId));
		expect(await b.events(runId, 3)).toEqual(seen.slice(3));
		expect(isTerminal(seen.at(-1)!.event)).toBe(true);
	});

	test('any server stops an answer, and tells its end', async () => {
		const [a, b] = await start([[text('I wait.'), use('wait.sh')]]);
		const { runId } = await a.ask('go');
		await eventually(async () => {
			expect(toolsOf(await b.runner.current(await b.answer(runId)))[0]?.execution?.output).toHaveLength(1);
		});
		expect(await b.runner.stop(runId)).toBe(true);
		expect(await b.runner.get(runId)).toMatchObject({ state: 'cancelled' });
		expect(await b.runner.stop(runId)).toBe(false);
	});

	test('a conversation has one answer at a time, on whichever server', async () => {
		const held = gate();
		const [a, b] = await start([text(held, 'done')]);
		const { runId } = await a.ask('go');
		await expect(b.ask('again', { runId: 'other', message: { id: 'm2', text: 'x', files: [] } })).rejects.toThrow(
			'still being written'
		);
		expect(await b.runner.get(runId)).toMatchObject({ state: 'running', epoch: 1 });
		held.open();
		await a.events(runId);
	});

	test('a message sent at once on another server ends the answer after its step', async () => {
		const held = gate();
		const [a, b] = await start([[text(held), use('say.sh', 'hi')], text('Second.')]);
		await a.ask('go');
		const message = { id: 'm2', text: 'more', files: [] };
		expect(await b.outbox.enqueue('c', message)).toBeNull();
		expect(await b.outbox.sendNow('c', 'm2')).toBeNull();
		held.open();
		await eventually(async () => {
			const answers = (await b.store.messages.list('c')).filter(({ role }) => role === 'assistant');
			expect(answers.map(textOf)).toEqual(['', 'Second.']);
		});
	});

	test('a server that starts ends nothing of another', async () => {
		const held = gate();
		const [a, b] = await start([text('one ', held, 'two')]);
		const { runId } = await a.ask('go');
		await b.runner.recover();
		held.open();
		await a.events(runId);
		expect(await a.answer(runId)).toMatchObject({ status: 'complete' });
		expect(textOf(await a.answer(runId))).toBe('one two');
	});

	test('a server that stops hands its answers over: nothing is lost, no script runs twice, it ends once', async () => {
		const [a, b] = await start([use('say.sh', 'first'), [text('Now wait.'), use('wait.sh')], text('The rest.')]);
		const { runId } = await a.ask('go');
		await eventually(async () => {
			const tools = toolsOf(await b.runner.current(await b.answer(runId)));
			expect(tools[1]?.execution?.output).toHaveLength(1);
		});
		const following = b.events(runId);
		await a.runner.close(0);
		const seen = await following;
		expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index + 1));
		expect(seen.filter(({ event }) => isTerminal(event))).toHaveLength(1);
		expect(seen.filter(({ event }) => event.type === 'CUSTOM' && event.name === 'run.taken')).toHaveLength(1);
		const answer = await b.answer(runId);
		expect(answer).toEqual(
			folded(
				answer,
				seen.map(({ event }) => event)
			)
		);
		expect(answer).toMatchObject({ status: 'complete' });
		expect(textOf(answer)).toBe('Now wait.The rest.');
		expect(toolsOf(answer).map(({ status }) => status)).toEqual(['done', 'cancelled']);
		expect(await b.runner.get(runId)).toMatchObject({ state: 'success', epoch: 2 });
		// The model hears of each call once, with one result.
		const last = model.requests.at(-1)?.body.input as Record<string, unknown>[];
		expect(last.filter(({ type }) => type === 'function_call')).toHaveLength(2);
		const outputs = last.filter(({ type }) => type === 'function_call_output');
		expect(outputs.map(({ output }) => String(output).includes('isn’t known'))).toEqual([false, true]);
	});
});
