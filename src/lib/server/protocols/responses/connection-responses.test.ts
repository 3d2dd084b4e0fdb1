import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { openSqliteStore } from '../../store/sqlite.ts';
import type { StoredResponse } from '../../store/responses.ts';
import type { Store } from '../../store/store.ts';
import { createConnectionResponses } from './connection-responses.ts';

const folder = emptyFolder();
let store: Store;
beforeEach(async () => {
	store = await openSqliteStore(join(folder, 'app.sqlite'));
});
afterEach(async () => {
	await store.close();
});

const response = (id: string, previousId: string | null = null, words = 'x'): StoredResponse => ({
	...{ id, previousId, apiKeyId: null, sessionId: 's', items: [words], body: { id } },
	...{ inputCount: 1, isRunning: false, createdAt: '2026-01-01T00:00:00.000Z' }
});
const idsOf = (links: StoredResponse[] | null) => links?.map(({ id }) => id) ?? null;

describe('F12: what a connection remembers', () => {
	test('is a chain together with what is stored, in whatever order they come, and is never stored itself', async () => {
		const memory = createConnectionResponses(store.responses);
		await memory.put(response('a'));
		memory.hold(response('b', 'a'));
		await memory.put(response('c', 'b'));
		memory.hold(response('d', 'c'));
		expect(idsOf(await memory.chain('d', null))).toEqual(['a', 'b', 'c', 'd']);
		expect(await memory.get('d', null)).toMatchObject({ id: 'd' });
		expect(await store.responses.get('d', null)).toBeNull();
		expect(await store.responses.chain('c', null)).toBeNull();
		expect(idsOf(await store.responses.chain('a', null))).toEqual(['a']);
	});

	test('is its own caller’s alone', async () => {
		const memory = createConnectionResponses(store.responses);
		memory.hold({ ...response('a'), apiKeyId: 'key_a' });
		expect(await memory.chain('a', 'key_b')).toBeNull();
		expect(await memory.get('a', null)).toBeNull();
		expect(idsOf(await memory.chain('a', 'key_a'))).toEqual(['a']);
	});

	test('is no more than so many ids, and a chain stays whole when its beginning is one too many', async () => {
		const memory = createConnectionResponses(store.responses, { maxResponses: 2, maxCharacters: 1000 });
		for (const [id, previous] of ['abcd'].flatMap((ids) => [...ids].map((each, at) => [each, ids[at - 1] ?? null]))) {
			memory.hold(response(id ?? '', previous));
		}
		expect(await memory.chain('b', null)).toBeNull();
		expect(idsOf(await memory.chain('d', null))).toEqual(['a', 'b', 'c', 'd']);
	});

	test('is no more than so much: what is too long is not remembered', async () => {
		const memory = createConnectionResponses(store.responses, { maxResponses: 10, maxCharacters: 300 });
		memory.hold(response('a', null, 'x'.repeat(100)));
		memory.hold(response('b', null, 'x'.repeat(100)));
		memory.hold(response('c', null, 'x'.repeat(100)));
		expect(await memory.chain('a', null)).toBeNull();
		expect(idsOf(await memory.chain('c', null))).toEqual(['c']);
		memory.hold(response('d', 'c', 'x'.repeat(300)));
		expect(await memory.chain('d', null)).toBeNull();
	});

	test('is forgotten by its id, and not by what has gone on from it', async () => {
		const memory = createConnectionResponses(store.responses);
		memory.hold(response('a'));
		memory.hold(response('b', 'a'));
		memory.drop('a');
		expect(await memory.chain('a', null)).toBeNull();
		expect(idsOf(await memory.chain('b', null))).toEqual(['a', 'b']);
	});
});
