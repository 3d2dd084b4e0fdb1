/** Typed client of the server's API (DESIGN §5). Every call resolves to the answer or throws an `ApiError`, or the signal's reason. */
import type { CatalogSkill, VersionSwitch } from '../shared/install.ts';
import { type EventPlace, idOfEvent } from '../shared/events.ts';
import { toSkillId } from '../shared/names.ts';
import type { SkillExecution } from '../shared/try-out.ts';
import type { AnswerOf, BodyOf, Method, QueryOf, Route, Sent } from '../../routes/endpoints.ts';
import { fileUrl } from './files/files.ts';
import { queryOf, request, upload, type UploadOptions } from './request.ts';

/** Types come from the route's `+server.ts`. */
function call<const R extends Route, const M extends Method<R>>(
	method: M,
	route: R,
	sent: Sent<R, M>
): Promise<AnswerOf<R, M>> {
	const { params, query, body, signal } = sent as Partial<Record<'query' | 'params', Record<string, string>>> & {
		body?: unknown;
		signal?: AbortSignal;
	};
	// The server accepts POST only as JSON, which no form on another site can send; so an empty one sends {}.
	const json = body ?? (method === 'POST' ? {} : undefined);
	return request(addressOf(route, params) + queryOf({ ...query }), method, json, signal ?? null);
}

/** Slashes in a rest parameter stay. */
function addressOf(route: Route, params: Record<string, string> = {}): string {
	return route.replaceAll(/\[(\.\.\.)?(\w+)\]/g, (_whole, rest: string | undefined, name: string) => {
		const value = params[name] ?? '';
		return rest ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
	});
}

/** `name` or `source/name`, with or without `@range`; `source/folder` of a broken skill. */
const ofSkill = (id: string): { id: string } => ({ id: toSkillId(id) });

/** A file of an uploaded folder. */
export interface FolderFile {
	/** Relative to the folder's parent, with `/`. */
	path: string;
	file: File;
}

export type ConversationPatch = BodyOf<'/api/conversations/[id]', 'PATCH'>;
export type McpServerInput = BodyOf<'/api/mcp-servers/[name]', 'PUT'>;
export type NewCase = BodyOf<'/api/skills/[...id]/cases', 'POST'>;

export interface ConversationSearch {
	/** Empty matches all. */
	q?: string;
	page?: number;
	limit?: number;
	/** Archived chats only, instead of the others. */
	archived?: boolean;
}

/** Empty fields match all. */
export interface ExecutionQuery {
	status: SkillExecution['status'] | 'failed' | 'denied' | '';
	/** `name` or `source/name`. */
	skill: string;
	apiKeyId: string;
	conversationId?: string;
	/** In the name of what ran, or in what it was given. */
	text: string;
	/** ISO 8601: from `since`, before `until`. */
	since: string;
	until: string;
}

const STAGED = '/api/skills/install/staged';
const CATALOG_PAGE = 20;

/** Tests use their own. */
export type Client = ReturnType<typeof createClient>;

export function createClient() {
	return {
		// One chat.
		getConversation: (id: string) => call('GET', '/api/conversations/[id]', { params: { id } }),
		/** Sends a `change` event when something in the chat changes; the caller closes the source. */
		conversationEvents: (id: string) => openEvents(addressOf('/api/conversations/[id]/events', { id })),
		listEarlier: (id: string, before: string) =>
			call('GET', '/api/conversations/[id]/messages', { params: { id }, query: { before } }),
		/** Removes a message and everything after it. Can be restored for an hour. */
		deleteMessage: (id: string, message: string) =>
			call('DELETE', '/api/conversations/[id]/messages/[message]', { params: { id, message } }),
		restoreMessage: (id: string, message: string) =>
			call('POST', '/api/conversations/[id]/messages/[message]', { params: { id, message } }),
		dislikeMessage: (id: string, message: string, isDisliked: boolean) =>
			call('PATCH', '/api/conversations/[id]/messages/[message]', { params: { id, message }, body: { isDisliked } }),
		/** Switches to the message's branch. */
		showMessage: (id: string, messageId: string) =>
			call('PATCH', '/api/conversations/[id]', { params: { id }, body: { show: messageId } }),
		/** Copies everything up to the message into a new chat. */
		forkConversation: (id: string, messageId: string) =>
			call('POST', '/api/conversations/[id]/fork', { params: { id }, body: { messageId } }),
		/** Sends a message after the current run, or at once if none: then the run is returned. The same id again is the same message. */
		enqueue: (id: string, body: BodyOf<'/api/conversations/[id]/queue', 'POST'>) =>
			call('POST', '/api/conversations/[id]/queue', { params: { id }, body }),
		editQueued: (id: string, message: string, text: string) =>
			call('PATCH', '/api/conversations/[id]/queue/[message]', { params: { id, message }, body: { text } }),
		removeQueued: (id: string, message: string) =>
			call('DELETE', '/api/conversations/[id]/queue/[message]', { params: { id, message } }),
		/** Moves it to the front; it's sent as soon as the current step ends. */
		sendQueued: (id: string, message: string) =>
			call('POST', '/api/conversations/[id]/queue/[message]/send', { params: { id, message } }),
		/** Allows or denies a pending call; returns the run that continues with it. */
		decide: (id: string, interrupt: string, body: BodyOf<'/api/conversations/[id]/approvals/[interrupt]', 'POST'>) =>
			call('POST', '/api/conversations/[id]/approvals/[interrupt]', { params: { id, interrupt }, body }),
		/** Answers what an MCP server asks during a call. */
		reply: (id: string, question: string, body: BodyOf<'/api/conversations/[id]/questions/[question]', 'POST'>) =>
			call('POST', '/api/conversations/[id]/questions/[question]', { params: { id, question }, body }),
		/** Tools that the agent defined in the chat. */
		listDefinedTools: async (id: string) =>
			(await call('GET', '/api/conversations/[id]/tools', { params: { id } })).data,
		getDefinedTool: (id: string, tool: string) =>
			call('GET', '/api/conversations/[id]/tools/[tool]', { params: { id, tool } }),
		/** As a skill, with the files of this digest. */
		keepDefinedTool: (id: string, tool: string, digest: string) =>
			call('POST', '/api/conversations/[id]/tools/[tool]', { params: { id, tool }, body: { digest } }),
		/** `query` names a model to tell what it's given of a file. */
		listFiles: async (id: string, query?: { model: string; path: string }) =>
			(await call('GET', '/api/conversations/[id]/files', { params: { id }, query })).data,
		uploadFile: (id: string, path: string, file: Blob, options: UploadOptions) =>
			upload<AnswerOf<'/api/conversations/[id]/files/[...path]', 'PUT'>>(
				{ method: 'PUT', url: fileUrl(id, path), body: file, contentType: 'application/octet-stream' },
				options
			),
		/** Of a picture that is there: models are sent it in its place. */
		uploadCopy: (id: string, path: string, copy: Blob, options: UploadOptions) =>
			upload<AnswerOf<'/api/conversations/[id]/files/[...path]', 'PUT'>>(
				{ method: 'PUT', url: `${fileUrl(id, path)}?as=copy`, body: copy, contentType: 'application/octet-stream' },
				options
			),
		/** Can be restored for an hour. */
		deleteFile: (id: string, path: string) =>
			call('DELETE', '/api/conversations/[id]/files/[...path]', { params: { id, path } }),
		restoreFile: (id: string, path: string) =>
			call('POST', '/api/conversations/[id]/files/[...path]', { params: { id, path } }),
		/** Copies the files of a skill's example into the workspace. */
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

		// All chats.
		/** Matches outside a title have a `snippet`. */
		searchConversations: ({ archived, ...search }: ConversationSearch, signal?: AbortSignal) =>
			call('GET', '/api/conversations', { query: { ...search, ...(archived && { archived: 'true' }) }, signal }),
		changeConversation: (id: string, body: ConversationPatch) =>
			call('PATCH', '/api/conversations/[id]', { params: { id }, body }),
		/** Can be restored for 30 days. */
		removeConversation: (id: string) => call('DELETE', '/api/conversations/[id]', { params: { id } }),
		/** `not_found` once it's deleted for good. */
		restoreConversation: (id: string) => call('POST', '/api/conversations/trash/[id]', { params: { id } }),
		/** Chats that can be restored, last deleted first. */
		listDeletedConversations: (query: { page: number; limit: number }) =>
			call('GET', '/api/conversations/trash', { query }),
		/** For good. */
		deleteTrashedConversation: (id: string) => call('DELETE', '/api/conversations/trash/[id]', { params: { id } }),
		/** Download address. */
		conversationExportUrl: (id: string, format: 'json' | 'markdown') =>
			addressOf('/api/conversations/[id]/export', { id }) + queryOf({ format }),
		/** Imports an exported JSON file as a new chat. */
		importConversation: (file: Blob, options: UploadOptions) =>
			upload<AnswerOf<'/api/conversations/import', 'POST'>>(
				{ method: 'POST', url: '/api/conversations/import', body: file, contentType: 'application/json' },
				options
			),

		// Runs.
		/** The same input twice is the same run, so it's safe to retry after `unreachable`. */
		startRun: (body: BodyOf<'/api/chat', 'POST'>) => call('POST', '/api/chat', { body }),
		getRun: (id: string) => call('GET', '/api/runs/[id]', { params: { id } }),
		/** Resolves when the server has noted it; the run's last event tells when it ended. */
		stopRun: (id: string) => call('DELETE', '/api/runs/[id]', { params: { id } }),
		/** Events after this one; the caller closes the source. Those of `beside` are named after their run. */
		runEvents: (
			id: string,
			after: EventPlace,
			beside: readonly { runId: string; after: number; epoch?: number }[] = []
		) => {
			// One connection, because browsers open only six to a server.
			const others = beside.map(({ runId, after: seq, epoch }) => `${runId}:${idOfEvent({ seq, epoch })}`).join(',');
			const query = `after=${idOfEvent(after)}${others === '' ? '' : `&beside=${others}`}`;
			return openEvents(`${addressOf('/api/runs/[id]/events', { id })}?${query}`);
		},
		getOffer: (id: string, signal: AbortSignal) => call('GET', '/api/runs/[id]/offer', { params: { id }, signal }),

		// Skills.
		listSkills: (page: number, limit: number) => call('GET', '/api/skills', { query: { page, limit } }),
		getSkill: (id: string) => call('GET', '/api/skills/[...id]', { params: ofSkill(id) }),
		changeSkill: (id: string, body: BodyOf<'/api/skills/[...id]', 'PUT'>) =>
			call('PUT', '/api/skills/[...id]', { params: ofSkill(id), body }),
		/** Problems of a skill, ready or broken, and their fixes. */
		getDiagnosis: (id: string) => call('GET', '/api/skills/[...id]/diagnostics', { params: ofSkill(id) }),
		/** Applies these fixes, or all without `fixes`, to the file with this `digest`; the skill's id may change. */
		fixSkill: (id: string, body: BodyOf<'/api/skills/[...id]/diagnostics', 'POST'>) =>
			call('POST', '/api/skills/[...id]/diagnostics', { params: ofSkill(id), body }),
		skillEvents: () => openEvents('/api/skills/events'),
		/** Stores variables for a skill's scripts, by `source/name`; null removes one. They are never sent back. */
		saveSecrets: (id: string, body: BodyOf<'/api/skills/[...id]/secrets', 'PUT'>) =>
			call('PUT', '/api/skills/[...id]/secrets', { params: ofSkill(id), body }),
		/** Ask again until `work` is null. */
		getPackages: (id: string, signal?: AbortSignal) =>
			call('GET', '/api/skills/[...id]/packages', { params: ofSkill(id), ...(signal && { signal }) }),
		/** Finds what there is to install; installs nothing. */
		lookUpPackages: (id: string, body: BodyOf<'/api/skills/[...id]/packages', 'POST'>) =>
			call('POST', '/api/skills/[...id]/packages', { params: ofSkill(id), body }),
		installPackages: (id: string, digest: string) =>
			call('PUT', '/api/skills/[...id]/packages', { params: ofSkill(id), body: { digest } }),
		/** Stops what is going on; else removes what is installed. */
		/** `pending` stops and forgets what goes on, and leaves what is installed. */
		removePackages: (id: string, only: 'pending' | 'installed') =>
			call('DELETE', '/api/skills/[...id]/packages', { params: ofSkill(id), query: { only } }),
		scoreSkills: (text: string) => call('POST', '/api/skills/score', { body: { text } }),
		/** Newest first. */
		listDrafts: async () => (await call('GET', '/api/skills/drafts', {})).data,
		startDraft: (body: BodyOf<'/api/skills/drafts', 'POST'>) => call('POST', '/api/skills/drafts', { body }),
		getDraft: (draft: string) => call('GET', '/api/skills/drafts/[draft]', { params: { draft } }),
		changeDraft: (draft: string, body: BodyOf<'/api/skills/drafts/[draft]', 'PUT'>) =>
			call('PUT', '/api/skills/drafts/[draft]', { params: { draft }, body }),
		reviewDraft: (draft: string) => call('GET', '/api/skills/drafts/[draft]/review', { params: { draft } }),
		saveDraft: (draft: string, revision: number) =>
			call('POST', '/api/skills/drafts/[draft]/save', { params: { draft }, body: { revision } }),
		improveDraft: (draft: string, body: BodyOf<'/api/skills/drafts/[draft]/improve', 'POST'>) =>
			call('POST', '/api/skills/drafts/[draft]/improve', { params: { draft }, body }),
		tryDraft: (draft: string, body: BodyOf<'/api/skills/drafts/[draft]/trial', 'POST'>) =>
			call('POST', '/api/skills/drafts/[draft]/trial', { params: { draft }, body }),
		getTrial: (draft: string) => call('GET', '/api/skills/drafts/[draft]/trial', { params: { draft } }),
		stopTrial: (draft: string) => call('DELETE', '/api/skills/drafts/[draft]/trial', { params: { draft } }),
		stopDraft: (draft: string) => call('POST', '/api/skills/drafts/[draft]/stop', { params: { draft } }),
		deleteDraft: (draft: string) => call('DELETE', '/api/skills/drafts/[draft]', { params: { draft } }),
		createSkill: (body: BodyOf<'/api/skills', 'POST'>) => call('POST', '/api/skills', { body }),
		readFile: (id: string, path: string) =>
			call('GET', '/api/skills/[...id]/file', { params: ofSkill(id), query: { path } }),
		/** Throws `conflict` if the file has changed since it was read. */
		writeFile: (id: string, body: BodyOf<'/api/skills/[...id]/file', 'PUT'>) =>
			call('PUT', '/api/skills/[...id]/file', { params: ofSkill(id), body }),
		renameFile: (id: string, body: BodyOf<'/api/skills/[...id]/file', 'PATCH'>) =>
			call('PATCH', '/api/skills/[...id]/file', { params: ofSkill(id), body }),
		removeFile: (id: string, path: string) =>
			call('DELETE', '/api/skills/[...id]/file', { params: ofSkill(id), query: { path } }),
		getSkillHealth: (id: string) => call('GET', '/api/skills/[...id]/health', { params: ofSkill(id) }),
		/** Newest first. */
		listEdits: async (id: string) => (await call('GET', '/api/skills/[...id]/edits', { params: ofSkill(id) })).edits,
		/** What the edit changed, or what going back to before it would change now. */
		compareEdit: async (id: string, edit: string, of: 'edit' | 'return' = 'edit') =>
			(await call('GET', '/api/skills/[...id]/edits/[edit]', { params: { ...ofSkill(id), edit }, query: { of } }))
				.changes,
		/** Goes back to before this edit. */
		returnToEdit: (id: string, edit: string) =>
			call('POST', '/api/skills/[...id]/edits/[edit]', { params: { ...ofSkill(id), edit } }),
		/** Checks the text as SKILL.md without saving it. */
		checkText: (id: string, text: string, signal: AbortSignal) =>
			call('POST', '/api/skills/[...id]/check', { params: ofSkill(id), body: { text }, signal }),

		// Executions.
		/** Newest first; empty fields match all. */
		listExecutions: (query: ExecutionQuery & { page: number; limit: number }) =>
			call('GET', '/api/skills/executions', { query: query as QueryOf<'/api/skills/executions', 'GET'> }),
		getExecution: (id: string) => call('GET', '/api/skills/executions/[id]', { params: { id } }),
		/** Runs a script or tool and waits for it to end. */
		runExecution: (
			body: BodyOf<'/api/skills/executions', 'POST'>
		): Promise<Pick<AnswerOf<'/api/skills/executions', 'POST'>, 'execution'>> =>
			call('POST', '/api/skills/executions', { body }),
		endExecution: (id: string) => call('DELETE', '/api/skills/executions/[id]', { params: { id } }),

		// Cases and evals.
		listCases: async (id: string) => (await call('GET', '/api/skills/[...id]/cases', { params: ofSkill(id) })).data,
		addCase: (id: string, body: NewCase) => call('POST', '/api/skills/[...id]/cases', { params: ofSkill(id), body }),
		/** `approve`: digest of a run that would need approval. */
		runCase: (id: string, caseId: string, approve?: string) =>
			call('POST', '/api/skills/[...id]/cases/[case]/run', {
				params: { ...ofSkill(id), case: caseId },
				body: { approve }
			}),
		removeCase: (id: string, caseId: string) =>
			call('DELETE', '/api/skills/[...id]/cases/[case]', { params: { ...ofSkill(id), case: caseId } }),
		getEvals: (id: string) => call('GET', '/api/skills/[...id]/evals', { params: ofSkill(id) }),
		startEvals: (id: string, body: BodyOf<'/api/skills/[...id]/evals', 'POST'>) =>
			call('POST', '/api/skills/[...id]/evals', { params: ofSkill(id), body }),
		/** `maxCostUsd`: for the whole run, if it changes. */
		goOnEvals: (id: string, run: string, maxCostUsd?: number | null) =>
			call('POST', '/api/skills/[...id]/evals/[run]', { params: { ...ofSkill(id), run }, body: { maxCostUsd } }),
		getEvalRun: (id: string, run: string) =>
			call('GET', '/api/skills/[...id]/evals/[run]', { params: { ...ofSkill(id), run } }),
		/** `grading.json`, `benchmark.json`, or a zip of skill-creator's workspace. */
		importEvals: (id: string, file: Blob & { name?: string }, options: UploadOptions) =>
			upload<AnswerOf<'/api/skills/[...id]/evals/import', 'POST'>>(
				{
					method: 'POST',
					url: addressOf('/api/skills/[...id]/evals/import', ofSkill(id)),
					body: file,
					contentType: /\.json$/i.test(file.name ?? '') ? 'application/json' : 'application/zip'
				},
				options
			),
		cancelEvals: (id: string, run: string) =>
			call('DELETE', '/api/skills/[...id]/evals/[run]', { params: { ...ofSkill(id), run } }),

		// Installing, versions, trash.
		/** Fetches and checks a skill without installing it. */
		stage: (source: BodyOf<'/api/skills/install/staged', 'POST'>['source'], signal: AbortSignal) =>
			call('POST', STAGED, { body: { source }, signal }),
		stageZip: (file: File, options: UploadOptions) => {
			const url = `${STAGED}?${new URLSearchParams({ file: file.name.slice(0, 255) })}`;
			return upload<AnswerOf<typeof STAGED, 'POST'>>(
				{ method: 'POST', url, body: file, contentType: 'application/zip' },
				options
			);
		},
		stageFolder: (files: readonly FolderFile[], options: UploadOptions) => {
			const body = new FormData();
			for (const { path, file } of files) body.append('files', file, path);
			return upload<AnswerOf<typeof STAGED, 'POST'>>({ method: 'POST', url: STAGED, body, contentType: null }, options);
		},
		getStaged: (id: string) => call('GET', `${STAGED}/[id]`, { params: { id } }),
		confirmStaged: (id: string, body: BodyOf<`${typeof STAGED}/[id]`, 'POST'>) =>
			call('POST', `${STAGED}/[id]`, { params: { id }, body }),
		discardStaged: (id: string) => call('DELETE', `${STAGED}/[id]`, { params: { id } }),
		/** skills.sh has no pages. */
		searchCatalog: (catalog: CatalogSkill['provider'], q: string, page: number) =>
			catalog === 'skillsmp'
				? call('GET', '/api/skills/marketplace', { query: { q, page, limit: CATALOG_PAGE } })
				: call('GET', '/api/skills/skillssh', { query: { q, limit: CATALOG_PAGE } }),
		getVersions: (id: string) => call('GET', '/api/skills/[...id]/versions', { params: ofSkill(id) }),
		useVersion: (id: string, use: VersionSwitch['use']) =>
			call('PUT', '/api/skills/[...id]/versions', { params: ofSkill(id), body: { use } }),
		/** Uses the installation before. */
		rollBack: (id: string) => call('POST', '/api/skills/[...id]/rollback', { params: ofSkill(id) }),
		/** What using it would change; `version` may be the id of an installation. */
		compareVersion: async (id: string, version: string) =>
			(await call('GET', '/api/skills/[...id]/versions/[version]', { params: { ...ofSkill(id), version } })).changes,
		/** Fetches it again from its source, without installing it. */
		stageUpdate: (id: string) => call('POST', '/api/skills/[...id]/update', { params: ofSkill(id) }),
		listOutdated: async () => (await call('GET', '/api/skills/outdated', {})).data,
		removeSkill: (id: string) => call('DELETE', '/api/skills/[...id]', { params: ofSkill(id) }),
		listTrash: async () => (await call('GET', '/api/skills/trash', {})).data,
		restoreSkill: (id: string) => call('POST', '/api/skills/trash/[id]', { params: { id } }),
		deleteTrashed: (id: string) => call('DELETE', '/api/skills/trash/[id]', { params: { id } }),

		// The server: settings, models and the account that pays for them (F9, F11), keys (F12), MCP servers (E36).
		getHealth: () => call('GET', '/api/health', {}),
		getSettings: () => call('GET', '/api/settings', {}),
		changeSettings: (body: BodyOf<'/api/settings', 'PUT'>) => call('PUT', '/api/settings', { body }),
		/** In the order of the configured server. If that server fails, `problem` says why. */
		listModels: (signal?: AbortSignal) => call('GET', '/api/models', { signal }),
		/** Tests a key. Missing fields come from the server's settings; nothing is stored. */
		checkKey: (body: BodyOf<'/api/models/check', 'POST'>, signal?: AbortSignal) =>
			call('POST', '/api/models/check', { body, signal }),
		/** Model servers on the server's machine. */
		findLocalServers: async (signal?: AbortSignal) => (await call('GET', '/api/models/local', { signal })).data,
		/** Returns the address to send the browser to; it comes back to `returnTo`, with `code` and `state` in the query. */
		startSignIn: (returnTo: string) => call('POST', '/api/account/sign-in', { body: { returnTo } }),
		/** Stores the key; once per sign-in. */
		completeSignIn: (body: BodyOf<'/api/account/sign-in/complete', 'POST'>) =>
			call('POST', '/api/account/sign-in/complete', { body }),
		/** Newest first, including revoked keys. */
		listKeys: () => call('GET', '/api/keys', {}),
		/** The only response with the key itself. */
		createKey: (body: BodyOf<'/api/keys', 'POST'>) => call('POST', '/api/keys', { body }),
		renameKey: (id: string, name: string) => call('PATCH', '/api/keys/[id]', { params: { id }, body: { name } }),
		/** Everything made with the key stays. */
		revokeKey: (id: string) => call('DELETE', '/api/keys/[id]', { params: { id } }),
		searchMcpRegistry: (query: string) => call('GET', '/api/mcp-registry', { query: { query } }),
		listMcpServers: async () => (await call('GET', '/api/mcp-servers', {})).data,
		putMcpServer: (name: string, body: McpServerInput) =>
			call('PUT', '/api/mcp-servers/[name]', { params: { name }, body }),
		removeMcpServer: (name: string) => call('DELETE', '/api/mcp-servers/[name]', { params: { name } }),
		reconnectMcpServer: (name: string) => call('POST', '/api/mcp-servers/[name]/reconnect', { params: { name } }),
		startMcpSignIn: (name: string, returnTo: string) =>
			call('POST', '/api/mcp-servers/[name]/sign-in', { params: { name }, body: { returnTo } }),
		completeMcpSignIn: (name: string, body: BodyOf<'/api/mcp-servers/[name]/sign-in/complete', 'POST'>) =>
			call('POST', '/api/mcp-servers/[name]/sign-in/complete', { params: { name }, body }),
		endMcpSignIn: (name: string) => call('DELETE', '/api/mcp-servers/[name]/sign-in', { params: { name } })
	};
}

/** An EventSource doesn't report a lost login; another request does, and goes to the login page. */
function openEvents(path: string): EventSource {
	const source = new EventSource(path);
	source.addEventListener('error', () => {
		if (source.readyState === EventSource.CLOSED) request('/api/health').catch(() => undefined);
	});
	return source;
}
