/** The server's API as the page sees it (DESIGN §5): every call resolves to the answer or throws an `ApiError`; when its signal fires, its reason. */
import type { CatalogSkill, VersionSwitch } from '../shared/install.ts';
import { toSkillId } from '../shared/names.ts';
import type { AnswerOf, BodyOf, Method, QueryOf, Route, Sent } from '../../routes/endpoints.ts';
import type { ExecutionQuery } from './executions/execution-query.ts';
import { fileUrl } from './files/files.ts';
import { queryOf, request, upload, type UploadOptions } from './request.ts';

/** Asks an endpoint; what it takes and what it answers is what its `+server.ts` says. */
function call<const R extends Route, const M extends Method<R>>(
	method: M,
	route: R,
	sent: Sent<R, M>
): Promise<AnswerOf<R, M>> {
	const { params, query, body, signal } = sent as Partial<Record<'query' | 'params', Record<string, string>>> & {
		body?: unknown;
		signal?: AbortSignal;
	};
	// The server takes a POST as JSON alone, which no form of another site can send; one that says nothing says {}.
	const json = body ?? (method === 'POST' ? {} : undefined);
	return request(addressOf(route, params) + queryOf({ ...query }), method, json, signal ?? null);
}

/** The slashes of a parameter that takes the rest of a path stay slashes. */
function addressOf(route: Route, params: Record<string, string> = {}): string {
	return route.replaceAll(/\[(\.\.\.)?(\w+)\]/g, (_whole, rest: string | undefined, name: string) => {
		const value = params[name] ?? '';
		return rest ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
	});
}

/** A name, or `source/name`, with `@range` or without; of a broken skill `source/folder`. */
const ofSkill = (id: string): { id: string } => ({ id: toSkillId(id) });

/** A file of a folder that is uploaded. */
export interface FolderFile {
	/** Relative to the folder's parent, with `/`. */
	path: string;
	file: File;
}

export type ConversationPatch = BodyOf<'/api/conversations/[id]', 'PATCH'>;
export type McpServerInput = BodyOf<'/api/mcp-servers/[name]', 'PUT'>;
export type NewCase = BodyOf<'/api/skills/[...id]/cases', 'POST'>;

export interface ConversationSearch {
	/** Any text; empty for all. */
	q?: string;
	/** From 1. */
	page?: number;
	limit?: number;
	/** Those that are archived, in place of those that are not. */
	archived?: boolean;
}

const STAGED = '/api/skills/install/staged';
const CATALOG_PAGE = 20;

/** What the page needs of the server; tests bring their own. */
export type Client = ReturnType<typeof createClient>;

export function createClient() {
	return {
		// One conversation.
		getConversation: (id: string) => call('GET', '/api/conversations/[id]', { params: { id } }),
		/** Says that something in the conversation has changed, as `change` events; the caller closes the source. */
		conversationEvents: (id: string) => openEvents(addressOf('/api/conversations/[id]/events', { id })),
		/** The messages before this one. */
		listEarlier: (id: string, before: string) =>
			call('GET', '/api/conversations/[id]/messages', { params: { id }, query: { before } }),
		/** Removes a message and all that follows it. */
		deleteMessage: (id: string, message: string) =>
			call('DELETE', '/api/conversations/[id]/messages/[message]', { params: { id, message } }),
		/** Shows the branch that the message is in. */
		showMessage: (id: string, messageId: string) =>
			call('PATCH', '/api/conversations/[id]', { params: { id }, body: { show: messageId } }),
		/** A conversation of its own with everything up to the message. */
		forkConversation: (id: string, messageId: string) =>
			call('POST', '/api/conversations/[id]/fork', { params: { id }, body: { messageId } }),
		/** Sends a message after the run that is under way, or at once: then the run is named. The same id again is the same message. */
		enqueue: (id: string, body: BodyOf<'/api/conversations/[id]/queue', 'POST'>) =>
			call('POST', '/api/conversations/[id]/queue', { params: { id }, body }),
		editQueued: (id: string, message: string, text: string) =>
			call('PATCH', '/api/conversations/[id]/queue/[message]', { params: { id, message }, body: { text } }),
		removeQueued: (id: string, message: string) =>
			call('DELETE', '/api/conversations/[id]/queue/[message]', { params: { id, message } }),
		/** Before all others, and as soon as the run's step is over. */
		sendQueued: (id: string, message: string) =>
			call('POST', '/api/conversations/[id]/queue/[message]/send', { params: { id, message } }),
		/** Allows or denies a call that waits; a run is named when the answer goes on with it. */
		decide: (id: string, interrupt: string, body: BodyOf<'/api/conversations/[id]/approvals/[interrupt]', 'POST'>) =>
			call('POST', '/api/conversations/[id]/approvals/[interrupt]', { params: { id, interrupt }, body }),
		listFiles: async (id: string) => (await call('GET', '/api/conversations/[id]/files', { params: { id } })).data,
		uploadFile: (id: string, path: string, file: Blob, options: UploadOptions) =>
			upload<AnswerOf<'/api/conversations/[id]/files/[...path]', 'PUT'>>(
				{ method: 'PUT', url: fileUrl(id, path), body: file, contentType: 'application/octet-stream' },
				options
			),
		/** Puts the files of a skill's example into the workspace; its message is sent with them. */
		putExample: (id: string, skill: string) =>
			call('POST', '/api/conversations/[id]/example', { params: { id }, body: { skill } }),
		listConversationSkills: (id: string, signal: AbortSignal) =>
			call('GET', '/api/conversations/[id]/skills', { params: { id }, signal }),
		setConversationSkill: (
			id: string,
			name: string,
			state: BodyOf<'/api/conversations/[id]/skills/[...name]', 'PUT'>['state'],
			signal: AbortSignal
		) => call('PUT', '/api/conversations/[id]/skills/[...name]', { params: { id, name }, body: { state }, signal }),

		// All conversations.
		/** What is found outside of a title has a `snippet`. A search that is not wanted any more ends with its signal. */
		searchConversations: ({ archived, ...search }: ConversationSearch, signal?: AbortSignal) =>
			call('GET', '/api/conversations', { query: { ...search, ...(archived && { archived: 'true' }) }, signal }),
		changeConversation: (id: string, body: ConversationPatch) =>
			call('PATCH', '/api/conversations/[id]', { params: { id }, body }),
		/** It can be restored for ten minutes. */
		removeConversation: (id: string) => call('DELETE', '/api/conversations/[id]', { params: { id } }),
		/** `not_found` when it is gone for good. */
		restoreConversation: (id: string) => call('POST', '/api/conversations/trash/[id]', { params: { id } }),
		/** Those that can be restored, last deleted first. */
		listDeletedConversations: (query: { page: number; limit: number }) =>
			call('GET', '/api/conversations/trash', { query }),
		/** For good. */
		deleteTrashedConversation: (id: string) => call('DELETE', '/api/conversations/trash/[id]', { params: { id } }),
		/** Address of a file to be saved. */
		conversationExportUrl: (id: string, format: 'json' | 'markdown') =>
			addressOf('/api/conversations/[id]/export', { id }) + queryOf({ format }),
		/** A conversation of its own from a file that was exported as JSON. */
		importConversation: (file: Blob, options: UploadOptions) =>
			upload<AnswerOf<'/api/conversations/import', 'POST'>>(
				{ method: 'POST', url: '/api/conversations/import', body: file, contentType: 'application/json' },
				options
			),

		// Runs.
		/** The same input twice is the same run, so it may be sent again after `unreachable`. */
		startRun: (body: BodyOf<'/api/chat', 'POST'>) => call('POST', '/api/chat', { body }),
		getRun: (id: string) => call('GET', '/api/runs/[id]', { params: { id } }),
		/** Resolves when the server has taken note; the run's own last event tells when it has ended. */
		stopRun: (id: string) => call('DELETE', '/api/runs/[id]', { params: { id } }),
		/** Events with a `seq` over `after`; the caller closes the source. */
		runEvents: (id: string, after: number) =>
			openEvents(`${addressOf('/api/runs/[id]/events', { id })}?after=${after}`),
		getOffer: (id: string, signal: AbortSignal) => call('GET', '/api/runs/[id]/offer', { params: { id }, signal }),

		// Skills.
		listSkills: (page: number, limit: number) => call('GET', '/api/skills', { query: { page, limit } }),
		getSkill: (id: string) => call('GET', '/api/skills/[...id]', { params: ofSkill(id) }),
		changeSkill: (id: string, body: BodyOf<'/api/skills/[...id]', 'PUT'>) =>
			call('PUT', '/api/skills/[...id]', { params: ofSkill(id), body }),
		/** What is wrong with a skill, ready or broken, and what can be done about it. */
		getDiagnosis: (id: string) => call('GET', '/api/skills/[...id]/diagnostics', { params: ofSkill(id) }),
		/** Writes fixes, all there are without `fixes`, to the file that `digest` is of; its id may be another afterwards. */
		fixSkill: (id: string, body: BodyOf<'/api/skills/[...id]/diagnostics', 'POST'>) =>
			call('POST', '/api/skills/[...id]/diagnostics', { params: ofSkill(id), body }),
		skillEvents: () => openEvents('/api/skills/events'),
		/** Stores variables for a skill's scripts, by `source/name`; null removes one. They never come back. */
		saveSecrets: (id: string, body: BodyOf<'/api/skills/[...id]/secrets', 'PUT'>) =>
			call('PUT', '/api/skills/[...id]/secrets', { params: ofSkill(id), body }),
		scoreSkills: (text: string) => call('POST', '/api/skills/score', { body: { text } }),
		createSkill: (body: BodyOf<'/api/skills', 'POST'>) => call('POST', '/api/skills', { body }),
		readFile: (id: string, path: string) =>
			call('GET', '/api/skills/[...id]/file', { params: ofSkill(id), query: { path } }),
		/** Throws `conflict` when the file is not as it was read. */
		writeFile: (id: string, body: BodyOf<'/api/skills/[...id]/file', 'PUT'>) =>
			call('PUT', '/api/skills/[...id]/file', { params: ofSkill(id), body }),
		removeFile: (id: string, path: string) =>
			call('DELETE', '/api/skills/[...id]/file', { params: ofSkill(id), query: { path } }),
		/** What the text would be as the SKILL.md; nothing is written. */
		checkText: (id: string, text: string, signal: AbortSignal) =>
			call('POST', '/api/skills/[...id]/check', { params: ofSkill(id), body: { text }, signal }),

		// Executions.
		/** Newest first; what is empty is any. */
		listExecutions: (query: ExecutionQuery & { page: number; limit: number }) =>
			call('GET', '/api/skills/executions', { query: query as QueryOf<'/api/skills/executions', 'GET'> }),
		getExecution: (id: string) => call('GET', '/api/skills/executions/[id]', { params: { id } }),
		/** Runs a script or tool now, and waits for its end. */
		runExecution: (
			body: BodyOf<'/api/skills/executions', 'POST'>
		): Promise<Pick<AnswerOf<'/api/skills/executions', 'POST'>, 'execution'>> =>
			call('POST', '/api/skills/executions', { body }),
		endExecution: (id: string) => call('DELETE', '/api/skills/executions/[id]', { params: { id } }),

		// Cases and evals.
		listCases: async (id: string) => (await call('GET', '/api/skills/[...id]/cases', { params: ofSkill(id) })).data,
		addCase: (id: string, body: NewCase) => call('POST', '/api/skills/[...id]/cases', { params: ofSkill(id), body }),
		/** `approve`: digest of what may run though it would be asked about. */
		runCase: (id: string, caseId: string, approve?: string) =>
			call('POST', '/api/skills/[...id]/cases/[case]/run', {
				params: { ...ofSkill(id), case: caseId },
				body: { approve }
			}),
		removeCase: (id: string, caseId: string) =>
			call('DELETE', '/api/skills/[...id]/cases/[case]', { params: { ...ofSkill(id), case: caseId } }),
		getEvals: (id: string) => call('GET', '/api/skills/[...id]/evals', { params: ofSkill(id) }),
		startEvals: (id: string, rounds: number) =>
			call('POST', '/api/skills/[...id]/evals', { params: ofSkill(id), body: { rounds } }),
		getEvalRun: (id: string, run: string) =>
			call('GET', '/api/skills/[...id]/evals/[run]', { params: { ...ofSkill(id), run } }),
		cancelEvals: (id: string, run: string) =>
			call('DELETE', '/api/skills/[...id]/evals/[run]', { params: { ...ofSkill(id), run } }),

		// Installing, versions, trash.
		/** Fetches and checks, and places nothing. */
		stage: (source: BodyOf<'/api/skills/install/staged', 'POST'>['source'], signal: AbortSignal) =>
			call('POST', STAGED, { body: { source }, signal }),
		stageZip: (file: Blob, options: UploadOptions) =>
			upload<AnswerOf<typeof STAGED, 'POST'>>(
				{ method: 'POST', url: STAGED, body: file, contentType: 'application/zip' },
				options
			),
		stageFolder: (files: readonly FolderFile[], options: UploadOptions) => {
			const body = new FormData();
			for (const { path, file } of files) body.append('files', file, path);
			return upload<AnswerOf<typeof STAGED, 'POST'>>({ method: 'POST', url: STAGED, body, contentType: null }, options);
		},
		getStaged: (id: string) => call('GET', `${STAGED}/[id]`, { params: { id } }),
		confirmStaged: (id: string, body: BodyOf<`${typeof STAGED}/[id]`, 'POST'>) =>
			call('POST', `${STAGED}/[id]`, { params: { id }, body }),
		discardStaged: (id: string) => call('DELETE', `${STAGED}/[id]`, { params: { id } }),
		/** skills.sh knows no pages. */
		searchCatalog: (catalog: CatalogSkill['provider'], q: string, page: number) =>
			catalog === 'skillsmp'
				? call('GET', '/api/skills/marketplace', { query: { q, page, limit: CATALOG_PAGE } })
				: call('GET', '/api/skills/skillssh', { query: { q, limit: CATALOG_PAGE } }),
		getVersions: (id: string) => call('GET', '/api/skills/[...id]/versions', { params: ofSkill(id) }),
		useVersion: (id: string, use: VersionSwitch['use']) =>
			call('PUT', '/api/skills/[...id]/versions', { params: ofSkill(id), body: { use } }),
		rollBack: (id: string) => call('POST', '/api/skills/[...id]/rollback', { params: ofSkill(id) }),
		/** Fetches it anew from where it came, and places nothing. */
		stageUpdate: (id: string) => call('POST', '/api/skills/[...id]/update', { params: ofSkill(id) }),
		listOutdated: async () => (await call('GET', '/api/skills/outdated', {})).data,
		removeSkill: (id: string) => call('DELETE', '/api/skills/[...id]', { params: ofSkill(id) }),
		listTrash: async () => (await call('GET', '/api/skills/trash', {})).data,
		restoreSkill: (id: string) => call('POST', '/api/skills/trash/[id]', { params: { id } }),
		/** For good. */
		deleteTrashed: (id: string) => call('DELETE', '/api/skills/trash/[id]', { params: { id } }),

		// The server: settings, models and the account that pays for them (FEATURES F9, F11), keys (F12), MCP servers (E36).
		getHealth: () => call('GET', '/api/health', {}),
		getSettings: () => call('GET', '/api/settings', {}),
		changeSettings: (body: BodyOf<'/api/settings', 'PUT'>) => call('PUT', '/api/settings', { body }),
		/** In the order of the server that is set. Never fails for that server: `problem` says what is wrong with it. */
		listModels: (signal?: AbortSignal) => call('GET', '/api/models', { signal }),
		/** Does the key work there? What is left out is what the server has; nothing is stored. */
		checkKey: (body: BodyOf<'/api/models/check', 'POST'>, signal?: AbortSignal) =>
			call('POST', '/api/models/check', { body, signal }),
		/** Servers for models on the machine that the server runs on. */
		findLocalServers: async (signal?: AbortSignal) => (await call('GET', '/api/models/local', { signal })).data,
		/** The address to send the browser to; it comes back to `returnTo`, with `code` and `state` in the query. */
		startSignIn: (returnTo: string) => call('POST', '/api/account/sign-in', { body: { returnTo } }),
		/** Stores the key; once for each sign-in. */
		completeSignIn: (body: BodyOf<'/api/account/sign-in/complete', 'POST'>) =>
			call('POST', '/api/account/sign-in/complete', { body }),
		/** The newest first, revoked ones included. */
		listKeys: async () => (await call('GET', '/api/keys', {})).data,
		/** The only time that the key itself is told. */
		createKey: (body: BodyOf<'/api/keys', 'POST'>) => call('POST', '/api/keys', { body }),
		renameKey: (id: string, name: string) => call('PATCH', '/api/keys/[id]', { params: { id }, body: { name } }),
		/** What was made with it stays. */
		revokeKey: (id: string) => call('DELETE', '/api/keys/[id]', { params: { id } }),
		listMcpServers: async () => (await call('GET', '/api/mcp-servers', {})).data,
		putMcpServer: (name: string, body: McpServerInput) =>
			call('PUT', '/api/mcp-servers/[name]', { params: { name }, body }),
		removeMcpServer: (name: string) => call('DELETE', '/api/mcp-servers/[name]', { params: { name } }),
		reconnectMcpServer: (name: string) => call('POST', '/api/mcp-servers/[name]/reconnect', { params: { name } })
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
