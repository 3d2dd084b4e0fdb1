/** The server's API as the page sees it (DESIGN §5): every call resolves to the answer or throws an `ApiError`. */
import type {
	ConversationDetail,
	ConversationSummary,
	Health,
	MessageList,
	QueuedMessage,
	RunAgentInput,
	RunState,
	WorkspaceFile
} from '../shared/api.ts';
import type { AdHocExecution, SkillExecution, SkillExecutionList } from '../shared/try-out.ts';
import type { DiagnosisFix, SkillDiagnosis, SkillDetail, SkillList, SkillNeeds, SkillPatch } from '../shared/skills.ts';
import type { ApprovalDecision } from '../shared/events.ts';
import type { ExecutionQuery } from './execution-query.ts';
import { fileUrl } from './files.ts';
import { queryOf, request, skillUrl } from './request.ts';
import { upload, type UploadOptions } from './upload.ts';

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
