import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createConnection, type Connection } from './connection.ts';
import type { OpenServer, ServerEvents } from './open-server.ts';

let connection: Connection;
let events: ServerEvents;
let tries: number;
/** Do the next attempts succeed? */
let isUp: boolean;
let reads: number;

const server: OpenServer = {
	software: null,
	readPage: async () => {
		reads += 1;
		return { tools: [] };
	},
	call: async () => ({ content: [] }),
	close: async () => undefined
} as unknown as OpenServer;

beforeEach(() => {
	vi.useFakeTimers();
	[tries, reads, isUp] = [0, 0, false];
	connection = createConnection({
		name: 'demo',
		async open(given) {
			tries += 1;
			events = given;
			if (!isUp) throw new Error('nobody there');
			return server;
		}
	});
});
afterEach(async () => {
	await connection.close();
	vi.useRealTimers();
});

/** Milliseconds until the next attempt; gives up after `longestMs`. */
async function nextTryAfter(longestMs = 600_000): Promise<number> {
	const before = tries;
	let waited = 0;
	for (; tries === before && waited <= longestMs; waited += 500) await vi.advanceTimersByTimeAsync(500);
	return waited;
}

test('E36: a server that is down is tried again after 1, 2, 4, … seconds, and at last each 5 minutes', async () => {
	await vi.advanceTimersByTimeAsync(0);
	expect([tries, connection.state(), connection.error()]).toEqual([1, 'waiting', 'nobody there']);
	const waits: number[] = [];
	for (let each = 0; each < 11; each += 1) waits.push((await nextTryAfter()) / 1000);
	expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
});

test('E36: one that can be connected and goes at once has failed again; after a minute it begins anew', async () => {
	await vi.advanceTimersByTimeAsync(0);
	expect(await nextTryAfter()).toBe(1000);
	isUp = true;
	expect(await nextTryAfter()).toBe(2000);
	expect(connection.state()).toBe('connected');
	await vi.advanceTimersByTimeAsync(59_000);
	events.onClosed('gone');
	expect(await nextTryAfter()).toBe(4000);
	await vi.advanceTimersByTimeAsync(60_000);
	events.onClosed('gone again');
	expect(await nextTryAfter()).toBe(1000);
});

test('E36: who asks for it need not wait: it is tried at once, and the waiting begins anew', async () => {
	for (let each = 0; each < 5; each += 1) await nextTryAfter();
	connection.reconnect();
	await vi.advanceTimersByTimeAsync(0);
	expect(tries).toBe(7);
	expect(await nextTryAfter()).toBe(1000);
});

test('E36: a closed connection is never tried again', async () => {
	await vi.advanceTimersByTimeAsync(0);
	await connection.close();
	expect(await nextTryAfter()).toBeGreaterThan(600_000);
});

test('E36: a server that says its tools have changed 1,000 times a second is read once per 2 seconds, and once more at the end', async () => {
	isUp = true;
	await nextTryAfter();
	await vi.advanceTimersByTimeAsync(0);
	expect([connection.state(), reads]).toEqual(['connected', 1]);
	for (let ms = 0; ms < 9_000; ms += 1) {
		events.onToolsChanged();
		await vi.advanceTimersByTimeAsync(1);
	}
	expect(reads).toBe(6);
	await vi.advanceTimersByTimeAsync(60_000);
	expect(reads).toBe(7);
});
