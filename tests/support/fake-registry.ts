/** The part of the server's API that manages skills, played in the page: what was asked is written down, what is not set is missing. */
import { vi, type Mock } from 'vitest';
import { ApiError } from '../../src/lib/page/request.ts';
import type { RegistryClient } from '../../src/lib/page/server.ts';

export type FakeRegistry = { [Name in keyof RegistryClient]: Mock<RegistryClient[Name]> };

/** Lists are empty; anything else rejects with `not_found` until the test says what it answers. */
export function createFakeRegistry(): FakeRegistry {
	const missing = (): Promise<never> => Promise.reject(new ApiError('not_found', 'There is no such thing.'));
	const done = (): Promise<void> => Promise.resolve();
	return {
		stage: vi.fn(missing),
		stageZip: vi.fn(missing),
		stageFolder: vi.fn(missing),
		getStaged: vi.fn(missing),
		confirmStaged: vi.fn(missing),
		discardStaged: vi.fn(done),
		searchCatalog: vi.fn(async (_catalog, _q, page) => ({ skills: [], total: 0, page, limit: 20 })),
		getVersions: vi.fn(async () => ({ current: null, pinned: null, versions: [] })),
		useVersion: vi.fn(missing),
		rollBack: vi.fn(missing),
		stageUpdate: vi.fn(missing),
		listOutdated: vi.fn(async () => []),
		removeSkill: vi.fn(missing),
		listTrash: vi.fn(async () => []),
		restoreSkill: vi.fn(missing),
		deleteTrashed: vi.fn(done),
		listCases: vi.fn(async () => []),
		addCase: vi.fn(missing),
		runCase: vi.fn(missing),
		removeCase: vi.fn(done),
		getEvals: vi.fn(async () => ({ cases: [], problem: null, runs: [] })),
		startEvals: vi.fn(missing),
		getEvalRun: vi.fn(missing),
		cancelEvals: vi.fn(done),
		scoreSkills: vi.fn(missing)
	};
}
