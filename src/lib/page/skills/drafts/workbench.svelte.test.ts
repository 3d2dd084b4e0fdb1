import { expect, test, vi } from 'vitest';
import { ApiError } from '../../request.ts';
import { Workbench, type WorkbenchClient } from './workbench.svelte.ts';

test('F8: a draft that isn’t there says so', async () => {
	const client = {
		getDraft: vi.fn(async () => Promise.reject(new ApiError('not_found', 'Draft not found.'))),
		...{ changeDraft: vi.fn(), reviewDraft: vi.fn(), saveDraft: vi.fn(), stopDraft: vi.fn(), deleteDraft: vi.fn() },
		...{ improveDraft: vi.fn(), startDraft: vi.fn() }
	};
	const bench = new Workbench(client, 'gone');
	await bench.open();
	expect(bench.error?.message).toBe('Draft not found.');
});

test('F8: what was typed in a file just before it is deleted is sent, so that Undo brings it back', async () => {
	const draft = { id: 'd', state: 'open', revision: 1, files: [{ path: 'a.md', text: 'saved', isExecutable: false }] };
	const changeDraft = vi.fn(async () => ({ ...draft, revision: 2 }));
	const client = {
		...{ getDraft: vi.fn(async () => draft), changeDraft, reviewDraft: vi.fn(async () => ({ revision: 2 })) },
		...{ saveDraft: vi.fn(), stopDraft: vi.fn(), deleteDraft: vi.fn(), improveDraft: vi.fn(), startDraft: vi.fn() }
	};
	const bench = new Workbench(client as unknown as WorkbenchClient, 'd');
	await bench.open();
	bench.path = 'a.md';
	bench.type('typed');
	await bench.remove('a.md');
	await bench.flush();
	const sent = (text: string | null, revision: number) => ['d', { revision, files: [{ path: 'a.md', text }] }];
	expect(changeDraft.mock.calls).toEqual([sent('typed', 1), sent(null, 2)]);
});
