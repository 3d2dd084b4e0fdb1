/** What two servers do to one database at once; run on every database that two can open. */
import type { Kysely } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AppError } from '../../../shared/errors.ts';
import type { ExecutionEnd, ExecutionStart } from '../../skills/run/execution-host.ts';
import { type Database, isPostgres } from '../schema.ts';
import { createStore, type Store } from '../store.ts';
import { answerOf, evalRun } from './eval-runs.suite.ts';
import { addItems, at, events, question, startOf } from './fixtures.suite.ts';

/**
 * `open` returns a migrated database, opened twice; the suite closes both.
 * `deadlocks`: how often the server had to end one of two that waited for each other. It must not: locks have an order.
 */
export function testConcurrency(
	name: string,
	open: () => Promise<[Kysely<Database>, Kysely<Database>]>,
	deadlocks: () => Promise<number> = async () => 0
): void {
	describe(`two servers on ${name}`, () => {
		let db: Kysely<Database>;
		let stores: [Store, Store];
		let before: number;

		beforeAll(async () => {
			const opened = await open();
			[db] = opened;
			stores = [createStore(opened[0]), createStore(opened[1])];
			before = await deadlocks();
		});
		beforeEach(async () => {
			await db.deleteFrom('conversations').execute();
		});
		afterAll(async () => {
			for (const store of stores ?? []) await store.close();
			expect(await deadlocks()).toBe(before);
		});

		/** Both in turn, all at once. */
		const atOnce = <T>(count: number, act: (store: Store, index: number) => Promise<T>): Promise<T[]> =>
			Promise.all(Array.from({ length: count }, (_, index) => act(stores[index % 2 === 0 ? 0 : 1], index)));
		const create = (id: string) => stores[0].conversations.create({ id, title: 'x', createdAt: at(1) });
		const unless = async <T>(allowed: AppError['code'], doing: Promise<T>): Promise<T | null> => {
			try {
				return await doing;
			} catch (error) {
				if (error instanceof AppError && error.code === allowed) return null;
				throw error;
			}
		};
		const queued = (id: string) => ({ id, text: id, files: [], createdAt: at(1) });
		const positions = async () =>
			(await db.selectFrom('queued_messages').select('position').execute()).map(({ position }) => position);

		test('of 60 messages that are queued, 50 are, each at a place of its own', async () => {
			await create('c1');
			const added = await atOnce(60, (store, index) =>
				unless(
					'conflict',
					store.queue.add('c1', queued(`q${index}`)).then(() => true)
				)
			);
			expect(added.filter(Boolean)).toHaveLength(50);
			expect(new Set(await positions()).size).toBe(50);
		});

		test('chats to delete for good are claimed by one each; those of a server that is gone by another', async () => {
			const ids = Array.from({ length: 40 }, (_, index) => `c${index}`);
			for (const id of ids) {
				await create(id);
				await stores[0].conversations.markDeleted(id, at(2));
			}
			for (const [index, id] of ['s0', 's1'].entries()) {
				const row = { id, lock_key: index + 1, started_at: at(1), beat_at: at(1) };
				await db.insertInto('replicas').values(row).execute();
			}
			const claim = (store: Store, index: number) => store.conversations.claimDeleted(at(3), `s${index % 2}`);
			const claims = await atOnce(2, claim);
			expect(claims.flat().sort()).toEqual(ids.sort());
			// It tries its own again.
			expect((await claim(stores[0], 0)).sort()).toEqual(claims[0]?.sort());
			await db.deleteFrom('replicas').where('id', '=', 's0').execute();
			expect((await claim(stores[1], 1)).sort()).toEqual(ids);
			await db.deleteFrom('replicas').execute();
		});

		test('E19: of 60 wrong logins at once over two servers ten count, however they are spread', async () => {
			const limit = { perClient: 10, inAll: 100, windowMs: 60_000, now: Date.parse(at(1)) };
			const counted = async (client: (index: number) => string) => {
				const all = await atOnce(60, (store, index) => store.loginFailures.add(client(index), limit));
				return all.filter((refusedFor) => refusedFor === 0).length;
			};
			await db.deleteFrom('login_failures').execute();
			expect(await counted(() => 'one')).toBe(10);
			expect([await counted((index) => `c${index}`), await counted((index) => `d${index}`)]).toEqual([60, 30]);
			await db.deleteFrom('login_failures').execute();
		});

		test('a message that both queue is queued once', async () => {
			await create('c1');
			await atOnce(8, (store) => store.queue.add('c1', queued('q1')));
			expect(await positions()).toEqual([1]);
		});

		test('messages that are moved to the front come one after the other', async () => {
			await create('c1');
			for (let index = 0; index < 10; index += 1) await stores[0].queue.add('c1', queued(`q${index}`));
			await atOnce(10, (store, index) => store.queue.moveToFront('c1', `q${index}`));
			expect(new Set(await positions()).size).toBe(10);
		});

		test('of runs that start in a conversation one does, and of the same run, too', async () => {
			const started = await atOnce(10, (store, index) => store.runs.start(startOf(`r${index}`)));
			expect(started.map(({ outcome }) => outcome).sort()).toEqual([...Array<string>(9).fill('busy'), 'started']);
			const same = await atOnce(10, (store, index) =>
				store.runs.start(startOf('same', { conversationId: `other${index % 3}` }))
			);
			expect(same.map(({ outcome }) => outcome).sort()).toEqual([...Array<string>(9).fill('exists'), 'started']);
		});

		test('a run that ends while its conversation is deleted ends or is gone', async () => {
			const ids = Array.from({ length: 20 }, (_, index) => `c${index}`);
			for (const id of ids) await stores[0].runs.start(startOf(`r-${id}`, { conversationId: id }));
			const used = { inputTokens: 1, outputTokens: 1 };
			const end = { state: 'success' as const, finishedAt: at(20), events: events(1, 1), used };
			await atOnce(40, async (store, index) => {
				const id = ids[index >> 1] ?? '';
				if (index % 4 === 0 || index % 4 === 3) return store.conversations.remove(id);
				return store.runs.finish(`r-${id}`, {
					...end,
					message: { conversationId: id, message: { ...question(`r-${id}-answer`), role: 'assistant' } }
				});
			});
			for (const id of ids) {
				expect(await stores[0].conversations.get(id)).toBeNull();
				expect(await stores[0].runs.get(`r-${id}`)).toBeNull();
			}
		});

		test('what titles and runs have used is all counted', async () => {
			const used = { inputTokens: 1, outputTokens: 0 };
			const named = { from: 'nobody calls it so', title: 'y', summary: '', used };
			for (let round = 0; round < 5; round += 1) {
				await stores[0].runs.start(startOf(`r${round}`, { now: at(round) }));
				await atOnce<unknown>(10, (store, index) =>
					index === 9
						? store.runs.finish(`r${round}`, { state: 'cancelled', finishedAt: at(20), events: events(1, 1), used })
						: store.conversations.retitle('c1', named)
				);
			}
			expect(await stores[0].conversations.usage('c1')).toMatchObject({ inputTokens: 50 });
		});

		test('items that are appended to a message are all kept', async () => {
			await stores[0].runs.start(startOf('r1'));
			await atOnce(20, (store, index) => addItems(store, 'r1', [{ type: 'message', index }]));
			const [, answer] = await stores[0].messages.listForModel('c1');
			expect(answer?.items).toHaveLength(20);
		});

		test('messages that are added while another is shown stay in the shown branch', async () => {
			await create('c1');
			await stores[0].messages.append('c1', question('m'));
			await atOnce<unknown>(40, (store, index) =>
				index % 4 < 2 ? store.messages.append('c1', question(`m${index}`)) : store.messages.show('c1', 'm')
			);
			expect(await stores[0].messages.list('c1')).toHaveLength(21);
		});

		test('messages that are added while others are removed have their parents, and the last one is shown', async () => {
			await create('c1');
			for (let index = 0; index < 10; index += 1) await stores[0].messages.append('c1', question(`m${index}`));
			await atOnce<unknown>(40, (store, index) =>
				index % 4 < 2
					? store.messages.append('c1', question(`n${index}`))
					: store.removedMessages.remove('c1', `m${9 - (index >> 3)}`, at(9))
			);
			const rows = await db.selectFrom('messages').select(['id', 'parent_id']).execute();
			const ids = new Set(rows.map(({ id }) => id));
			expect(rows.filter(({ parent_id }) => parent_id !== null && !ids.has(parent_id))).toEqual([]);
			expect(await stores[0].messages.list('c1')).toHaveLength(rows.length);
		});

		test('a branch that is copied while it gets shorter has all its parents', async () => {
			await create('c1');
			for (let index = 0; index < 10; index += 1) await stores[0].messages.append('c1', question(`m${index}`));
			await atOnce(18, async (store, index) => {
				if (index % 2 === 0) return store.removedMessages.remove('c1', `m${9 - (index >> 1)}`, at(9));
				await store.conversations.create({ id: `to${index}`, title: 'x', createdAt: at(1) });
				await store.messages.copy('c1', 'm9', `to${index}`);
			});
			for (let index = 1; index < 18; index += 2)
				expect([0, 10]).toContain((await stores[0].messages.list(`to${index}`)).length);
		});

		test('whatever is stored for a conversation while it is deleted is refused in words, or goes with it', async () => {
			for (let round = 0; round < 5; round += 1) {
				await create('c1');
				const skills: boolean[] = [];
				await atOnce(12, async ({ approvals, compactions, conversationSkills, conversations, queue, tasks }, index) => {
					if (index === 6) return conversations.remove('c1');
					if (index % 5 === 0) return skills.push(await conversationSkills.set('c1', `s${index}`, 'pinned', at(1)));
					if (index % 5 === 1) return unless('not_found', queue.add('c1', queued(`q${index}`)));
					if (index % 5 === 2)
						return unless('not_found', approvals.decide('c1', `i${index}`, { approved: true } as never, at(1)));
					if (index % 5 === 3)
						return unless('not_found', compactions.put('c1', { messageId: `m${index}`, summary: 's' }, at(1)));
					const push = { contextId: 'c1', messageId: 'm', id: `p${index}`, taskId: 't', sealed: '', isOpen: true };
					return unless('not_found', tasks.putPush(push, at(1)));
				});
				expect(skills).toHaveLength(3);
				expect(await db.selectFrom('conversation_skills').selectAll().execute()).toEqual([]);
			}
		});

		test('settings that are changed together are, whatever their order', async () => {
			const names = Array.from({ length: 20 }, (_, index) => `setting-${index}`);
			await atOnce(20, (store, index) => {
				const own = index % 2 === 0 ? names : names.toReversed();
				return store.settings.set(Object.fromEntries(own.map((key) => [key, index])), at(1));
			});
			const all = await stores[0].settings.list();
			expect(new Set(names.map((key) => all.get(key))).size).toBe(1);
		});

		test('runs that get events, leases and wishes, and are released or deleted at once', async () => {
			const isShared = isPostgres(db);
			const ids = Array.from({ length: 40 }, (_, index) => `r${index}`);
			// A prime, so that each order has all.
			const inOrder = (index: number) => ids.map((_, each) => ids[((each + 1) * (index + 1)) % 41] ?? 'r0');
			for (const id of ids) await stores[0].runs.start(startOf(id, { conversationId: `of ${id}` }));
			for (let round = 0; round < 5; round += 1) {
				const kept = ids.slice(round);
				if (isShared) for (const id of kept) await stores[0].runs.want(id, { kind: 'stop' });
				const order = (index: number) => inOrder(index).filter((id) => kept.includes(id));
				const taken: string[] = [];
				await atOnce<unknown>(24, async ({ runs, replicas, conversations }, index) => {
					const advances = order(index).map((runId) => ({ runId, events: [], isAsking: index % 2 === 0 }));
					if (index === 12) return conversations.remove(`of r${round}`);
					if (!isShared) return runs.appendAll(advances);
					if (index % 6 === 0) return taken.push(...(await runs.takeWants('boot-1')).keys());
					if (index % 6 === 1) return runs.release('boot-1');
					if (index % 6 === 2) return replicas.bury('boot-1');
					if (index % 6 === 3) return runs.renew('boot-1', order(index));
					return runs.appendAll(advances);
				});
				// Each once, but that of the run that was deleted.
				if (isShared) expect(taken.filter((id) => id !== `r${round}`).sort()).toEqual(kept.slice(1).sort());
			}
			const left = (await stores[0].runs.listRunning('another')).map(({ id }) => id);
			expect(left.sort()).toEqual(ids.slice(5).sort());
		});

		test('answers that are written while their conversation is deleted', async () => {
			const ids = Array.from({ length: 60 }, (_, index) => `r${index}`);
			for (const id of ids) await stores[0].runs.start(startOf(id, { conversationId: `of ${id}` }));
			await atOnce<unknown>(180, ({ runs, conversations }, index) => {
				const id = ids[Math.floor(index / 3)] ?? '';
				if (index % 3 === 2) return conversations.remove(`of ${id}`);
				const items = { conversationId: `of ${id}`, messageId: `${id}-answer`, items: [{ index }] };
				return runs.appendAll([{ runId: id, events: [], items }]);
			});
			expect(await db.selectFrom('messages').select('id').execute()).toEqual([]);
		});

		test('F5: contents that servers take, store and forget at once', async () => {
			const shaOf = (index: number) => index.toString(16).padStart(64, '0');
			// A prime, so that each order has all.
			const inOrder = (index: number) => Array.from({ length: 199 }, (_, each) => (each * (index + 1)) % 199);
			const claim = (store: Store, index: number) =>
				store.storedFiles.claim(
					inOrder(index).map((each) => ({ sha256: shaOf(each), bytes: 1 })),
					at(1)
				);
			const objects = new Set<string>();
			for (let round = 0; round < 3; round += 1) {
				await atOnce<unknown>(16, async (store, index) => {
					const claimed = new Map((await claim(store, index)).map(({ sha256, object }) => [sha256, object]));
					await store.storedFiles.markStored(
						inOrder(index).map((each) => claimed.get(shaOf(each)) ?? ''),
						at(1)
					);
					for (const object of claimed.values()) objects.add(object);
				});
				expect(objects.size).toBe(199 * (round + 1));
				const change = { mode: 0o644, modifiedAt: at(1), base: 0 };
				const both = { keepsBoth: false, isNew: true };
				// Whoever comes too late for a content is told so.
				await atOnce<unknown>(16, async (store, index) => {
					const { storedFiles } = store;
					if (index % 4 === 1) return claim(store, index);
					if (index % 4 === 2) {
						const files = inOrder(index).map((each) => ({ ...change, path: `${each}`, sha256: shaOf(each) }));
						return unless('not_found', storedFiles.save(`f${index}`, files, both));
					}
					const gone = (await unless('not_found', storedFiles.unused(at(2)))) ?? [];
					return storedFiles.forget(inOrder(index).flatMap((each) => gone[each] ?? []));
				});
				for (let index = 0; index < 16; index += 1) await stores[0].storedFiles.remove(`f${index}`, at(1));
				await stores[0].storedFiles.forget(await stores[0].storedFiles.unused(at(2)));
				expect(await db.selectFrom('blobs').selectAll().execute()).toEqual([]);
			}
		});

		test('a skill may reach what one list says, never two together', async () => {
			for (let round = 0; round < 10; round += 1) {
				const lists = [['a.example', 'b.example'], ['c.example']];
				await atOnce(2, (store, index) => store.networkGrants.replace(`s${round}`, lists[index] ?? [], at(1)));
				expect(lists).toContainEqual(await stores[0].networkGrants.list(`s${round}`));
			}
		});

		test('a response that ends has its last event last', async () => {
			for (let round = 0; round < 10; round += 1) {
				const id = `response-${round}`;
				const response = {
					id,
					apiKeyId: null,
					previousId: null,
					sessionId: 's',
					items: [],
					body: {},
					createdAt: at(1)
				};
				await stores[0].responses.put({ ...response, inputCount: 0, isRunning: true });
				const [gone, hasEnded] = await Promise.all([
					stores[0].responses.appendAll([{ runId: id, events: events(1, 3) }]),
					stores[1].responses.finish({ id, apiKeyId: null, items: [], body: {} }, events(10, 1))
				]);
				expect(hasEnded).toBe(true);
				const stored = (await stores[0].responses.readEvents(id, { after: 0, limit: 9 })).map(({ seq }) => seq);
				expect(stored).toEqual(gone.has(id) ? [10] : [1, 2, 3, 10]);
				if (!gone.has(id)) continue;
				// Then it came later, and was refused.
				expect(await stores[0].responses.isRunning(id)).toBe(false);
			}
		});

		test('a conversation of the Responses API takes as many items as it may have, each at a place of its own', async () => {
			await stores[0].responseConversations.put({ id: 'rc', apiKeyId: null, metadata: {}, createdAt: at(1) });
			const added = await atOnce(30, (store, index) =>
				store.responseConversations.append(
					{ id: 'rc', apiKeyId: null },
					[{ id: `i${index}`, model: 'm', item: { type: 'message' } }],
					{
						...{ items: 20, bytes: 1_000_000, bytesOfKey: Infinity }
					}
				)
			);
			expect(added.filter((outcome) => outcome === true)).toHaveLength(20);
			expect(await stores[0].responseConversations.items('rc')).toHaveLength(20);
		});

		test('a conversation of the Responses API knows its bytes when items come and go, and when it is deleted meanwhile', async () => {
			const one = { id: 'rd', apiKeyId: 'key_1', metadata: {}, createdAt: at(1) };
			const room = { items: 99, bytes: 1_000_000, bytesOfKey: Infinity };
			const itemOf = (id: string) => [{ id, model: 'm', item: { type: 'message', text: 'é'.repeat(100) } }];
			const { put, append, removeItem, remove, hasRoom } = stores[0].responseConversations;
			for (let round = 0; round < 10; round += 1) {
				await put(one);
				for (let index = 0; index < 10; index += 1) await append(one, itemOf(`i${index}`), room);
				await atOnce(20, (store, index) =>
					index < 10
						? store.responseConversations.append(one, itemOf(`j${index}`), room)
						: store.responseConversations.removeItem('rd', `i${index - 10}`)
				);
				for (let index = 0; index < 10; index += 1) await removeItem('rd', `j${index}`);
				// Counts itself, its metadata, and the next one.
				expect(await hasRoom('key_1', 512 + 2 + 512)).toBe(true);
				for (let index = 0; index < 10; index += 1) await append(one, itemOf(`k${index}`), room);
				await atOnce(11, (store, index) =>
					index === 5 ? remove('rd', 'key_1') : store.responseConversations.removeItem('rd', `k${index}`)
				);
			}
		});

		test('executions that end are counted once each, whoever ends them', async () => {
			await db.deleteFrom('skill_executions').execute();
			await db.deleteFrom('skill_usage').execute();
			const skillOf = (index: number) => `skills/${index % 3}`;
			for (let index = 0; index < 30; index += 1)
				await stores[0].skillExecutions.start(execution(`e${index}`, skillOf(index)), at(1));
			const ended = await atOnce(34, (store, index) =>
				index < 30
					? store.skillExecutions.finish(`e${29 - index}`, SUCCESS, at(2)).then(() => 0)
					: store.skillExecutions.endUnfinished('The server was stopped.', at(2))
			);
			const usage = [...(await stores[0].skillExecutions.usage()).values()];
			expect(usage.map(({ executions }) => executions)).toEqual([10, 10, 10]);
			const failures = usage.reduce((sum, each) => sum + each.failures, 0);
			expect(failures).toBe(ended.reduce((sum, count) => sum + count, 0));
		});

		test('F16: a run of evals that ends isn’t ended again, and answers go with their run', async () => {
			for (let round = 0; round < 10; round += 1) {
				for (const table of ['eval_runs', 'eval_answers'] as const) await db.deleteFrom(table).execute();
				const run = evalRun('run');
				await stores[0].evalRuns.put(run);
				const done = { ...run, state: 'done' as const, finishedAt: at(5) };
				await Promise.all([
					stores[0].evalRuns.putAnswer(done, { caseId: '1', answer: answerOf(1, 'a'), key: 'k', now: at(2) }),
					stores[1].evalRuns.endUnfinished('The server was stopped.', at(2)),
					stores[1].evalRuns.putWhole(done, at(3))
				]);
				expect((await stores[0].evalRuns.get('run'))?.state).toBe('done');
				await Promise.all([
					stores[0].evalRuns.putAnswer(done, { caseId: '1', answer: answerOf(2, 'b'), key: 'k', now: at(2) }),
					stores[1].evalRuns.removeOlder(run.skillId, 0)
				]);
				const kept = await db.selectFrom('eval_runs').select('id').execute();
				expect(await db.selectFrom('eval_answers').select('round').execute()).toHaveLength(kept.length);
			}
		});
	});
}

const SUCCESS: ExecutionEnd = {
	...{
		status: 'success',
		exitCode: 0,
		durationMs: 1,
		stdoutBytes: 0,
		stderrBytes: 0,
		output: '',
		files: [],
		refused: []
	}
};
const execution = (id: string, skillId: string): ExecutionStart => ({
	...{ id, skillId, skill: 'demo', version: '1.0.0', script: 'run.sh', argv: [], digest: 'd', sandbox: 'process' },
	...{ limits: { timeoutMs: 1 }, caller: {} }
});
