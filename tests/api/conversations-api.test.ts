/** The chat endpoints: lists, marks, deletion with undo, search, files. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { MANAGER } from '../../src/lib/server/access/caller.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type {
	ConversationDetail,
	ConversationList,
	ConversationSummary,
	DeletedConversation
} from '../../src/lib/shared/api.ts';
import { emptyAnswer } from '../../src/lib/shared/message.ts';
import type { StoredEvent } from '../../src/lib/server/store/chat/runs.ts';
import * as chat from '../../src/routes/api/chat/+server.ts';
import * as list from '../../src/routes/api/conversations/+server.ts';
import * as one from '../../src/routes/api/conversations/[id]/+server.ts';
import * as decision from '../../src/routes/api/conversations/[id]/approvals/[interrupt]/+server.ts';
import * as changes from '../../src/routes/api/conversations/[id]/events/+server.ts';
import * as download from '../../src/routes/api/conversations/[id]/export/+server.ts';
import * as files from '../../src/routes/api/conversations/[id]/files/+server.ts';
import * as file from '../../src/routes/api/conversations/[id]/files/[...path]/+server.ts';
import * as fork from '../../src/routes/api/conversations/[id]/fork/+server.ts';
import * as messages from '../../src/routes/api/conversations/[id]/messages/+server.ts';
import * as message from '../../src/routes/api/conversations/[id]/messages/[message]/+server.ts';
import * as queue from '../../src/routes/api/conversations/[id]/queue/+server.ts';
import * as queued from '../../src/routes/api/conversations/[id]/queue/[message]/+server.ts';
import * as send from '../../src/routes/api/conversations/[id]/queue/[message]/send/+server.ts';
import * as trash from '../../src/routes/api/conversations/trash/+server.ts';
import * as restore from '../../src/routes/api/conversations/trash/[id]/+server.ts';
import * as upload from '../../src/routes/api/conversations/import/+server.ts';
import * as run from '../../src/routes/api/runs/[id]/+server.ts';
import * as runEvents from '../../src/routes/api/runs/[id]/events/+server.ts';
import { checkedAnswer } from '../support/checked-answer.ts';
import { eventually } from '../support/eventually.ts';

const root = sharedFolder();
let app: App;
beforeAll(async () => {
	app = await createApp(
		loadConfig({ DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills'), SKILLS_SANDBOX: 'process' })
	);
});
afterAll(async () => {
	await app.close();
});

interface Asked {
	query?: string;
	params?: Record<string, string>;
	body?: unknown;
	/** Sent unchanged, for bodies that aren't JSON. */
	text?: string;
}

/** Calls a handler with the parts of an event that handlers use. */
async function ask<Answer>(
	handler: (event: never) => Response | Promise<Response>,
	{ query = '', params = {}, body, text = JSON.stringify(body) }: Asked = {}
) {
	const url = new URL(`http://localhost/?${query}`);
	const request = new Request(url, text === undefined ? {} : { method: 'POST', body: text });
	const { status, headers, ...response } = await answerOf(
		await checkedAnswer(handler, await handler({ url, request, params, locals: { app, caller: MANAGER } } as never))
	);
	return {
		status,
		headers,
		text: response.text,
		body: parsed(response.text) as Answer & { error: { message: string; code: string } }
	};
}

async function answerOf(response: Response) {
	return { status: response.status, headers: response.headers, text: await response.text() };
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

const create = async (title: string): Promise<string> =>
	(await ask<ConversationSummary>(list.POST, { body: { title } })).body.id;
const patch = (id: string, body: unknown) => ask<ConversationSummary>(one.PATCH, { params: { id }, body });
const found = async (query = ''): Promise<ConversationSummary[]> =>
	(await ask<ConversationList>(list.GET, { query })).body.data;

/** A chat with one demo mode answer. */
async function answered(text: string, runId: string): Promise<string> {
	const id = await create('New chat');
	const { status } = await ask(chat.POST, { body: input(id, runId, text) });
	expect(status).toBe(202);
	const batches = await app.runner.follow(runId, 0, new AbortController().signal);
	for await (const _batch of batches ?? []);
	return id;
}

const input = (threadId: string, runId: string, content: string) => ({
	...{ threadId, runId, tools: [], context: [] },
	messages: [{ id: `${runId}-question`, role: 'user', content }]
});

test('a change is answered with the conversation as it is then; only a new title makes it newer', async () => {
	const id = await create('Plans');
	const { body: before } = await ask<ConversationDetail>(one.GET, { params: { id } });
	expect(before).toMatchObject({
		isPinned: false,
		isArchived: false,
		isUnread: false,
		isWaiting: false,
		model: null,
		effort: null
	});
	expect((await patch(id, { isPinned: true })).body).toMatchObject({ isPinned: true, updatedAt: before.updatedAt });
	await patch(id, { model: 'a/b', effort: 'low' });
	await patch(id, { isArchived: true, isPinned: false });
	const { body } = await ask<ConversationDetail>(one.GET, { params: { id } });
	expect(body).toEqual({ ...before, isArchived: true, model: 'a/b', effort: 'low' });
	expect((await found()).map((each) => each.id)).not.toContain(id);
	expect((await found('archived=true')).map((each) => each.id)).toEqual([id]);
	expect((await patch(id, { title: 'Other' })).body.title).toBe('Other');
});

test.each([
	{},
	{ isUnread: true },
	{ isPinned: 1 },
	{ effort: 'huge' },
	{ model: 'two words' },
	{ model: 'preset:x' },
	{ deletedAt: null }
])('a change of %j is refused', async (body) => {
	expect((await patch(await create('x'), body)).status).toBe(400);
});

test('an answer that ends is unread until somebody says that it was seen', async () => {
	const id = await answered('Hello there', 'run-unread');
	expect((await found()).find((each) => each.id === id)).toMatchObject({ isUnread: true });
	expect((await patch(id, { isUnread: false })).body.isUnread).toBe(false);
});

test('every address of a deleted conversation but that of its changes answers 404, and asking in it says that it can be restored', async () => {
	const id = await answered('A question about penguins', 'run-deleted');
	await ask(file.PUT, { params: { id, path: 'a.txt' }, text: 'x' });
	const before = await ask<ConversationDetail>(one.GET, { params: { id } });
	expect((await ask(one.DELETE, { params: { id } })).status).toBe(204);

	const queuedBody = { id: 'q', text: 'x' };
	const answers = await Promise.all([
		ask(one.GET, { params: { id } }),
		ask(one.DELETE, { params: { id } }),
		patch(id, { isPinned: true }),
		patch(id, { show: 'run-deleted-question' }),
		ask(download.GET, { params: { id } }),
		ask(files.GET, { params: { id } }),
		ask(file.GET, { params: { id, path: 'a.txt' } }),
		ask(file.PUT, { params: { id, path: 'b.txt' }, text: 'x' }),
		ask(file.DELETE, { params: { id, path: 'a.txt' } }),
		ask(fork.POST, { params: { id }, body: { messageId: 'run-deleted-question' } }),
		ask(messages.GET, { params: { id }, query: 'before=run-deleted-question' }),
		ask(message.DELETE, { params: { id, message: 'run-deleted-question' } }),
		ask(queue.POST, { params: { id }, body: queuedBody }),
		ask(queued.PATCH, { params: { id, message: 'q' }, body: { text: 'y' } }),
		ask(queued.DELETE, { params: { id, message: 'q' } }),
		ask(send.POST, { params: { id, message: 'q' } }),
		ask(decision.POST, { params: { id, interrupt: 'i' }, body: { choice: 'once' } }),
		ask(run.GET, { params: { id: 'run-deleted' } }),
		ask(run.DELETE, { params: { id: 'run-deleted' } }),
		ask(runEvents.GET, { params: { id: 'run-deleted' } })
	]);
	expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
	expect((await found('q=penguins')).map((each) => each.id)).toEqual([]);
	const asked = await ask(chat.POST, { body: input(id, 'run-more', 'more') });
	expect(asked.status).toBe(409);
	expect(asked.body.error.message).toContain('was deleted. Restore it');

	expect((await ask<ConversationSummary>(restore.POST, { params: { id } })).body).toMatchObject({ id });
	expect((await ask(restore.POST, { params: { id } })).status).toBe(200);
	expect(await ask(one.GET, { params: { id } })).toMatchObject({ body: before.body });
	expect((await ask(file.GET, { params: { id, path: 'a.txt' } })).text).toBe('x');
	expect((await ask(restore.POST, { params: { id: 'nobody' } })).status).toBe(404);
});

test('a deleted conversation is listed until it is restored or deleted for good; what comes too late, twice or by a key is refused', async () => {
	const deleted = async (query = '') => {
		const { body } = await ask<{ data: DeletedConversation[]; total: number }>(trash.GET, { query });
		return body;
	};
	const [kept, gone] = [await create('Kept'), await create('Gone')];
	expect((await ask(restore.DELETE, { params: { id: kept } })).status).toBe(404);
	await ask(one.DELETE, { params: { id: kept } });
	await ask(file.PUT, { params: { id: gone, path: 'a.txt' }, text: 'x' });
	await ask(one.DELETE, { params: { id: gone } });
	expect((await deleted()).data.map(({ title }) => title)).toEqual(['Gone', 'Kept']);
	const [last] = (await deleted('page=2&limit=1')).data;
	expect(last).toMatchObject({ id: kept });
	expect(Date.parse(last?.expiresAt ?? '') - Date.parse(last?.deletedAt ?? '')).toBe(30 * 86_400_000);
	expect((await ask(trash.GET, { query: 'limit=0' })).status).toBe(400);

	expect((await ask(restore.DELETE, { params: { id: gone } })).status).toBe(204);
	expect((await ask(restore.DELETE, { params: { id: gone } })).status).toBe(404);
	expect((await ask(restore.POST, { params: { id: gone } })).status).toBe(404);
	expect(existsSync(app.workspaces.path(gone))).toBe(false);
	expect((await ask(restore.POST, { params: { id: kept } })).body).toMatchObject({ title: 'Kept' });
	expect((await ask(restore.DELETE, { params: { id: kept } })).status).toBe(404);
	expect((await ask(one.GET, { params: { id: kept } })).status).toBe(200);
	expect(await deleted()).toMatchObject({ data: [], total: 0 });
	// These ids would clash with the endpoints of the same name.
	for (const taken of ['trash', 'import']) {
		expect((await ask(chat.POST, { body: input(taken, 'run-taken', 'x') })).status).toBe(400);
		expect((await ask(file.PUT, { params: { id: taken, path: 'a.txt' }, text: 'x' })).status).toBe(400);
	}
});

test('F14: who follows a conversation hears at once, and of a new title, of its deletion and of its return', async () => {
	const id = await create('Plans');
	const controller = new AbortController();
	const open = async () => {
		const url = new URL('http://localhost/');
		const request = new Request(url, { signal: controller.signal });
		const response = await changes.GET({ url, request, params: { id }, locals: { app, caller: MANAGER } } as never);
		const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
		/** The next event's data. */
		return async (): Promise<unknown> => {
			for (;;) {
				const data = /^data: (.*)$/m.exec((await reader?.read())?.value ?? '')?.[1];
				if (data !== undefined) return JSON.parse(data);
			}
		};
	};
	const next = await open();
	expect(await next()).toEqual({ isDeleted: false });
	await patch(id, { title: 'Other plans' });
	expect(await next()).toEqual({ isDeleted: false });
	await ask(one.DELETE, { params: { id } });
	expect(await next()).toEqual({ isDeleted: true });
	expect(await (await open())()).toEqual({ isDeleted: true });
	await ask(restore.POST, { params: { id } });
	expect(await next()).toEqual({ isDeleted: false });
	await ask(one.DELETE, { params: { id } });
	await ask(restore.DELETE, { params: { id } });
	expect(await (await open())()).toEqual({ isDeleted: true });
	controller.abort();
});

test('a search finds what was said, with a piece of it; any text is a query', async () => {
	const id = await answered('Do axolotls like Zürich?', 'run-search');
	const [hit] = await found('q=zurich+axo');
	expect(hit).toMatchObject({ id, snippet: { messageId: 'run-search-question' } });
	expect(hit?.snippet?.matches.map(([from, to]) => hit.snippet?.text.slice(from, to))).toEqual(['axolotls', 'Zürich']);
	for (const q of ['"', 'NEAR(', '*', '🎉', '%00', '%ED%A0%80', 'x'.repeat(10_000), 'a+'.repeat(5_000)]) {
		expect((await ask(list.GET, { query: `q=${q}` })).status, q.slice(0, 10)).toBe(200);
	}
	expect((await ask(list.GET, { query: 'archived=maybe' })).status).toBe(400);
});

test('a file to be saved has a safe name, and comes back as a conversation', async () => {
	const id = await answered('Export “this” / now', 'run-export');
	await patch(id, { title: 'Über “x”/\r\ny' });
	const json = await ask(download.GET, { params: { id } });
	expect(json.headers.get('content-type')).toBe('application/json');
	expect(json.headers.get('content-disposition')).toBe(
		`attachment; filename="_ber _x_ y.json"; filename*=UTF-8''%C3%9Cber%20%E2%80%9Cx%E2%80%9D%20y.json`
	);
	const markdown = await ask(download.GET, { params: { id }, query: 'format=markdown' });
	expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
	expect(markdown.text).toContain('## You\n\nExport “this” / now\n');
	expect((await ask(download.GET, { params: { id }, query: 'format=pdf' })).status).toBe(400);

	const imported = await ask<ConversationSummary>(upload.POST, { text: json.text });
	expect(imported.status).toBe(201);
	const { body } = await ask<ConversationDetail>(one.GET, { params: { id: imported.body.id } });
	expect(body.messages.map(({ role, runId }) => [role, runId])).toEqual([
		['user', null],
		['assistant', null]
	]);
	expect(body.activeRunId).toBeNull();
});

test('a file that is too large, or no JSON, is refused with a sentence', async () => {
	const large = await ask(upload.POST, { text: `"${'x'.repeat(20 * 1024 * 1024)}"` });
	expect(large).toMatchObject({ status: 413, body: { error: { message: 'The body is larger than 20 MB.' } } });
	expect(await ask(upload.POST, { text: 'PK\u0003\u0004' })).toMatchObject({
		status: 400,
		body: { error: { message: expect.stringContaining('Choose a file that was exported as JSON') as string } }
	});
	const deep = `{"messages":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
	expect((await ask(upload.POST, { text: deep })).status).toBe(400);
});

test('F14: while another program holds the database, lists are read; who writes waits, and is told when that takes too long', async () => {
	const other = new DatabaseSync(join(root, 'data', 'app.sqlite'));
	other.exec('begin immediate');
	let hasAnswered = false;
	const body = { title: 'Waits' };
	const writing = ask<ConversationSummary>(list.POST, { body }).finally(() => (hasAnswered = true));
	const refused = ask(list.POST, { body }).finally(() => (hasAnswered = true));
	expect((await ask(list.GET)).status).toBe(200);
	expect((await ask(list.GET)).status).toBe(200);
	expect(hasAnswered).toBe(false);
	expect(await refused).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
	expect(await writing).toMatchObject({ status: 503 });

	const again = ask<ConversationSummary>(list.POST, { body });
	expect((await ask(list.GET)).status).toBe(200);
	other.exec('commit');
	other.close();
	expect((await again).body.title).toBe('Waits');
}, 30_000);

test('F14: fifty pages that do not read are not read for: each holds a page of the log and no more', async () => {
	const conversationId = 'unread';
	const now = new Date().toISOString();
	await app.store.runs.start({
		run: { id: 'unread-run', model: 'm', bootId: 'before', task: 'unread' },
		conversation: { id: conversationId, title: 'T' },
		place: {
			kind: 'question',
			question: { ...emptyAnswer('unread-q', '', now), role: 'user', status: 'complete' },
			answer: emptyAnswer('unread-a', 'unread-run', now)
		},
		now
	});
	const events = Array.from({ length: 1000 }, (_, index) => {
		return { seq: index + 1, data: JSON.stringify({ type: 'TEXT_MESSAGE_CONTENT', delta: 'x'.repeat(20_000) }) };
	});
	await app.store.runs.finish('unread-run', { state: 'success', finishedAt: now, events });
	const readEvents = vi.spyOn(app.store.runs, 'readEvents');
	const open = () => {
		const url = new URL('http://localhost/');
		const event = { url, request: new Request(url), params: { id: 'unread-run' }, locals: { app, caller: MANAGER } };
		return runEvents.GET(event as never) as Promise<Response>;
	};
	const readers = (await Promise.all(Array.from({ length: 50 }, open))).map(({ body }) => body?.getReader());
	for (const reader of readers) await reader?.read();
	await eventually(() =>
		expect(readEvents.mock.settledResults.filter(({ type }) => type === 'fulfilled')).toHaveLength(50)
	);
	await new Promise((resolve) => setImmediate(resolve));
	expect(readEvents).toHaveBeenCalledTimes(50);
	const given = readEvents.mock.settledResults.flatMap(({ value }) => value as StoredEvent[]);
	const bytes = given.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0);
	expect(bytes).toBeLessThanOrEqual(50 * 64 * 1024);
	readEvents.mockRestore();

	const [first, ...others] = readers;
	for (const other of others) await other?.cancel();
	let text = '';
	for (let read = await first?.read(); read && !read.done; read = await first?.read())
		text += Buffer.from(read.value).toString();
	expect(text.match(/^id: \d+$/gm)).toEqual(events.map(({ seq }) => `id: ${seq}`));
});
