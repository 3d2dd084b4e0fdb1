/** Contract tests for tasks and where they are told of, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { TaskPush } from '../chat/tasks.ts';
import { at, type Bench, startOf } from './fixtures.suite.ts';

export function testTasks(bench: () => Bench): void {
	describe('E16: tasks of programs', () => {
		const store = () => bench().store;
		const begin = async (runId: string, conversationId: string, minute: number) => {
			await store().runs.start(startOf(runId, { conversationId, now: at(minute) }));
		};
		const end = async (runId: string, conversationId: string, minute: number) => {
			const answer = await store().messages.get(conversationId, `${runId}-answer`);
			if (!answer) throw new Error('no answer');
			const message = { conversationId, message: { ...answer, status: 'complete' as const } };
			await store().runs.finish(runId, { state: 'success', finishedAt: at(minute), events: [], message });
		};
		const ids = async (query: Partial<Parameters<ReturnType<typeof store>['tasks']['list']>[0]>) => {
			const { data, total } = await store().tasks.list({ apiKeyId: null, limit: 10, ...query });
			return [...data.map(({ taskId }) => taskId), total];
		};

		beforeEach(async () => {
			await store().conversations.create({ id: 'c1', title: 'One', createdAt: at(1), apiKeyId: 'k1' });
			await store().conversations.create({ id: 'c2', title: 'Two', createdAt: at(1), apiKeyId: 'k2' });
			await begin('a', 'c1', 2);
			await end('a', 'c1', 20);
			await begin('b', 'c1', 5);
			await begin('c', 'c2', 10);
			await end('c', 'c2', 10);
		});

		test('the ones whose status changed last come first, a key’s own only, without those of deleted chats', async () => {
			expect(await ids({})).toEqual(['a', 'c', 'b', 3]);
			expect(await ids({ apiKeyId: 'k1' })).toEqual(['a', 'b', 2]);
			expect(await ids({ apiKeyId: 'k3' })).toEqual([0]);
			expect(await ids({ contextId: 'c2' })).toEqual(['c', 1]);
			expect(await ids({ apiKeyId: 'k1', contextId: 'c2' })).toEqual([0]);
			expect(await ids({ statuses: ['running'] })).toEqual(['b', 1]);
			expect(await ids({ statuses: [] })).toEqual([0]);
			expect(await ids({ since: at(10) })).toEqual(['a', 'c', 2]);
			await store().conversations.markDeleted('c2', at(30));
			expect(await ids({})).toEqual(['a', 'b', 2]);
		});

		test('a page goes on after the last task of the one before, also among those of one moment', async () => {
			await store().conversations.create({ id: 'c3', title: 'Three', createdAt: at(1) });
			for (const id of ['x', 'y', 'z']) {
				await begin(id, 'c3', 40);
				await end(id, 'c3', 40);
			}
			const seen: string[] = [];
			let after: { at: string; runId: string } | undefined;
			for (;;) {
				const { data } = await store().tasks.list({ apiKeyId: null, limit: 2, after });
				after = data.at(-1);
				if (!after) break;
				seen.push(...data.map(({ taskId }) => taskId));
			}
			expect(seen).toEqual(['z', 'y', 'x', 'a', 'c', 'b']);
		});

		test('addresses of a task are replaced by their id, closed, removed, and gone with the chat', async () => {
			const push = (id: string, more: Partial<TaskPush> = {}): TaskPush => ({
				...{ contextId: 'c1', messageId: 'b-answer', id, taskId: 'b', sealed: `s-${id}`, isOpen: true },
				...more
			});
			const { tasks } = store();
			await tasks.putPush(push('one'), at(1));
			await tasks.putPush(push('two'), at(2));
			await tasks.putPush(push('one', { sealed: 'new' }), at(3));
			await tasks.putPush(push('other', { messageId: 'a-answer', taskId: 'a' }), at(3));
			expect(await tasks.pushes('c1', 'b-answer')).toEqual([push('one', { sealed: 'new' }), push('two')]);
			await tasks.closePush(push('two'));
			expect((await tasks.claimPushes('boot-1', 10)).map(({ id }) => id).sort()).toEqual(['one', 'other']);
			expect(await tasks.claimPushes('boot-2', 1)).toHaveLength(1);
			expect(await tasks.removePush(push('one'))).toBe(true);
			expect(await tasks.removePush(push('one'))).toBe(false);
			await store().conversations.remove('c1');
			expect(await tasks.claimPushes('boot-3', 10)).toEqual([]);
		});
	});
}
