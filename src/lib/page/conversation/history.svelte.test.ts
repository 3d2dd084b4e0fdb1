import { beforeEach, describe, expect, test } from 'vitest';
import { createFakeClient, type FakeClient } from '../../../../tests/support/fake-client.ts';
import { createFakeServices } from '../../../../tests/support/fake-services.ts';
import { RECORDED_RUN } from '../../../../tests/support/recorded-run.ts';
import type { ConversationDetail } from '../../shared/api.ts';
import { emptyAnswer, foldEvent, type Message } from '../../shared/message.ts';
import { ApiError, unreachable } from '../request.ts';
import { ChatSession } from './session.svelte.ts';

const ID = 'conversation';
const TIME = '2026-01-01T00:00:00.000Z';
let client: FakeClient;
let session: ChatSession;

beforeEach(() => {
	localStorage.clear();
	sessionStorage.clear();
	client = createFakeClient();
	session = new ChatSession(
		ID,
		client,
		{ runStarted: () => {}, runEnded: () => {}, titled: () => {} },
		createFakeServices()
	);
});

function question(id: string, parentId: string | null, text = id): Message {
	const message = emptyAnswer(id, '', TIME, parentId);
	return { ...message, role: 'user', runId: null, status: 'complete', parts: [{ type: 'text', id: `${id}-t`, text }] };
}

function answer(id: string, parentId: string, runId = `run-${id}`): Message {
	return RECORDED_RUN.reduce(foldEvent, emptyAnswer(id, runId, TIME, parentId));
}

function store(messages: Message[], change: Partial<ConversationDetail> = {}): void {
	client.conversation = {
		...{ id: ID, title: 'Stored', createdAt: TIME, updatedAt: TIME, activeRunId: null, cursor: 0, messages },
		...{ isPinned: false, isArchived: false, isUnread: false, isWaiting: false, model: null, effort: null },
		...{ hasEarlier: false, alternatives: {}, queue: [], usage: null, ...change }
	};
}

const ids = (): string[] => session.entries.map(({ message }) => message.id);
const started = () => client.started.map(({ messages, forwardedProps }) => [messages.length, forwardedProps]);

async function open(messages: Message[], change: Partial<ConversationDetail> = {}): Promise<void> {
	store(messages, change);
	await session.load();
}

describe('F14: history', () => {
	const thread = [question('q1', null), answer('a1', 'q1'), question('q2', 'a1'), answer('a2', 'q2')];

	test('an edited message stands beside the old one, with its files', async () => {
		const withFile = { ...question('q2', 'a1'), files: ['a.csv'] };
		await open([...thread.slice(0, 2), withFile, answer('a2', 'q2')]);
		const branch = [...thread.slice(0, 2), question('q3', 'a1'), emptyAnswer('a3', 'r3', TIME, 'q3')];
		store(branch, { activeRunId: 'r3', alternatives: { q3: ['q2', 'q3'] } });
		const entry = session.entries[2];
		expect(entry && (await session.history.edit(entry, 'otherwise'))).toBe(true);
		expect(client.started[0]).toMatchObject({
			messages: [{ role: 'user', content: 'otherwise', metadata: { files: ['a.csv'] } }],
			forwardedProps: { after: 'a1' }
		});
		expect(ids()).toEqual(['q1', 'a1', 'q3', 'a3']);
		expect(session.history.alternatives.q3).toEqual(['q2', 'q3']);
		expect(session.run.id).toBe('r3');
	});

	test('the first message can be edited too', async () => {
		await open(thread);
		const [first] = session.entries;
		if (first) await session.history.edit(first, 'from the start');
		expect(started()).toEqual([[1, { after: null }]]);
	});

	test('a retry asks for another answer to the same message', async () => {
		await open(thread);
		const last = session.entries.at(-1);
		if (last) await session.history.retry(last);
		expect(started()).toEqual([[0, { retry: 'q2' }]]);
	});

	test('a retry can name the model that answers', async () => {
		await open(thread);
		const last = session.entries.at(-1);
		if (last) await session.history.retry(last, 'test/large');
		expect(started()).toEqual([[0, { retry: 'q2', model: 'test/large' }]]);
	});

	test('the last message of the user is the one to edit, and none while an answer is written', async () => {
		await open(thread);
		expect(session.history.editLast()).toBe(true);
		expect(session.history.editedId).toBe('q2');
		session.history.editedId = null;
		session.draft.text = 'next';
		await session.send();
		expect(session.history.editLast()).toBe(false);
		expect(session.history.editedId).toBeNull();
	});

	test('an answer that is continued keeps its place and what it said', async () => {
		const cut = { ...answer('a1', 'q1'), status: 'interrupted' as const };
		await open([question('q1', null), cut]);
		const entry = session.entries[1];
		store([question('q1', null), { ...cut, status: 'running', runId: 'more' }], { activeRunId: 'more' });
		if (entry) await session.history.continue(entry);
		expect(started()).toEqual([[0, { continue: 'a1' }]]);
		expect(session.entries[1]).toBe(entry);
		client.sources[0]?.send([
			{ type: 'TEXT_MESSAGE_START', messageId: 'm9', role: 'assistant' },
			{ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm9', delta: 'and more' },
			{ type: 'RUN_FINISHED', threadId: 't', runId: 'more', outcome: { type: 'success' } }
		]);
		expect(entry?.message.parts).toEqual([...cut.parts, { type: 'text', id: 'm9', text: 'and more' }]);
		expect(entry?.message.status).toBe('complete');
	});

	test('what the server did not take changes nothing, and is the same when it is sent again', async () => {
		await open(thread);
		const last = session.entries.at(-1);
		client.startFailures.push(unreachable());
		expect(last && (await session.history.retry(last))).toBe(false);
		expect(session.actionError?.code).toBe('unreachable');
		expect(ids()).toEqual(['q1', 'a1', 'q2', 'a2']);
		if (last) await session.history.retry(last);
		expect(client.started[1]).toEqual(client.started[0]);
	});

	test('nothing of it is possible while an answer is being written', async () => {
		await open([question('q1', null), emptyAnswer('a1', 'r', TIME, 'q1')], { activeRunId: 'r' });
		const [first] = session.entries;
		if (!first) throw new Error('no message');
		expect(await session.history.edit(first, 'otherwise')).toBe(false);
		expect(await session.history.remove(first)).toBe(false);
		expect(await session.history.show('other')).toBe(false);
		expect(client.started).toEqual([]);
		expect(client.calls).toEqual([]);
	});

	test('another branch is shown, and places before it stay as they are', async () => {
		await open(thread, { alternatives: { q2: ['q2', 'q3'] } });
		const [first] = session.entries;
		store([...thread.slice(0, 2), question('q3', 'a1')], { alternatives: { q3: ['q2', 'q3'] } });
		await session.history.show('q3');
		expect(client.calls).toEqual([['showMessage', 'q3']]);
		expect(ids()).toEqual(['q1', 'a1', 'q3']);
		expect(session.entries[0]).toBe(first);
		expect(session.history.alternatives).toEqual({ q3: ['q2', 'q3'] });
	});

	test('F16: an answer is marked as not good, and that is taken back; a refusal changes nothing', async () => {
		await open(thread);
		const entry = session.entries[1];
		if (!entry) throw new Error('no message');
		await session.history.dislike(entry);
		expect(entry.message.isDisliked).toBe(true);
		client.callFailures.push(new ApiError('conflict', 'This answer is not finished.'));
		await session.history.dislike(entry);
		expect(entry.message.isDisliked).toBe(true);
		await session.history.dislike(entry);
		expect(entry.message.isDisliked).toBe(false);
		const wanted = client.calls.filter(([name]) => name === 'dislikeMessage').map((call) => call.at(-1));
		expect(wanted).toEqual([true, false, false]);
	});

	test('a fork is a conversation of its own, or says why not', async () => {
		await open(thread);
		const entry = session.entries[1];
		if (!entry) throw new Error('no message');
		expect(await session.history.fork(entry)).toMatchObject({ id: 'fork' });
		client.callFailures.push(new ApiError('conflict', 'This answer is not finished.'));
		expect(await session.history.fork(entry)).toBe(null);
		expect(session.actionError?.message).toBe('This answer is not finished.');
	});
});

describe('F14: earlier messages', () => {
	const newest = [question('q2', 'a1'), answer('a2', 'q2')];
	const earlier = [question('q1', null), answer('a1', 'q1')];

	test('come before the others, and stay when the newest are read again', async () => {
		await open(newest, { hasEarlier: true });
		const place = session.entries[0];
		client.earlier = { messages: earlier, hasEarlier: false, alternatives: { a1: ['a0', 'a1'] } };
		await session.history.loadEarlier();
		expect(client.calls).toEqual([['listEarlier', 'q2']]);
		expect(ids()).toEqual(['q1', 'a1', 'q2', 'a2']);
		expect(session.entries[2]).toBe(place);
		await session.refresh();
		expect(ids()).toEqual(['q1', 'a1', 'q2', 'a2']);
		expect(session.history).toMatchObject({ hasEarlier: false, alternatives: { a1: ['a0', 'a1'] } });
	});

	test('are gone when another branch begins before them', async () => {
		await open(newest, { hasEarlier: true });
		client.earlier = { messages: earlier, hasEarlier: false, alternatives: {} };
		await session.history.loadEarlier();
		store([question('q9', 'a8'), answer('a9', 'q9')], { hasEarlier: true });
		await session.refresh();
		expect(ids()).toEqual(['q9', 'a9']);
		expect(session.history.hasEarlier).toBe(true);
	});

	test('that could not be read say why, and can be asked for again', async () => {
		await open(newest, { hasEarlier: true });
		client.callFailures.push(unreachable());
		await session.history.loadEarlier();
		expect(session.history.earlierError?.code).toBe('unreachable');
		await session.history.loadEarlier();
		expect(session.history.earlierError).toBe(null);
	});
});

describe('F14: a message that is looked for', () => {
	const newest = [question('q2', 'a1'), answer('a2', 'q2')];
	const earlier = [question('q1', null), answer('a1', 'q1')];

	test('is there at once when it is on the page, and after the messages before it are read otherwise', async () => {
		await open(newest, { hasEarlier: true });
		await session.history.seek('a2');
		expect([session.history.found, client.calls]).toEqual(['a2', []]);
		client.earlier = { messages: earlier, hasEarlier: false, alternatives: {} };
		await session.history.seek('q1');
		expect([session.history.found, client.calls]).toEqual(['q1', [['listEarlier', 'q2']]]);
		expect(ids()).toEqual(['q1', 'a1', 'q2', 'a2']);
	});

	test('is shown with its branch when that is another one', async () => {
		await open([...earlier, ...newest]);
		store([...earlier, question('q3', 'a1'), answer('a3', 'q3')]);
		await session.history.seek('q3');
		expect([session.history.found, client.calls]).toEqual(['q3', [['showMessage', 'q3']]]);
		expect(ids()).toEqual(['q1', 'a1', 'q3', 'a3']);
	});

	test('is not there when it was removed, or what is before could not be read: the page says so and stays', async () => {
		await open(newest);
		client.callFailures.push(new ApiError('not_found', 'There is no such message.'));
		await session.history.seek('gone');
		expect([session.history.found, session.actionError?.code]).toEqual([null, 'not_found']);
		client.calls.length = 0;
		store([question('q5', 'a4'), answer('a5', 'q5')], { hasEarlier: true });
		await session.load();
		client.callFailures.push(unreachable());
		await session.history.seek('q1');
		expect([session.history.found, session.history.earlierError?.code]).toEqual([null, 'unreachable']);
		expect(client.calls.map(([name]) => name)).toEqual(['listEarlier']);
	});

	test('the last one counts, and while messages are read they are read once', async () => {
		await open(newest, { hasEarlier: true });
		client.earlier = { messages: earlier, hasEarlier: false, alternatives: {} };
		await Promise.all([session.history.seek('q1'), session.history.seek('a1'), session.history.loadEarlier()]);
		expect([session.history.found, client.calls]).toEqual(['a1', [['listEarlier', 'q2']]]);
	});
});
