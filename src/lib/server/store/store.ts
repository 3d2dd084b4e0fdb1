/** The server's memory: one object per aggregate, over any database that Kysely speaks to. */
import type { Kysely } from 'kysely';
import { createApiKeys, type ApiKeys } from './api-keys.ts';
import { createApprovals, type Approvals } from './approvals.ts';
import { createCompactions, type Compactions } from './compactions.ts';
import { createConversationSkills, type ConversationSkills } from './conversation-skills.ts';
import type { Conversations } from './conversations.ts';
import { createConversations } from './conversations.ts';
import { createLoginSessions, type LoginSessions } from './login-sessions.ts';
import type { Messages } from './messages.ts';
import { createMcpServers, type McpServers } from './mcp-servers.ts';
import { createMessages } from './messages.ts';
import { createNetworkGrants, type NetworkGrants } from './network-grants.ts';
import { createQueue, type Queue } from './queue.ts';
import { createEvalRuns, type EvalRuns } from './eval-runs.ts';
import { createResponses, type Responses } from './responses.ts';
import type { Runs } from './runs.ts';
import { createRuns } from './runs.ts';
import type { Database } from './schema.ts';
import { createSecrets, type Secrets } from './secrets.ts';
import { createStoredSettings, type StoredSettings } from './settings.ts';
import { createSkillCases, type SkillCases } from './skill-cases.ts';
import { createSkillExecutions, type SkillExecutions } from './skill-executions.ts';
import { createSkillInstalls, type SkillInstalls } from './skill-installs.ts';
import { createSkillPins, type SkillPins } from './skill-pins.ts';
import { createSkillSettings, type SkillSettings } from './skill-settings.ts';
import { createSkillTrash, type SkillTrash } from './skill-trash.ts';
import { withStorageErrors } from './storage-errors.ts';
import { createTrustedSkills, type TrustedSkills } from './trusted-skills.ts';

/** Every method rejects with an AppError `storage_full` or `unavailable` when the database says so. */
export interface Store {
	apiKeys: ApiKeys;
	conversations: Conversations;
	conversationSkills: ConversationSkills;
	messages: Messages;
	runs: Runs;
	/** Those that callers of the API may go on from. */
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
	/** Ends the connection; nothing can be asked afterwards. */
	close(): Promise<void>;
}

/** The database has been migrated. The store owns it from here: `close` closes it. */
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
