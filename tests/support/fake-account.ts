/** Fake models, settings and account: records calls; anything not set is missing. */
import { vi, type Mock } from 'vitest';
import type { AccountClient } from '../../src/lib/page/models/account.svelte.ts';
import { ApiError } from '../../src/lib/page/request.ts';
import type { ModelInfo } from '../../src/lib/shared/models.ts';
import type { ModelSettings, Settings } from '../../src/lib/shared/settings.ts';

export type FakeAccount = { [Name in keyof AccountClient]: Mock<AccountClient[Name]> };

export const modelSettingsOf = (more: Partial<ModelSettings> = {}): ModelSettings => ({
	...{ id: 'openrouter/auto', effort: null, isOffline: false, keyFrom: null, canSignIn: true, routing: {} },
	...{ baseUrl: 'https://openrouter.ai/api/v1', defaultBaseUrl: 'https://openrouter.ai/api/v1' },
	...more
});

export const settingsOf = (more: Partial<Settings> = {}): Settings => ({
	...{ skillsEnabled: true, canEnableSkills: true, skillsProvider: 'skillssh' as const, hasSkillsmpApiKey: false },
	...{
		catalogRequests: true,
		autoMaxSkills: 5,
		autoMinScore: 3,
		instructions: '',
		autoTitles: true,
		web: [],
		presets: {}
	},
	model: modelSettingsOf(),
	limits: { maxSteps: 10, maxCostUsd: null, maxDurationMs: 1_800_000, scriptTimeoutMs: 30_000 },
	defaults: {
		...{
			skillsProvider: 'skillssh' as const,
			autoMaxSkills: 5,
			autoMinScore: 3,
			model: 'openrouter/auto',
			autoTitles: true,
			catalogRequests: true
		},
		...{ maxSteps: 10, maxCostUsd: null, maxDurationMs: 1_800_000, scriptTimeoutMs: 30_000 }
	},
	...more
});

export const modelOf = (id: string, more: Partial<ModelInfo> = {}): ModelInfo => ({
	...{ id, name: id, description: '', contextTokens: null, price: null },
	...{ takesTools: null, takes: null, gives: null, reasons: null, createdAt: null },
	...more
});

/** Has these settings and no models; a change returns itself. */
export function createFakeAccount(settings: Settings = settingsOf()): FakeAccount {
	const missing = (): Promise<never> => Promise.reject(new ApiError('not_found', 'There is no such thing.'));
	return {
		getSettings: vi.fn(async () => settings),
		changeSettings: vi.fn(async ({ skillsmpApiKey, ...patch }) => ({
			...settings,
			...(patch as Partial<Settings>),
			presets: Object.fromEntries(
				Object.entries({ ...settings.presets, ...patch.presets }).filter(([, preset]) => preset !== null)
			) as Settings['presets'],
			model: settings.model,
			hasSkillsmpApiKey: skillsmpApiKey === undefined ? settings.hasSkillsmpApiKey : skillsmpApiKey !== null
		})),
		listModels: vi.fn(async () => ({ data: [], baseUrl: settings.model.baseUrl, problem: null })),
		checkKey: vi.fn(missing),
		findLocalServers: vi.fn(async () => []),
		startSignIn: vi.fn(missing),
		completeSignIn: vi.fn(missing)
	};
}
