/** Conversations as files: exported and imported again, and files that others made. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedFolder } from '../../../../tests/support/folder.ts';
import { type Message, emptyAnswer, foldEvent } from '../../shared/message.ts';
import { conversationFile, type ConversationFile, type FileMessage } from '../../shared/message-schema.ts';
import { RECORDED_RUN } from '../../../../tests/support/recorded-run.ts';
import { at, fullAnswer, question } from '../store/contract/fixtures.suite.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import {
	exportConversation,
	type ExportFormat,
	fileNameOf,
	importConversation,
	markdownOf
} from './conversation-file.ts';

const root = sharedFolder();
let store: Store;
beforeAll(async () => {
	store = await openSqliteStore(join(root, 'app.sqlite'));
	await store.conversations.create({
		id: 'c',
		title: 'Plans: a "b"/c',
		summary: 'Plans *two*\nthings.',
		createdAt: at(1)
	});
	// Two answers to one question; the second is shown.
	const whole = RECORDED_RUN.reduce(foldEvent, emptyAnswer('a2', 'r2', at(3), 'q1'));
	const messages = [
		question('q1', 'odd \0 \ud800 👩‍🚀'),
		{ ...fullAnswer('a1'), parentId: 'q1', status: 'waiting' as const },
		{ ...whole, status: 'complete' as const },
		{ ...question('q2', 'and then?'), parentId: 'a2' }
	];
	await store.messages.fill('c', messages, 'q2');
});
afterAll(async () => {
	await store.close();
});

const parts = () => ({ store, runner: { current: async (message: Message) => message } });

async function exported(id: string, format: ExportFormat = 'json'): Promise<string> {
	let text = '';
	for await (const piece of (await exportConversation(parts(), id, format)).pieces) text += piece;
	return text;
}

/** Replaces ids by their order and drops times. */
function plain(file: ConversationFile) {
	const names = new Map(file.messages.map(({ id }, index) => [id, `m${index}`]));
	const messages = file.messages.map((message) => ({
		...message,
		...{ id: names.get(message.id), parentId: names.get(message.parentId ?? ''), createdAt: '' }
	}));
	return { ...file, createdAt: '', exportedAt: '', head: names.get(file.head ?? ''), messages };
}

test('an export is imported and exported again as it was, but for ids and times; what was open is interrupted', async () => {
	const first = conversationFile.parse(JSON.parse(await exported('c')));
	const { id, title } = await importConversation(store, first);
	expect(title).toBe('Plans: a "b"/c');
	const second = conversationFile.parse(JSON.parse(await exported(id)));
	const third = conversationFile.parse(JSON.parse(await exported((await importConversation(store, second)).id)));
	expect(plain(third)).toEqual(plain(second));
	const [asked, waiting, ...others] = plain(first).messages;
	const [askedAgain, interrupted, ...othersAgain] = plain(second).messages;
	expect([askedAgain, ...othersAgain]).toEqual([asked, ...others]);
	expect(interrupted).toMatchObject({ status: 'interrupted', retry: null });
	expect(interrupted?.parts.map((part) => part.type === 'tool' && part.status)).toEqual([
		false,
		false,
		'done',
		'interrupted'
	]);
	expect(interrupted?.usage).toEqual(waiting?.usage);
	expect(new Set([...first.messages, ...second.messages].map((message) => message.id)).size).toBe(8);
	const shown = await store.messages.list(id);
	expect(shown.map(({ runId }) => runId)).toEqual([null, null, null]);
	// Search finds it like any other text.
	expect(
		(await store.conversations.list({ page: 1, limit: 10, query: 'then' })).data.map((found) => found.id)
	).toContain(id);
});

test('Markdown is the branch that is shown, with its title and summary', async () => {
	const text = await exported('c', 'markdown');
	expect(text).toMatch(/^# Plans: a "b"\/c\n\n> Plans \*two\* things.\n\n## You\n/);
	expect(text).toContain('The text has **4 words**.');
	expect(text).toMatch(/## You\n\nand then\?\n$/);
	expect(text).not.toContain('**bold**');
});

test('one that is long is read a piece at a time', async () => {
	await store.conversations.create({ id: 'long', title: 'long', createdAt: at(1) });
	const messages = Array.from({ length: 1000 }, (_, index) => question(`m${index}`));
	await store.messages.fill('long', messages, 'm999');
	const reads: number[] = [];
	const watched = {
		...store,
		messages: {
			...store.messages,
			read: (id: string, ids: readonly string[]) => {
				reads.push(ids.length);
				return store.messages.read(id, ids);
			}
		}
	};
	const { pieces } = await exportConversation({ ...parts(), store: watched }, 'long', 'json');
	const iterator = pieces[Symbol.asyncIterator]();
	for (let count = 0; count < 10; count++) await iterator.next();
	expect(reads).toEqual([50]);
	await iterator.return?.();
});

test('there is no file of a conversation that is not there, and an empty one comes back empty', async () => {
	await expect(exportConversation(parts(), 'nobody', 'json')).rejects.toMatchObject({ code: 'not_found' });
	await store.conversations.create({ id: 'empty', title: 'Empty', createdAt: at(1) });
	const file: unknown = JSON.parse(await exported('empty'));
	expect(file).toMatchObject({ head: null, messages: [] });
	const { id } = await importConversation(store, file);
	expect(await store.messages.list(id)).toEqual([]);
});

test.each([
	['Plans: a "b"/c', 'Plans a b c'],
	['../../etc/passwd', 'etc passwd'],
	['CON', '_CON'],
	['nul.txt', '_nul.txt'],
	['a\u202egpj.exe\0\n\tb', 'agpj.exe b'],
	['...', 'conversation'],
	['', 'conversation'],
	['日本語 👩‍🚀', '日本語 👩‍🚀'],
	['x'.repeat(300), 'x'.repeat(60)]
])('%o makes the file name %o', (title, name) => {
	expect(fileNameOf(title)).toBe(name);
});

const now = '2026-01-01T00:00:00.000Z';
const said = (id: string, parentId: string | null = null): FileMessage => {
	const { runId: _runId, ...message } = question(id);
	return { ...message, parentId };
};
const file = (change: object = {}): Record<string, unknown> => ({
	...{ format: 'openrouter-skills/conversation', version: 1, title: 't', createdAt: now, exportedAt: now },
	...{ head: 'a', messages: [said('a')] },
	...change
});
const message = (change: object) => file({ messages: [{ ...said('a'), ...change }] });
const textPart = { type: 'text', id: 't', text: 'x' };
const toolPart = { type: 'tool', id: 'c', name: 'use_skill', arguments: '{}', status: 'done' };
const ran = { skill: 's', script: 'a.sh', args: [], sandbox: 'process', output: [], files: [] };

test.each<[string, unknown]>([
	['nothing', null],
	['a list', []],
	['a text', 'x'],
	['another format', file({ format: 'other' })],
	['a later version', file({ version: 2 })],
	['a key that is not known', file({ runs: [] })],
	['a prototype', JSON.parse(JSON.stringify(file()).replace('{', '{"__proto__":{"isAdmin":true},'))],
	['a prototype in a message', JSON.parse(JSON.stringify(file()).replace('"parts":', '"__proto__":{"a":1},"parts":'))],
	['a constructor', message({ constructor: {} })],
	['a run', message({ runId: 'r' })],
	['an empty title', file({ title: ' ' })],
	['no head', file({ head: null })],
	['a head that is not there', file({ head: 'b' })],
	['a parent that is not there', file({ messages: [said('a', 'b')] })],
	['a parent that comes later', file({ messages: [said('a', 'b'), said('b')] })],
	['a message that is its own parent', file({ messages: [said('a', 'a')] })],
	['a circle', file({ messages: [said('a', 'b'), said('b', 'a')] })],
	['one id twice', file({ messages: [said('a'), said('a')] })],
	['a role that is not known', message({ role: 'system' })],
	['a status that is not known', message({ status: 'fine' })],
	['a time that is none', message({ createdAt: 'yesterday' })],
	['a time without a zone', message({ createdAt: '2026-01-01' })],
	['files that are no texts', message({ files: [1] })],
	['parts that are no list', message({ parts: { length: 1, 0: textPart } })],
	['a part that is not known', message({ parts: [{ type: 'html', html: '<b>' }] })],
	['a part with more', message({ parts: [{ ...textPart, onclick: 'x' }] })],
	['usage that is no number', message({ usage: { model: 'm', inputTokens: '1', outputTokens: 1 } })],
	['tokens below zero', message({ usage: { model: 'm', inputTokens: -1, outputTokens: 1 } })],
	['a cost below zero', message({ usage: { model: 'm', inputTokens: 1, outputTokens: 1, cost: -3 } })],
	[
		'tokens below zero in the last step',
		message({ usage: { model: 'm', inputTokens: 1, outputTokens: 1, lastStep: { inputTokens: 1, outputTokens: -1 } } })
	],
	['a time of a call under way', message({ parts: [{ ...toolPart, elapsedMs: 5 }] })],
	['an exit code that is no whole number', message({ parts: [{ ...toolPart, execution: { ...ran, exitCode: 0.5 } }] })],
	[
		'nesting',
		message({ parts: [{ ...textPart, text: JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown }] })
	],
	['a million parts', message({ parts: new Array(1_000_000).fill({}) })],
	['too many messages', file({ messages: new Array(10_001).fill(said('a')) })]
])('a file with %s is refused with the place, and leaves nothing', async (_, body) => {
	const { total } = await store.conversations.list({ page: 1, limit: 1 });
	await expect(importConversation(store, body)).rejects.toMatchObject({ code: 'invalid_input', status: 400 });
	expect((await store.conversations.list({ page: 1, limit: 1 })).total).toBe(total);
	expect(Object.prototype).not.toHaveProperty('isAdmin');
});

test('odd texts are kept as they are; ids and times of the file are not', async () => {
	const late = { ...said('constructor'), createdAt: '2999-01-01T00:00:00.000Z' };
	const odd = { ...said('__proto__', 'constructor'), parts: [{ ...textPart, text: 'half \udc00 \0' }] };
	const body: unknown = file({ head: '__proto__', messages: [late, odd], title: 'x \ud800' });
	const { id, title } = await importConversation(store, body, new Date(now));
	expect(title).toBe('x \ufffd');
	const [first, second] = await store.messages.list(id);
	expect(first?.createdAt).toBe(now);
	expect(second).toMatchObject({ parentId: first?.id, parts: [{ text: 'half \udc00 \0' }] });
	expect(second?.id).toMatch(/^[0-9a-f-]{36}$/);
});

test('a conversation that cannot be stored whole is not there at all', async () => {
	const { total } = await store.conversations.list({ page: 1, limit: 1 });
	const full = { ...store, messages: { ...store.messages, fill: () => Promise.reject(new Error('full')) } };
	await expect(importConversation(full, file())).rejects.toThrow('full');
	expect((await store.conversations.list({ page: 1, limit: 1 })).total).toBe(total);
});

const answer = (change: Partial<Message>): Message => ({
	...emptyAnswer('m', 'r', '2026-01-01T00:00:00.000Z'),
	status: 'complete',
	...change
});

test('a question is who, what was said, and the files by name', () => {
	const question = answer({ role: 'user', parts: [{ type: 'text', id: 't', text: ' Why? \n' }], files: ['in/a.pdf'] });
	expect(markdownOf(question)).toBe('## You\n\nWhy?\n\nFiles: `in/a.pdf`\n');
});

test('an answer has its steps as a list, with status and exit code, and no reasoning', () => {
	const step = fullAnswer('m').parts[2]!;
	const run = { ...step, loaded: undefined } as typeof step;
	if (run.type !== 'tool') throw new Error('fixture');
	const parts = [{ type: 'reasoning' as const, id: 'x', text: 'secret thought', done: true }, step, run];
	expect(markdownOf(answer({ parts }))).toBe(
		'## Assistant\n\n- Loaded the skill `pdf` (done)\n  Files: `out/a.pdf`\n\n  ```\n  ok\n  ```\n\n' +
			'- Ran `scripts/fill.py --all` of the skill `pdf` (done)\n  Files: `out/a.pdf`\n\n  ```\n  ok\n  ```\n'
	);
	run.execution!.exitCode = 3;
	expect(markdownOf(answer({ parts: [run] }))).toContain('(done, exit code 3)');
});

test('an answer has the numbers of its sources, and their list; an imported one that leads nowhere good is left out', () => {
	const place = { title: 'A', start: 0, end: 4 };
	const citations = [
		{ url: 'https://a.example/x', ...place },
		{ url: 'javascript:alert(1)', ...place },
		{ url: 'https://b.example/', ...place, end: 99 }
	];
	const parts = [{ type: 'text' as const, id: 't', text: 'One. Two.', citations }];
	expect(markdownOf(answer({ parts }))).toBe('## Assistant\n\nOne.[1] Two.\n\n1. A <https://a.example/x>\n');
});

test('a result that has fences is in a longer one, and a name with backticks in more of them', () => {
	const result = 'before\n`````\n```\n# no heading';
	const parts = [{ type: 'tool' as const, id: 't', name: 'a`b\n# c', arguments: '', status: 'done' as const, result }];
	const text = markdownOf(answer({ parts }));
	expect(text).toContain('- Called ``a`b # c`` (done)');
	expect(text).toContain('  ``````\n  before\n  `````\n  ```\n  # no heading\n  ``````\n');
});

test.each([
	[{ status: 'cancelled' }, 'You stopped this reply'],
	[{ status: 'interrupted' }, 'was interrupted'],
	[{ status: 'failed', error: { code: 'x', message: 'No\nroute.' } }, 'ended early: No route.'],
	[{ status: 'waiting' }, 'is waiting for approval'],
	[{ status: 'running' }, 'is still being written']
] satisfies [Partial<Message>, string][])('an answer says how it ended: %o', (change, words) => {
	expect(markdownOf(answer(change))).toContain(words);
});
