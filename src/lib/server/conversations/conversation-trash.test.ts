import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { gate, type Gate } from '../../../../tests/support/gate.ts';
import { text } from '../../../../tests/support/model-replies.ts';
import { createRunRig, type RunRig } from '../../../../tests/support/run-rig.ts';
import { createLog } from '../log.ts';
import { startOf } from '../store/contract/fixtures.suite.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { soleReplica } from '../replica.ts';
import { createConversationChanges } from '../runs/conversation-changes.ts';
import { openConversationTrash, type ConversationTrash } from './conversation-trash.ts';
import { createWorkspaces, type Workspaces } from '../workspaces.ts';

const DAY = 24 * 60 * 60_000;
const START = Date.UTC(2026, 0, 1, 12);

const root = emptyFolder();
let store: Store;
let workspaces: Workspaces;
let trash: ConversationTrash;
let now: number;
let logged: string[];
let stopped: string[];
let purged: string[];
/** Stopping a run waits for this promise. */
let stopping: Gate | null;

beforeEach(async () => {
	store = await openSqliteStore(join(root, 'app.sqlite'));
	workspaces = createWorkspaces(root);
	[now, logged, stopped, purged, stopping] = [START, [], [], [], null];
	trash = open();
	await put('c');
});
afterEach(async () => {
	await trash.close();
	await store.close();
});

function open(files: Pick<Workspaces, 'removeAll'> = workspaces): ConversationTrash {
	return openConversationTrash({
		...{ store, workspaces: files, changes: createConversationChanges(soleReplica()), now: () => now },
		log: createLog((line) => logged.push(line)),
		replica: soleReplica(),
		onPurged: (outcome) => purged.push(outcome),
		runner: {
			stop: async (id) => {
				stopped.push(id);
				await stopping?.opened;
				return true;
			}
		}
	});
}

async function put(id: string): Promise<void> {
	await store.conversations.create({ id, title: id, createdAt: new Date(START).toISOString() });
	await workspaces.write(id, 'note.txt', new Blob(['kept']).stream());
}

const hasFiles = (id: string): Promise<boolean> =>
	stat(join(workspaces.path(id), 'note.txt')).then(
		() => true,
		() => false
	);

describe('a conversation that is deleted', () => {
	test('is gone at once and comes back with its files, as often as it is asked for', async () => {
		const before = await store.conversations.get('c');
		await trash.remove('c');
		expect(await store.conversations.get('c')).toBeNull();
		await expect(trash.remove('c')).rejects.toMatchObject({ code: 'not_found' });
		now += 30 * DAY - 1;
		await trash.purge();
		expect(await trash.restore('c')).toEqual(before);
		expect(await trash.restore('c')).toEqual(before);
		expect(await hasFiles('c')).toBe(true);
	});

	test('is gone for good after 30 days, files and all, and its id is free again', async () => {
		await put('later');
		await trash.remove('c');
		now += 15 * DAY;
		await trash.remove('later');
		now += 15 * DAY;
		await trash.purge();
		await expect(trash.restore('c')).rejects.toMatchObject({ code: 'not_found', status: 404 });
		expect([await hasFiles('c'), await hasFiles('later')]).toEqual([false, true]);
		expect(await trash.restore('later')).toMatchObject({ id: 'later' });
		await put('c');
		expect(await store.conversations.get('c')).toMatchObject({ id: 'c' });
	});

	test('is gone for good however deep a script has nested folders in it', async () => {
		const nest = "import os\nfor each in range(50): os.mkdir('d' * 250); os.chdir('d' * 250)";
		execFileSync('python3', ['-c', nest], { cwd: workspaces.path('c') });
		await trash.remove('c');
		now += 30 * DAY;
		await trash.purge();
		expect(logged).toEqual([expect.stringContaining('permanently deleting old conversations')]);
		expect(purged).toEqual(['success']);
		expect(existsSync(workspaces.path('c'))).toBe(false);
		expect(await store.conversations.isDeleted('c')).toBe(false);
	});

	test('goes for good when somebody says so, with what it stands in the list for; not one that was restored meanwhile', async () => {
		await put('other');
		await trash.remove('c');
		now += DAY;
		await trash.remove('other');
		const times = { deletedAt: new Date(START).toISOString(), expiresAt: new Date(START + 30 * DAY).toISOString() };
		expect(await trash.list({ page: 2, limit: 1 })).toEqual({ data: [{ id: 'c', title: 'c', ...times }], total: 2 });
		await Promise.all([trash.purge(), trash.removeForGood('c'), trash.restore('other')]);
		for (const id of ['c', 'other', 'nobody'])
			await expect(trash.removeForGood(id)).rejects.toMatchObject({ code: 'not_found' });
		await expect(trash.restore('c')).rejects.toMatchObject({ code: 'not_found' });
		expect([await hasFiles('c'), await hasFiles('other')]).toEqual([false, true]);
		expect(await trash.list({ page: 1, limit: 9 })).toEqual({ data: [], total: 0 });
	});

	test('goes for good only when its run has ended, which still writes files', async () => {
		const stop = gate();
		stopping = stop;
		await store.runs.start(startOf('r1', { conversationId: 'c' }));
		const removing = trash.remove('c');
		const leaving = trash.removeForGood('c').catch(() => trash.removeForGood('c'));
		await expect.poll(() => stopped).toEqual(['r1']);
		expect(await hasFiles('c')).toBe(true);
		stop.open();
		await Promise.all([removing, leaving]);
		expect(await hasFiles('c')).toBe(false);
	});

	test('is removed when the server starts again, if it is old enough then', async () => {
		await trash.remove('c');
		await trash.close();
		now += 31 * DAY;
		trash = open();
		// The purge at startup comes before this one.
		await trash.purge();
		expect(await hasFiles('c')).toBe(false);
		expect(await store.conversations.isDeleted('c')).toBe(false);
	});

	test('whose files cannot be removed stays, is logged, cannot be restored any more, and goes the next time', async () => {
		await trash.close();
		const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
		let isFull = true;
		trash = open({ removeAll: (id) => (isFull ? Promise.reject(full) : workspaces.removeAll(id)) });
		await put('other');
		await trash.remove('c');
		await trash.remove('other');
		now += 30 * DAY;
		await trash.purge();
		expect(logged.filter((line) => line.includes('no space left'))).toHaveLength(2);
		await expect(trash.restore('c')).rejects.toMatchObject({ code: 'not_found' });
		expect(await hasFiles('c')).toBe(true);
		isFull = false;
		await trash.purge();
		expect([await hasFiles('c'), await hasFiles('other')]).toEqual([false, false]);
		expect(await store.conversations.isDeleted('c')).toBe(false);
	});

	test('a database that cannot be written is logged, and tried again', async () => {
		await trash.remove('c');
		now += 30 * DAY;
		const { claimDeleted } = store.conversations;
		store.conversations.claimDeleted = () => Promise.reject(new Error('database is full'));
		await trash.purge();
		expect(logged.join()).toContain('database is full');
		store.conversations.claimDeleted = claimDeleted;
		await trash.purge();
		expect(await hasFiles('c')).toBe(false);
	});

	test('has its run stopped', async () => {
		await store.runs.start(startOf('r1', { conversationId: 'c' }));
		await trash.remove('c');
		expect(stopped).toEqual(['r1']);
	});
});

describe('with a runner', () => {
	let rig: RunRig;
	afterEach(() => rig.close());

	test('F14: what is deleted while it is answered ends first, takes no more messages, and comes back stopped', async () => {
		rig = await createRunRig([text('begun', gate(), 'never')]);
		const { runId } = await rig.ask('hello');
		const opened = openConversationTrash({ ...rig, log: createLog((line) => logged.push(line)) });
		await opened.remove('c');
		expect(await rig.runner.get(runId)).toBeNull();
		await expect(rig.ask('more')).rejects.toMatchObject({ code: 'conflict' });
		expect(await opened.restore('c')).toMatchObject({ activeRunId: null, isUnread: false });
		expect(await rig.runner.get(runId)).toMatchObject({ state: 'cancelled' });
		await opened.close();
	});
});

test('F14: a deleted message can be restored for an hour, also after a restart; then it is gone for good', async () => {
	await store.runs.start(startOf('r1', { conversationId: 'c' }));
	await store.runs.finish('r1', { state: 'success', finishedAt: new Date(START).toISOString(), events: [] });
	const remove = () => store.removedMessages.remove('c', 'r1-question', new Date(now).toISOString());
	await remove();
	await trash.close();
	await store.close();
	store = await openSqliteStore(join(root, 'app.sqlite'));
	now += 59 * 60_000;
	trash = open();
	await trash.purge();
	expect(await store.removedMessages.restore('c', 'r1-question')).toBe(true);
	expect((await store.messages.list('c')).map(({ id }) => id)).toEqual(['r1-question', 'r1-answer']);
	await remove();
	now += 61 * 60_000;
	await trash.purge();
	expect(await store.removedMessages.restore('c', 'r1-question')).toBe(false);
});
