/** The part of the server's API that manages skills (DESIGN §5): installing, versions, trash, cases, evals, scores. */
import type { SkillScoreList } from '../shared/skills.ts';
import type {
	CatalogPage,
	CatalogSkill,
	InstallConfirm,
	InstalledSkill,
	InstallSource,
	OutdatedSkill,
	SkillVersions,
	StagedInstall,
	TrashedSkill,
	VersionSwitch
} from '../shared/install.ts';
import type { CaseExpectation, CaseRun, EvalRun, SkillCase, SkillEvals } from '../shared/try-out.ts';
import { queryOf, request, skillUrl } from './request.ts';
import { upload, type UploadOptions } from './upload.ts';

/** A file of a folder that is uploaded. */
export interface FolderFile {
	/** Relative to the folder's parent, with `/`. */
	path: string;
	file: File;
}

export interface NewCase {
	title: string;
	script?: string;
	args?: string[];
	tool?: string;
	input?: Record<string, unknown>;
	expect: CaseExpectation;
}

/** Every call resolves to the answer or throws an `ApiError`. Ids of skills are names or `source/name`, with `@range` or without. */
export interface RegistryClient {
	/** Fetches and checks, and places nothing. */
	stage: (source: InstallSource, signal: AbortSignal) => Promise<StagedInstall>;
	stageZip: (file: Blob, options: UploadOptions) => Promise<StagedInstall>;
	stageFolder: (files: readonly FolderFile[], options: UploadOptions) => Promise<StagedInstall>;
	getStaged: (id: string) => Promise<StagedInstall>;
	confirmStaged: (id: string, confirm: InstallConfirm) => Promise<{ installed: InstalledSkill[]; skipped: string[] }>;
	discardStaged: (id: string) => Promise<void>;
	searchCatalog: (catalog: CatalogSkill['provider'], q: string, page: number) => Promise<CatalogPage>;
	getVersions: (id: string) => Promise<SkillVersions>;
	useVersion: (id: string, use: VersionSwitch['use']) => Promise<SkillVersions>;
	rollBack: (id: string) => Promise<SkillVersions>;
	/** Fetches it anew from where it came, and places nothing. */
	stageUpdate: (id: string) => Promise<StagedInstall>;
	listOutdated: () => Promise<OutdatedSkill[]>;
	removeSkill: (id: string) => Promise<TrashedSkill>;
	listTrash: () => Promise<TrashedSkill[]>;
	restoreSkill: (trashId: string) => Promise<{ skillId: string; name: string; version: string | null }>;
	/** For good. */
	deleteTrashed: (trashId: string) => Promise<void>;
	listCases: (id: string) => Promise<SkillCase[]>;
	addCase: (id: string, added: NewCase) => Promise<SkillCase>;
	/** `approve`: digest of what may run though it would be asked about. */
	runCase: (id: string, caseId: string, approve?: string) => Promise<CaseRun>;
	removeCase: (id: string, caseId: string) => Promise<void>;
	getEvals: (id: string) => Promise<SkillEvals>;
	startEvals: (id: string, rounds: number) => Promise<EvalRun>;
	getEvalRun: (id: string, runId: string) => Promise<EvalRun>;
	cancelEvals: (id: string, runId: string) => Promise<void>;
	scoreSkills: (text: string) => Promise<SkillScoreList>;
}

const STAGED = '/api/skills/install/staged';
const CATALOGS = { skillsmp: '/api/skills/marketplace', skillssh: '/api/skills/skillssh' } as const;
const CATALOG_PAGE = 20;

export function createRegistryClient(): RegistryClient {
	const staged = (id: string): string => `${STAGED}/${encodeURIComponent(id)}`;
	const trash = (id: string): string => `/api/skills/trash/${encodeURIComponent(id)}`;
	const under = (id: string, ...rest: string[]): string => [skillUrl(id), ...rest.map(encodeURIComponent)].join('/');
	return {
		stage: (source, signal) => request(STAGED, 'POST', { source }, signal),
		stageZip: (file, options) =>
			upload({ method: 'POST', url: STAGED, body: file, contentType: 'application/zip' }, options),
		stageFolder: (files, options) => {
			const body = new FormData();
			for (const { path, file } of files) body.append('files', file, path);
			return upload({ method: 'POST', url: STAGED, body, contentType: null }, options);
		},
		getStaged: (id) => request(staged(id)),
		confirmStaged: (id, confirm) => request(staged(id), 'POST', confirm),
		discardStaged: (id) => request(staged(id), 'DELETE'),
		searchCatalog: (catalog, q, page) =>
			// skills.sh knows no pages.
			request(CATALOGS[catalog] + queryOf({ q, page: catalog === 'skillsmp' ? page : undefined, limit: CATALOG_PAGE })),
		getVersions: (id) => request(under(id, 'versions')),
		useVersion: (id, use) => request(under(id, 'versions'), 'PUT', { use }),
		rollBack: (id) => request(under(id, 'rollback'), 'POST', {}),
		stageUpdate: (id) => request(under(id, 'update'), 'POST', {}),
		listOutdated: async () => (await request<{ data: OutdatedSkill[] }>('/api/skills/outdated')).data,
		removeSkill: (id) => request(skillUrl(id), 'DELETE'),
		listTrash: async () => (await request<{ data: TrashedSkill[] }>('/api/skills/trash')).data,
		restoreSkill: (trashId) => request(trash(trashId), 'POST', {}),
		deleteTrashed: (trashId) => request(trash(trashId), 'DELETE'),
		listCases: async (id) => (await request<{ data: SkillCase[] }>(under(id, 'cases'))).data,
		addCase: (id, added) => request(under(id, 'cases'), 'POST', added),
		runCase: (id, caseId, approve) => request(under(id, 'cases', caseId, 'run'), 'POST', { approve }),
		removeCase: (id, caseId) => request(under(id, 'cases', caseId), 'DELETE'),
		getEvals: (id) => request(under(id, 'evals')),
		startEvals: (id, rounds) => request(under(id, 'evals'), 'POST', { rounds }),
		getEvalRun: (id, runId) => request(under(id, 'evals', runId)),
		cancelEvals: (id, runId) => request(under(id, 'evals', runId), 'DELETE'),
		scoreSkills: (text) => request('/api/skills/score', 'POST', { text })
	};
}
