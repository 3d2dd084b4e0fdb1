/** Very many runs that are written and followed at the same time in one process: memory of each, and who waits. */

import { setTimeout } from 'node:timers/promises';
import { percentile, timed, type Row } from './measure.ts';
import { read, startMeasuredApp, startPart, type Part } from './parts.ts';

const RUNS = 1000;
const WARM_UP_RUNS = 100;
/** Runs that begin at the same time. */
const LANES = 50;
/** Between the words of a run. */
const WORD_MS = 1000;
const HEALTH_CHECKS = 400;
const HEALTH_MS = 10;

interface Load {
	/** Kilobytes of the process a run. */
	kilobytes: number;
	/** Milliseconds of a health request while the runs go on. */
	health: number[];
}

export async function benchFollowers(): Promise<Row[]> {
	const upstream = await startPart('upstream.ts');
	const pipe = await startPart('pipe.ts', upstream.url);
	const app = await startMeasuredApp(upstream);
	try {
		const ours = await measure(app, upstream);
		const floor = await measure(pipe, upstream);
		const row = (what: string, of: (load: Load) => number, unit: string): Row => ({
			name: `${RUNS} runs followed at once, a word a second each: ${what}`,
			value: `${of(ours).toFixed(1)} ${unit}`,
			floorName: 'as many streams through a raw pipe',
			floor: `${of(floor).toFixed(1)} ${unit}`,
			ratio: of(ours) / of(floor)
		});
		return [
			row('memory a run', ({ kilobytes }) => kilobytes, 'KB'),
			row('a health request, p50', ({ health }) => percentile(health, 0.5), 'ms'),
			row('a health request, p99', ({ health }) => percentile(health, 0.99), 'ms')
		];
	} finally {
		for (const part of [app, pipe, upstream]) await part.stop();
	}
}

async function measure(part: Part, upstream: Part): Promise<Load> {
	await release(upstream, await startRuns(part, WARM_UP_RUNS));
	await part.health();
	const before = await part.usage('settled');
	const runs = await startRuns(part, RUNS);
	const health = await checkHealth(part);
	const after = await part.usage('settled');
	await release(upstream, runs);
	return { kilobytes: (after.rssBytes - before.rssBytes) / 1024 / RUNS, health };
}

/** Resolves when each run has said its first word; the promises inside, when each has ended well. */
async function startRuns(part: Part, count: number): Promise<Promise<void>[]> {
	const ends: Promise<void>[] = [];
	const lane = async (): Promise<void> => {
		while (ends.length < count) {
			const said = Promise.withResolvers<void>();
			const end = part.ask(`bench hold ${WORD_MS}`, (chunk) => {
				if (chunk.includes('first ')) said.resolve();
			});
			ends.push(end);
			// One that fails before its first word is not waited for without end.
			await Promise.race([said.promise, end]);
		}
	};
	await Promise.all(Array.from({ length: LANES }, lane));
	return ends;
}

async function release(upstream: Part, runs: Promise<void>[]): Promise<void> {
	await read(`${upstream.url}/release`);
	await Promise.all(runs);
}

/** Milliseconds of requests that are sent one after the other in time, answered or not. */
async function checkHealth(part: Part): Promise<number[]> {
	const checks: Promise<number>[] = [];
	for (let index = 0; index < HEALTH_CHECKS; index += 1) {
		checks.push(timed(() => part.health()));
		await setTimeout(HEALTH_MS);
	}
	return Promise.all(checks);
}
