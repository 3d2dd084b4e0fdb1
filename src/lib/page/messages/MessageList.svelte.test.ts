import { flushSync } from 'svelte';
import { beforeEach, describe, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page } from 'vitest/browser';
import { createFakeClient } from '../../../../tests/support/fake-client.ts';
import { createFakeServices } from '../../../../tests/support/fake-services.ts';
import '../../../app.css';
import { MessageEntry } from '../conversation/message-entry.svelte.ts';
import { ChatSession } from '../conversation/session.svelte.ts';
import { emptyAnswer, type Message } from '../../shared/message.ts';
import MessageList from './MessageList.svelte';

const PARAGRAPH = `${'Some words of an answer. '.repeat(30)}\n\n`;
const BOX = { height: 600, top: 0 };

let session: ChatSession;

beforeEach(async () => {
	localStorage.clear();
	await page.viewport(1000, 700);
	const listener = {
		runStarted: () => undefined,
		runEnded: () => undefined,
		titled: () => undefined,
		seen: () => undefined
	};
	session = new ChatSession('c', createFakeClient(), listener, createFakeServices());
	session.phase = 'ready';
});

describe('a conversation', () => {
	test('opens at its end', async () => {
		const viewport = await show(20);
		await expect.poll(() => distance(viewport)).toBeLessThan(2);
	});

	test('follows its newest answer from its end, until the reader moves by three pixels', async () => {
		const viewport = await show(20);
		const answer = ask();
		answer(PARAGRAPH.repeat(12));
		await settle();
		viewport.scrollTop = viewport.scrollHeight;
		await frame();
		for (let count = 12; count <= 18; count += 1) {
			answer(PARAGRAPH.repeat(count));
			await frame();
		}
		await expect.poll(() => distance(viewport)).toBeLessThan(2);
		await settle();
		viewport.scrollTop -= 3;
		await frame();
		const top = questionTop(viewport);
		answer(PARAGRAPH.repeat(30));
		await settle();
		expect(questionTop(viewport)).toBeCloseTo(top, 0);
		expect(distance(viewport)).toBeGreaterThan(200);
	});

	test('puts a new question near the top, where it stays: a long answer is read from its beginning', async () => {
		const viewport = await show(20);
		const answer = ask();
		await expect.poll(() => questionTop(viewport)).toBeCloseTo(50, -0.5);
		const seen: number[] = [];
		for (const text of ['A', 'A word', 'A word more\n\nand another', `${PARAGRAPH}and more`]) {
			answer(text);
			await frame();
			await frame();
			seen.push(questionTop(viewport));
		}
		expect(Math.max(...seen) - Math.min(...seen)).toBeLessThanOrEqual(1);
		answer(PARAGRAPH.repeat(12));
		await expect.element(page.getByTestId('scroll-bottom')).toBeVisible();
		expect(questionTop(viewport)).toBeCloseTo(50, -0.5);
		await page.getByTestId('scroll-bottom').click();
		await expect.poll(() => distance(viewport)).toBeLessThan(2);
	});

	test('leads to the end of an answer as soon as a few of its lines are out of sight', async () => {
		const viewport = await show(20);
		const answer = ask();
		await expect.poll(() => questionTop(viewport)).toBeCloseTo(50, -0.5);
		for (let lines = 1; distance(viewport) <= 60; lines += 1) {
			expect(page.getByTestId('scroll-bottom').elements()).toEqual([]);
			answer('A line.\n\n'.repeat(lines));
			await settle();
		}
		expect(distance(viewport)).toBeLessThan(150);
		await expect.element(page.getByTestId('scroll-bottom')).toBeVisible();
	});

	test.each([
		[900, 'beside the text', 32],
		[390, 'over its end, one in the middle', 44]
	])('at %i pixels the ways to its end stand %s, %i pixels large', async (width, _place, size) => {
		const viewport = await show(20, width);
		viewport.scrollTop -= 1000;
		await expect.element(page.getByTestId('scroll-bottom')).toBeVisible();
		const ways = page.getByTestId('scroll-ways').element().getBoundingClientRect();
		const text = viewport.firstElementChild!.getBoundingClientRect();
		expect(page.getByTestId('scroll-bottom').element().getBoundingClientRect().height).toBe(size);
		expect(viewport.getBoundingClientRect().bottom).toBe(BOX.height);
		if (width === 900) expect(ways.left).toBeGreaterThanOrEqual(text.right);
		else {
			expect((ways.left + ways.right) / 2).toBeCloseTo((text.left + text.right) / 2, -1);
			await expect.element(page.getByTestId('scroll-previous')).not.toBeVisible();
		}
		expect(ways.right).toBeLessThanOrEqual(width);
		expect(ways.bottom).toBeLessThanOrEqual(BOX.height);
	});

	test('has a way back to its end, and one to the message before, once the reader is far away', async () => {
		const viewport = await show(20);
		expect(page.getByTestId('scroll-bottom').elements()).toEqual([]);
		viewport.scrollTop -= 50;
		await frame();
		expect(page.getByTestId('scroll-bottom').elements()).toEqual([]);
		viewport.scrollTop -= 250;
		await expect.element(page.getByTestId('scroll-bottom')).toBeVisible();
		const before = messageAtTop(viewport);
		await page.getByTestId('scroll-previous').click();
		await expect.poll(() => messageAtTop(viewport)).toBeLessThan(before + 1);
		await page.getByTestId('scroll-bottom').click();
		await expect.poll(() => distance(viewport)).toBeLessThan(2);
		await expect.poll(() => page.getByTestId('scroll-bottom').elements()).toEqual([]);
	});

	test('F14: the editor of a message comes into sight, wherever it is opened from', async () => {
		const viewport = await show(20);
		const reply = session.entries.findLast(({ message }, index) => index < 18 && message.role === 'assistant');
		expect(session.history.editLast(reply)).toBe(true);
		const editor = page.getByTestId('text-editor');
		await expect.element(editor).toBeVisible();
		const box = () => editor.element().getBoundingClientRect();
		await expect.poll(() => box().top).toBeGreaterThanOrEqual(viewport.getBoundingClientRect().top - 1);
		expect(box().bottom).toBeLessThanOrEqual(viewport.getBoundingClientRect().bottom + 1);
	});

	test.each(['it is open already', 'it is being opened'])(
		'F14: shows a message that was looked for: %s',
		async (when) => {
			if (when === 'it is being opened') session.history.found = 'm41';
			const viewport = await show(100);
			if (when === 'it is open already') session.history.found = 'm41';
			const row = viewport.querySelector('[data-message=m41]');
			const top = () => (row?.getBoundingClientRect().top ?? NaN) - viewport.getBoundingClientRect().top;
			await expect.poll(() => row?.hasAttribute('data-found')).toBe(true);
			await expect.poll(top).toBeCloseTo(12, -0.5);
			const mark = () => getComputedStyle(row!.querySelector('[data-role=assistant], [data-bubble]')!).outlineColor;
			await expect.poll(mark).not.toMatch(/, 0\)$|transparent/);
			expect(distance(viewport)).toBeGreaterThan(2000);
			expect(session.history.found).toBeNull();
			// New text at the end doesn't move the reader.
			session.entries = [...session.entries, said(1000, PARAGRAPH), said(1001, PARAGRAPH)];
			await settle();
			expect(top()).toBeCloseTo(12, -0.5);
			// Only one message is highlighted at a time, and not for long.
			session.history.found = 'm11';
			const marked = () =>
				[...viewport.querySelectorAll('[data-found]')].map((found) => found.getAttribute('data-message'));
			await expect.poll(marked).toEqual(['m11']);
			await expect.poll(marked).toEqual([]);
		}
	);

	test('F14: whoever has just scrolled up stays there when earlier messages come before the browser has said so', async () => {
		const viewport = await show(4);
		await expect.poll(() => distance(viewport)).toBeLessThan(2);
		const [first] = viewport.querySelectorAll('[data-testid=message]');
		viewport.scrollTop = 0;
		const top = first!.getBoundingClientRect().top;
		session.entries = [...Array.from({ length: 40 }, (_, index) => said(100 + index, PARAGRAPH)), ...session.entries];
		flushSync();
		await settle();
		expect(first!.getBoundingClientRect().top).toBeCloseTo(top, 0);
		expect(distance(viewport)).toBeGreaterThan(200);
	});

	test('of 500 messages lays out those in sight only', async () => {
		const viewport = await show(500);
		await expect.poll(() => distance(viewport)).toBeLessThan(2);
		const first = viewport.querySelector('p');
		expect(first?.checkVisibility({ contentVisibilityAuto: true })).toBe(false);
	});
});

async function show(count: number, width = 900): Promise<HTMLElement> {
	session.entries = Array.from({ length: count }, (_, index) => said(index, PARAGRAPH.repeat(2)));
	const target = document.body.appendChild(document.createElement('div'));
	target.className = 'flex flex-col';
	target.style.cssText = `position: absolute; inset: 0 auto auto 0; width: ${width}px; height: ${BOX.height}px`;
	await render(MessageList, {
		target,
		props: { session, model: 'a model', onfork: () => undefined, onremove: async () => undefined }
	});
	await settle();
	return page.getByTestId('messages').last().element() as HTMLElement;
}

/** A question and the answer's text so far. */
function ask(): (text: string) => void {
	const answer = said(1001, '', 'running');
	session.entries = [...session.entries, said(1000, 'What about this?'), answer];
	session.askedCount += 1;
	flushSync();
	return (text) => {
		answer.message = { ...answer.message, parts: [{ type: 'text', id: 't', text }] };
		flushSync();
	};
}

function said(index: number, text: string, status: Message['status'] = 'complete'): MessageEntry {
	return new MessageEntry({
		...emptyAnswer(`m${index}`, `run${index}`, '2026-01-01T00:00:00.000Z'),
		role: index % 2 === 0 ? 'user' : 'assistant',
		status,
		parts: text === '' ? [] : [{ type: 'text', id: 't', text }]
	});
}

function distance({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number {
	return scrollHeight - scrollTop - clientHeight;
}

function questionTop(viewport: HTMLElement): number {
	const question = [...viewport.querySelectorAll('[data-testid=message][data-role=user]')].at(-1);
	return (question?.getBoundingClientRect().top ?? NaN) - viewport.getBoundingClientRect().top;
}

/** The list index of the message at the top. */
function messageAtTop(viewport: HTMLElement): number {
	const top = viewport.getBoundingClientRect().top;
	return [...viewport.querySelectorAll('[data-testid=message]')].findIndex(
		(message) => message.getBoundingClientRect().bottom > top + 20
	);
}

/** Elements get their real size only in the frames after the first layout. */
async function settle(): Promise<void> {
	for (let count = 0; count < 5; count += 1) await frame();
}

function frame(): Promise<number> {
	return new Promise((resolve) => requestAnimationFrame(resolve));
}
