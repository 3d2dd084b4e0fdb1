import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { createEventStore } from './sessions.ts';

const message = (id: number, text = ''): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: { text } });

test('E15: what a stream has missed is sent once and in order, and nothing of another stream', async () => {
	const store = createEventStore();
	const first = await store.storeEvent('a', {} as JSONRPCMessage);
	await store.storeEvent('b', message(1));
	await store.storeEvent('a', message(2));
	await store.storeEvent('a', message(3));
	const sent: unknown[] = [];
	const stream = await store.replayEventsAfter(first, { send: async (_id, each) => void sent.push(each) });
	expect(stream).toBe('a');
	expect(sent).toEqual([message(2), message(3)]);
});

test('E15: only the newest are kept, by number and by size, and an id that is gone is unknown', async () => {
	const byNumber = createEventStore({ events: 2, bytes: 1000 });
	const ids = [];
	for (let id = 0; id < 3; id += 1) ids.push(await byNumber.storeEvent('a', message(id)));
	expect(await byNumber.getStreamIdForEventId?.(ids[0] ?? '')).toBeUndefined();
	expect(await byNumber.getStreamIdForEventId?.(ids[1] ?? '')).toBe('a');
	const bySize = createEventStore({ events: 100, bytes: 300 });
	const small = await bySize.storeEvent('a', message(1));
	const large = await bySize.storeEvent('a', message(2, 'x'.repeat(1000)));
	expect(await bySize.getStreamIdForEventId?.(small)).toBeUndefined();
	expect(await bySize.getStreamIdForEventId?.(large)).toBe('a');
});
