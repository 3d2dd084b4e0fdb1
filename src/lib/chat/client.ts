/** The server's API as the page sees it (DESIGN §5): every call resolves to the answer or throws an `ApiError`. */
import type {
	ConversationDetail,
	ConversationList,
	ConversationSummary,
	Health,
	RunAgentInput,
	RunState,
	SkillList,
	WorkspaceFile
} from '../shared/api.ts';
import { ApiError, errorFromBody, unreachable } from './api-error.ts';
import { fileUrl } from './files.ts';
import { uploadFile, type UploadOptions } from './upload.ts';

/** What the page needs of the server; tests bring their own. */
export interface Client {
	listConversations: (page: number, limit: number) => Promise<ConversationList>;
	getConversation: (id: string) => Promise<ConversationDetail>;
	renameConversation: (id: string, title: string) => Promise<ConversationSummary>;
	deleteConversation: (id: string) => Promise<void>;
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
	skillEvents: () => EventSource;
	getHealth: () => Promise<Health>;
}

export function createClient(): Client {
	return {
		listConversations: (page, limit) => request(`/api/conversations?page=${page}&limit=${limit}`),
		getConversation: (id) => request(`/api/conversations/${encodeURIComponent(id)}`),
		renameConversation: (id, title) => request(`/api/conversations/${encodeURIComponent(id)}`, 'PATCH', { title }),
		deleteConversation: (id) => request(`/api/conversations/${encodeURIComponent(id)}`, 'DELETE'),
		startRun: (input) => request('/api/chat', 'POST', input),
		getRun: (id) => request(`/api/runs/${encodeURIComponent(id)}`),
		stopRun: (id) => request(`/api/runs/${encodeURIComponent(id)}`, 'DELETE'),
		runEvents: (id, after) => new EventSource(`/api/runs/${encodeURIComponent(id)}/events?after=${after}`),
		listFiles: async (id) => {
			const answer = await request<WorkspaceFile[] | { data: WorkspaceFile[] }>(
				`/api/conversations/${encodeURIComponent(id)}/files`
			);
			return Array.isArray(answer) ? answer : answer.data;
		},
		uploadFile: (id, path, file, options) => uploadFile(fileUrl(id, path), file, options),
		listSkills: (page, limit) => request(`/api/skills?page=${page}&limit=${limit}`),
		skillEvents: () => new EventSource('/api/skills/events'),
		getHealth: () => request('/api/health')
	};
}

async function request<Answer>(path: string, method = 'GET', body?: unknown): Promise<Answer> {
	const headers: Record<string, string> = { accept: 'application/json' };
	if (body !== undefined) headers['content-type'] = 'application/json';
	let response: Response;
	let text: string;
	try {
		response = await fetch(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
		text = await response.text();
	} catch (error) {
		throw unreachable(error);
	}
	if (!response.ok) throw errorFromBody(response.status, text);
	if (text === '') return undefined as Answer;
	try {
		return JSON.parse(text) as Answer;
	} catch (error) {
		throw new ApiError('internal', `The server's answer to ${path} is no JSON.`, { cause: error });
	}
}
