import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { healthOf, createSkillRevisions } from './skill-counts.ts';
import type { SkillSnapshot } from '../skills/registry/registry.ts';

const NOW = '2026-11-27T23:59:59.000Z';

const root = emptyFolder();
let store: Store;
beforeEach(async () => {
	store = await openSqliteStore(join(root, 'app.sqlite'));
});
afterEach(async () => {
	await store.close();
});

async function ran(at: string, status: 'success' | 'error'): Promise<void> {
	const id = crypto.randomUUID();
	const asked = { id, skillId: 'local/demo', skill: 'demo', version: '1.0.0', argv: [], digest: 'd' };
	await store.skillExecutions.start({ ...asked, sandbox: 'process', limits: { timeoutMs: 1 }, caller: {} }, at);
	const nothing = { exitCode: 0, durationMs: 1, stdoutBytes: 0, stderrBytes: 0, output: '', files: [], refused: [] };
	await store.skillExecutions.finish(id, { ...nothing, status }, at);
}

test('F16: a skill’s health is of 8 weeks of 7 days, the last of which ends today', async () => {
	await ran('2026-10-02T23:59:59.000Z', 'error');
	await ran('2026-10-03T00:00:00.000Z', 'error');
	await ran('2026-11-20T23:59:59.000Z', 'success');
	await ran('2026-11-21T00:00:00.000Z', 'success');
	await ran('2026-11-27T20:00:00.000Z', 'error');
	const { weeks, answers } = await healthOf(store, 'local/demo', NOW);
	expect(weeks).toHaveLength(8);
	expect(weeks.filter(({ runs }) => runs > 0)).toEqual([
		{ since: '2026-10-03', runs: 1, failures: 1 },
		{ since: '2026-11-14', runs: 1, failures: 0 },
		{ since: '2026-11-21', runs: 2, failures: 1 }
	]);
	expect(answers).toEqual({ count: 0, priced: 0, cost: null });
	expect((await healthOf(store, 'local/other', NOW)).weeks.every(({ runs }) => runs === 0)).toBe(true);
});

/** As much of a registry as it needs. */
function registry() {
	const listeners = new Set<(snapshot: SkillSnapshot) => void>();
	let revision = 'a';
	const snapshot = (): SkillSnapshot => ({ skills: [], shadowed: [], broken: [], revision });
	return {
		listeners,
		snapshot,
		onChange: (listener: (snapshot: SkillSnapshot) => void) => {
			listeners.add(listener);
			return () => void listeners.delete(listener);
		},
		change(to: string) {
			revision = to;
			for (const listener of listeners) listener(snapshot());
		}
	};
}

test('E3: whoever follows is told of a change of the library and of a decision, the newest only, and leaves nothing behind', async () => {
	const source = registry();
	const revisions = createSkillRevisions(source);
	const stop = new AbortController();
	const frames = revisions.follow(stop.signal);
	const next = async () => (await frames.next()).value as string | undefined;
	const first = revisions.current();
	expect(await next()).toBe(`data: {"revision":"${first}"}\n\n`);
	const waiting = next();
	revisions.note();
	expect(await waiting).toContain(revisions.current());
	expect(revisions.current()).not.toBe(first);
	source.change('b');
	source.change('c');
	expect(await next()).toContain('"c.');
	const last = next();
	stop.abort();
	expect(await last).toBeUndefined();
	expect(source.listeners.size).toBe(0);
});
