import { expect, test, vi } from 'vitest';
import { ApiError } from '../../request.ts';
import { Workbench } from './workbench.svelte.ts';

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
