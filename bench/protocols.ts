/** `npm run bench:protocols`: 200 clients at once on all protocols for two minutes, each answer checked; prints two tables. */
import { readFileSync } from 'node:fs';
import { startApp, type App } from '../tests/support/app-process.ts';
import { runLoad, type FlowResult, type LoadResult } from '../tests/support/protocol-load.ts';
import { markdownTable, percentile, type Row } from './measure.ts';
import { PROBE, usageOfApp } from './parts.ts';

const CLIENTS = 200;
const SECONDS = 120;
const WARM_UP_SECONDS = 20;
const KEYS = 8;
/** Seconds of the load whose memory is compared with that of its end. */
const EARLY = [60, 75] as const;
const LATE = [105, 120] as const;
/** How much more memory at the end still counts as flat. */
const GOAL_GROWTH = 1.1;
const MAX_SHOWN = 10;

const app = await startApp({ env: { NODE_OPTIONS: `--import=${PROBE}` } });
try {
	const keys = await Promise.all(Array.from({ length: KEYS }, (_, index) => makeKey(app, `load ${index}`)));
	// What a server makes once and keeps is there before live objects are counted; how much garbage it lets lie is settled within a minute.
	await runLoad({ url: app.url, keys, clients: CLIENTS, seconds: WARM_UP_SECONDS });
	const settled = async (): Promise<number> => (await usageOfApp(app)('settled')).heapBytes / 1024 / 1024;
	const before = await settled();
	const memory: number[] = [];
	const sampler = setInterval(() => memory.push(residentMb(app.pid())), 1000);
	const load = await runLoad({ url: app.url, keys, clients: CLIENTS, seconds: SECONDS });
	clearInterval(sampler);
	const after = await settled();
	const lost = await lostSessions(app, load);

	console.log(
		`${CLIENTS} clients at once, ${KEYS} keys, ${SECONDS} s: ${shareOfScripts(load)} % of the flows run a script.\n`
	);
	console.log(flowTable(load.flows));
	console.log(`\n${markdownTable(summary(load, { memory, before, after, lost }))}`);
	for (const error of load.errors.slice(0, MAX_SHOWN)) console.log(`\nerror: ${error}`);
	if (load.errors.length > 0 || lost > 0) process.exitCode = 1;
} finally {
	await app.stop();
}

async function makeKey({ url }: App, name: string): Promise<string> {
	const headers = { 'content-type': 'application/json' };
	const body = JSON.stringify({ name, scopes: ['read', 'execute'] });
	const response = await fetch(`${url}/api/keys`, { method: 'POST', headers, body });
	return ((await response.json()) as { key: string }).key;
}

function residentMb(pid: number): number {
	return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** MCP sessions that were ended and are there all the same. */
async function lostSessions({ url }: App, { sessions }: LoadResult): Promise<number> {
	let lost = 0;
	for (const { id, key } of sessions) {
		const headers = { 'mcp-session-id': id, authorization: `Bearer ${key}`, accept: 'text/event-stream' };
		const response = await fetch(`${url}/mcp`, { headers });
		await response.body?.cancel();
		if (response.status !== 404) lost += 1;
	}
	return lost;
}

function shareOfScripts({ flows }: LoadResult): number {
	return flows.reduce((sum, { share, runsScript }) => sum + (runsScript ? share : 0), 0);
}

function flowTable(flows: readonly FlowResult[]): string {
	const lines = flows.map(({ name, share, runsScript, requests, latencies }) => {
		const times = [0.5, 0.99].map((part) => `${percentile(latencies, part).toFixed(0)} ms`);
		return `| ${[name, `${share} %`, runsScript ? 'yes' : 'no', latencies.length, requests, ...times].join(' | ')} |`;
	});
	const head = '| Flow | Share | Script | Flows | Requests | p50 | p99 |';
	return [head, '| --- | ---: | --- | ---: | ---: | ---: | ---: |', ...lines].join('\n');
}

interface Seen {
	/** Megabytes, second by second. */
	memory: readonly number[];
	/** Of live objects, before and after the load. */
	before: number;
	after: number;
	lost: number;
}

function summary({ flows, errors }: LoadResult, { memory, before, after, lost }: Seen): Row[] {
	const requests = flows.reduce((sum, flow) => sum + flow.requests, 0);
	const [early = NaN, late = NaN] = [EARLY, LATE].map(([from, to]) => percentile(memory.slice(from, to), 0.5));
	const goal = `(goal: at most ${GOAL_GROWTH})`;
	const none = (name: string, count: number): Row => {
		return { name, value: String(count), floorName: 'the goal', floor: '0', ratio: count };
	};
	const grown = (name: string, floorName: string, from: number, to: number): Row => {
		return { name, value: `${to.toFixed(0)} MB`, floorName, floor: `${from.toFixed(0)} MB`, ratio: to / from };
	};
	return [
		none(`errors of ${requests} requests, ${(requests / SECONDS).toFixed(0)} a second`, errors.length),
		none('MCP sessions that were ended and are still there', lost),
		grown(
			`resident memory of the server, median of seconds ${LATE.join('–')}`,
			`the same of seconds ${EARLY.join('–')} ${goal}`,
			early,
			late
		),
		grown('live objects after the load, garbage collected', `the same before the load ${goal}`, before, after)
	];
}
