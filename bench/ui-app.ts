/** The whole page in a browser: what an answer costs beside a page that only appends text, and what long conversations cost. */
import { chromium, type Browser, type CDPSession, type Page, type Request } from '@playwright/test';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startApp, type App } from '../tests/support/app-process.ts';
import { findChromium } from '../tests/support/chromium.ts';
import { gate, startModelServer, text, type ModelServer } from '../tests/support/model-server.ts';
import { longConversation, manySteps } from './ui-conversations.ts';
import { medians, type BenchCase, type Row } from './measure.ts';
import { sampleText } from './ui-sample.ts';

/** As PERF measured whole products: 40 KB in 10.3 s. */
const ANSWER_BYTES = 40_000;
const CHUNKS = 400;
const CHUNK_MS = 25;
const ROUNDS = 3;
const FIRST_LOADS = 9;

interface Cost {
	/** Milliseconds of the main thread. */
	main: number;
	/** Milliseconds of all threads of the renderer's process. */
	renderer: number;
	/** The longest task, in milliseconds; 0 when none took over 50. */
	longest: number;
}

/** Hands over what is measured in the built app, which is there until `work` is done. */
export async function withAppCases(work: (cases: BenchCase[]) => Promise<void>): Promise<void> {
	const model = await startModelServer();
	const env = { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'a-key', OPENROUTER_MODEL: 'test/model' };
	const app = await startApp({ env });
	const minimal = await serveMinimal();
	const browser = await chromium.launch(await findChromium());
	try {
		await work([
			{ name: 'the first page', run: () => benchFirst(browser, app, minimal.url) },
			{ name: 'an answer in the whole page', run: () => benchAnswer(browser, app, model, minimal.url) },
			{ name: 'a conversation of 500 messages', run: () => benchLong(browser, app, model) },
			{ name: 'an answer of 1,000 steps', run: () => benchSteps(browser, app) },
			{ name: 'a result of 200 KB', run: () => benchLargeResult(browser, app) }
		]);
	} finally {
		await browser.close();
		minimal.server.close();
		minimal.server.closeAllConnections();
		await app.stop();
		await model.close();
	}
}

/** With an empty cache each time. */
async function benchFirst(browser: Browser, app: App, minimalUrl: string): Promise<Row[]> {
	let requests = 0;
	let bytes = 0;
	const firstPaint = (url: string) => () =>
		withPage(browser, async (page) => {
			const seen: Request[] = [];
			page.on('requestfinished', (request) => seen.push(request));
			await page.goto(url);
			await page.waitForLoadState('networkidle');
			const scripts = seen.filter((request) => request.resourceType() === 'script');
			const sizes = await Promise.all(scripts.map((request) => request.sizes()));
			requests = seen.length;
			bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
			return page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN);
		});
	const [least = Number.NaN, ours = Number.NaN] = await medians(FIRST_LOADS, [
		firstPaint(minimalUrl),
		firstPaint(app.url)
	]);
	const goal = 'the goal';
	return [
		{
			name: `the first page, first paint (${FIRST_LOADS} loads)`,
			value: `${ours.toFixed(0)} ms`,
			floorName: 'of a page that is one file with one word',
			floor: `${least.toFixed(0)} ms`,
			ratio: ours / least
		},
		{ name: 'the first page, requests', value: String(requests), floorName: goal, floor: '25', ratio: requests / 25 },
		{
			name: 'the first page, compressed scripts',
			value: `${(bytes / 1000).toFixed(0)} KB`,
			floorName: goal,
			floor: '150 KB',
			ratio: bytes / 150_000
		}
	];
}

async function benchAnswer(browser: Browser, app: App, model: ModelServer, minimalUrl: string): Promise<Row[]> {
	const ours: Cost[] = [];
	const floor: Cost[] = [];
	for (let round = 0; round <= ROUNDS; round += 1) {
		const first = await withPage(browser, async (page) => {
			await page.goto(minimalUrl);
			await page.waitForLoadState('networkidle');
			return measure(page, async () => {
				await page.evaluate('start()');
				await page.waitForFunction('isDone', undefined, { polling: 500 });
			});
		});
		const second = await withPage(browser, async (page) => {
			await page.goto(app.url);
			await page.getByTestId('composer-input').fill('Write much');
			await page.waitForLoadState('networkidle');
			model.push(paced());
			return measure(page, async () => {
				await page.keyboard.press('Enter');
				await page
					.locator('[data-role=assistant][data-status=complete]')
					.waitFor({ timeout: CHUNKS * CHUNK_MS * 3, state: 'attached' });
			});
		});
		if (round === 0) continue;
		floor.push(first);
		ours.push(second);
	}
	const name = `an answer of ${ANSWER_BYTES / 1000} KB in ${(CHUNKS * CHUNK_MS) / 1000} s`;
	const floorName = 'a page that follows the same text and appends it once a frame';
	const longest = Math.max(...ours.map((cost) => cost.longest));
	return [
		compare(`${name}, main thread (${ROUNDS} runs)`, floorName, ours, floor, 'main'),
		compare(`${name}, whole renderer (${ROUNDS} runs)`, floorName, ours, floor, 'renderer'),
		limit(`${name}, longest task`, longest, 50)
	];
}

/** An answer that comes as a model writes it. */
function paced() {
	const answer = sampleText('mixed', ANSWER_BYTES);
	const size = Math.ceil(answer.length / CHUNKS);
	const chunks = Array.from({ length: CHUNKS }, (_, index) => answer.slice(index * size, (index + 1) * size));
	const gates = chunks.map(() => gate());
	let next = 0;
	const timer = setInterval(() => {
		gates[next++]?.open();
		if (next >= gates.length) clearInterval(timer);
	}, CHUNK_MS);
	return text(...chunks.flatMap((chunk, index) => [gates[index] ?? chunk, chunk]));
}

async function benchLong(browser: Browser, app: App, model: ModelServer): Promise<Row[]> {
	const id = await importConversation(app, longConversation(500));
	return withPage(browser, async (page) => {
		const times: number[] = [];
		for (let round = 0; round <= ROUNDS; round += 1) {
			await page.goto(app.url);
			await page.getByTestId('composer-input').waitFor();
			await page.waitForLoadState('networkidle');
			const link = page.locator(`[data-testid=conversation][data-id="${id}"] [data-testid=conversation-link]`);
			const ms = await link.evaluate(async (element: HTMLElement) => {
				const start = performance.now();
				element.click();
				while (document.querySelectorAll('[data-testid=message]').length < 12) {
					await new Promise((resolve) => requestAnimationFrame(resolve));
				}
				// Painted, and not only there.
				await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
				return performance.now() - start;
			});
			if (round > 0) times.push(ms);
		}
		const open = median(times);

		// Another conversation is being answered while somebody writes in this one.
		model.push(paced());
		await fetch(`${app.url}/api/chat`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({
				...{ threadId: 'bench-other', runId: 'bench-other-run' },
				messages: [{ id: 'bench-other-message', role: 'user', content: 'Write much' }]
			})
		});
		const input = page.getByTestId('composer-input');
		await input.focus();
		const cost = await measure(page, async () => {
			for (let key = 0; key < 100; key += 1) await page.keyboard.type('a', { delay: 40 });
		});
		const delay = await page.evaluate(() => (window as unknown as { slowestInput: number }).slowestInput);
		return [
			limit(`a conversation of 500 messages opens (${ROUNDS} runs)`, open, 500),
			limit('typing in it while another is answered, slowest key to paint', delay, 100),
			limit('typing in it while another is answered, longest task', cost.longest, 50)
		];
	});
}

async function benchSteps(browser: Browser, app: App): Promise<Row[]> {
	const steps = await importConversation(app, manySteps(1000, 0));
	return withPage(browser, async (page) => {
		await page.goto(app.url);
		await page.waitForLoadState('networkidle');
		const cost = await measure(page, async () => {
			await page.locator(`[data-id="${steps}"] [data-testid=conversation-link]`).click();
			await page.locator('[data-role=assistant]').first().waitFor();
		});
		return [limit('an answer of 1,000 steps opens, longest task', cost.longest, 50)];
	});
}

/** In a page that has shown no other conversation: one that is just leaving has steps to click as well. */
async function benchLargeResult(browser: Browser, app: App): Promise<Row[]> {
	const large = await importConversation(app, manySteps(1, 200_000));
	return withPage(browser, async (page) => {
		await page.goto(app.url);
		await page.waitForLoadState('networkidle');
		await page.locator(`[data-id="${large}"] [data-testid=conversation-link]`).click();
		await page.locator('[data-role=assistant]').first().waitFor();
		const opened = await measure(page, async () => {
			for (const toggle of ['step-fold', 'step-toggle']) {
				const closed = page.locator(`[data-testid=${toggle}][aria-expanded=false]`);
				if ((await closed.count()) > 0) await closed.first().click();
			}
			await page.locator('[data-testid=step-toggle][aria-expanded=true]').waitFor();
		});
		return [limit('a result of 200 KB opens, longest task', opened.longest, 50)];
	});
}

async function importConversation(app: App, conversation: unknown): Promise<string> {
	const response = await fetch(`${app.url}/api/conversations/import`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(conversation)
	});
	if (!response.ok) throw new Error(`The conversation was refused: ${await response.text()}`);
	return ((await response.json()) as { id: string }).id;
}

async function withPage<Result>(browser: Browser, work: (page: Page) => Promise<Result>): Promise<Result> {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
	const page = await context.newPage();
	await page.addInitScript(() => {
		const seen = window as unknown as { longTasks: number[]; slowestInput: number };
		seen.longTasks = [];
		seen.slowestInput = 0;
		new PerformanceObserver((list) => {
			for (const { duration } of list.getEntries()) seen.longTasks.push(duration);
		}).observe({ type: 'longtask', buffered: true });
		new PerformanceObserver((list) => {
			for (const { duration } of list.getEntries()) seen.slowestInput = Math.max(seen.slowestInput, duration);
		}).observe({ type: 'event', buffered: true, durationThreshold: 16 } as PerformanceObserverInit);
	});
	try {
		return await work(page);
	} finally {
		await context.close();
	}
}

async function measure(page: Page, work: () => Promise<void>): Promise<Cost> {
	const session = await page.context().newCDPSession(page);
	await session.send('Performance.enable', { timeDomain: 'threadTicks' });
	await page.evaluate(() => {
		const seen = window as unknown as { longTasks: number[]; slowestInput: number };
		seen.longTasks.length = 0;
		seen.slowestInput = 0;
	});
	const before = await read(page, session);
	await work();
	const after = await read(page, session);
	const longest = await page.evaluate(() => Math.max(0, ...(window as unknown as { longTasks: number[] }).longTasks));
	await session.detach();
	return { main: after.main - before.main, renderer: after.renderer - before.renderer, longest };
}

async function read(page: Page, session: CDPSession): Promise<Omit<Cost, 'longest'>> {
	const { metrics } = await session.send('Performance.getMetrics');
	const main = (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
	const browser = page.context().browser();
	if (!browser) throw new Error('the page has no browser');
	const root = await browser.newBrowserCDPSession();
	const { processInfo } = await root.send('SystemInfo.getProcessInfo');
	await root.detach();
	// One page is open at a time: the others are idle.
	const renderer = processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0);
	return { main, renderer: renderer * 1000 };
}

function compare(name: string, floorName: string, ours: Cost[], floor: Cost[], key: 'main' | 'renderer'): Row {
	const [value, least] = [ours, floor].map((costs) => median(costs.map((cost) => cost[key])));
	if (value === undefined || least === undefined) throw new Error('nothing was measured');
	return { name, value: `${value.toFixed(0)} ms`, floorName, floor: `${least.toFixed(0)} ms`, ratio: value / least };
}

/** What must stay under a number of milliseconds. */
function limit(name: string, ms: number, most: number): Row {
	return { name, value: `${ms.toFixed(0)} ms`, floorName: 'the goal', floor: `${most} ms`, ratio: ms / most };
}

function median(values: readonly number[]): number {
	return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** A page that shows the same answer as plain text. */
async function serveMinimal(): Promise<{ server: Server; url: string }> {
	const answer = sampleText('mixed', ANSWER_BYTES);
	const size = Math.ceil(answer.length / CHUNKS);
	const server = createServer((request, response) => {
		if (request.url !== '/events') {
			response.setHeader('content-type', 'text/html');
			return response.end(MINIMAL);
		}
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		let index = 0;
		const timer = setInterval(() => {
			const delta = answer.slice(index * size, ++index * size);
			response.write(
				`id: ${index}\ndata: ${JSON.stringify({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta })}\n\n`
			);
			if (index < CHUNKS) return;
			clearInterval(timer);
			response.write('data: {"type":"RUN_FINISHED"}\n\n');
		}, CHUNK_MS);
		request.on('close', () => clearInterval(timer));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

const MINIMAL = `<!doctype html><meta charset="utf-8"><title>minimal</title>
<style>body{margin:0;font-family:sans-serif}main{height:100vh;overflow:auto}pre{white-space:pre-wrap;max-width:46rem;margin:auto}</style>
<main><p>Ready</p><pre id="out"></pre></main>
<script>
	let isDone = false, pending = '', isWaiting = false;
	const node = document.getElementById('out').appendChild(document.createTextNode(''));
	const main = document.querySelector('main');
	const flush = () => { isWaiting = false; node.appendData(pending); pending = ''; main.scrollTop = main.scrollHeight; };
	function start() {
		const source = new EventSource('/events');
		source.onmessage = ({ data }) => {
			const event = JSON.parse(data);
			if (event.type === 'RUN_FINISHED') { isDone = true; return source.close(); }
			pending += event.delta;
			if (!isWaiting) { isWaiting = true; requestAnimationFrame(flush); }
		};
	}
</script>`;
