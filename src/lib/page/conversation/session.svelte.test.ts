import { beforeEach, describe, expect, test } from 'vitest';
import { createFakeClient, type FakeClient } from '../../../../tests/support/fake-client.ts';
import { createFakeServices, type FakeServices } from '../../../../tests/support/fake-services.ts';
import { RECORDED_ANSWER, RECORDED_RUN } from '../../../../tests/support/recorded-run.ts';
import type { ConversationDetail } from '../../shared/api.ts';
import type { RunEvent } from '../../shared/events.ts';
import { emptyAnswer, foldEvent, type Message } from '../../shared/message.ts';
import { ApiError, unreachable } from '../request.ts';
import { ChatSession } from './session.svelte.ts';

const ID = 'conversation';
let client: FakeClient;
let services: FakeServices;
let told: string[];
let session: ChatSession;

beforeEach(() => {
	localStorage.clear();
	sessionStorage.clear();
	client = createFakeClient();
	told = [];
	services = createFakeServices();
	session = newSession(ID);
});

function newSession(id: string): ChatSession {
	const listener = {
		runStarted: (id: string) => told.push(`started ${id}`),
		runEnded: (id: string) => told.push(`ended ${id}`),
		titled: (_id: string, title: string) => told.push(`titled ${title}`),
		seen: (id: string) => told.push(`seen ${id}`),
		changed: (id: string) => told.push(`changed ${id}`)
	};
	return new ChatSession(id, client, listener, services);
}

async function send(text: string): Promise<void> {
	session.draft.text = text;
	await session.send();
}

function answerText(): string {
	const last = session.entries.at(-1)?.message.parts.at(-1);
	return last?.type === 'text' ? last.text : '';
}

function storedConversation(
	messages: Message[],
	activeRunId: string | null,
	cursor: number,
	change: Partial<ConversationDetail> = {}
): void {
	const time = '2026-01-01T00:00:00.000Z';
	client.conversation = {
		...{ id: ID, title: 'Stored', createdAt: time, updatedAt: time, activeRunId, cursor, messages },
		...{ isPinned: false, isArchived: false, isUnread: false, isWaiting: false, model: null, effort: null },
		...{ hasEarlier: false, alternatives: {}, queue: [], usage: null, isPinned: false, isArchived: false },
		...{ isUnread: false, model: null, effort: null, ...change }
	};
}

describe('what is sent while the page still waits', () => {
	test('for the conversation goes as soon as that is read, once', async () => {
		storedConversation([], null, 0);
		let answer = (): void => {};
		const { getConversation } = client;
		client.getConversation = (id) => new Promise<void>((resolve) => (answer = resolve)).then(() => getConversation(id));
		const isLoaded = session.load();
		session.draft.text = 'early';
		const isSent = [session.send(), session.send()];
		expect(client.started).toEqual([]);
		expect(session.draft.text).toBe('early');
		answer();
		await Promise.all([isLoaded, ...isSent]);
		expect(client.started.map(({ messages }) => messages.at(-1)?.content)).toEqual(['early']);
		expect(session.draft.text).toBe('');
	});

	test('for a conversation that cannot be read stays in the box', async () => {
		client.getConversation = () => Promise.reject(unreachable(new Error('gone')));
		const isLoaded = session.load();
		session.draft.text = 'early';
		await Promise.all([session.send(), isLoaded]);
		expect(client.started).toEqual([]);
		expect(session.draft.text).toBe('early');
	});

	test('for an earlier message to arrive goes after that one', async () => {
		session.draft.text = 'first';
		const isFirstSent = session.send();
		session.draft.text = 'second';
		await Promise.all([isFirstSent, session.send()]);
		expect(client.started).toHaveLength(1);
		expect(client.calls).toMatchObject([['enqueue', { text: 'second' }]]);
		expect(session.draft.text).toBe('');
	});
});

test('messages for the queue wait for nothing: each is on its way before the one before has arrived', async () => {
	await send('first');
	const isSent = ['second', 'third'].map(send);
	expect(client.calls).toMatchObject([
		['enqueue', { text: 'second' }],
		['enqueue', { text: 'third' }]
	]);
	await Promise.all(isSent);
});

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
		expect(session.run.isReconnecting).toBe(true);
		await expect.poll(() => client.sources.length).toBe(2);
		expect(client.sources[1]?.after).toBe(30);
		// It does no harm if the server sends some events again.
		client.sources[1]?.send(RECORDED_RUN.slice(20), 21);
		expect(session.run.isReconnecting).toBe(false);
		expect(answerText()).toBe(RECORDED_ANSWER);
	});

	test('that does not exist any more is not waited for: the conversation is read again', async () => {
		await send('count');
		client.hasRun = false;
		storedConversation([], null, 0);
		client.sources[0]?.fail();
		await expect.poll(() => session.title).toBe('Stored');
		expect(session.isRunning).toBe(false);
		expect(client.sources).toHaveLength(1);
	});

	test('whose server crashed and ended it earlier than what is shown is read again', async () => {
		await send('count');
		client.sources[0]?.send(RECORDED_RUN.slice(0, 30));
		storedConversation([], null, 0);
		client.sources[0]?.fail();
		await expect.poll(() => client.sources.length).toBe(2);
		const end: RunEvent = { type: 'RUN_ERROR', code: 'interrupted', message: 'The server was stopped.' };
		client.sources[1]?.send([...RECORDED_RUN.slice(0, 29), end], 1);
		await expect.poll(() => session.title).toBe('Stored');
		expect(session.isRunning).toBe(false);
		expect(client.sources[1]?.isClosed).toBe(true);
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
		expect(session.run.id).toBe('r2');
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

describe('F14: two tabs agree', () => {
	const asked: Message = { ...emptyAnswer('q', '', '', null), role: 'user', runId: null, status: 'complete' };
	const running = emptyAnswer('a', 'r', '', 'q');

	test('a run that began elsewhere is followed from where it is', async () => {
		storedConversation([], null, 0);
		await session.load();
		storedConversation([asked, RECORDED_RUN.slice(0, 9).reduce(foldEvent, running)], 'r', 9);
		client.announce();
		await expect.poll(() => client.sources[0]).toMatchObject({ runId: 'r', after: 9 });
		client.sources[0]?.send(RECORDED_RUN.slice(9));
		expect(session.entries[1]?.message).toEqual(RECORDED_RUN.reduce(foldEvent, running));
		expect(told).toEqual([`started ${ID}`, 'titled Counting words', `ended ${ID}`]);
	});

	test('a message that waits is shown, also while an answer is being written', async () => {
		storedConversation([asked, running], 'r', 0);
		await session.load();
		const queue = [{ id: 'w', text: 'wait', files: [], createdAt: '' }];
		if (client.conversation) client.conversation = { ...client.conversation, queue };
		client.announce();
		await expect.poll(() => session.queue.items).toEqual(queue);
		expect(client.sources).toHaveLength(1);
	});

	test('what was read does not set back an answer that is further here', async () => {
		await send('count');
		client.sources[0]?.send(RECORDED_RUN.slice(0, 30));
		const runId = client.started[0]?.runId ?? '';
		const questionId = client.started[0]?.messages[0]?.id ?? '';
		const stale = RECORDED_RUN.slice(0, 5).reduce(foldEvent, emptyAnswer('server-id', runId, '', questionId));
		storedConversation([{ ...asked, id: questionId }, stale], runId, 5);
		await expect.poll(() => session.entries[1]?.message.parts.length).toBe(5);
		const parts = session.entries[1]?.message.parts;
		const entry = session.entries[1];
		client.announce();
		await expect.poll(() => session.entries[1]?.message.id).toBe('server-id');
		expect(session.entries[1]).toBe(entry);
		expect(session.entries[1]?.message.parts).toBe(parts);
		expect(client.sources).toHaveLength(1);
	});

	test('a run whose end was seen is not followed again because an old answer says that it goes on', async () => {
		const done = RECORDED_RUN.reduce(foldEvent, running);
		storedConversation([asked, done], 'r', RECORDED_RUN.length);
		await session.load();
		expect(session.isRunning).toBe(false);
		expect(client.sources).toEqual([]);
	});

	test('many changes are two reads: the one under way, and one after it', async () => {
		storedConversation([], null, 0);
		await session.load();
		client.reads = 0;
		for (let count = 0; count < 20; count++) client.announce();
		await session.refresh();
		expect(client.reads).toBe(2);
	});

	test('a read that began before a message was sent does not take it away', async () => {
		storedConversation([], null, 0);
		await session.load();
		let answer = (): void => {};
		const { getConversation, startRun } = client;
		client.getConversation = (id) => new Promise<void>((resolve) => (answer = resolve)).then(() => getConversation(id));
		const isRead = session.refresh();
		client.startRun = (...input) => isRead.then(() => startRun(...input));
		const isSent = send('now');
		expect(session.entries).toHaveLength(1);
		client.getConversation = getConversation;
		answer();
		await isRead;
		expect(session.entries).toHaveLength(1);
		await isSent;
	});

	test('a conversation that is deleted elsewhere is asked for nothing until it is back', async () => {
		storedConversation([asked], null, 0);
		await session.load();
		session.actionError = new ApiError('conflict', 'This conversation was deleted.');
		client.reads = 0;
		client.announce(true);
		expect(session.isDeleted).toBe(true);
		expect(session.actionError).toBeNull();
		await send('into the void');
		await session.refresh();
		expect([client.reads, client.started, session.draft.text]).toEqual([0, [], 'into the void']);
		expect(session.entries.map(({ message: { id } }) => id)).toEqual(['q']);
		client.announce();
		expect(session.isDeleted).toBe(false);
		await expect.poll(() => client.reads).toBe(1);
		expect(told).toEqual([`changed ${ID}`, `changed ${ID}`]);
	});

	test.each([
		['deleted elsewhere', () => client.announce(true)],
		['left', () => session.dispose()]
	])('one that is %s while it is read is asked for nothing more', async (_what, end) => {
		storedConversation([asked], null, 0);
		await session.load();
		const { getConversation } = client;
		let answer = (): void => {};
		client.getConversation = (id) => new Promise<void>((resolve) => (answer = resolve)).then(() => getConversation(id));
		const asks: string[] = [];
		client.listFiles = async () => (asks.push('files'), []);
		services.skills.listConversationSkills = async () => (asks.push('skills'), { data: [], tokens: 0 });
		services.change = async () => void asks.push('read mark');
		storedConversation([asked], null, 0, { isUnread: true });
		const isRead = session.refresh();
		end();
		answer();
		await isRead;
		await Promise.all([session.files.refresh(), session.skills.refresh()]);
		expect(asks).toEqual([]);
	});

	test('one that was deleted before says so, and is read when it is restored', async () => {
		const read = client.getConversation;
		client.getConversation = () =>
			Promise.reject(new ApiError('not_found', 'This conversation was deleted.', { details: { isDeleted: true } }));
		await session.load();
		expect([session.phase, session.isDeleted, session.canSend]).toEqual(['failed', true, false]);
		client.getConversation = read;
		storedConversation([asked], null, 0);
		session.setDeleted(false);
		await expect.poll(() => session.phase).toBe('ready');
	});

	test('a new title is told to those who list it', async () => {
		storedConversation([asked], null, 0);
		await session.load();
		storedConversation([asked], null, 0, { title: 'Renamed' });
		client.announce();
		await expect.poll(() => told).toEqual([`changed ${ID}`]);
		expect(session.title).toBe('Renamed');
	});

	test('nothing is watched any more when the conversation is left', async () => {
		storedConversation([], null, 0);
		await session.load();
		session.dispose();
		expect(client.watches.map(({ isClosed }) => isClosed)).toEqual([true]);
	});
});

describe('F14: a message while an answer is being written', () => {
	test('waits in the queue; when the server sends it, it is in the conversation', async () => {
		await send('first');
		const input = client.started[0];
		const first: Message = { ...emptyAnswer(input?.messages[0]?.id ?? '', '', ''), role: 'user', runId: null };
		const answer = emptyAnswer('a', input?.runId ?? '', '', first.id);
		storedConversation([first, answer], input?.runId ?? '', 0);
		await send('second');
		const [[, message] = []] = client.calls as [string, { id: string; text: string }][];
		expect(message?.text).toBe('second');
		const second: Message = { ...first, id: message?.id ?? '', parentId: 'a' };
		const next = emptyAnswer('b', 'queued', '', second.id);
		storedConversation([first, RECORDED_RUN.reduce(foldEvent, answer), second, next], 'queued', 0);
		client.sources[0]?.send(RECORDED_RUN);
		await expect.poll(() => session.run.id).toBe('queued');
		expect(session.entries.map(({ message: { id } }) => id)).toEqual([first.id, 'a', second.id, 'b']);
		expect(session.queue.items).toEqual([]);
	});

	test('has the same id when it is sent again because nobody knows whether it arrived', async () => {
		storedConversation([emptyAnswer('a', 'r', '')], 'r', 0);
		await session.load();
		client.callFailures.push(unreachable());
		await send('perhaps');
		expect(session.draft.text).toBe('perhaps');
		await session.send();
		expect(client.calls[1]).toEqual(client.calls[0]);
	});
});

test('F14: a decision that was not taken is told, and the conversation is read again', async () => {
	storedConversation([], null, 0);
	await session.load();
	client.reads = 0;
	client.callFailures.push(new ApiError('conflict', 'This was decided already.'));
	await expect(session.decide('i', { choice: 'once' })).rejects.toThrow('This was decided already.');
	expect(client.calls).toEqual([['decide', 'i', { choice: 'once' }]]);
	expect(client.reads).toBe(1);
});

describe('the model and the effort', () => {
	test('of a conversation are what the server has, and are changed there', async () => {
		storedConversation([], null, 0, { model: 'test/small', effort: 'low' });
		await session.load();
		expect([session.choices.model, session.choices.effort]).toEqual(['test/small', 'low']);
		storedConversation([], null, 0, { model: null, effort: 'low' });
		expect(await session.choices.pickModel(null)).toBe(true);
		expect(services.changes).toEqual([{ model: null }]);
		expect(session.choices.model).toBeNull();
	});

	test('that the server did not take are what they were, and it is said', async () => {
		storedConversation([], null, 0, { model: 'test/small' });
		await session.load();
		services.changeFailures.push(new ApiError('invalid_input', 'There is no such model.'));
		expect(await session.choices.pickModel('test/none')).toBe(false);
		expect(session.choices.model).toBe('test/small');
		expect(session.actionError?.message).toBe('There is no such model.');
	});

	test('are on the server before a message that was sent after they were picked', async () => {
		storedConversation([], null, 0);
		await session.load();
		const done: string[] = [];
		let take = (): void => {};
		const { change } = services;
		services.change = async (...patch) => {
			await new Promise<void>((resolve) => (take = resolve));
			done.push('changed');
			return change(...patch);
		};
		session = newSession(ID);
		await session.load();
		const { startRun } = client;
		client.startRun = (...input) => (done.push('started'), startRun(...input));
		const isPicked = session.choices.pickModel('test/large');
		const isSent = send('hello');
		await Promise.resolve();
		take();
		await Promise.all([isPicked, isSent]);
		expect(done).toEqual(['changed', 'started']);
	});

	test('picked while the first message is being sent are saved after it', async () => {
		let arrive = (): void => {};
		const { startRun } = client;
		client.startRun = (...input) => new Promise<void>((resolve) => (arrive = resolve)).then(() => startRun(...input));
		const isSent = send('first');
		const isPicked = session.choices.pickModel('test/large');
		expect(services.changes).toEqual([]);
		arrive();
		expect(await isPicked).toBe(true);
		await isSent;
		expect(services.changes).toEqual([{ model: 'test/large' }]);
	});

	test('of a new conversation do not go with its later messages', async () => {
		await session.choices.pickEffort('high');
		await send('first');
		expect(client.started[0]?.forwardedProps).toEqual({ effort: 'high' });
		client.sources[0]?.send(RECORDED_RUN);
		storedConversation([], null, 0, { effort: 'high' });
		await session.refresh();
		await send('second');
		expect(client.started[1]?.forwardedProps).toBeUndefined();
	});
});

test('F11: what a new chat has chosen is there after a reload, and for this chat only', async () => {
	const routing = { fallbacks: ['b/two'], zdr: true };
	await session.choices.pickRouting(routing);
	await session.choices.instruct('Be brief.', 'ask');
	const reloaded = (id: string) => newSession(id).choices.props;
	expect(reloaded(ID)).toEqual({ routing, instructions: 'Be brief.', approval: 'ask' });
	expect(reloaded('another')).toEqual({});
	await session.choices.pickRouting(null);
	expect(reloaded(ID)).toEqual({ instructions: 'Be brief.', approval: 'ask' });
});

test('an answer whose end is seen here is read, and those who list it are told', async () => {
	storedConversation([], null, 0, { isUnread: true });
	await session.load();
	await expect.poll(() => told).toEqual([`seen ${ID}`]);
	expect(services.changes).toEqual([{ isUnread: false }]);
});

test('F7: skills that wait to be pinned go with the first message, also when it is sent again', async () => {
	await session.skills.pinByName('count-words');
	client.startFailures.push(unreachable());
	await send('count');
	await session.send();
	expect(client.started.map(({ forwardedProps }) => forwardedProps)).toEqual([
		{ pins: ['count-words'] },
		{ pins: ['count-words'] }
	]);
	expect(client.started[1]).toEqual(client.started[0]);
	expect(session.skills.pins).toEqual([]);
	expect(services.skillChanges).toEqual([]);
});

describe('answers side by side', () => {
	const answerOf = (name: string, change: Partial<Message> = {}): Message => ({
		...emptyAnswer(`answer-${name}`, `run-${name}`, '2026-01-01T00:00:00.000Z', 'question'),
		...change
	});
	const question: Message = { ...answerOf('q'), id: 'question', parentId: null, role: 'user', runId: null };
	/** The answers of the models a and b, of which a's is the end of the shown branch. */
	function store(answers: Message[], change: Partial<ConversationDetail> = {}): void {
		const [first] = answers;
		const active = answers.find(({ status }) => status === 'running')?.runId ?? null;
		const compared = answers.map((message, index) => ({ model: 'ab'.charAt(index), message, cursor: index }));
		storedConversation(first ? [question, first] : [question], active, 0, { compared, ...change });
	}
	const done = (name: string) => answerOf(name, { status: 'complete' });
	const textOf = (index: number) => {
		const last = session.compared[index]?.entry.message.parts.at(-1);
		return last?.type === 'text' ? last.text : '';
	};

	test('are asked for in one request, and only for this message', async () => {
		session.choices.compared = ['a', 'b'];
		await send('Which?');
		await send('And now?');
		expect(client.started.map(({ forwardedProps }) => forwardedProps)).toEqual([{ compare: ['a', 'b'] }, undefined]);
	});

	test('grow over one connection, each from where it was, and end one by one', async () => {
		store([answerOf('a'), answerOf('b')]);
		await session.load();
		const [source] = client.sources;
		expect([source?.runId, source?.after, source?.beside]).toEqual(['run-a', 0, [{ runId: 'run-b', after: 1 }]]);
		const written = (delta: string): RunEvent[] => [
			{ type: 'TEXT_MESSAGE_START', messageId: 't', role: 'assistant' },
			{ type: 'TEXT_MESSAGE_CONTENT', messageId: 't', delta }
		];
		source?.send(written('From a.'));
		source?.send(written('From b.'), 2, 'run-b');
		await expect.poll(() => [textOf(0), textOf(1)]).toEqual(['From a.', 'From b.']);
		store([answerOf('a'), done('b')]);
		source?.send([{ type: 'RUN_FINISHED', threadId: ID, runId: 'run-b', outcome: { type: 'success' } }], 4, 'run-b');
		await expect.poll(() => session.run.ids).toEqual(['run-a']);
		expect(told).not.toContain(`ended ${ID}`);
		expect(source?.isClosed).toBe(false);
		store([done('a'), done('b')]);
		source?.send([{ type: 'RUN_FINISHED', threadId: ID, runId: 'run-a', outcome: { type: 'success' } }], 3);
		await expect.poll(() => session.isRunning).toBe(false);
		expect(source?.isClosed).toBe(true);
		expect(told.filter((what) => what === `ended ${ID}`)).toHaveLength(1);
	});

	test('after a lost connection each goes on after its own last event', async () => {
		store([answerOf('a'), answerOf('b')]);
		await session.load();
		client.sources[0]?.send([{ type: 'RUN_STARTED', threadId: ID, runId: 'run-b' }], 7, 'run-b');
		client.sources[0]?.fail();
		await expect.poll(() => client.sources.length).toBe(2);
		expect(client.sources[1]).toMatchObject({ runId: 'run-a', after: 0, beside: [{ runId: 'run-b', after: 7 }] });
	});

	test('one is stopped, or all', async () => {
		store([answerOf('a'), answerOf('b')]);
		await session.load();
		await session.stop('run-b');
		expect(client.stopped).toEqual(['run-b']);
		await session.stop();
		expect(client.stopped).toEqual(['run-b', 'run-a']);
	});

	test('one that ended is asked again in its place while the other is being written', async () => {
		store([answerOf('a'), answerOf('b', { status: 'failed' })]);
		await session.load();
		const [running, failed] = session.compared.map(({ entry }) => entry);
		if (!running || !failed) throw new Error('there are two answers');
		expect([session.canChange(running), session.canChange(failed)]).toEqual([false, true]);
		await session.history.retry(failed);
		expect(client.started[0]?.forwardedProps).toEqual({ retry: 'question', compare: ['b'], instead: 'answer-b' });
	});

	test('the chosen one is shown with its model, the others end, and what waited follows it', async () => {
		const waiting = { id: 'next', text: 'Next?', files: [], createdAt: '2026-01-01T00:00:00.000Z' };
		store([answerOf('a'), done('b')], { queue: [waiting] });
		await session.load();
		const [, chosen] = session.compared;
		if (!chosen) throw new Error('there are two answers');
		const changes: unknown[] = [];
		client.changeConversation = async (_id, change) => void changes.push(change) as never;
		client.sendQueued = async (_id, id) => void changes.push(id) as never;
		await session.choose(chosen);
		expect(client.stopped).toEqual(['run-a']);
		await expect.poll(() => changes).toEqual([{ show: 'answer-b', model: 'b' }, 'next']);
	});

	test('a message that is sent before a choice follows the one in front', async () => {
		store([done('a'), done('b')]);
		await session.load();
		expect(session.front?.model).toBe('a');
		const [, second] = session.compared;
		if (second) session.bringToFront(second.entry);
		client.changeConversation = async (_id, change) => {
			client.calls.push(['changeConversation', change]);
			storedConversation([question, done('b')], null, 0);
			return undefined as never;
		};
		await send('Go on.');
		expect(client.calls).toEqual([['changeConversation', { show: 'answer-b', model: 'b' }]]);
		expect(client.started).toHaveLength(1);
		expect(session.compared).toEqual([]);
	});

	test('a choice that the server refuses leaves the message in the box', async () => {
		store([done('a'), done('b')]);
		await session.load();
		client.changeConversation = () => Promise.reject(unreachable(new Error('gone')));
		await send('Go on.');
		expect(client.started).toEqual([]);
		expect(session.draft.text).toBe('Go on.');
		expect(session.actionError?.code).toBe('unreachable');
	});
});
