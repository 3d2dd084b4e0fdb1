import { expect, test } from 'vitest';
import { gate } from '../../../../tests/support/gate.ts';
import type { RunAdvance, StoredEvent } from '../store/chat/runs.ts';
import { EventWriter, type Unsaved, type UnsavedEvents } from './stored-events.ts';

/** A log with this many events to write, which records what happens to them. */
function logOf(runId: string, count = 1) {
	let events: StoredEvent[] = Array.from({ length: count }, (_, index) => ({
		seq: index + 1,
		data: `${runId} ${index}`
	}));
	const log = {
		runId,
		epoch: 1,
		lost: [] as unknown[],
		saved: 0,
		unsaved: () => ({ events }),
		onSaved({ events: saved }: Unsaved) {
			log.saved = saved.at(-1)?.seq ?? 0;
			events = events.filter(({ seq }) => seq > log.saved);
		},
		onLost: (error: unknown) => void log.lost.push(error)
	} satisfies UnsavedEvents & Record<string, unknown>;
	return log;
}

function writer(appendAll: (advances: readonly RunAdvance[]) => Promise<ReadonlySet<string>>) {
	const commits: string[][] = [];
	const made = new EventWriter({
		appendAll(advances) {
			commits.push(advances.map(({ runId }) => runId));
			return appendAll(advances);
		}
	});
	return { made, commits };
}
const NONE: ReadonlySet<string> = new Set();

test('what several logs have to write is one commit, made when the first of them cannot wait', async () => {
	const { made, commits } = writer(async () => NONE);
	const logs = ['a', 'b', 'c'].map((id) => logOf(id, 3));
	made.saveSoon(logs[0]!);
	made.saveSoon(logs[1]!);
	await made.saveNow(logs[2]!);
	expect(commits).toEqual([['a', 'b', 'c']]);
	expect(logs.map(({ saved }) => saved)).toEqual([3, 3, 3]);
});

test('all who come while it writes share the write after it', async () => {
	const held = gate();
	const { made, commits } = writer(async () => {
		await held.opened;
		return NONE;
	});
	const first = made.saveNow(logOf('a'));
	await Promise.resolve();
	const others = ['b', 'c', 'd'].map((id) => made.saveNow(logOf(id)));
	held.open();
	await Promise.all([first, ...others]);
	expect(commits.flat().toSorted()).toEqual(['a', 'b', 'c', 'd']);
	expect(commits.length).toBeLessThanOrEqual(2);
});

test('a log that cannot be written is told so alone: the others are written', async () => {
	const { made } = writer(async (advances) => {
		if (advances.some(({ runId }) => runId === 'bad')) throw new Error('out of order');
		return new Set(['gone']);
	});
	const [good, bad, gone] = [logOf('good'), logOf('bad'), logOf('gone')];
	for (const log of [good, bad]) made.saveSoon(log);
	await made.saveNow(gone);
	expect(good).toMatchObject({ saved: 1, lost: [] });
	expect(bad).toMatchObject({ saved: 0, lost: [new Error('out of order')] });
	expect(gone.lost).toHaveLength(1);
});

test('who leaves waits for the write that it is in, and is in none after it', async () => {
	const held = gate();
	const { made, commits } = writer(async () => {
		await held.opened;
		return NONE;
	});
	const log = logOf('a');
	const writing = made.saveNow(log);
	await Promise.resolve();
	made.saveSoon(log);
	let hasLeft = false;
	const leaving = made.leave(log).then(() => (hasLeft = true));
	await Promise.resolve();
	expect(hasLeft).toBe(false);
	held.open();
	await Promise.all([writing, leaving]);
	await made.saveNow(logOf('b'));
	expect(commits).toEqual([['a'], ['b']]);
});
