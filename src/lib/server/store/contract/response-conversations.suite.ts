/** Contract tests for conversations of the Responses API, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createResponseConversations, type ResponseConversations } from '../responses.ts';
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

		const room = (most: number, bytes = 10_000, bytesOfKey = Infinity) => ({ items: most, bytes, bytesOfKey });

		test('F12: items stay in the order in which they were added, whatever is deleted, and have a limit', async () => {
			await conversations.put(made('c'));
			expect(await conversations.append(made('c'), items('z', 'y'), room(4))).toBe(true);
			expect(await conversations.append(made('c'), items('x'), room(4))).toBe(true);
			expect(await conversations.removeItem('c', 'y')).toBe(true);
			expect(await conversations.removeItem('c', 'y')).toBe(false);
			expect(await conversations.append(made('c'), items('a', 'b'), room(4))).toBe(true);
			expect(await conversations.append(made('c'), items('d'), room(4))).toBe('full');
			expect(await conversations.items('c')).toEqual(items('z', 'x', 'a', 'b'));
			expect(await conversations.append(made('none'), items('a'), room(4))).toBe(false);
		});

		test('F12: items have a limit in bytes together, and one that is deleted makes room', async () => {
			await conversations.put(made('c'));
			const large = (id: string) => [{ id, model: 'm', item: { type: 'message', text: 'é'.repeat(200) } }];
			expect(await conversations.append(made('c'), large('a'), room(9, 1000))).toBe(true);
			expect(await conversations.append(made('c'), large('b'), room(9, 1000))).toBe(true);
			expect(await conversations.append(made('c'), large('c'), room(9, 1000))).toBe('full');
			expect(await conversations.removeItem('c', 'a')).toBe(true);
			expect(await conversations.append(made('c'), large('c'), room(9, 1000))).toBe(true);
			expect((await conversations.items('c')).map(({ id }) => id)).toEqual(['b', 'c']);
		});

		test('F12: all of a key have a limit together, and what is deleted makes room; other keys have their own', async () => {
			const [one, two] = [made('c', 'key_1'), made('d', 'key_1')];
			await conversations.put(one);
			await conversations.put(two);
			await conversations.put(made('e', 'key_2'));
			const large = (id: string) => [{ id, model: 'm', item: { type: 'message', text: 'é'.repeat(1000) } }];
			const most = room(99, 10_000, 6000);
			expect(await conversations.append(one, large('a'), most)).toBe(true);
			expect(await conversations.append(two, large('b'), most)).toBe(true);
			expect(await conversations.append(two, large('c'), most)).toBe('key_full');
			expect(await conversations.append(made('e', 'key_2'), large('d'), most)).toBe(true);
			// A store that was opened later knows it, too.
			const later = createResponseConversations(bench().db);
			expect(await later.append(one, large('e'), most)).toBe('key_full');
			expect([await later.hasRoom('key_1', 5000), await later.hasRoom('key_1', 6000)]).toEqual([false, true]);
			expect(await conversations.removeItem('c', 'a')).toBe(true);
			expect(await conversations.append(two, large('f'), most)).toBe(true);
			expect(await conversations.remove('d', 'key_1')).toBe(true);
			await conversations.setMetadata('c', 'key_1', { much: 'é'.repeat(2000) });
			expect(await conversations.append(one, large('g'), most)).toBe('key_full');
			await conversations.setMetadata('c', 'key_1', {});
			expect(await conversations.append(one, [...large('h'), ...large('i')], most)).toBe(true);
			expect(await conversations.remove('c', 'key_1')).toBe(true);
			expect(await conversations.hasRoom('key_1', 512)).toBe(true);
		});

		test('F12: additions at the same time are each in one piece', async () => {
			await conversations.put(made('c'));
			const names = ['p', 'q', 'r', 's'];
			await Promise.all(names.map((name) => conversations.append(made('c'), items(`${name}1`, `${name}2`), room(100))));
			const ids = (await conversations.items('c')).map(({ id }) => id);
			expect(ids.toSorted()).toEqual(names.flatMap((name) => [`${name}1`, `${name}2`]));
			for (const name of names) expect(ids.indexOf(`${name}2`)).toBe(ids.indexOf(`${name}1`) + 1);
		});

		test('F12, E18: only its own key finds it, changes its metadata and removes it, with its items', async () => {
			await conversations.put(made('c', 'key_1'));
			await conversations.append(made('c', 'key_1'), items('a'), room(9));
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
