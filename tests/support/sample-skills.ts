/** Skills, executions and lists of them as the server describes them, for component tests; each test overrides what it needs. */
import { vi } from 'vitest';
import type { SkillPackagesState } from '../../src/lib/shared/packages.ts';
import type { SkillExecution } from '../../src/lib/shared/try-out.ts';
import type { SkillDetail, SkillList, SkillSummary } from '../../src/lib/shared/skills.ts';
import type { DraftSummary } from '../../src/lib/shared/drafts.ts';
import type { InstalledSkill, SkillOrigin, StagedInstall, StagedSkill } from '../../src/lib/shared/install.ts';

export const SAMPLE_DIGEST = 'a'.repeat(64);
/** 42 MB of 2,048 MB. */
export const SAMPLE_SPACE = { bytes: 42 * 2 ** 20, maxBytes: 2 ** 31 };
const TIME = '2026-01-01T00:00:00.000Z';

export function sampleSummary(more: Partial<SkillSummary> = {}): SkillSummary {
	return {
		...{ id: 'demo', name: 'demo', description: 'Says things.', status: 'ready', path: '/data/skills/demo/SKILL.md' },
		...{ scripts: ['scripts/x.sh'], tools: [], diagnostics: [], trust: 'untrusted', mode: 'auto', version: '1.0.0' },
		...{ source: 'installed', provider: 'local', owner: 'system', icon: null, example: null },
		usage: { executions: 0, failures: 0, lastUsedAt: null },
		...more
	};
}

export function sampleDetail(more: Partial<SkillDetail> = {}): SkillDetail {
	return {
		...sampleSummary(),
		version: '1.0.0',
		...{ skillId: 'installed/demo', isTrustedByPlace: false, digest: SAMPLE_DIGEST, files: [], findings: [] },
		...{
			changes: null,
			network: { declared: [], granted: [] },
			allowedTools: null,
			toolDescriptions: {},
			inputSchemas: {}
		},
		needs: { binaries: [], packages: [], hosts: [], variables: [], skills: [] },
		...more
	};
}

/** A draft of `installed/demo` with a change. */
export function sampleDraft(more: Partial<DraftSummary> = {}): DraftSummary {
	return {
		...{ id: 'd1', name: 'demo', state: 'ready', model: null, from: null, base: 'installed/demo' },
		...{ updatedAt: '2026-01-02T03:04:05Z', faults: [], hasChanges: true, isStale: false },
		changes: { files: [{ path: 'SKILL.md', kind: 'changed' }], lines: { added: 3, removed: 1 } },
		...more
	};
}

export function sampleList(data: SkillSummary[], more: Partial<SkillList> = {}): SkillList {
	return {
		...{ data, skills: data, total: data.length, page: 1, limit: 50, totalPages: 1 },
		...{ provider: 'github', popularDefaults: [], revision: '1', catalog: { tokens: 1200, budgetTokens: 2000 } },
		...more
	};
}

export function sampleExecution(more: Partial<SkillExecution> = {}): SkillExecution {
	return {
		...{ id: 'e1', skillId: 'installed/demo', skill: 'demo', version: '1.0.0', tool: null, script: 'scripts/x.sh' },
		...{ argv: [], input: null, digest: SAMPLE_DIGEST, sandbox: 'bubblewrap', limits: {}, status: 'success' },
		...{ errorType: null, errorMessage: null, exitCode: 0, stdoutBytes: 5, stderrBytes: 0, output: 'said' },
		...{ durationMs: 1500, files: [], refused: [], missing: null, conversationId: null, runId: null, toolCallId: null },
		...{ apiKeyId: null, sessionId: null, createdAt: TIME, finishedAt: TIME },
		...more
	};
}

export function sampleOrigin(more: Partial<SkillOrigin> = {}): SkillOrigin {
	return { provider: 'zip', source: null, url: null, commit: null, path: '', revision: null, ...more };
}

export function sampleStagedSkill(more: Partial<StagedSkill> = {}): StagedSkill {
	return {
		...{ path: 'demo', name: 'demo', version: '1.0.0', description: 'Says things.', status: 'ready', diagnostics: [] },
		...{ origin: sampleOrigin(), digest: SAMPLE_DIGEST, files: [], scripts: [], tools: [], findings: [] },
		...{ toolDescriptions: {}, inputSchemas: {}, installed: null, changes: null, audit: null, needs: null },
		...more
	};
}

export function sampleStaged(more: Partial<StagedInstall> = {}): StagedInstall {
	return {
		id: 's1',
		createdAt: TIME,
		expiresAt: '2126-01-01T00:00:00.000Z',
		skills: [sampleStagedSkill()],
		notes: [],
		...more
	};
}

export function sampleInstalled(more: Partial<InstalledSkill> = {}): InstalledSkill {
	return {
		...{ id: 'i1', skillId: 'installed/demo', name: 'demo', version: '1.0.0', owner: 'system', state: 'active' },
		...{ origin: sampleOrigin(), digest: SAMPLE_DIGEST, files: [], installedAt: TIME },
		...more
	};
}

/** Calls of a server whose index has what a skill needs: nothing is installed until it is allowed. */
export function samplePackages() {
	const found = [
		{ ecosystem: 'python' as const, name: 'lxml', version: '5.3.0', hash: 'sha256-aa', from: 'pypi.org', bytes: 1200 },
		{
			...{ ecosystem: 'python' as const, name: 'python-docx', version: '1.1.2' },
			...{ hash: 'sha256-bb', from: 'file:', bytes: null }
		}
	];
	const nothing: SkillPackagesState = { installed: null, proposed: null, work: null, problem: null };
	let state = nothing;
	return {
		getPackages: vi.fn(async (_id: string) => state),
		lookUpPackages: vi.fn(async (_id: string, _wanted: { also?: { ecosystem: string; name: string }[] }) => {
			state = { ...nothing, proposed: { digest: 'd1', packages: found, notFound: [] }, space: SAMPLE_SPACE };
			return { ...state, work: { kind: 'looking-up' as const, text: 'Looking up packages' } };
		}),
		installPackages: vi.fn(async (_id: string, digest: string) => {
			state = {
				...nothing,
				installed: { digest, packages: found, state: 'ready', installedAt: '2026-11-27T10:00:00Z' }
			};
			return { ...nothing, work: { kind: 'installing' as const, text: 'Downloading lxml', done: 0, of: 2 } };
		}),
		removePackages: vi.fn(async (_id: string, _only: 'pending' | 'installed') => (state = nothing))
	};
}
