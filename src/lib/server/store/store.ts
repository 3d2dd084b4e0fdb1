/** The server's storage: one object per aggregate, on any database that Kysely supports. */
import type { Kysely } from 'kysely';
import {
	createApiKeys,
	createLoginFailures,
	createLoginSessions,
	createMcpServers,
	createSecrets,
	createStoredSettings
} from './access.ts';
import { createApprovals, createCompactions, createConversationSkills, createQueue } from './chat/queue.ts';
import { createConversations } from './chat/conversations.ts';
import { createMessages } from './chat/messages.ts';
import { createRemovedMessages } from './chat/removed-messages.ts';
import {
	createNetworkGrants,
	createSkillPackages,
	createSkillPins,
	createSkillSettings,
	createTrustedSkills
} from './skills/choices.ts';
import { createSkillDrafts } from './skills/drafts.ts';
import { createEvalRuns } from './skills/eval-runs.ts';
import { createSkillCases, createSkillExecutions } from './skills/skill-executions.ts';
import { createShownWork } from './shown-work.ts';
import { createResponses, createResponseConversations } from './responses.ts';
import { createStoredFiles } from './stored-files.ts';
import { createUploadedFiles } from './uploaded-files.ts';
import { createReplicas } from './replicas.ts';
import { openScriptJobs } from './script-jobs.ts';
import { createTasks } from './chat/tasks.ts';
import { createRuns } from './chat/store-runs.ts';
import type { Database } from './schema.ts';
import { createSkillInstalls, createSkillTrash } from './skills/installs.ts';
import { withStorageErrors } from './errors.ts';

/** Takes ownership of a migrated database: `close` closes it. */
export function createStore(db: Kysely<Database>) {
	return {
		apiKeys: withStorageErrors(createApiKeys(db)),
		conversations: withStorageErrors(createConversations(db)),
		conversationSkills: withStorageErrors(createConversationSkills(db)),
		messages: withStorageErrors(createMessages(db)),
		removedMessages: withStorageErrors(createRemovedMessages(db)),
		runs: withStorageErrors(createRuns(db)),
		tasks: withStorageErrors(createTasks(db)),
		responses: withStorageErrors(createResponses(db)),
		responseConversations: withStorageErrors(createResponseConversations(db)),
		uploadedFiles: withStorageErrors(createUploadedFiles(db)),
		storedFiles: withStorageErrors(createStoredFiles(db)),
		queue: withStorageErrors(createQueue(db)),
		approvals: withStorageErrors(createApprovals(db)),
		compactions: withStorageErrors(createCompactions(db)),
		loginSessions: withStorageErrors(createLoginSessions(db)),
		loginFailures: withStorageErrors(createLoginFailures(db)),
		trustedSkills: withStorageErrors(createTrustedSkills(db)),
		skillExecutions: withStorageErrors(createSkillExecutions(db)),
		skillSettings: withStorageErrors(createSkillSettings(db)),
		skillInstalls: withStorageErrors(createSkillInstalls(db)),
		skillTrash: withStorageErrors(createSkillTrash(db)),
		skillPins: withStorageErrors(createSkillPins(db)),
		skillCases: withStorageErrors(createSkillCases(db)),
		evalRuns: withStorageErrors(createEvalRuns(db)),
		settings: withStorageErrors(createStoredSettings(db)),
		networkGrants: withStorageErrors(createNetworkGrants(db)),
		skillDrafts: withStorageErrors(createSkillDrafts(db)),
		skillPackages: withStorageErrors(createSkillPackages(db)),
		secrets: withStorageErrors(createSecrets(db)),
		mcpServers: withStorageErrors(createMcpServers(db)),
		shownWork: withStorageErrors(createShownWork(db)),
		replicas: withStorageErrors(createReplicas(db)),
		/** Postgres only; creates the queue. */
		openScriptJobs: (options?: Parameters<typeof openScriptJobs>[1]) => openScriptJobs(db, options),
		close: () => db.destroy()
	};
}

/** Methods reject with an AppError `storage_full`, `unavailable` or `not_found` for such database errors. */
export type Store = ReturnType<typeof createStore>;
