/** `npm run bench:ui`: what a growing answer costs the page's main thread, against plain text and against other renderers. */
import { chromium, type Browser, type CDPSession, type Page } from '@playwright/test';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findChromium } from '../tests/support/chromium.ts';
import { markdownTable, type Row } from './measure.ts';
import { bundlePage, type Bundle } from './ui-bundle.ts';
import type { Order, Renderer } from './ui-page.svelte.ts';
import { sampleText, type Sample } from './ui-sample.ts';

/** About 4 KB/s at 60 frames a second. */
const CHUNK = 64;
const THREAD = 400;

interface Case {
	name: string;
	sample: Sample;
	kilobytes: number;
	renderers: Renderer[];
	rounds: number;
	/** The first is the one that the others are compared with. */
	earlier?: number[];
}

const ALL: Renderer[] = ['floor', 'ours', 'streaming-markdown', 'marked'];
const CASES: Case[] = [
	{ name: '8 KB', sample: 'mixed', kilobytes: 8, renderers: ALL, rounds: 2 },
	{ name: '40 KB', sample: 'mixed', kilobytes: 40, renderers: ALL, rounds: 3 },
	{ name: '120 KB', sample: 'mixed', kilobytes: 120, renderers: ['floor', 'ours', 'streaming-markdown'], rounds: 1 },
	{
		name: 'a paragraph of 40 KB',
		sample: 'paragraph',
		kilobytes: 40,
		renderers: ['floor', 'ours', 'streaming-markdown'],
		rounds: 1
	},
	{
		name: 'code of 40 KB',
		sample: 'code',
		kilobytes: 40,
		renderers: ['floor', 'ours', 'streaming-markdown'],
		rounds: 1
	},
	{
		name: 'a list of 40 KB',
		sample: 'list',
		kilobytes: 40,
		renderers: ['floor', 'ours', 'streaming-markdown'],
		rounds: 1
	},
	{
		name: 'a table of 40 KB',
		sample: 'table',
		kilobytes: 40,
		renderers: ['floor', 'ours', 'streaming-markdown'],
		rounds: 1
	},
	{ name: '8 KB', sample: 'mixed', kilobytes: 8, renderers: ['thread'], rounds: 5, earlier: [0, THREAD] }
];

interface Measured {
	mainMs: number;
	longestMs: number;
}

/** A variant of a case: who shows it, below how many messages. */
type Variant = Pick<Order, 'renderer' | 'earlier'>;

const only = process.argv[2];
const bundle = await bundlePage();
const server = await serve(bundle);
const chromiumFound = await findChromium();
const browser = await chromium.launch({
	...chromiumFound,
	// A frame follows the other at once: what counts is the work in it, not the wait for the screen.
	args: [...chromiumFound.args, '--disable-frame-rate-limit', '--disable-gpu-vsync', '--window-size=1280,800']
});
try {
	const rows: Row[] = [];
	for (const each of CASES) {
		if (only && !`${each.name} (${each.renderers[0]})`.startsWith(only)) continue;
		rows.push(...(await benchCase(browser, each)));
	}
	console.log(markdownTable(rows));
} finally {
	await browser.close();
	server.close();
	await bundle.remove();
}

async function benchCase(browser: Browser, each: Case): Promise<Row[]> {
	const text = sampleText(each.sample, each.kilobytes * 1024);
	const variants: Variant[] = each.renderers.flatMap((renderer) =>
		(each.earlier ?? [0]).map((earlier) => ({ renderer, earlier }))
	);
	const runs = variants.map((): Measured[] => []);
	for (let round = 0; round < each.rounds; round += 1) {
		for (const [index, variant] of variants.entries()) {
			runs[index]?.push(await measure(browser, { ...variant, text, chunk: CHUNK }));
		}
	}
	const medians = runs.map((list) => median(list.map(({ mainMs }) => mainMs)));
	const [floor = Number.NaN] = medians;
	const [first] = variants;
	return variants.slice(1).map(({ renderer, earlier }, index) => {
		const ms = medians[index + 1] ?? Number.NaN;
		const longest = Math.max(...(runs[index + 1] ?? []).map(({ longestMs }) => longestMs));
		return {
			name: `${each.name}: ${earlier > 0 ? `below ${earlier} messages` : renderer}, longest task ${longest === 0 ? 'under 50' : longest.toFixed(0)} ms`,
			value: `${ms.toFixed(0)} ms`,
			floorName: first?.renderer === 'floor' ? 'plain text' : 'in an empty thread',
			floor: `${floor.toFixed(0)} ms`,
			ratio: ms / floor
		};
	});
}

/** One answer in a page of its own. @throws when it is not shown as the same text in one piece is */
async function measure(browser: Browser, order: Order): Promise<Measured> {
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
	try {
		await page.goto(addressOf(server));
		await page.evaluate((given) => bench.prepare(given), order);
		const session = await page.context().newCDPSession(page);
		await session.send('Performance.enable', { timeDomain: 'threadTicks' });
		await session.send('HeapProfiler.collectGarbage');
		const before = await mainThreadMs(session);
		const t0 = performance.now();
		const m0 = (await session.send('Performance.getMetrics')).metrics;
		const longestMs = await page.evaluate((given) => bench.stream(given), order);
		const mainMs = (await mainThreadMs(session)) - before;
		const m1 = (await session.send('Performance.getMetrics')).metrics;
		console.error(
			order.renderer,
			order.earlier,
			(performance.now() - t0).toFixed(0),
			mainMs.toFixed(0),
			m1
				.filter(({ name }) => /Duration|Count/.test(name))
				.map(
					({ name, value }, i) =>
						name +
						' ' +
						((value - (m0.find((m) => m.name === name)?.value ?? 0)) * (/Duration/.test(name) ? 1000 : 1)).toFixed(0)
				)
				.join(' ')
		);
		if (order.renderer === 'ours') await checkWhole(page, order.text);
		return { mainMs, longestMs };
	} finally {
		await page.close();
	}
}

async function checkWhole(page: Page, text: string): Promise<void> {
	if (!(await page.evaluate((whole) => bench.isAsInOnePiece(whole), text)))
		throw new Error('what was streamed is not what the whole text shows');
}

async function mainThreadMs(session: CDPSession): Promise<number> {
	const { metrics } = await session.send('Performance.getMetrics');
	if (!metrics.length) throw new Error('x');
	return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000;
}

async function serve({ read }: Bundle): Promise<Server> {
	const server = createServer((request, response) => {
		const file = read(request.url ?? '/');
		response.writeHead(file ? 200 : 404, { 'content-type': file?.type ?? 'text/plain' }).end(file?.body ?? '');
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return server;
}

function addressOf(server: Server): string {
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function median(values: number[]): number {
	return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
