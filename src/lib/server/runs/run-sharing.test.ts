import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Gate } from '../../../../tests/support/gate.ts';
import { eventually } from '../../../../tests/support/eventually.ts';
import { type ModelServer, startModelServer } from '../../../../tests/support/model-server.ts';
import { call, gate, type Reply, text } from '../../../../tests/support/model-server.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../../../../tests/support/postgres.ts';
import { createRunRig, folded, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import { isTerminal } from '../../shared/events.ts';
import type { Message, ToolPart } from '../../shared/message.ts';
import { decide } from '../conversations/consent.ts';
import { createLog } from '../log.ts';
import { openReplica } from '../replica.ts';
import { ConnectionLost, toStorageError } from '../store/errors.ts';
import { connectPostgres, openPostgresStore } from '../store/postgres.ts';
import type { Store } from '../store/store.ts';

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
	let url: string;
	/** Starts another server. */
	let open: (own?: RigOptions) => Promise<RunRig>;
	let logged: string[] = [];
	/** For words and locks, tried so far. */
	let connections = 0;
	const gates: Gate[] = [];
	afterEach(async () => {
		for (const each of gates.splice(0)) each.open();
		for (const rig of rigs) await rig.close();
		rigs = [];
		await model.close();
		await rm(root, { recursive: true, force: true });
	});

	/** `first`: options of the first server only. */
	async function start(script: Reply[], options: RigOptions = {}, first: RigOptions = {}): Promise<[RunRig, RunRig]> {
		root = await mkdtemp(join(tmpdir(), 'run-sharing-'));
		model = await startModelServer(script);
		logged = [];
		connections = 0;
		url = await postgres.createDatabase(`sharing_${(count += 1)}`);
		open = async (own = {}) => {
			const log = createLog((line) => logged.push(line));
			const store = await openPostgresStore(url);
			const connect = () => {
				connections += 1;
				return connectPostgres(url, { startMs: 0 });
			};
			const replica = await openReplica({ connect, replicas: store.replicas, log });
			const rig = await createRunRig([], { ...options, ...own, among: { root, server: model, store, replica } });
			rigs.push(rig);
			await rig.runner.recover();
			await replica.start();
			return rig;
		};
		return [await open(first), await open()];
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

	test('a message that waits is sent by another server, once, if its own stops between the end of the answer and that', async () => {
		const [held, cut] = [gate(), gate()];
		gates.push(cut);
		let isStuck = false;
		const wrapStore = (store: Store): Store => ({
			...store,
			queue: {
				...store.queue,
				async list(id) {
					if (isStuck) await cut.opened;
					return store.queue.list(id);
				}
			}
		});
		const [a, b] = await start([text(held, 'First.'), text('Second.'), text('Third.')], {}, { wrapStore });
		for (const rig of [a, b]) rig.outbox.start();
		await a.ask('go');
		for (const id of ['m2', 'm3']) await b.outbox.enqueue('c', { id, text: id, files: [] });
		isStuck = true;
		held.open();
		const texts = async () => (await b.store.messages.list('c')).map(textOf);
		const all = ['go', 'First.', 'm2', 'Second.', 'm3', 'Third.'];
		await eventually(async () => expect(await texts()).toEqual(all));
		// It wasn't dead, and does what it was about to.
		cut.open();
		await a.outbox.close();
		expect(await a.store.queue.list('c')).toEqual([]);
		expect(await texts()).toEqual(all);
		expect(model.requests).toHaveLength(3);
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

	/** What a server writes of its runs waits from now on, as if it were cut off from the database, until the test is over. */
	function cutOff(what: readonly ('appendAll' | 'finish' | 'renew' | 'claim')[]): { options: RigOptions; cut(): void } {
		let isCut = false;
		const back = gate();
		gates.push(back);
		const wait = async <Result>(name: (typeof what)[number], work: () => Promise<Result>): Promise<Result> => {
			if (isCut && what.includes(name)) await back.opened;
			return work();
		};
		const wrapStore = (store: Store): Store => ({
			...store,
			runs: {
				...store.runs,
				appendAll: (...given) => wait('appendAll', () => store.runs.appendAll(...given)),
				finish: (...given) => wait('finish', () => store.runs.finish(...given)),
				renew: (...given) => wait('renew', () => store.runs.renew(...given)),
				claim: (...given) => wait('claim', () => store.runs.claim(...given))
			}
		});
		return { options: { wrapStore }, cut: () => void (isCut = true) };
	}
	const EVERYTHING = ['appendAll', 'finish', 'renew'] as const;
	/** As if the server hadn't renewed its leases. */
	async function lapse(rig: RunRig): Promise<void> {
		await inDatabase("update runs set lease_until = '-infinity' where boot_id = $1", [rig.replica.id]);
		rig.replica.tell('lapsed', ['runs']);
	}
	async function inDatabase(statement: string, values: unknown[]): Promise<void> {
		const client = new Client(url);
		await client.connect();
		await client.query(statement, values).finally(() => client.end());
	}
	const isOver = (rig: RunRig, runId: string) =>
		eventually(async () => expect((await rig.runner.get(runId))?.state).not.toBe('running'));

	test('what one server showed and never stored has no number on another: who knows it starts over', async () => {
		const { options, cut } = cutOff(EVERYTHING);
		const held = gate();
		const [a, b] = await start([text('kept ', held, 'ghost'), text('and more')], {}, options);
		const { runId } = await a.ask('go');
		await eventually(async () => expect(textOf(await b.runner.current(await b.answer(runId)))).toBe('kept '));
		const stored = (await b.runner.get(runId))!.lastSeq;
		cut();
		held.open();
		// The page at the first server sees it at once.
		await eventually(() => expect(textOf(a.runner.live(runId)!.message)).toBe('kept ghost'));
		const ghost = a.runner.live(runId)!.seq;
		expect(ghost).toBeGreaterThan(stored);
		expect(await b.runner.cursorFor((await b.runner.get(runId))!, { seq: ghost, epoch: 1 })).toBe(ghost);
		const reconnected = await b.runner.follow(runId, ghost, new AbortController().signal, 1);
		const seen = (async () => {
			const all = [];
			for await (const batch of reconnected!) all.push(...batch);
			return all;
		})();
		await lapse(a);
		const all = await seen;
		expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
		expect(all.filter(({ epoch = 1 }) => epoch === 1)).toHaveLength(stored);
		expect(textOf(await b.answer(runId))).toBe('kept and more');
		const run = (await b.runner.get(runId))!;
		expect(await b.runner.cursorFor(run, { seq: ghost, epoch: 1 })).toBe(0);
		expect(await b.runner.cursorFor(run, { seq: stored, epoch: 1 })).toBe(stored);
		expect(await b.runner.cursorFor(run, { seq: stored + 1, epoch: 2 })).toBe(stored + 1);
		expect(await b.runner.cursorFor(run, { seq: 3, epoch: 9 })).toBe(0);
	});

	test('a question of which nothing is answered yet is asked again as it was, with the caller’s tools and instructions', async () => {
		const { options, cut } = cutOff(EVERYTHING);
		const held = gate();
		const [a, b] = await start([text(held, 'lost'), text('Answered.')], {}, options);
		cut();
		const tool = { type: 'function' as const, name: 'theirs', description: 'd', parameters: { type: 'object' } };
		const { runId } = await a.ask('go', { tools: [tool] as never, instructions: 'Be brief.' });
		await model.received(1);
		await lapse(a);
		await isOver(b, runId);
		expect(textOf(await b.answer(runId))).toBe('Answered.');
		const [first, second] = model.requests.map(({ body }) => body);
		expect(second!.input).toEqual(first!.input);
		expect(second!.tools).toEqual(first!.tools);
		expect(second!.instructions).toEqual(first!.instructions);
		expect(JSON.stringify(second!.tools)).toContain('theirs');
		held.open();
	});

	test('a question about a call that wasn’t answered is asked again, not forgotten', async () => {
		const { options, cut } = cutOff(['finish']);
		cut();
		const [a, b] = await start([use('say.sh', 'hi'), text('Said.')], { approvals: 'ask' }, options);
		const { runId } = await a.ask('go');
		await eventually(async () => {
			const list = await b.store.runs.readEvents(runId, { after: 0, limit: 100 });
			expect(list.some(({ data }) => data.includes('tool.approval'))).toBe(true);
		});
		await lapse(a);
		await isOver(b, runId);
		const answer = await b.answer(runId);
		expect(answer.status).toBe('waiting');
		const [asked] = toolsOf(answer);
		expect(asked).toMatchObject({ status: 'waiting', approval: { script: 'say.sh' } });
		await decide(b, {
			by: { apiKeyId: null, scopes: null } as never,
			conversationId: 'c',
			interruptId: asked!.approval!.interruptId,
			decision: { choice: 'once' }
		});
		await eventually(async () => expect((await b.store.messages.list('c')).at(-1)?.status).toBe('complete'));
		expect(toolsOf((await b.store.messages.list('c')).at(-1)!)[0]).toMatchObject({ status: 'done' });
	});

	test('an answer that ends its servers again and again is interrupted at the third', async () => {
		const held = gate();
		const [a, b] = await start([text('one ', held), text('two ', held), text('three ', held)]);
		const { runId } = await a.ask('go');
		const written = (words: string) =>
			eventually(async () => expect(textOf(await b.runner.current(await b.answer(runId)))).toBe(words));
		await written('one ');
		for (const words of ['one two ', 'one two three ']) {
			const { bootId } = (await b.runner.get(runId))!;
			await eventually(async () => {
				// Its owner lives, and would renew the lease.
				await lapse([a, b].find((rig) => rig.replica.id === bootId)!);
				expect((await b.runner.get(runId))!.bootId).not.toBe(bootId);
			});
			await written(words);
		}
		await eventually(async () => {
			const { bootId, state } = (await b.runner.get(runId))!;
			await lapse([a, b].find((rig) => rig.replica.id === bootId)!);
			expect(state).not.toBe('running');
		});
		expect(await b.runner.get(runId)).toMatchObject({ state: 'interrupted', errorCode: 'interrupted' });
		expect(textOf(await b.answer(runId))).toBe('one two three ');
		held.open();
	});

	test('an answer goes on however many servers hand it over: none was ended by it', async () => {
		const held = gate();
		gates.push(held);
		const words = ['one ', 'two ', 'three ', 'four ', 'five'];
		const [first, second] = await start(words.map((word) => (word === 'five' ? text(word) : text(word, held))));
		const { runId } = await first.ask('go');
		let [owner, next] = [first, second];
		for (const index of [1, 2, 3, 4]) {
			await eventually(async () =>
				expect(textOf(await next.runner.current(await next.answer(runId)))).toBe(words.slice(0, index).join(''))
			);
			await owner.runner.close(0);
			[owner, next] = [next, await open()];
		}
		await isOver(owner, runId);
		expect(await owner.runner.get(runId)).toMatchObject({ state: 'success', epoch: 5 });
		expect(textOf(await owner.answer(runId))).toBe(words.join(''));
	});

	test('takeovers may take longer than a lease: a server keeps its own answers meanwhile', async () => {
		const { options, cut } = cutOff(['claim']);
		const held = gate();
		let renewals = 0;
		const wrapStore = (store: Store): Store => {
			const runs = options.wrapStore!(store).runs;
			return { ...store, runs: { ...runs, renew: (...given) => ((renewals += 1), runs.renew(...given)) } };
		};
		const [a, b] = await start([text('one ', held, 'two')], {}, { wrapStore });
		const { runId } = await a.ask('go');
		cut();
		b.replica.tell('lapsed', ['runs']);
		renewals = 0;
		// Three renewals take as long as a lease.
		await eventually(() => expect(renewals).toBeGreaterThan(4));
		held.open();
		await b.events(runId);
		expect(textOf(await b.answer(runId))).toBe('one two');
		expect(await b.runner.get(runId)).toMatchObject({ state: 'success', epoch: 1 });
	});

	test('an answer that can’t be read holds up no other that goes on, and is said once', async () => {
		const held = gate();
		gates.push(held);
		const [a, b] = await start([text('odd ', held), text('one ', held, 'two'), text('two')]);
		const odd = await a.ask('go');
		await eventually(async () => expect(textOf(await b.runner.current(await b.answer(odd.runId)))).toBe('odd '));
		const good = await a.ask('go', { conversationId: 'other' });
		await eventually(async () => expect((await b.runner.get(good.runId))?.lastSeq).toBeGreaterThan(2));
		await inDatabase("update run_events set data = 'rubbish' where run_id = $1", [odd.runId]);
		const lapsed = (ago: string, runId: string) =>
			inDatabase("update runs set lease_until = now() - $1::interval, boot_id = 'gone' where id = $2", [ago, runId]);
		// First in line.
		await lapsed('1 day', odd.runId);
		await lapsed('1 hour', good.runId);
		await eventually(async () => expect((await b.runner.get(good.runId))?.state).toBe('success'));
		expect(await b.runner.get(odd.runId)).toMatchObject({ state: 'running', bootId: 'gone' });
		const said = [...a.logged, ...b.logged].filter((line) => line.includes('couldn’t go on with a run'));
		expect(said.length).toBeGreaterThan(0);
		expect(said.length).toBeLessThanOrEqual(2);
	});

	test('an answer for which the database was away for a moment goes on: it doesn’t fail', async () => {
		let failures = 0;
		const wrapStore = (store: Store): Store => ({
			...store,
			messages: {
				...store.messages,
				async listForModel(...given) {
					if (failures++ === 0) throw toStorageError(new ConnectionLost(new Error('gone'), { isUnwritten: false }));
					return store.messages.listForModel(...given);
				}
			}
		});
		const [a, b] = await start([text('Here.')], {}, { wrapStore });
		const { runId } = await a.ask('go');
		await isOver(b, runId);
		expect(await b.runner.get(runId)).toMatchObject({ state: 'success', epoch: 2 });
		expect(textOf(await b.answer(runId))).toBe('Here.');
	});

	test('RUN_TAKEOVER=interrupt: the answer ends with what was written', async () => {
		const { options, cut } = cutOff(EVERYTHING);
		const held = gate();
		const [a, b] = await start([text('one ', held)], { takeover: 'interrupt' }, options);
		const { runId } = await a.ask('go');
		await eventually(async () => expect(textOf(await b.runner.current(await b.answer(runId)))).toBe('one '));
		cut();
		await lapse(a);
		await isOver(b, runId);
		expect(await b.answer(runId)).toMatchObject({ status: 'interrupted', error: { code: 'interrupted' } });
		expect(model.requests).toHaveLength(1);
		held.open();
	});

	test('a database that is away is said once by each server; afterwards nobody takes another for dead, and answers go on', async () => {
		const [a, b] = await start([text('Here.')]);
		await postgres.shutDown();
		await eventually(() => expect(connections).toBeGreaterThan(10));
		await expect(b.ask('go')).rejects.toThrow('The database is unavailable. Try again in a moment.');
		await postgres.startAgain();
		await eventually(() => expect([a, b].map(({ replica }) => replica.mayJudge())).toEqual([true, true]));
		const { runId } = await a.ask('go');
		expect(textOf(await a.answer((await b.events(runId), runId)))).toBe('Here.');
		const said = (words: string) => logged.filter((line) => line.includes(words)).length;
		expect(said('Can’t look after the other servers')).toBe(2);
		expect(said('Looks after the other servers again')).toBe(2);
		expect(said('Another server has stopped')).toBe(0);
	});
});
