/** What the app adds to the bytes that it hands on from a model's server: CPU in a flood, and time when they trickle. */

import { setTimeout } from 'node:timers/promises';
import { medians, percentile, type Row } from './measure.ts';
import { startMeasuredApp, startPart, type Part } from './parts.ts';

const FLOOD = 100_000;
const SECONDS = 2;
const MARK = /@@(\d+);/g;

export async function benchRelay(): Promise<Row[]> {
	const upstream = await startPart('upstream.ts');
	const pipe = await startPart('pipe.ts', upstream.url);
	const bare = await startPart('bare-relay.ts', upstream.url);
	const app = await startMeasuredApp(upstream);
	try {
		return [
			...(await flood(app, bare, pipe)),
			...(await trickle(app, pipe, 10, 50)),
			...(await trickle(app, pipe, 100, 200))
		];
	} finally {
		for (const part of [app, bare, pipe, upstream]) await part.stop();
	}
}

/** Microseconds of CPU per delta. */
async function flood(app: Part, bare: Part, pipe: Part): Promise<Row[]> {
	const cost = async (part: Part): Promise<number> => {
		const before = await part.usage();
		await part.ask(`bench flood ${FLOOD}`);
		return ((await part.usage()).cpuUs - before.cpuUs) / FLOOD;
	};
	const [full = NaN, plain = NaN, floor = NaN] = await medians(
		5,
		[app, bare, pipe].map((part) => () => cost(part))
	);
	const row = (name: string, us: number): Row => ({
		name: `CPU a delta in a flood of ${FLOOD}: ${name}`,
		value: `${us.toFixed(2)} µs`,
		floorName: 'a raw pipe',
		floor: `${floor.toFixed(2)} µs`,
		ratio: us / floor
	});
	return [row('the app', full), row('model client, loop and SSE without the log', plain)];
}

interface Trickle {
	/** Milliseconds from the write of the model's server to the reader. */
	latencies: number[];
	/** CPU seconds a second of stream. */
	cores: number[];
}

async function trickle(app: Part, pipe: Part, streams: number, rate: number): Promise<Row[]> {
	const ours: Trickle = { latencies: [], cores: [] };
	const floor: Trickle = { latencies: [], cores: [] };
	for (let round = 0; round < 4; round += 1) {
		for (const [part, kept] of [
			[app, ours],
			[pipe, floor]
		] as const) {
			const { latencies, cores } = await measureTrickle(part, streams, rate);
			// The first round warms up.
			if (round === 0) continue;
			kept.latencies.push(...latencies);
			kept.cores.push(...cores);
		}
	}
	const name = `${streams} streams × ${rate} events/s`;
	const row = (what: string, measure: (trickle: Trickle) => number, unit: string): Row => ({
		name: `${name}: ${what}`,
		value: `${measure(ours).toFixed(2)} ${unit}`,
		floorName: 'a raw pipe',
		floor: `${measure(floor).toFixed(2)} ${unit}`,
		ratio: measure(ours) / measure(floor)
	});
	return [
		row('from the model’s write to the reader, p50', ({ latencies }) => percentile(latencies, 0.5), 'ms'),
		row('the same, p99', ({ latencies }) => percentile(latencies, 0.99), 'ms'),
		row('cores', ({ cores }) => percentile(cores, 0.5), '')
	];
}

async function measureTrickle(part: Part, streams: number, rate: number): Promise<Trickle> {
	const latencies: number[] = [];
	const before = await part.usage();
	const count = rate * SECONDS;
	const follow = async (index: number): Promise<void> => {
		// Spread over a moment: servers do not write to all streams at the same time.
		await setTimeout((index * 200) / streams);
		const seen = await readMarks(part, `bench pace ${rate} ${count}`, latencies);
		if (seen !== count) throw new Error(`${seen} of ${count} events came through ${part.url}`);
	};
	await Promise.all(Array.from({ length: streams }, (_, index) => follow(index)));
	const cpuMs = ((await part.usage()).cpuUs - before.cpuUs) / 1000;
	return { latencies, cores: [cpuMs / (SECONDS * 1000)] };
}

/** Adds the age of each mark to `latencies`; how many there were. */
async function readMarks(part: Part, order: string, latencies: number[]): Promise<number> {
	let rest = '';
	let seen = 0;
	await part.ask(order, (chunk) => {
		const now = Number(process.hrtime.bigint() / 1000n);
		const text = rest + chunk.toString('latin1');
		let end = 0;
		for (const mark of text.matchAll(MARK)) {
			latencies.push((now - Number(mark[1])) / 1000);
			seen += 1;
			end = mark.index + mark[0].length;
		}
		// A mark may be cut by the end of a chunk.
		rest = text.slice(Math.max(end, text.length - 32));
	});
	return seen;
}
