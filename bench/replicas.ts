/** Several servers on one Postgres: how soon another one goes on, how soon it shows what is written elsewhere, and load. */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { startPostgres } from '../tests/support/postgres.ts';
import { percentile, timed, type Row } from './measure.ts';
import { type MeasuredApp, type Part, read, startMeasuredApp, startPart } from './parts.ts';

const KILLS = 50;
const STREAMS = 100;
const RATE = 50;
const SECONDS = 10;
const RUNS = 1000;
/** Runs under way at the same time. */
const LANES = 60;
const WORDS = 50;

/** From `kill -9` of the server that writes an answer to the other one's first event of it. */
export async function benchTakeover(): Promise<Row[]> {
	return withServers(2, async ([a, b], upstream) => {
		const times: number[] = [];
		for (let round = 0; round < KILLS; round += 1) {
			const [owner, other] = (round % 2 === 0 ? [a, b] : [b, a]) as [MeasuredApp, MeasuredApp];
			const runId = randomUUID();
			const asking = owner.ask('bench hold 50', undefined, runId).catch(() => undefined);
			const [said, taken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
			let text = '';
			const following = until(async () => {
				await read(`${other.url}/api/runs/${runId}/events`, undefined, (chunk) => {
					text += chunk.toString('latin1');
					if (text.includes('word ')) said.resolve();
					if (text.includes('run.taken')) taken.resolve();
				});
			});
			await said.promise;
			await delay(Math.random() * 300);
			const start = performance.now();
			await owner.signal('SIGKILL');
			await taken.promise;
			times.push(performance.now() - start);
			await delay(50);
			await read(`${upstream.url}/release`);
			await Promise.all([following, asking]);
			await owner.restart();
		}
		return [allowed('takeover after kill -9, p50', times, 0.5, 1000), allowed('the same, p99', times, 0.99, 6000)];
	});
}

/** Answers that one server writes, followed from another. Fails if a word is lost. */
export async function benchNews(): Promise<Row> {
	return withServers(2, async ([a, b]) => {
		const waits: Record<'here' | 'there', number[]> = { here: [], there: [] };
		const note = (where: 'here' | 'there') => {
			let rest = '';
			let words = 0;
			return {
				take(chunk: Buffer) {
					const now = Number(process.hrtime.bigint() / 1000n);
					rest += chunk.toString('latin1');
					let end = 0;
					for (const found of rest.matchAll(/@@(\d+);/g)) {
						words += 1;
						waits[where].push((now - Number(found[1])) / 1000);
						end = found.index + found[0].length;
					}
					// A number may come in two pieces.
					rest = rest.slice(end).slice(-30);
				},
				end() {
					if (words !== RATE * SECONDS) throw new Error(`${words} of ${RATE * SECONDS} words came`);
				}
			};
		};
		const one = async (): Promise<void> => {
			const runId = randomUUID();
			const [here, there] = [note('here'), note('there')];
			const asked = a?.ask(`bench pace ${RATE} ${RATE * SECONDS}`, here.take, runId);
			const followed = until(() => read(`${b?.url}/api/runs/${runId}/events`, undefined, there.take));
			await Promise.all([asked, followed]);
			here.end();
			there.end();
		};
		await Promise.all(Array.from({ length: STREAMS }, one));
		const [here, there] = [percentile(waits.here, 0.5), percentile(waits.there, 0.5)];
		return {
			name: `${STREAMS} streams × ${RATE} events/s followed from another server: added, p50`,
			value: `${(there - here).toFixed(1)} ms`,
			floorName: 'allowed',
			floor: '50 ms',
			ratio: (there - here) / 50
		};
	});
}

/** Short answers, as many at once, on three servers and on one. Fails if one doesn't end well. */
export async function benchLoad(): Promise<Row> {
	const on = (count: number) =>
		withServers(count, (servers) =>
			timed(async () => {
				let next = 0;
				const lane = async (): Promise<void> => {
					while (next < RUNS) await servers[(next += 1) % servers.length]?.ask(`bench flood ${WORDS}`);
				};
				await Promise.all(Array.from({ length: LANES }, lane));
			})
		);
	const [three, one] = [await on(3), await on(1)];
	return {
		name: `${RUNS} answers of ${WORDS} words over three servers (on the same two cores)`,
		value: `${(three / 1000).toFixed(1)} s`,
		floorName: 'over one server',
		floor: `${(one / 1000).toFixed(1)} s`,
		ratio: three / one
	};
}

async function withServers<Result>(
	count: number,
	work: (servers: MeasuredApp[], upstream: Part) => Promise<Result>
): Promise<Result> {
	const upstream = await startPart('upstream.ts');
	const postgres = await startPostgres();
	const servers: MeasuredApp[] = [];
	try {
		const env = {
			DATABASE_URL: await postgres.createDatabase('bench'),
			SECRETS_KEY: 'a long secret of the servers of a benchmark'
		};
		for (let index = 0; index < count; index += 1) servers.push(await startMeasuredApp(upstream, env));
		return await work(servers, upstream);
	} finally {
		for (const server of servers) await server.stop();
		await postgres.stop();
		await upstream.stop();
	}
}

/** The run may not be stored yet. */
async function until(work: () => Promise<void>): Promise<void> {
	for (;;) {
		try {
			return await work();
		} catch (error) {
			if (!String(error).endsWith('answered 404')) throw error;
			await delay(10);
		}
	}
}

function allowed(name: string, times: readonly number[], share: number, limit: number): Row {
	const value = percentile(times, share);
	return {
		name: `${KILLS} servers killed: ${name}`,
		value: `${value.toFixed(0)} ms`,
		floorName: 'allowed',
		floor: `${limit} ms`,
		ratio: value / limit
	};
}
