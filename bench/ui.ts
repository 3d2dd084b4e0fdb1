/** `npm run bench:ui`: what a growing answer costs the page's main thread, against plain text and against other renderers. */
import { chromium, type Browser, type CDPSession, type Page } from '@playwright/test';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findChromium } from '../tests/support/chromium.ts';
import { runCases, type BenchCase, type Row } from './measure.ts';
import { withAppCases } from './ui-app.ts';
import { bundlePage, type Bundle } from './ui-bundle.ts';
import type { Order, Renderer } from './ui-page.svelte.ts';
import { sampleText, type Sample } from './ui-sample.ts';

/** Characters in each frame: about 4 KB/s at 60 frames a second. */
const CHUNK = 64;
/** Of a text that would take half a minute otherwise. */
const LARGE_CHUNK = 192;
const THREAD = 400;

interface Case {
	name: string;
	sample: Sample;
	kilobytes: number;
	/** The first is the one that the others are compared with. */
	variants: Variant[];
	rounds: number;
	chunk?: number;
}

/** Who shows an answer, below how many messages. */
type Variant = Pick<Order, 'renderer' | 'earlier'>;

const ALL = variants('floor', 'ours', 'streaming-markdown', 'marked');
const FAST = variants('floor', 'ours', 'streaming-markdown');
const CASES: Case[] = [
	{ name: '8 KB', sample: 'mixed', kilobytes: 8, variants: ALL, rounds: 5 },
	{ name: '40 KB', sample: 'mixed', kilobytes: 40, variants: FAST, rounds: 3 },
	{ name: '120 KB', sample: 'mixed', kilobytes: 120, variants: FAST, rounds: 1, chunk: LARGE_CHUNK },
	{ name: 'one paragraph of 40 KB', sample: 'paragraph', kilobytes: 40, variants: FAST, rounds: 1 },
	{ name: 'one code block of 40 KB', sample: 'code', kilobytes: 40, variants: FAST, rounds: 1 },
	{ name: 'one list of 40 KB', sample: 'list', kilobytes: 40, variants: FAST, rounds: 1 },
	{ name: 'one table of 40 KB', sample: 'table', kilobytes: 40, variants: FAST, rounds: 1 },
	{
		name: '8 KB',
		sample: 'mixed',
		kilobytes: 8,
		variants: [
			{ renderer: 'thread', earlier: 0 },
			{ renderer: 'thread', earlier: THREAD }
		],
		rounds: 3
	}
];

interface Measured {
	mainMs: number;
	longestMs: number;
}

const APP = 'the whole page';

/** Only the cases whose names begin so. */
const only = process.argv[2] ?? '';
const bundle = await bundlePage();
const server = await serve(bundle);
const chromiumFound = await findChromium();
const browser = await chromium.launch({
	...chromiumFound,
	// A frame follows the other at once: what counts is the work in it, not the wait for the screen.
	args: [...chromiumFound.args, '--disable-frame-rate-limit', '--disable-gpu-vsync', '--window-size=1280,800']
});
try {
	const growing = CASES.filter(({ name }) => name.startsWith(only));
	const cases: BenchCase[] = growing.map((each) => ({ name: each.name, run: () => benchCase(browser, each) }));
	const isWanted = ({ name }: BenchCase): boolean => APP.startsWith(only) || name.startsWith(only);
	if (only !== '' && cases.length > 0) await runCases(cases);
	else await withAppCases((inApp) => runCases([...cases, ...inApp.filter(isWanted)]));
} finally {
	await browser.close();
	server.close();
	await bundle.remove();
}

async function benchCase(browser: Browser, { name, sample, kilobytes, variants, rounds, chunk }: Case): Promise<Row[]> {
	const text = sampleText(sample, kilobytes * 1024);
	const runs = variants.map((): Measured[] => []);
	for (let round = 0; round < rounds; round += 1) {
		for (const [index, variant] of variants.entries()) {
			runs[index]?.push(await measure(browser, { ...variant, text, chunk: chunk ?? CHUNK }));
		}
	}
	const medians = runs.map((list) => median(list.map(({ mainMs }) => mainMs)));
	const [floor = Number.NaN] = medians;
	return variants.slice(1).map((variant, index) => {
		const ms = medians[index + 1] ?? Number.NaN;
		const longest = median((runs[index + 1] ?? []).map(({ longestMs }) => longestMs));
		return {
			name: `${name}: ${nameOf(variant)}, longest task ${longest.toFixed(0)} ms`,
			value: `${ms.toFixed(0)} ms`,
			floorName: nameOf(variants[0] ?? variant),
			floor: `${floor.toFixed(0)} ms`,
			ratio: ms / floor
		};
	});
}

function variants(...renderers: Renderer[]): Variant[] {
	return renderers.map((renderer) => ({ renderer, earlier: 0 }));
}

function nameOf({ renderer, earlier }: Variant): string {
	if (renderer === 'thread') return earlier === 0 ? 'in an empty thread' : `below ${earlier} messages`;
	return renderer === 'floor' ? 'plain text, appended once a frame' : renderer;
}

/** One answer in a page of its own. @throws when it is not shown as the same text in one piece is */
async function measure(browser: Browser, order: Order): Promise<Measured> {
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
	try {
		await page.goto(addressOf(server));
		await page.evaluate((given) => bench.prepare(given), order);
		const session = await page.context().newCDPSession(page);
		// The thread's own time: a machine that is busy with something else must not count.
		await session.send('Performance.enable', { timeDomain: 'threadTicks' });
		await session.send('HeapProfiler.collectGarbage');
		const longest = await watchTasks(session);
		const before = await mainThreadMs(session);
		await page.evaluate((given) => bench.stream(given), order);
		const mainMs = (await mainThreadMs(session)) - before;
		const longestMs = await longest();
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

interface TraceEvent {
	name: string;
	pid: number;
	tid: number;
	/** Microseconds of the thread's own time. */
	tdur?: number;
	args?: { name?: string };
}

/** Begins to watch; what comes back ends that, and resolves to the longest task of a page's main thread, in its own milliseconds. */
async function watchTasks(session: CDPSession): Promise<() => Promise<number>> {
	const longest = new Map<string, number>();
	const mainThreads = new Set<string>();
	session.on('Tracing.dataCollected', ({ value }) => {
		for (const { name, pid, tid, tdur = 0, args } of value as unknown as TraceEvent[]) {
			const thread = `${pid}:${tid}`;
			if (name === 'thread_name' && args?.name === 'CrRendererMain') mainThreads.add(thread);
			if (name.endsWith('::RunTask')) longest.set(thread, Math.max(longest.get(thread) ?? 0, tdur / 1000));
		}
	});
	await session.send('Tracing.start', {
		transferMode: 'ReportEvents',
		traceConfig: { includedCategories: ['toplevel'], excludedCategories: ['*'] }
	});
	return async () => {
		const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
		await session.send('Tracing.end');
		await complete;
		return Math.max(...[...mainThreads].map((thread) => longest.get(thread) ?? 0));
	};
}

async function mainThreadMs(session: CDPSession): Promise<number> {
	const { metrics } = await session.send('Performance.getMetrics');
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
