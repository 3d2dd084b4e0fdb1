/** The server's API as the page sees it (DESIGN §5): every call resolves to the answer or throws an `ApiError`. */
import type { z } from 'zod';
import type {
	ConversationDetail,
	ConversationList,
	conversationPatch,
	ConversationSkillList,
	ConversationSummary,
	Health,
	MessageList,
	QueuedMessage,
	RunAgentInput,
	RunOffer,
	RunState,
	WorkspaceFile
} from '../shared/api.ts';
import type { ApprovalDecision } from '../shared/events.ts';
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
import type { McpServer, McpServerList, mcpServerPut } from '../shared/mcp-servers.ts';
import type { keyCheck, KeyStatus, LocalServer, ModelList, signInComplete, SignInStart } from '../shared/models.ts';
import type { ApiKey, apiKeyCreate, ApiKeyList, NewApiKey, Settings, SettingsPatch } from '../shared/settings.ts';
import type { NewSkill, SkillCheck, SkillFileText, SkillFileWrite } from '../shared/skill-files.ts';
import type {
	DiagnosisFix,
	SkillDetail,
	SkillDiagnosis,
	SkillList,
	SkillNeeds,
	SkillPatch,
	SkillScoreList
} from '../shared/skills.ts';
import type {
	AdHocExecution,
	CaseExpectation,
	CaseRun,
	EvalRun,
	SkillCase,
	SkillEvals,
	SkillExecution,
	SkillExecutionList
} from '../shared/try-out.ts';
import type { ExecutionQuery } from './executions/execution-query.ts';
import { fileUrl } from './files/files.ts';
import { queryOf, request, skillUrl, upload, type UploadOptions } from './request.ts';

/** What the page needs of the server; tests bring their own. */
export interface Client {
	getConversation: (id: string) => Promise<ConversationDetail>;
	/** Says that something in the conversation has changed, as `change` events; the caller closes the source. */
	conversationEvents: (id: string) => EventSource;
	/** The messages before this one. */
	listEarlier: (id: string, before: string) => Promise<MessageList>;
	/** Removes a message and all that follows it. */
	deleteMessage: (id: string, messageId: string) => Promise<void>;
	/** Shows the branch that the message is in. */
	showMessage: (id: string, messageId: string) => Promise<ConversationSummary>;
	/** A conversation of its own with everything up to the message. */
	forkConversation: (id: string, messageId: string) => Promise<ConversationSummary>;
	/** Sends a message after the run that is under way, or at once: then the run is named. The same id again is the same message. */
	enqueue: (id: string, message: Pick<QueuedMessage, 'id' | 'text' | 'files'>) => Promise<{ runId: string | null }>;
	editQueued: (id: string, messageId: string, text: string) => Promise<void>;
	removeQueued: (id: string, messageId: string) => Promise<void>;
	/** Before all others, and as soon as the run's step is over. */
	sendQueued: (id: string, messageId: string) => Promise<{ runId: string | null }>;
	/** Allows or denies a call that waits; a run is named when the answer goes on with it. */
	decide: (id: string, interruptId: string, decision: ApprovalDecision) => Promise<{ runId: string | null }>;
	/** Starts a run. The same input twice is the same run, so it may be sent again after `unreachable`. */
	startRun: (input: RunAgentInput) => Promise<{ threadId: string; runId: string }>;
	getRun: (id: string) => Promise<RunState>;
	/** Resolves when the server has taken note; the run's own last event tells when it has ended. */
	stopRun: (id: string) => Promise<void>;
	/** Events with a `seq` over `after`; the caller closes the source. */
	runEvents: (id: string, after: number) => EventSource;
	listFiles: (conversationId: string) => Promise<WorkspaceFile[]>;
	uploadFile: (conversationId: string, path: string, file: Blob, options: UploadOptions) => Promise<WorkspaceFile>;
	listSkills: (page: number, limit: number) => Promise<SkillList>;
	/** `id` is a name or `source/name`. */
	getSkill: (id: string) => Promise<SkillDetail>;
	changeSkill: (id: string, patch: SkillPatch) => Promise<SkillDetail>;
	/** What is wrong with a skill, ready or broken, and what can be done about it. */
	getDiagnosis: (id: string) => Promise<SkillDiagnosis>;
	/** Writes fixes, all there are without `fixes`, to the file that `digest` is of; its id may be another afterwards. */
	fixSkill: (id: string, patch: DiagnosisFix) => Promise<SkillDiagnosis>;
	skillEvents: () => EventSource;
	/** Stores variables for a skill's scripts, by `source/name`; null removes one. They never come back. */
	saveSecrets: (skillId: string, secrets: Record<string, string | null>) => Promise<SkillNeeds>;
	/** Newest first; what is empty is any. */
	listExecutions: (query: ExecutionQuery & { page: number; limit: number }) => Promise<SkillExecutionList>;
	/** Runs a script or tool now, and waits for its end. */
	runExecution: (wanted: AdHocExecution) => Promise<{ execution: SkillExecution }>;
	endExecution: (id: string) => Promise<void>;
	getHealth: () => Promise<Health>;
}

export function createClient(): Client {
	const of = (id: string, ...rest: string[]): string =>
		['/api/conversations', ...[id, ...rest].map(encodeURIComponent)].join('/');
	return {
		getConversation: (id) => request(of(id)),
		conversationEvents: (id) => openEvents(of(id, 'events')),
		listEarlier: (id, before) => request(`${of(id, 'messages')}?before=${encodeURIComponent(before)}`),
		deleteMessage: (id, messageId) => request(of(id, 'messages', messageId), 'DELETE'),
		showMessage: (id, messageId) => request(of(id), 'PATCH', { show: messageId }),
		forkConversation: (id, messageId) => request(of(id, 'fork'), 'POST', { messageId }),
		enqueue: (id, message) => request(of(id, 'queue'), 'POST', message),
		editQueued: (id, messageId, text) => request(of(id, 'queue', messageId), 'PATCH', { text }),
		removeQueued: (id, messageId) => request(of(id, 'queue', messageId), 'DELETE'),
		sendQueued: (id, messageId) => request(of(id, 'queue', messageId, 'send'), 'POST', {}),
		decide: (id, interruptId, decision) => request(of(id, 'approvals', interruptId), 'POST', decision),
		startRun: (input) => request('/api/chat', 'POST', input),
		getRun: (id) => request(`/api/runs/${encodeURIComponent(id)}`),
		stopRun: (id) => request(`/api/runs/${encodeURIComponent(id)}`, 'DELETE'),
		runEvents: (id, after) => openEvents(`/api/runs/${encodeURIComponent(id)}/events?after=${after}`),
		listFiles: async (id) => {
			const answer = await request<WorkspaceFile[] | { data: WorkspaceFile[] }>(of(id, 'files'));
			return Array.isArray(answer) ? answer : answer.data;
		},
		uploadFile: (id, path, file, options) =>
			upload({ method: 'PUT', url: fileUrl(id, path), body: file, contentType: 'application/octet-stream' }, options),
		listSkills: (page, limit) => request(`/api/skills?page=${page}&limit=${limit}`),
		getSkill: (id) => request(skillUrl(id)),
		changeSkill: (id, patch) => request(skillUrl(id), 'PUT', patch),
		getDiagnosis: (id) => request(`${skillUrl(id)}/diagnostics`),
		fixSkill: (id, patch) => request(`${skillUrl(id)}/diagnostics`, 'POST', patch),
		skillEvents: () => openEvents('/api/skills/events'),
		saveSecrets: (skillId, secrets) => request(`${skillUrl(skillId)}/secrets`, 'PUT', secrets),
		listExecutions: (query) => request(`/api/skills/executions${queryOf({ ...query })}`),
		runExecution: (wanted) => request('/api/skills/executions', 'POST', wanted),
		endExecution: (id) => request(`/api/skills/executions/${encodeURIComponent(id)}`, 'DELETE'),
		getHealth: () => request('/api/health')
	};
}

/** An EventSource does not tell that one has to log in; any other request does, and goes to the login page. */
function openEvents(path: string): EventSource {
	const source = new EventSource(path);
	source.addEventListener('error', () => {
		if (source.readyState === EventSource.CLOSED) request('/api/health').catch(() => undefined);
	});
	return source;
}

// The part of the server's API that manages skills (DESIGN §5): installing, versions, trash, cases, evals, scores.

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

// The part of the server's API for what people do with conversations: search, marks, deletion with a way back, files of them.

export type ConversationPatch = z.input<typeof conversationPatch>;

export interface ConversationSearch {
	/** Any text; empty for all. */
	q?: string;
	/** From 1. */
	page?: number;
	limit?: number;
	/** Those that are archived, in place of those that are not. */
	archived?: boolean;
}

/** Every call resolves to the answer or throws an `ApiError`. */
export interface ConversationsClient {
	/** What is found outside of a title has a `snippet`. A search that is not wanted any more ends with its signal. */
	search: (search: ConversationSearch, signal?: AbortSignal) => Promise<ConversationList>;
	patch: (id: string, patch: ConversationPatch) => Promise<ConversationSummary>;
	/** It can be restored for ten minutes. */
	remove: (id: string) => Promise<void>;
	/** `not_found` when it is gone for good. */
	restore: (id: string) => Promise<ConversationSummary>;
	/** Address of a file to be saved. */
	exportUrl: (id: string, format: 'json' | 'markdown') => string;
	/** A conversation of its own from a file that was exported as JSON. */
	importFile: (file: Blob, options: UploadOptions) => Promise<ConversationSummary>;
}

const CONVERSATIONS = '/api/conversations';

export function createConversationsClient(): ConversationsClient {
	const one = (id: string): string => `${CONVERSATIONS}/${encodeURIComponent(id)}`;
	return {
		search: ({ q, page, limit, archived }, signal) =>
			request(
				CONVERSATIONS + queryOf({ q, page, limit, archived: archived ? 'true' : undefined }),
				...(['GET', undefined, signal] as const)
			),
		patch: (id, patch) => request(one(id), 'PATCH', patch),
		remove: (id) => request(one(id), 'DELETE'),
		restore: (id) => request(`${one(id)}/restore`, 'POST', {}),
		exportUrl: (id, format) => `${one(id)}/export${queryOf({ format })}`,
		importFile: (file, options) =>
			upload({ method: 'POST', url: `${CONVERSATIONS}/import`, body: file, contentType: 'application/json' }, options)
	};
}

// The part of the server's API that is about models and the account that pays for them (FEATURES F9, F11); settings too.

/** Every call resolves to the answer or throws an `ApiError`. */
export interface AccountClient {
	getSettings: () => Promise<Settings>;
	changeSettings: (patch: SettingsPatch) => Promise<Settings>;
	/** In the order of the server that is set. Never fails for that server: `problem` says what is wrong with it. */
	listModels: (signal?: AbortSignal) => Promise<ModelList>;
	/** Does the key work there? What is left out is what the server has; nothing is stored. */
	checkKey: (check: z.input<typeof keyCheck>, signal?: AbortSignal) => Promise<KeyStatus>;
	/** Servers for models on the machine that the server runs on. */
	findLocalServers: (signal?: AbortSignal) => Promise<LocalServer[]>;
	/** The address to send the browser to; it comes back to `returnTo`, with `code` and `state` in the query. */
	startSignIn: (returnTo: string) => Promise<SignInStart>;
	/** Stores the key; once for each sign-in. */
	completeSignIn: (answer: z.input<typeof signInComplete>) => Promise<Settings>;
}

export function createAccountClient(): AccountClient {
	return {
		getSettings: () => request('/api/settings'),
		changeSettings: (patch) => request('/api/settings', 'PUT', patch),
		listModels: (signal) => request('/api/models', 'GET', undefined, signal),
		checkKey: (check, signal) => request('/api/models/check', 'POST', check, signal),
		findLocalServers: async (signal) =>
			(await request<{ data: LocalServer[] }>('/api/models/local', 'GET', undefined, signal)).data,
		startSignIn: (returnTo) => request('/api/account/sign-in', 'POST', { returnTo }),
		completeSignIn: (answer) => request('/api/account/sign-in/complete', 'POST', answer)
	};
}

// The part of the server's API that makes, edits, checks and hands on skills (FEATURES F1, F8).

/** Every call resolves to the answer or throws an `ApiError`. Ids are names, `source/name`, or of a broken skill `source/folder`. */
export interface SkillFilesClient {
	createSkill: (wanted: NewSkill) => Promise<SkillDetail>;
	readFile: (id: string, path: string) => Promise<SkillFileText>;
	/** Throws `conflict` when the file is not as it was read. */
	writeFile: (id: string, wanted: SkillFileWrite) => Promise<SkillFileText>;
	removeFile: (id: string, path: string) => Promise<void>;
	/** What the text would be as the SKILL.md; nothing is written. */
	checkText: (id: string, text: string, signal: AbortSignal) => Promise<SkillCheck>;
}

export function createSkillFilesClient(): SkillFilesClient {
	const file = (id: string, path?: string): string =>
		`${skillUrl(id)}/file${path === undefined ? '' : queryOf({ path })}`;
	return {
		createSkill: (wanted) => request('/api/skills', 'POST', wanted),
		readFile: (id, path) => request(file(id, path)),
		writeFile: (id, wanted) => request(file(id), 'PUT', wanted),
		removeFile: (id, path) => request(file(id, path), 'DELETE'),
		checkText: (id, text, signal) => request(`${skillUrl(id)}/check`, 'POST', { text }, signal)
	};
}

/** Address of the skill as a zip archive. */
export function exportUrl(id: string): string {
	return `${skillUrl(id)}/export`;
}

// The part of the server's API about the skills of one conversation, and why a run offered them (FEATURES F7, F2).

/** Every call resolves to the answer or throws an `ApiError`; when the signal fires, its reason. */
export interface SkillsClient {
	listSkills: (conversationId: string, signal: AbortSignal) => Promise<ConversationSkillList>;
	setSkill: (
		conversationId: string,
		name: string,
		state: 'pinned' | 'loaded' | 'unloaded',
		signal: AbortSignal
	) => Promise<ConversationSkillList>;
	getOffer: (runId: string, signal: AbortSignal) => Promise<RunOffer>;
}

export function createSkillsClient(): SkillsClient {
	const skills = (id: string): string => `/api/conversations/${encodeURIComponent(id)}/skills`;
	return {
		listSkills: (id, signal) => request(skills(id), 'GET', undefined, signal),
		setSkill: (id, name, state, signal) =>
			request(`${skills(id)}/${encodeURIComponent(name)}`, 'PUT', { state }, signal),
		getOffer: (runId, signal) => request(`/api/runs/${encodeURIComponent(runId)}/offer`, 'GET', undefined, signal)
	};
}

// The part of the server's API that is about keys for other programs (FEATURES F12).

/** Every call resolves to the answer or throws an `ApiError`. */
export interface KeysClient {
	/** The newest first, revoked ones included. */
	listKeys: () => Promise<ApiKey[]>;
	/** The only time that the key itself is told. */
	createKey: (wanted: z.input<typeof apiKeyCreate>) => Promise<NewApiKey>;
	renameKey: (id: string, name: string) => Promise<ApiKey>;
	/** What was made with it stays. */
	revokeKey: (id: string) => Promise<ApiKey>;
}

export function createKeysClient(): KeysClient {
	return {
		listKeys: async () => (await request<ApiKeyList>('/api/keys')).data,
		createKey: (wanted) => request('/api/keys', 'POST', wanted),
		renameKey: (id, name) => request(`/api/keys/${encodeURIComponent(id)}`, 'PATCH', { name }),
		revokeKey: (id) => request(`/api/keys/${encodeURIComponent(id)}`, 'DELETE')
	};
}

// The part of the server's API that is about MCP servers (FEATURES E36).

export type McpServerInput = z.input<typeof mcpServerPut>;

/** Every call resolves to the answer or throws an `ApiError`. */
export interface McpServersClient {
	list: () => Promise<McpServer[]>;
	put: (name: string, server: McpServerInput) => Promise<McpServer>;
	remove: (name: string) => Promise<void>;
	reconnect: (name: string) => Promise<McpServer>;
}

export function createMcpServersClient(): McpServersClient {
	const url = (name: string) => `/api/mcp-servers/${encodeURIComponent(name)}`;
	return {
		list: async () => (await request<McpServerList>('/api/mcp-servers')).data,
		put: (name, server) => request(url(name), 'PUT', server),
		remove: (name) => request(url(name), 'DELETE'),
		reconnect: (name) => request(`${url(name)}/reconnect`, 'POST')
	};
}
