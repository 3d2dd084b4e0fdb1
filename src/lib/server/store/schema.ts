/** The tables, as Kysely types. Times are ISO 8601 text from the caller; JSON is text, so that both databases keep it byte for byte. */
import type { Generated } from 'kysely';
import type { RunState } from '../../shared/api.ts';

export interface ConversationsTable {
	id: string;
	title: string;
	/** The title as search-words.ts folds it; searches look there. */
	folded_title: Generated<string>;
	/** The last message of the branch that is shown; null before the first message. */
	head_id: Generated<string | null>;
	/** JSON of a TokenUsage: what all its runs have used; null when none has said. */
	usage: Generated<string | null>;
	created_at: string;
	updated_at: string;
	/** Since when it stands before the others; null for most. */
	pinned_at: Generated<string | null>;
	archived_at: Generated<string | null>;
	/** It counts as gone since then, and can be brought back for a while; null while it is there. */
	deleted_at: Generated<string | null>;
	/** 1: an answer ended and nobody has looked since. */
	is_unread: Generated<number>;
	/** Asked for its answers; null for what the settings say. */
	model: Generated<string | null>;
	/** A ReasoningEffort; null for what the settings say. */
	effort: Generated<string | null>;
	/** The key of the program that began it; null for one of this page. */
	api_key_id: Generated<string | null>;
}

/** Skills of which somebody has said something in one conversation (FEATURES F7). */
export interface ConversationSkillsTable {
	conversation_id: string;
	/** Its name. */
	skill: string;
	/** `pinned`: its instructions are always with the model; `unloaded`: those loaded before `changed_at` are not any more. */
	state: 'pinned' | 'unloaded';
	changed_at: string;
}

export interface MessagesTable {
	id: string;
	conversation_id: string;
	/** The message that it follows; null for a first one. Messages of one parent are each other’s alternatives. */
	parent_id: string | null;
	/** In the order of their making within the conversation, from 1; gaps mean nothing. */
	position: number;
	role: string;
	status: string;
	/** JSON: what message-row.ts says. */
	body: string;
	/** JSON array of Responses API items that the model is shown again; null where the parts say all. */
	items: string | null;
	model: string | null;
	run_id: string | null;
	created_at: string;
}

export interface RunsTable {
	id: string;
	conversation_id: string;
	/** The assistant's message that the run writes. */
	message_id: string;
	state: RunState['state'];
	model: string;
	/** Which start of the server owns the run. */
	boot_id: string;
	/** Digest of what it was asked; null for a run of an older version. */
	task: Generated<string | null>;
	started_at: string;
	finished_at: string | null;
	last_seq: Generated<number>;
	error_code: string | null;
}

export interface RunEventsTable {
	run_id: string;
	/** Contiguous from 1. */
	seq: number;
	/** JSON of one RunEvent. */
	data: string;
}

/** Messages that wait for the end of a run. */
export interface QueuedMessagesTable {
	id: string;
	conversation_id: string;
	/** Order, from 1; gaps mean nothing. */
	position: number;
	text: string;
	/** JSON array of workspace paths. */
	files: string;
	created_at: string;
}

/** What people answered to the questions that ended a run (AG-UI interrupts). */
export interface DecisionsTable {
	interrupt_id: string;
	conversation_id: string;
	/** JSON: what approvals.ts says. */
	body: string;
	created_at: string;
}

/** Scripts that need no more asking, as long as the skill's files are the same. */
export interface GrantsTable {
	skill: string;
	/** Empty for every script of the skill. */
	script: string;
	digest: string;
	created_at: string;
}

/** What stands for the beginning of a branch when the model is asked. */
export interface CompactionsTable {
	conversation_id: string;
	/** The last message that the summary covers. */
	message_id: string;
	summary: string;
	created_at: string;
}

/** Mode of a skill that somebody chose; those without a row have the default. */
export interface SkillSettingsTable {
	/** A name, `source/name@version`, or `builtin/name`: what skill-modes.ts says. */
	skill_id: string;
	mode: 'on' | 'off' | 'auto';
	/** The mode that switching it on again brings back; null while it is on. */
	mode_before: string | null;
	updated_at: string;
}

/** The files of a version of a skill as somebody saw and trusted them, the last time. */
export interface TrustedVersionsTable {
	skill_id: string;
	/** Empty for what was trusted before versions were noted. */
	version: string;
	/** SHA-256 of the files. */
	digest: string;
	/** JSON: what trust.ts says, with the texts, so that a change can be shown as a difference. */
	files: string;
	trusted_at: string;
}

/** What was installed, and where from. */
export interface SkillInstallsTable {
	id: string;
	/** `system`, or an API key's id. */
	owner: string;
	/** `source/name`. */
	skill_id: string;
	name: string;
	version: string;
	/** `placing`: between the record and the folder; a start of the server decides which of both there is. */
	state: 'placing' | 'active' | 'kept' | 'trashed';
	/** Absolute path of its folder. */
	dir: string;
	/** JSON of a SkillOrigin. */
	origin: string;
	digest: string;
	/** JSON array of `{path, bytes, sha256}`. */
	files: string;
	/** SHA-256 over sorted paths and contents, as skills-lock.json has it. */
	computed_hash: string;
	installed_at: string;
	changed_at: string;
}

/** What was removed and can be restored. */
export interface SkillTrashTable {
	id: string;
	skill_id: string;
	name: string;
	version: string | null;
	/** Where it lay, and where it lies now: absolute paths. */
	path: string;
	stored: string;
	/** The installation that it was; null for a folder that nobody installed. */
	install_id: string | null;
	removed_at: string;
}

/** The version that a bare name means. */
export interface SkillPinsTable {
	skill_id: string;
	version: string;
	updated_at: string;
}

/** How often a skill ran: counted as executions end, so that no list counts them. */
export interface SkillUsageTable {
	skill_id: string;
	executions: number;
	failures: number;
	last_used_at: string | null;
}

/** What can be changed while the server runs; a value is JSON. */
export interface SettingsTable {
	key: string;
	value: string;
	updated_at: string;
}

/** Runs by hand that are kept to be run again. */
export interface SkillCasesTable {
	id: string;
	skill_id: string;
	/** JSON: title, script, args, tool, input, expect. */
	body: string;
	/** JSON of the last run; null before it. */
	last_run: string | null;
	created_at: string;
}

/** Runs of a skill's evals. */
export interface EvalRunsTable {
	id: string;
	skill_id: string;
	state: string;
	/** JSON of an EvalRun. */
	body: string;
	started_at: string;
}

/** Domains that a skill may reach. */
export interface NetworkGrantsTable {
	skill_id: string;
	/** `example.org`, or `*.example.org`. */
	domain: string;
	created_at: string;
}

/** Variables of skills, encrypted (AES-256-GCM); the three parts in base64. */
export interface SecretsTable {
	skill_id: string;
	name: string;
	iv: string;
	tag: string;
	ciphertext: string;
	updated_at: string;
}

/** Every run of a script or tool (FEATURES E12, E13). */
export interface SkillExecutionsTable {
	id: string;
	skill_id: string;
	skill: string;
	version: string;
	tool: string | null;
	script: string | null;
	/** JSON array of texts. */
	argv: string;
	/** JSON of a tool's arguments. */
	input: string | null;
	digest: string;
	sandbox: string;
	/** JSON. */
	limits: string;
	status: 'pending' | 'running' | 'success' | 'error' | 'timeout';
	error_type: string | null;
	error_message: string | null;
	exit_code: number | null;
	stdout_bytes: number | null;
	stderr_bytes: number | null;
	output: string | null;
	duration_ms: number | null;
	/** JSON array of `{path, bytes}`. */
	files: string | null;
	/** JSON array of `host:port`. */
	refused: string | null;
	conversation_id: string | null;
	run_id: string | null;
	tool_call_id: string | null;
	api_key_id: string | null;
	session_id: string | null;
	created_at: string;
	finished_at: string | null;
}

/** Browsers that have logged in. */
export interface LoginSessionsTable {
	/** SHA-256 of the cookie's value, in hexadecimal. */
	token_hash: string;
	created_at: string;
	expires_at: string;
}

/** Keys of other programs. */
export interface ApiKeysTable {
	id: string;
	name: string;
	/** The first characters of the key. */
	prefix: string;
	/** Separated by spaces. */
	scopes: string;
	/** SHA-256 of the key, in hexadecimal. */
	hash: string;
	created_at: string;
	last_used_at: Generated<string | null>;
	revoked_at: Generated<string | null>;
}

/** Responses that their callers may go on from (`previous_response_id`). */
export interface ResponsesTable {
	id: string;
	/** Who alone may go on from it; null for who has no key. */
	api_key_id: string | null;
	previous_id: string | null;
	/** Of the whole chain: its workspace. */
	session_id: string;
	/** JSON array of this turn's items: what was asked, then what the model's server gave, verbatim, and the results. */
	items: string;
	/** JSON of the response as it was answered. */
	body: string;
	created_at: string;
}

/** MCP servers whose tools the agent may use (FEATURES E36). */
export interface McpServersTable {
	name: string;
	/** JSON: how it is reached; secrets are elsewhere. */
	config: string;
	is_enabled: Generated<number>;
	created_at: string;
	updated_at: string;
}

/** Messages that are in the index of words (search.ts); what else the table has is each database's own. */
export interface SearchEntriesTable {
	conversation_id: string;
	message_id: string;
}

export interface Database {
	api_keys: ApiKeysTable;
	responses: ResponsesTable;
	mcp_servers: McpServersTable;
	search_entries: SearchEntriesTable;
	conversation_skills: ConversationSkillsTable;
	skill_settings: SkillSettingsTable;
	skill_installs: SkillInstallsTable;
	skill_trash: SkillTrashTable;
	skill_pins: SkillPinsTable;
	skill_usage: SkillUsageTable;
	skill_cases: SkillCasesTable;
	eval_runs: EvalRunsTable;
	settings: SettingsTable;
	trusted_versions: TrustedVersionsTable;
	network_grants: NetworkGrantsTable;
	secrets: SecretsTable;
	skill_executions: SkillExecutionsTable;
	login_sessions: LoginSessionsTable;
	conversations: ConversationsTable;
	messages: MessagesTable;
	queued_messages: QueuedMessagesTable;
	decisions: DecisionsTable;
	grants: GrantsTable;
	compactions: CompactionsTable;
	runs: RunsTable;
	run_events: RunEventsTable;
}
