import { beforeEach, expect, test, vi } from 'vitest';
import { createFakeClient } from '../../../../tests/support/fake-client.ts';
import { MAX_FILE_BYTES } from './chat-attachment.svelte.ts';
import { Draft, DraftStore, hasDraft } from './draft.svelte.ts';
import { eventually } from '../../../../tests/support/eventually.ts';

beforeEach(() => localStorage.clear());

const open = (id = 'c') => new Draft(id, createFakeClient());

function fileOf(bytes: number, name = 'big.bin'): File {
	return Object.defineProperty(new File([], name), 'size', { value: bytes });
}

test('a draft is there when its conversation is opened again, and gone when it is sent', () => {
	const draft = open();
	draft.text = 'half a though';
	expect(open().text).toBe('half a though');
	expect(hasDraft('c')).toBe(true);
	expect(open('other').text).toBe('');
	draft.sent(draft.take());
	expect(hasDraft('c')).toBe(false);
	expect(open().text).toBe('');
});

test('what was filled in and left as it was is nobody’s draft, also after a reload; what was changed or sent is', () => {
	const draft = open();
	draft.fill(() => (draft.text = 'an example'));
	expect(draft.isGiven).toBe(true);
	expect(open().isGiven).toBe(true);
	draft.text = 'an example of mine';
	expect([draft.isGiven, open().isGiven]).toEqual([false, false]);
	draft.fill(() => (draft.text += ' and more'));
	expect(draft.isGiven).toBe(false);
	const other = open('other');
	other.fill(() => (other.text = 'an example'));
	other.restore(other.take());
	expect([other.text, other.isGiven]).toEqual(['an example', false]);
});

test('what was sent by a page that ended meanwhile is no draft where it has arrived, and one where it has not', () => {
	const draft = open();
	draft.text = 'on its way';
	draft.take();
	draft.sendingAs('m1');
	const next = open();
	// The page saves the draft when it opens.
	next.save();
	expect(next.drop(['another'])).toBe(false);
	expect(next.text).toBe('on its way');
	expect(next.drop(['another', 'm1'])).toBe(true);
	expect(next.text).toBe('');
	expect(hasDraft('c')).toBe(false);
});

test('what somebody has gone on writing stays, whatever became of what was sent', () => {
	const draft = open();
	draft.text = 'on its way';
	draft.take();
	draft.sendingAs('m1');
	const next = open();
	next.text = 'on its way, and more';
	expect(next.drop(['m1'])).toBe(false);
	expect(open().drop(['m1'])).toBe(false);
	expect(open().text).toBe('on its way, and more');
});

test('what came back because nobody answered goes when it turns out to have arrived', () => {
	const draft = open();
	draft.text = 'no answer';
	const question = draft.take();
	draft.sendingAs('m1');
	draft.restore(question);
	expect(draft.text).toBe('no answer');
	const next = open();
	for (const one of [draft, next]) {
		expect(one.drop(['m1'])).toBe(true);
		expect(one.text).toBe('');
	}
});

test('what came back before something that was written since stays with it', () => {
	const draft = open();
	draft.text = 'no answer';
	const question = draft.take();
	draft.sendingAs('m1');
	draft.text = 'more';
	draft.restore(question);
	expect(draft.drop(['m1'])).toBe(false);
	expect(draft.text).toBe('no answer\n\nmore');
});

test('what is written here is not changed by another tab, and neither removes the other’s', () => {
	const here = open();
	here.text = 'here';
	const there = open();
	there.text = 'there';
	expect(here.text).toBe('here');
	here.sent(here.take());
	expect(open().text).toBe('there');
});

test('at most 50 are kept: the oldest goes', () => {
	vi.useFakeTimers();
	for (let number = 0; number < 52; number++) {
		vi.setSystemTime(number * 1000);
		new DraftStore(`c${number}`).write({ text: 'x', files: [], pins: [], sentAs: null, isGiven: false });
	}
	vi.useRealTimers();
	const kept = Array.from({ length: 52 }, (_, number) => hasDraft(`c${number}`));
	expect(kept.filter(Boolean)).toHaveLength(50);
	expect(kept.slice(0, 3)).toEqual([false, false, true]);
});

test('where storage is full, writing goes on, and nothing is kept', () => {
	const refuse = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
		throw new DOMException('full', 'QuotaExceededError');
	});
	const draft = open();
	draft.text = 'goes on';
	expect(draft.text).toBe('goes on');
	refuse.mockRestore();
	expect(open().text).toBe('');
});

test.each(['', 'no json', 'null', '[]', '{"text":1,"files":[]}'])(
	'what somebody else has stored is no draft: %s',
	(stored) => {
		localStorage.setItem('draft:c', stored);
		expect(open().text).toBe('');
	}
);

test('a file that is too large is not sent, and says so', async () => {
	const client = createFakeClient();
	const draft = new Draft('c', client);
	draft.attach([{ path: 'big.bin', file: fileOf(MAX_FILE_BYTES + 1) }], []);
	const [attachment] = draft.attachments;
	expect(attachment).toMatchObject({ state: 'failed', canRetry: false });
	expect(attachment?.error?.message).toBe('This file is over 200 MB. Choose a smaller one.');
	expect(client.uploads).toEqual([]);
});

test('of more files than a message takes the first ones are attached, and it is said', () => {
	const draft = open();
	draft.attach(
		Array.from({ length: 120 }, (_, number) => ({ path: `f${number}.txt`, file: fileOf(1) })),
		[]
	);
	expect(draft.attachments).toHaveLength(100);
	expect(draft.problem).toMatch(/up to 100 files/);
});

test('a file of a folder keeps its place in it, under names that fit everywhere', () => {
	const draft = open();
	draft.attach([{ path: 'data/a:b.csv', file: fileOf(1) }], ['data/a_b.csv']);
	expect(draft.attachments.map(({ path }) => path)).toEqual(['data/a_b (2).csv']);
});

test('a draft that was emptied can be put back', () => {
	const draft = open();
	draft.text = 'words';
	const removed = draft.clear();
	expect(hasDraft('c')).toBe(false);
	draft.restore(removed);
	expect(open().text).toBe('words');
});

test('of many files three are sent at once, and one that is removed meanwhile never', async () => {
	const client = createFakeClient();
	const draft = new Draft('c', client);
	draft.attach(
		['a', 'b', 'c', 'd', 'e'].map((path) => ({ path, file: fileOf(1) })),
		[]
	);
	const paths = () => client.uploads.map(({ path }) => path);
	expect(paths()).toEqual(['a', 'b', 'c']);
	draft.remove(draft.attachments[3]!);
	client.uploads[0]?.finish();
	await eventually(() => expect(paths()).toEqual(['a', 'b', 'c', 'e']));
});

test('what was removed is put back as it was: uploaded, or uploaded again', async () => {
	const client = createFakeClient();
	const draft = new Draft('c', client);
	draft.attach([{ path: 'a.txt', file: new File(['a'], 'a.txt') }], []);
	const [attachment] = draft.attachments;
	if (!attachment) throw new Error('nothing was attached');
	draft.remove(attachment);
	draft.putBack(attachment);
	draft.putBack(attachment);
	expect(draft.attachments).toEqual([attachment]);
	expect(client.uploads.map(({ path }) => path)).toEqual(['a.txt', 'a.txt']);
	client.uploads[1]?.finish();
	await eventually(() => expect(attachment.state).toBe('ready'));
	draft.remove(attachment);
	expect(hasDraft('c')).toBe(false);
	draft.putBack(attachment);
	expect(new Draft('c', client).attachments.map(({ path }) => path)).toEqual(['a.txt']);
	expect(client.uploads).toHaveLength(2);
});
