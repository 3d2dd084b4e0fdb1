import { afterEach, expect, test, vi } from 'vitest';
import { ReadMark } from './questions.ts';
import { eventually } from '../../../../tests/support/eventually.ts';

let mark: ReadMark;
let count = 0;

function show(state: DocumentVisibilityState): void {
	vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(state);
	document.dispatchEvent(new Event('visibilitychange'));
}

function create(markRead = async () => void count++): void {
	count = 0;
	mark = new ReadMark(markRead);
}

afterEach(() => {
	mark.dispose();
	vi.restoreAllMocks();
});

test('what is looked at is read at once, and once', () => {
	create();
	mark.show(true);
	mark.show(false);
	show('visible');
	expect(count).toBe(1);
});

test('an answer that ends while the page is hidden stays unread until it is looked at', () => {
	create();
	show('hidden');
	mark.show(true);
	expect(count).toBe(0);
	show('visible');
	expect(count).toBe(1);
});

test('it stays unread when the conversation is left before', () => {
	create();
	show('hidden');
	mark.show(true);
	mark.dispose();
	show('visible');
	expect(count).toBe(0);
});

test('what could not be told is told the next time', async () => {
	let fails = true;
	create(async () => {
		count++;
		if (fails) throw new Error('no server');
	});
	mark.show(true);
	await eventually(() => expect(count).toBe(1));
	fails = false;
	await eventually(() => {
		show('visible');
		expect(count).toBe(2);
	});
});
