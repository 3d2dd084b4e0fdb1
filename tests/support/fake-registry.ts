/** Fake of the server's skill management API: records calls; anything not set is missing. */
import { samplePackages } from './sample-skills.ts';
import { vi } from 'vitest';
import { ApiError } from '../../src/lib/page/request.ts';
import type { Client } from '../../src/lib/page/server.ts';

/** Lists are empty; everything else rejects with `not_found` until the test sets a response. */
export function createFakeRegistry() {
	const missing = (): Promise<never> => Promise.reject(new ApiError('not_found', 'There is no such thing.'));
	const done = (): Promise<void> => Promise.resolve();
	return {
		stage: vi.fn<Client['stage']>(missing),
		stageZip: vi.fn<Client['stageZip']>(missing),
		stageFolder: vi.fn<Client['stageFolder']>(missing),
		getStaged: vi.fn<Client['getStaged']>(missing),
		readFile: vi.fn<Client['readFile']>(missing),
		writeFile: vi.fn<Client['writeFile']>(missing),
		checkText: vi.fn<Client['checkText']>(missing),
		getSkill: vi.fn<Client['getSkill']>(missing),
		saveSecrets: vi.fn<Client['saveSecrets']>(missing),
		changeSkill: vi.fn<Client['changeSkill']>(missing),
		...samplePackages(),
		confirmStaged: vi.fn<Client['confirmStaged']>(missing),
		discardStaged: vi.fn<Client['discardStaged']>(done),
		searchCatalog: vi.fn<Client['searchCatalog']>(async (_catalog, _q, page) => ({
			skills: [],
			total: 0,
			page,
			limit: 20
		})),
		getVersions: vi.fn<Client['getVersions']>(async () => ({ current: null, pinned: null, versions: [] })),
		useVersion: vi.fn<Client['useVersion']>(missing),
		rollBack: vi.fn<Client['rollBack']>(missing),
		compareVersion: vi.fn<Client['compareVersion']>(missing),
		stageUpdate: vi.fn<Client['stageUpdate']>(missing),
		listOutdated: vi.fn<Client['listOutdated']>(async () => []),
		removeSkill: vi.fn<Client['removeSkill']>(missing),
		listDrafts: vi.fn<Client['listDrafts']>(async () => []),
		listEdits: vi.fn<Client['listEdits']>(async () => []),
		compareEdit: vi.fn<Client['compareEdit']>(async () => []),
		returnToEdit: vi.fn<Client['returnToEdit']>(async (skill) => ({ skill })),
		listTrash: vi.fn<Client['listTrash']>(async () => []),
		restoreSkill: vi.fn<Client['restoreSkill']>(missing),
		deleteTrashed: vi.fn<Client['deleteTrashed']>(done),
		listFiles: vi.fn<Client['listFiles']>(async () => []),
		listCases: vi.fn<Client['listCases']>(async () => []),
		addCase: vi.fn<Client['addCase']>(missing),
		runCase: vi.fn<Client['runCase']>(missing),
		removeCase: vi.fn<Client['removeCase']>(done),
		listExecutions: vi.fn<Client['listExecutions']>(async () => ({
			data: [],
			total: 0,
			page: 1,
			limit: 20,
			totalPages: 0
		})),
		getConversation: vi.fn<Client['getConversation']>(missing),
		getEvals: vi.fn<Client['getEvals']>(async () => ({ cases: [], triggers: [], problem: null, runs: [] })),
		startEvals: vi.fn<Client['startEvals']>(missing),
		getEvalRun: vi.fn<Client['getEvalRun']>(missing),
		goOnEvals: vi.fn<Client['goOnEvals']>(missing),
		importEvals: vi.fn<Client['importEvals']>(missing),
		cancelEvals: vi.fn<Client['cancelEvals']>(missing),
		scoreSkills: vi.fn<Client['scoreSkills']>(missing)
	};
}
