/** Events in the database: how fast they are safe on the disk, and how fast a long run is read again. */

import { randomUUID } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../src/lib/server/store/sqlite.ts';
import type { StoredEvent } from '../src/lib/server/store/chat/runs.ts';
import { emptyAnswer } from '../src/lib/shared/message.ts';
import { medians, rowOfTimes, timed, type Row } from './measure.ts';
import { read, startMeasuredApp, startPart } from './parts.ts';

const REPLAYED_EVENTS = 20_000;
const TRANSACTIONS = 400;

export async function benchReplay(): Promise<Row> {
	const upstream = await startPart('upstream.ts');
	const app = await startMeasuredApp(upstream);
	try {
		const runId = randomUUID();
		// Two calls get their arguments by turns: as many events, of which none can be merged.
		await app.ask(`bench calls ${REPLAYED_EVENTS / 2}`, undefined, runId);
		const rows = await startPart('rows.ts', join(app.dataDir, 'app.sqlite'));
		try {
			const [ours, floor] = [`${app.url}/api/runs/${runId}/events`, `${rows.url}/${runId}`];
			let text = '';
			await read(floor, undefined, (chunk) => (text += chunk.toString('latin1')));
			const events = text.split('\n\n').length - 1;
			if (events < REPLAYED_EVENTS) throw new Error(`the run has ${events} events`);
			const replay = async (url: string): Promise<number> => {
				let bytes = 0;
				const ms = await timed(() => read(url, undefined, (chunk) => (bytes += chunk.length)));
				if (bytes < text.length) throw new Error(`${url} replayed ${bytes} of ${text.length} bytes`);
				return ms;
			};
			return rowOfTimes(
				`replay of a run of ${REPLAYED_EVENTS} events`,
				'its rows read from SQLite and written',
				await medians(9, [() => replay(ours), () => replay(floor)])
			);
		} finally {
			await rows.stop();
		}
	} finally {
		await app.stop();
		await upstream.stop();
	}
}

export async function benchDurable(): Promise<Row[]> {
	const folder = await mkdtemp(join(tmpdir(), 'openrouter-skills-bench-'));
	const store = await openSqliteStore(join(folder, 'app.sqlite'));
	const file = openSync(join(folder, 'records'), 'a');
	let seq = 0;
	const next = (count: number): StoredEvent[] =>
		Array.from({ length: count }, () => {
			const event = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'run_1_1', delta: `word${seq} ` };
			return { seq: (seq += 1), data: JSON.stringify(event) };
		});
	const stored = async (perTransaction: number): Promise<number> => {
		const batches = Array.from({ length: TRANSACTIONS }, () => next(perTransaction));
		return timed(async () => {
			for (const batch of batches) {
				if (!(await store.runs.appendEvents('run', batch))) throw new Error('the run is not there');
			}
		});
	};
	const appended = async (perTransaction: number): Promise<number> => {
		const before = seq;
		const batches = Array.from({ length: TRANSACTIONS }, () => next(perTransaction));
		// The database has not seen these.
		seq = before;
		return timed(() => {
			for (const batch of batches) {
				writeSync(file, batch.map(({ seq: number, data }) => `${number} ${data}\n`).join(''));
				fdatasyncSync(file);
			}
		});
	};
	try {
		const now = new Date().toISOString();
		const { outcome } = await store.runs.start({
			run: { id: 'run', model: 'bench/model', bootId: 'bench', task: 'bench' },
			conversation: { id: 'conversation', title: 'Bench' },
			place: {
				kind: 'question',
				question: { ...emptyAnswer('question', 'run', now), role: 'user', status: 'complete' },
				answer: emptyAnswer('answer', 'run', now)
			},
			now
		});
		if (outcome !== 'started') throw new Error(`the run was not started: ${outcome}`);
		const sizes = [1, 20];
		const times = await medians(
			7,
			sizes.flatMap((size) => [() => stored(size), () => appended(size)])
		);
		return sizes.map((size, index): Row => {
			const [ms = NaN, floor = NaN] = times.slice(index * 2);
			const rate = (duration: number): string => `${Math.round((size * TRANSACTIONS * 1000) / duration)} events/s`;
			return {
				name: `durable events, ${size} a transaction (${TRANSACTIONS} transactions)`,
				value: rate(ms),
				floorName: 'append and `fdatasync` of the same records',
				floor: rate(floor),
				ratio: ms / floor
			};
		});
	} finally {
		closeSync(file);
		await store.close();
		await rm(folder, { recursive: true, force: true });
	}
}
