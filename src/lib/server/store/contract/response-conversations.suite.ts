/** Contract tests for conversations of the Responses API, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createResponseConversations, type ResponseConversations } from '../response-conversations.ts';
import { at, type Bench } from './fixtures.suite.ts';

export function testResponseConversations(bench: () => Bench): void {
	describe('conversations of the Responses API', () => {
		let conversations: ResponseConversations;
		beforeEach(async () => {
			await bench().db.deleteFrom('response_conversations').execute();
			conversations = createResponseConversations(bench().db);
		});
		const made = (id: string, apiKeyId: string | null = null) => ({
			...{ id, apiKeyId, metadata: { a: '“b”' }, createdAt: at(1) }
		});
		const items = (...ids: string[]) =>
			ids.map((id) => ({ id, model: 'm', item: { type: 'message', text: `“${id}”` } }));

		const room = (most: number, bytes = 10_000) => ({ items: most, bytes });

		test('F12: items stay in the order in which they were added, whatever is deleted, and have a limit', async () => {
			await conversations.put(made('c'));
			expect(await conversations.append('c', items('z', 'y'), room(4))).toBe(true);
			expect(await conversations.append('c', items('x'), room(4))).toBe(true);
			expect(await conversations.removeItem('c', 'y')).toBe(true);
			expect(await conversations.removeItem('c', 'y')).toBe(false);
			expect(await conversations.append('c', items('a', 'b'), room(4))).toBe(true);
			expect(await conversations.append('c', items('d'), room(4))).toBe('full');
			expect(await conversations.items('c')).toEqual(items('z', 'x', 'a', 'b'));
			expect(await conversations.append('none', items('a'), room(4))).toBe(false);
		});

		test('F12: items have a limit in bytes together, and one that is deleted makes room', async () => {
			await conversations.put(made('c'));
			const large = (id: string) => [{ id, model: 'm', item: { type: 'message', text: 'é'.repeat(200) } }];
			expect(await conversations.append('c', large('a'), room(9, 1000))).toBe(true);
			expect(await conversations.append('c', large('b'), room(9, 1000))).toBe(true);
			expect(await conversations.append('c', large('c'), room(9, 1000))).toBe('full');
			expect(await conversations.removeItem('c', 'a')).toBe(true);
			expect(await conversations.append('c', large('c'), room(9, 1000))).toBe(true);
			expect((await conversations.items('c')).map(({ id }) => id)).toEqual(['b', 'c']);
		});

		test('F12: additions at the same time are each in one piece', async () => {
			await conversations.put(made('c'));
			const names = ['p', 'q', 'r', 's'];
			await Promise.all(names.map((name) => conversations.append('c', items(`${name}1`, `${name}2`), room(100))));
			const ids = (await conversations.items('c')).map(({ id }) => id);
			expect(ids.toSorted()).toEqual(names.flatMap((name) => [`${name}1`, `${name}2`]));
			for (const name of names) expect(ids.indexOf(`${name}2`)).toBe(ids.indexOf(`${name}1`) + 1);
		});

		test('F12, E18: only its own key finds it, changes its metadata and removes it, with its items', async () => {
			await conversations.put(made('c', 'key_1'));
			await conversations.append('c', items('a'), room(9));
			for (const other of [null, 'key_2']) {
				expect(await conversations.get('c', other)).toBeNull();
				expect(await conversations.setMetadata('c', other, {})).toBe(false);
				expect(await conversations.remove('c', other)).toBe(false);
			}
			expect(await conversations.setMetadata('c', 'key_1', { x: 'y' })).toBe(true);
			expect(await conversations.get('c', 'key_1')).toEqual({ ...made('c', 'key_1'), metadata: { x: 'y' } });
			expect(await conversations.remove('c', 'key_1')).toBe(true);
			expect(await conversations.items('c')).toEqual([]);
		});
	});
}
