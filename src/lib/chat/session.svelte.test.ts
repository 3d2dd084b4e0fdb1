import { beforeEach, describe, expect, test } from 'vitest';
import { createFakeClient, type FakeClient } from '../../../tests/support/fake-client.ts';
import { RECORDED_ANSWER, RECORDED_RUN } from '../../../tests/support/recorded-run.ts';
import type { RunEvent } from '../shared/events.ts';
import { emptyAnswer, foldEvent, type Message } from '../shared/message.ts';
import { ApiError, unreachable } from './api-error.ts';
import { ChatSession } from './session.svelte.ts';

const ID = 'conversation';
let client: FakeClient;
let told: string[];
let session: ChatSession;

beforeEach(() => {
	sessionStorage.clear();
	client = createFakeClient();
	told = [];
	session = new ChatSession(ID, client, {
		runStarted: (id) => told.push(`started ${id}`),
		runEnded: (id) => told.push(`ended ${id}`),
		titled: (_id, title) => told.push(`titled ${title}`)
	});
});

async function send(text: string): Promise<void> {
	session.draft.text = text;
	await session.send();
}

function answerText(): string {
	const last = session.entries.at(-1)?.message.parts.at(-1);
	return last?.type === 'text' ? last.text : '';
}

function storedConversation(messages: Message[], activeRunId: string | null, cursor: number): void {
	const time = '2026-01-01T00:00:00.000Z';
	client.conversation = { id: ID, title: 'Stored', createdAt: time, updatedAt: time, activeRunId, cursor, messages };
}

describe('a run', () => {
	test('is followed from its first event to its last, and then no more', async () => {
		await send('count');
		expect(session.isRunning).toBe(true);
		const [source] = client.sources;
		expect(source).toMatchObject({ runId: client.started[0]?.runId, after: 0 });
		source?.send(RECORDED_RUN);
		expect(session.isRunning).toBe(false);
		expect(source?.isClosed).toBe(true);
		expect(answerText()).toBe(RECORDED_ANSWER);
		expect(session.title).toBe('Counting words');
		expect(told).toEqual([`started ${ID}`, 'titled Counting words', `ended ${ID}`]);
	});

	test('renders once for all events of a frame, and never replaces the list', async () => {
		await send('count');
		const { entries } = session;
		const entry = entries.at(-1);
		const before = entry?.message;
		client.sources[0]?.send(RECORDED_RUN.slice(0, 10));
		expect(entry?.message).toBe(before);
		await expect.poll(() => entry?.message.parts.length).toBe(2);
		expect(session.entries).toBe(entries);
	});

	test('goes on after a lost connection where it was, each event once', async () => {
		await send('count');
		client.sources[0]?.send(RECORDED_RUN.slice(0, 30));
		client.sources[0]?.fail();
		expect(session.isReconnecting).toBe(true);
		await expect.poll(() => client.sources.length, { timeout: 5000 }).toBe(2);
		expect(client.sources[1]?.after).toBe(30);
		// A server that starts too early does no harm.
		client.sources[1]?.send(RECORDED_RUN.slice(20), 21);
		expect(session.isReconnecting).toBe(false);
		expect(answerText()).toBe(RECORDED_ANSWER);
	});

	test('that does not exist any more is not waited for: the conversation is read again', async () => {
		await send('count');
		client.hasRun = false;
		storedConversation([], null, 0);
		client.sources[0]?.fail();
		await expect.poll(() => session.title, { timeout: 5000 }).toBe('Stored');
		expect(session.isRunning).toBe(false);
		expect(client.sources).toHaveLength(1);
	});

	test('is left in peace when another conversation is opened', async () => {
		await send('count');
		session.dispose();
		client.sources[0]?.send(RECORDED_RUN);
		expect(client.sources[0]?.isClosed).toBe(true);
		expect(client.stopped).toEqual([]);
	});
});

describe('a conversation that is opened', () => {
	test.each([0, 1, 8, 25, RECORDED_RUN.length - 1])('in the middle of a run goes on after event %d', async (cursor) => {
		const answer = RECORDED_RUN.slice(0, cursor).reduce(foldEvent, emptyAnswer('a', 'r', ''));
		storedConversation([answer], 'r', cursor);
		await session.load();
		expect(client.sources[0]?.after).toBe(cursor);
		client.sources[0]?.send(RECORDED_RUN.slice(cursor));
		expect(session.entries).toHaveLength(1);
		expect(session.entries[0]?.message).toEqual(RECORDED_RUN.reduce(foldEvent, emptyAnswer('a', 'r', '')));
	});

	test('and does not exist says so', async () => {
		await session.load();
		expect(session.phase).toBe('failed');
		expect(session.loadError?.code).toBe('not_found');
	});

	test('and looked at again keeps the places of the messages it has', async () => {
		const done = RECORDED_RUN.reduce(foldEvent, emptyAnswer('a', 'r', ''));
		storedConversation([done], null, 0);
		await session.load();
		const [entry] = session.entries;
		storedConversation([structuredClone(done), emptyAnswer('b', 'r2', '')], 'r2', 0);
		await session.refresh();
		expect(session.entries[0]).toBe(entry);
		expect(session.activeRunId).toBe('r2');
	});
});

describe('a message that the server did not take', () => {
	test('is out of the list, and back in the box before what was written since', async () => {
		client.startFailures.push(new ApiError('internal', 'Broken.'));
		session.draft.text = 'first';
		const sent = session.send();
		session.draft.text = 'second';
		await sent;
		expect(session.entries).toEqual([]);
		expect(session.draft.text).toBe('first\n\nsecond');
		expect(session.actionError?.message).toBe('Broken.');
	});

	test('but perhaps got has the same ids when it is sent again, and others when it says something else', async () => {
		client.startFailures.push(unreachable(), unreachable());
		await send('same');
		await session.send();
		await send('other');
		const [first, again, other] = client.started;
		expect(again).toEqual(first);
		expect(other?.runId).not.toBe(first?.runId);
	});

	test('because a run is under way shows that run', async () => {
		storedConversation([], null, 0);
		await session.load();
		storedConversation([emptyAnswer('a', 'elsewhere', '')], 'elsewhere', 3);
		client.startFailures.push(new ApiError('conflict', 'A run is under way.'));
		await send('mine');
		await expect.poll(() => client.sources[0]?.runId).toBe('elsewhere');
		expect(session.draft.text).toBe('mine');
	});
});

test('a retry asks the same question with its files as a new message', async () => {
	session.draft.text = 'question';
	await session.attach([new File(['x'], 'a.txt')]);
	client.uploads[0]?.finish();
	await expect.poll(() => session.canSend).toBe(true);
	await session.send();
	const failure: RunEvent = { type: 'RUN_ERROR', code: 'timeout', message: 'Too slow.' };
	client.sources[0]?.send([failure]);
	const failed = session.entries.at(-1);
	expect(failed?.message.status).toBe('failed');
	if (failed) await session.retry(failed);
	const [first, second] = client.started.map(({ messages }) => messages[0]);
	expect(second).toEqual({ ...first, id: second?.id });
	expect(second?.id).not.toBe(first?.id);
	expect(second?.metadata).toEqual({ files: ['a.txt'] });
});
