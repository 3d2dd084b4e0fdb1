/** The server's storage: one object per aggregate, on any database that Kysely supports. */
import type { Kysely } from 'kysely';
import {
	type ApiKeys,
	createApiKeys,
	createLoginSessions,
	createMcpServers,
	createSecrets,
	createStoredSettings,
	type LoginSessions,
	type McpServers,
	type Secrets,
	type StoredSettings
} from './access.ts';
import {
	type Approvals,
	type Compactions,
	type ConversationSkills,
	createApprovals,
	createCompactions,
	createConversationSkills,
	createQueue,
	type Queue
} from './chat/queue.ts';
import { type Conversations, createConversations } from './chat/conversations.ts';
import { createMessages, type Messages } from './chat/messages.ts';
import {
	createNetworkGrants,
	createSkillPins,
	createSkillSettings,
	createTrustedSkills,
	type NetworkGrants,
	type SkillPins,
	type SkillSettings,
	type TrustedSkills
} from './skills/choices.ts';
import { createEvalRuns, createSkillCases, type EvalRuns, type SkillCases } from './skills/trials.ts';
import { createResponses, type Responses } from './responses.ts';
import { createRuns, type Runs } from './chat/store-runs.ts';
import type { Database } from './schema.ts';
import { createSkillExecutions, type SkillExecutions } from './skills/skill-executions.ts';
import { createSkillInstalls, createSkillTrash, type SkillInstalls, type SkillTrash } from './skills/installs.ts';
import { withStorageErrors } from './errors.ts';

/** Methods reject with an AppError `storage_full` or `unavailable` for such database errors. */
export interface Store {
	apiKeys: ApiKeys;
	conversations: Conversations;
	conversationSkills: ConversationSkills;
	messages: Messages;
	runs: Runs;
	responses: Responses;
	queue: Queue;
	approvals: Approvals;
	compactions: Compactions;
	loginSessions: LoginSessions;
	trustedSkills: TrustedSkills;
	skillExecutions: SkillExecutions;
	skillSettings: SkillSettings;
	skillInstalls: SkillInstalls;
	skillTrash: SkillTrash;
	skillPins: SkillPins;
	skillCases: SkillCases;
	evalRuns: EvalRuns;
	settings: StoredSettings;
	networkGrants: NetworkGrants;
	secrets: Secrets;
	mcpServers: McpServers;
	close(): Promise<void>;
}

/** Takes ownership of a migrated database: `close` closes it. */
export function createStore(db: Kysely<Database>): Store {
	return {
		apiKeys: withStorageErrors(createApiKeys(db)),
		conversations: withStorageErrors(createConversations(db)),
		conversationSkills: withStorageErrors(createConversationSkills(db)),
		messages: withStorageErrors(createMessages(db)),
		runs: withStorageErrors(createRuns(db)),
		responses: withStorageErrors(createResponses(db)),
		queue: withStorageErrors(createQueue(db)),
		approvals: withStorageErrors(createApprovals(db)),
		compactions: withStorageErrors(createCompactions(db)),
		loginSessions: withStorageErrors(createLoginSessions(db)),
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
		secrets: withStorageErrors(createSecrets(db)),
		mcpServers: withStorageErrors(createMcpServers(db)),
		close: () => db.destroy()
	};
}
