/** What opening a long conversation costs: over HTTP, and in a browser to the last message. */
import { chromium, type Page } from '@playwright/test';
import { join } from 'node:path';
import { openSqliteStore } from '../src/lib/server/store/sqlite.ts';
import { emptyAnswer } from '../src/lib/shared/message.ts';
import { startApp } from '../tests/support/app-process.ts';
import { findChromium } from '../tests/support/chromium.ts';
import { medians, rowOfTimes, timed, type Row } from './measure.ts';

const MESSAGES = 2000;
const GOAL_MS = 300;
const GOAL_MB = 100;
const LAST = 'This is the last message.';
/** About 2 KB of markdown, as answers are. */
const ANSWER = [
	'## A heading',
	'Some **words** of an answer with `code` in it. '.repeat(36),
	'- one\n- two',
	'```js\nconsole.log(1);\n```'
].join('\n\n');

export async function benchConversation(): Promise<Row[]> {
	const app = await startApp();
	const browser = await chromium.launch(await findChromium());
	try {
		await fill(join(app.dataDir, 'app.sqlite'));
		const health = () => timed(async () => (await fetch(`${app.url}/api/health`)).text());
		const read = (id: string) => () => timed(async () => (await fetch(`${app.url}/api/conversations/${id}`)).text());
		const [readMs = NaN, healthMs = NaN] = await medians(15, [read('long'), health]);
		const page = await (await browser.newContext()).newPage();
		const [openMs = NaN, shortMs = NaN] = await medians(7, [
			() => open(page, app.url, 'long'),
			() => open(page, app.url, 'short')
		]);
		await open(page, app.url, 'long');
		const megabytes = (await heapOf(page)) / 1_000_000;
		const name = `a conversation of ${MESSAGES} messages`;
		return [
			rowOfTimes(`${name}: reading its newest messages over HTTP`, 'a request of /api/health', [readMs, healthMs]),
			rowOfTimes(`${name}: opened in a browser, to the last message`, 'one of two messages', [openMs, shortMs]),
			rowOfTimes('the same', 'the goal', [openMs, GOAL_MS]),
			{
				name: 'the same: heap of the page',
				value: `${megabytes.toFixed(1)} MB`,
				floorName: 'the goal',
				floor: `${GOAL_MB} MB`,
				ratio: megabytes / GOAL_MB
			}
		];
	} finally {
		await browser.close();
		await app.stop();
	}
}

async function fill(path: string): Promise<void> {
	const store = await openSqliteStore(path);
	for (const [id, count] of [
		['long', MESSAGES],
		['short', 2]
	] as const) {
		const createdAt = new Date().toISOString();
		await store.conversations.create({ id, title: `The ${id} one`, createdAt });
		for (let index = 0; index < count; index += 1) {
			const text = index === count - 1 ? LAST : ANSWER;
			await store.messages.append(id, {
				...emptyAnswer(`m${index}`, '', createdAt),
				runId: null,
				role: index % 2 === 0 ? 'user' : 'assistant',
				status: 'complete',
				parts: [{ type: 'text', id: 't', text }]
			});
		}
	}
	await store.close();
}

/** Milliseconds from going there to the last message on the screen. */
async function open(page: Page, url: string, id: string): Promise<number> {
	await page.goto('about:blank');
	return timed(async () => {
		await page.goto(`${url}/c/${id}`, { waitUntil: 'commit' });
		await page.getByText(LAST).waitFor();
	});
}

async function heapOf(page: Page): Promise<number> {
	const session = await page.context().newCDPSession(page);
	await session.send('HeapProfiler.collectGarbage');
	const { usedSize } = await session.send('Runtime.getHeapUsage');
	return usedSize;
}
