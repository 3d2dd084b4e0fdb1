import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { gate } from '../../../../tests/support/gate.ts';
import type { RunEvent } from '../../shared/events.ts';
import { emptyAnswer, foldEvent, type Message } from '../../shared/message.ts';
import type { StoredEvent } from '../store/chat/runs.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { EventWriter, EVENT_PAGE } from './stored-events.ts';
import { RunLog } from './run-log.ts';

const NOW = '2026-01-01T12:00:00.000Z';
const END: RunEvent = { type: 'RUN_FINISHED', threadId: 'c', runId: 'r', outcome: { type: 'success' } };
const delta = (text: string): RunEvent => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: text });

const folder = emptyFolder();
let store: Store;
const lost: unknown[] = [];
beforeEach(async () => {
	store = await openSqliteStore(join(folder, 'app.sqlite'));
	lost.length = 0;
});
afterEach(async () => {
	await store.close();
});

async function open(over: Store = store): Promise<RunLog> {
	const message = emptyAnswer('a', 'r', NOW);
	const userMessage: Message = { ...emptyAnswer('q', 'r', NOW), role: 'user', status: 'complete' };
	const run = { id: 'r', model: 'm/x', bootId: 'boot', task: 'task' };
	const place = { kind: 'question' as const, question: userMessage, answer: message };
	const started = await store.runs.start({ run, conversation: { id: 'c', title: 'T' }, place, now: NOW });
	const onLost = (error: unknown) => lost.push(error);
	const writer = new EventWriter(over.runs);
	const log = new RunLog({ store: over, writer, run: started.run!, message, usedBefore: null, onLost });
	await log.append({ type: 'RUN_STARTED', threadId: 'c', runId: 'r' });
	await log.append({ type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' });
	return log;
}
async function readAll(log: RunLog, after = 0): Promise<StoredEvent[]> {
	const all: StoredEvent[] = [];
	for await (const batch of log.follow(after, new AbortController().signal)) all.push(...batch);
	return all;
}
const storedEvents = () => store.runs.readEvents('r', { after: 0, limit: 100_000 });

test('a tool\u2019s event is in the database at once, with all that came before it', async () => {
	const log = await open();
	void log.append({ type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 't', role: 'tool', content: 'ok' });
	await log.flush();
	expect((await storedEvents()).map(({ seq }) => seq)).toEqual([1, 2, 3]);
	await log.end(END);
});

test('a reader that stopped reading for thousands of events misses none: the database has what memory let go', async () => {
	const log = await open();
	const slow = log.follow(0, new AbortController().signal);
	const seen = [...((await slow.next()).value as StoredEvent[])];
	const texts = Array.from({ length: 6000 }, (_, index) => `${index} `);
	for (const text of texts) await log.append(delta(text));
	await log.end(END);
	for await (const batch of slow) seen.push(...batch);
	expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: 6003 }, (_, index) => index + 1));
	expect(await readAll(log, 4000)).toEqual(seen.slice(4000));
	expect(await storedEvents()).toEqual(seen);
	const message = seen.reduce(
		(folded, { data }) => foldEvent(folded, JSON.parse(data) as RunEvent),
		emptyAnswer('a', 'r', NOW, 'q')
	);
	expect(message.parts).toEqual([{ type: 'text', id: 'm', text: texts.join('') }]);
	expect((await store.messages.list('c'))[1]).toEqual(message);
});

test('what a reader is given at once is bounded by its weight, from memory and from the database, and nothing is missing', async () => {
	const log = await open();
	const early = log.follow(0, new AbortController().signal);
	const batches = [(await early.next()).value as StoredEvent[]];
	for (let index = 0; index < 300; index += 1) await log.append(delta(`${index} ${'x'.repeat(10_000)}`));
	await log.append(delta('y'.repeat(3 * EVENT_PAGE.maxBytes)));
	await log.flush();
	for (let index = 0; index < 20; index += 1) await log.append(delta(`${index} ${'z'.repeat(10_000)}`));
	await log.end(END);
	for await (const batch of early) batches.push(batch);
	expect(batches.flat().map(({ seq }) => seq)).toEqual(Array.from({ length: 324 }, (_, index) => index + 1));
	for (const batch of batches) {
		const bytes = batch.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0);
		if (batch.length > 1) expect(bytes).toBeLessThanOrEqual(EVENT_PAGE.maxBytes);
	}
	for (const after of [0, 1, 150, 302, 303, 320]) {
		expect(await readAll(log, after)).toEqual(batches.flat().slice(after));
	}
});

test('who writes faster than the database takes it has to wait', async () => {
	const held = gate();
	const runs = {
		...store.runs,
		appendAll: (...given: Parameters<Store['runs']['appendAll']>) =>
			held.opened.then(() => store.runs.appendAll(...given))
	};
	const log = await open({ ...store, runs });
	let appended = 0;
	const writing = (async () => {
		for (let index = 0; index < 5000; index += 1) {
			await log.append(delta('x'));
			appended += 1;
		}
	})();
	await new Promise((resolve) => setImmediate(resolve));
	expect(appended).toBeLessThan(2100);
	held.open();
	await writing;
	await log.end(END);
	expect(await storedEvents()).toHaveLength(5003);
});

test('a follower that goes away lets go, and others go on', async () => {
	const log = await open();
	const controller = new AbortController();
	const gone = log.follow(0, controller.signal);
	await gone.next();
	const waiting = gone.next();
	const other = readAll(log);
	controller.abort();
	expect(await waiting).toEqual({ done: true, value: undefined });
	await log.append(delta('more'));
	await log.end(END);
	expect(await other).toHaveLength(4);
});

test('a conversation that is deleted under a run ends it', async () => {
	const log = await open();
	await store.conversations.remove('c');
	await log.append(delta('x'));
	await log.flush();
	await log.append(delta('y'));
	await log.flush();
	expect(lost).toHaveLength(1);
	await log.end(END);
	expect((await readAll(log, 0)).at(-1)?.data).toContain('RUN_ERROR');
});
