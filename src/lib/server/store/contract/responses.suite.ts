/** Contract tests for stored responses, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { at, type Bench } from './fixtures.suite.ts';
import { createResponses, type Responses } from '../responses.ts';

export function testResponses(bench: () => Bench): void {
	describe('stored responses', () => {
		let responses: Responses;
		beforeEach(async () => {
			await bench().db.deleteFrom('responses').execute();
			responses = createResponses(bench().db);
		});
		const put = (
			id: string,
			second: number,
			more: { previousId?: string; apiKeyId?: string; isRunning?: boolean } = {}
		) =>
			responses.put({
				...{ id, apiKeyId: null, previousId: null, sessionId: 's', createdAt: at(second) },
				...{ inputCount: 1, isRunning: false, ...more },
				items: [{ type: 'message', text: `“${id}”` }],
				body: { id }
			});

		test('F12: a chain is read from its first response to the one that is asked for', async () => {
			await put('a', 1);
			await put('b', 2, { previousId: 'a' });
			await put('c', 3, { previousId: 'b' });
			expect((await responses.chain('b', null))?.map(({ id }) => id)).toEqual(['a', 'b']);
			expect(await responses.get('c', null)).toEqual({
				...{ id: 'c', apiKeyId: null, previousId: 'b', sessionId: 's', createdAt: at(3) },
				...{ inputCount: 1, isRunning: false },
				items: [{ type: 'message', text: '“c”' }],
				body: { id: 'c' }
			});
		});

		test('F12: a chain whose items are too much to be read at once is refused, and one that has the tools each time is not', async () => {
			const large = (id: string, previousId: string | null, text: string, tools: string) =>
				responses.put({
					...{ id, previousId, apiKeyId: null, sessionId: 's', createdAt: at(1), inputCount: 1, isRunning: false },
					...{ items: [{ type: 'message', text }], body: { id, model: 'm', tools } }
				});
			const much = 'x'.repeat(12 * 1024 * 1024);
			await large('a', null, much, '');
			await large('b', 'a', much, much);
			await large('c', 'b', 'c', much);
			await large('d', 'c', much, '');
			const chain = await responses.chain('c', null);
			expect(chain?.map(({ id, body }) => [id, body])).toEqual(['a', 'b', 'c'].map((id) => [id, { model: 'm' }]));
			await expect(responses.chain('d', null)).rejects.toMatchObject({ code: 'too_large' });
		});

		test('F12, E18: nobody but its own key sees a response, goes on from it or removes it', async () => {
			await put('a', 1, { apiKeyId: 'key_1' });
			await put('b', 2);
			for (const other of [null, 'key_2']) {
				expect(await responses.get('a', other)).toBeNull();
				expect(await responses.chain('a', other)).toBeNull();
				expect(await responses.remove('a', other)).toBe(false);
			}
			expect(await responses.get('b', 'key_1')).toBeNull();
			expect(await responses.remove('a', 'key_1')).toBe(true);
			expect(await responses.get('a', 'key_1')).toBeNull();
		});

		test('F12: a chain with a link that is gone, or that leads in a circle, is none', async () => {
			await put('a', 1);
			await put('b', 2, { previousId: 'a' });
			await put('x', 1, { previousId: 'x' });
			await responses.removeBefore(at(2));
			expect(await responses.chain('b', null)).toBeNull();
			expect(await responses.get('b', null)).not.toBeNull();
			await put('y', 3, { previousId: 'y' });
			expect(await responses.chain('y', null)).toBeNull();
		});

		test('F12: beyond a limit the oldest of a key go, never the newest, what runs or another key’s', async () => {
			const idsOf = async (apiKeyId: string, ids: string[]) => {
				const found = await Promise.all(ids.map((id) => responses.get(id, apiKeyId)));
				return found.flatMap((each) => each?.id ?? []);
			};
			const large = (id: string, minute: number, more: { apiKeyId?: string; isRunning?: boolean } = {}) =>
				responses.put({
					...{ id, apiKeyId: 'key_1', previousId: null, sessionId: 's', createdAt: at(minute), inputCount: 1 },
					...{ isRunning: false, items: ['é'.repeat(500)], body: { id }, ...more }
				});
			await large('other', 0, { apiKeyId: 'key_2' });
			await large('a', 1);
			await large('b', 2, { isRunning: true });
			await large('c', 3);
			await responses.removeBeyond('key_1', 4000);
			expect(await idsOf('key_1', ['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
			await large('d', 4);
			await responses.removeBeyond('key_1', 4000);
			expect(await idsOf('key_1', ['a', 'b', 'c', 'd'])).toEqual(['b', 'c', 'd']);
			// Events count once it has ended, and a store that was opened later knows them, too.
			const events = [{ seq: 1, data: 'x'.repeat(3000) }];
			await responses.finish({ id: 'b', apiKeyId: 'key_1', items: [], body: {} }, events);
			await createResponses(bench().db).removeBeyond('key_1', 4000);
			expect(await idsOf('key_1', ['b', 'c', 'd'])).toEqual(['c', 'd']);
			await responses.removeBeyond('key_1', 1);
			expect(await idsOf('key_1', ['c', 'd'])).toEqual(['d']);
			expect(await idsOf('key_2', ['other'])).toEqual(['other']);
		});

		test('F12: a running response takes events and a body until it ends, once; then both stay as they are', async () => {
			const events = (from: number, to: number) =>
				Array.from({ length: to - from + 1 }, (_, index) => ({ seq: from + index, data: `“${from + index}”` }));
			await put('a', 1, { isRunning: true });
			await put('b', 2);
			expect((await responses.listRunning()).map(({ id }) => id)).toEqual(['a']);
			await responses.setBody('a', { status: 'in_progress' });
			expect(await responses.get('a', null)).toMatchObject({ isRunning: true, body: { status: 'in_progress' } });
			const advances = ['a', 'b', 'none'].map((runId) => ({ runId, events: events(1, 250) }));
			expect(await responses.appendAll(advances)).toEqual(new Set(['b', 'none']));
			const ended = { id: 'a', apiKeyId: null, items: ['x'], body: { status: 'completed' } };
			expect(await responses.finish(ended, events(251, 252))).toBe(true);
			expect(await responses.finish({ ...ended, items: [] }, events(253, 253))).toBe(false);
			await responses.setBody('a', { status: 'in_progress' });
			expect(await responses.appendAll([{ runId: 'a', events: events(253, 253) }])).toEqual(new Set(['a']));
			expect(await responses.get('a', null)).toMatchObject({ ...ended, isRunning: false });
			expect(await responses.isRunning('a')).toBe(false);
			const read = await responses.readEvents('a', { after: 0, limit: 1000 });
			expect(read).toEqual(events(1, 252));
			expect(await responses.readEvents('a', { after: 250, limit: 1 })).toEqual(events(251, 251));
			const small = await responses.readEvents('a', { after: 100, limit: 1000, maxBytes: 50 });
			expect(small).toEqual(events(101, 100 + small.length));
			expect(small.length).toBeLessThan(10);
			expect(await responses.remove('a', null)).toBe(true);
			expect(await responses.readEvents('a', { after: 0, limit: 1000 })).toEqual([]);
		});
	});
}
