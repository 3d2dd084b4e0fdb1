/** The tables as Kysely types. Times are ISO 8601 text. JSON is text, so both databases keep it byte for byte. */
import { type DeleteResult, type Generated, type Kysely, PostgresAdapter, type UpdateResult } from 'kysely';
import type { RunState } from '../../shared/api.ts';

interface ConversationsTable {
	id: string;
	title: string;
	/** The title, folded for the search (search-words.ts). */
	folded_title: Generated<string>;
	/** What it's about, by the model; null: nobody has said. */
	summary: Generated<string | null>;
	/** The summary, folded for the search. */
	folded_summary: Generated<string>;
	/** Last message of the shown branch; null if empty. */
	head_id: Generated<string | null>;
	/** JSON of a TokenUsage, total of all runs; null if unknown. */
	usage: Generated<string | null>;
	created_at: string;
	updated_at: string;
	pinned_at: Generated<string | null>;
	archived_at: Generated<string | null>;
	/** Can be restored for a while after this time; null if not deleted. */
	deleted_at: Generated<string | null>;
	/** 1: an answer ended and nobody has seen it. */
	is_unread: Generated<number>;
	/** null: the default from the settings. */
	model: Generated<string | null>;
	/** A ReasoningEffort; null: the default from the settings. */
	effort: Generated<string | null>;
	/** JSON of a ChatChoices without model and effort; null: nothing else is chosen. */
	choices: Generated<string | null>;
	/** JSON of a ComparedAnswer[], of which the head is one; null: nothing is compared. */
	comparison: Generated<string | null>;
	/** The key of the program that created it; null for the app. */
	api_key_id: Generated<string | null>;
}

/** Pinned and unloaded skills of a conversation (F7). */
export interface ConversationSkillsTable {
	conversation_id: string;
	/** The skill's name. */
	skill: string;
	/** `pinned`: the model always gets its instructions; `unloaded`: it no longer gets those loaded before `changed_at`. */
	state: 'pinned' | 'unloaded';
	changed_at: string;
}

export interface MessagesTable {
	id: string;
	conversation_id: string;
	/** The previous message; null for the first. Messages with the same parent are alternatives. */
	parent_id: string | null;
	/** Order of creation within the conversation, from 1, possibly with gaps. */
	position: number;
	role: string;
	status: string;
	/** JSON; see message-row.ts. */
	body: string;
	/** JSON array of Responses API items to send to the model again; null if the parts are enough. */
	items: string | null;
	model: string | null;
	run_id: string | null;
	/** USD, of all its runs so far; null if unknown. */
	cost: Generated<number | null>;
	created_at: string;
}

export interface RunsTable {
	id: string;
	conversation_id: string;
	/** The assistant's message that the run writes. */
	message_id: string;
	state: RunState['state'];
	model: string;
	/** The server start that owns the run. */
	boot_id: string;
	/** Digest of the request; null for runs of older versions. */
	task: Generated<string | null>;
	started_at: string;
	finished_at: string | null;
	last_seq: Generated<number>;
	error_code: string | null;
	/** The model whose speed this is; null: not measured. */
	answered_by: Generated<string | null>;
	first_token_ms: Generated<number | null>;
	/** null if the answer was too short to tell. */
	tokens_per_s: Generated<number | null>;
	/** Counts the servers that have owned it: what an earlier one writes is refused. */
	epoch: Generated<number>;
	/** Until when its owner has it, by the database's clock; null with SQLite, whose only server owns all. */
	lease_until: Generated<string | null>;
	/** JSON of the RunRequest, so that another server can go on; null with SQLite. */
	request: Generated<string | null>;
	/** JSON of a RunWant[]: what other servers ask of the owner. */
	wants: Generated<string | null>;
	/** How often another server has gone on with it. */
	takeovers: Generated<number>;
	/** 1: one of its tools asks a person something. */
	asks: Generated<number>;
}

/** Servers and workers on this database. */
interface ReplicasTable {
	/** Its server start, as in `boot_id`. */
	id: string;
	/** Of the advisory lock that it holds as long as it lives. */
	lock_key: number;
	started_at: string;
	beat_at: string;
}

/** Scripts for workers (Postgres only). What runs is in the queue, under the same id. */
interface ScriptJobsTable {
	id: string;
	/** The server that waits for it, as in `replicas`. */
	server_id: string;
	/** Its run and that run's epoch, if it has one. */
	run_id: string | null;
	epoch: number | null;
	/** Whoever asked: owners take turns. */
	owner: string;
	/** `queued`, `running`, `ended`; `lost`: its worker has stopped. */
	state: string;
	worker_id: string | null;
	/** `abort` or `kill`. */
	wants: string | null;
	/** JSON. */
	result: string | null;
	created_at: string;
}

interface ScriptOutputTable {
	job_id: string;
	/** From 1. */
	n: number;
	/** JSON of `[stream, text]` pairs. */
	texts: string;
}

interface ScriptWorkersTable {
	id: string;
	/** JSON of WorkerFacts. */
	facts: string;
	started_at: string;
}

interface RunEventsTable {
	run_id: string;
	/** Contiguous from 1. */
	seq: number;
	/** JSON of one RunEvent. */
	data: string;
	/** The run's epoch in which it was written. */
	epoch: Generated<number>;
}

/** Messages that wait for the end of a run. */
interface QueuedMessagesTable {
	id: string;
	conversation_id: string;
	/** Order, possibly with gaps. */
	position: number;
	text: string;
	/** JSON array of workspace paths. */
	files: string;
	created_at: string;
	/** 1: nothing is left to wait for, so the chat's first message is to be sent. */
	is_due: Generated<number>;
}

/** Answers to questions that interrupted a run (AG-UI interrupts). */
interface DecisionsTable {
	interrupt_id: string;
	conversation_id: string;
	/** JSON of an ApprovalDecision. */
	body: string;
	created_at: string;
}

/** Scripts that may run without asking while the skill's files are the same. */
interface GrantsTable {
	skill: string;
	/** Empty for every script of the skill. */
	script: string;
	digest: string;
	created_at: string;
}

/** Summaries that replace the beginning of a branch for the model. */
interface CompactionsTable {
	conversation_id: string;
	/** The last message the summary covers. */
	message_id: string;
	summary: string;
	created_at: string;
}

/** Modes of skills; a skill without a row has the default. */
export interface SkillSettingsTable {
	/** A name, `source/name@version`, or `builtin/name`; see skill-modes.ts. */
	skill_id: string;
	mode: 'on' | 'off' | 'auto';
	/** The mode to return to when turned on again; null while on. */
	mode_before: string | null;
	updated_at: string;
}

/** Trusted versions of skills, with their files at that time. */
interface TrustedVersionsTable {
	skill_id: string;
	/** Empty if trusted before versions were recorded. */
	version: string;
	/** SHA-256 of the files. */
	digest: string;
	/** JSON of TrustedFile[], including texts, to show a diff later. */
	files: string;
	trusted_at: string;
}

/** Installed skills. */
export interface SkillInstallsTable {
	id: string;
	/** `system`, or an API key's id. */
	owner: string;
	/** `source/name`. */
	skill_id: string;
	name: string;
	version: string;
	/** `placing`: recorded, but the folder isn't in place yet; the next server start cleans up. */
	state: 'placing' | 'active' | 'kept' | 'trashed';
	/** Its folder, relative to the data folder. */
	dir: string;
	/** JSON of a SkillOrigin. */
	origin: string;
	digest: string;
	/** JSON array of `{path, bytes, sha256}`. */
	files: string;
	/** SHA-256 over sorted paths and contents, as in skills-lock.json. */
	computed_hash: string;
	installed_at: string;
	changed_at: string;
}

/** Removed skills that can be restored. */
export interface SkillTrashTable {
	id: string;
	skill_id: string;
	name: string;
	version: string | null;
	/** Where it was: as `createSkillPlaces` writes it; absolute in rows of older versions, if it wasn't in the data folder. */
	path: string;
	/** Where it is, relative to the data folder. */
	stored: string;
	/** The former installation; null if it wasn't installed. */
	install_id: string | null;
	removed_at: string;
}

/** Versions chosen for skills' names. */
interface SkillPinsTable {
	skill_id: string;
	version: string;
	updated_at: string;
}

/** How often each skill ran, counted when executions end. */
interface SkillUsageTable {
	skill_id: string;
	executions: number;
	failures: number;
	last_used_at: string | null;
}

/** Settings changed while the server ran; values are JSON. */
interface SettingsTable {
	key: string;
	value: string;
	updated_at: string;
}

/** Saved test runs. */
export interface SkillCasesTable {
	id: string;
	skill_id: string;
	/** JSON: title, script, args, tool, input, expect. */
	body: string;
	/** JSON of the last run. */
	last_run: string | null;
	created_at: string;
}

/** Runs of a skill's evals. */
interface EvalRunsTable {
	id: string;
	skill_id: string;
	state: string;
	/** JSON of an EvalRun; its results have no answers. */
	body: string;
	started_at: string;
	/** The server start that runs it; null in rows of older versions. */
	boot_id: Generated<string | null>;
	/** 1: it's asked to stop. */
	stop_wanted: Generated<number>;
}

/** Answers of runs of evals. */
interface EvalAnswersTable {
	run_id: string;
	case_id: string;
	side: string;
	round: number;
	/** Digest of what was asked, of what; null never to reuse the answer. */
	key: string | null;
	/** JSON of an EvalAnswer. */
	body: string;
	created_at: string;
}

/** A message that was removed, with all that followed it, until that can't be undone any more. */
interface RemovedMessagesTable {
	conversation_id: string;
	message_id: string;
	removed_at: string;
	/** The end of the branch that was shown, if it's among them. */
	head_id: string | null;
	/** The highest of their positions, which stay theirs. */
	last_position: number;
	/** JSON array of `MessagesTable`, parents first. */
	rows: string;
}

/** Where a program wants to be told of a task (A2A). */
interface TaskPushesTable {
	conversation_id: string;
	/** The answer, which is the task. */
	message_id: string;
	id: string;
	/** As the program named the task. */
	task_id: string;
	/** Encrypted JSON: address, secrets, and who asked. */
	sealed: string;
	/** 1: there is something to tell yet. */
	is_open: number;
	created_at: string;
	/** The server start that tells; null in rows of older versions. */
	boot_id: Generated<string | null>;
}

/** Packages that were installed for a skill. */
interface SkillDraftsTable {
	id: string;
	/** As in its content: two changes at once must not both count. */
	revision: number;
	/** JSON of a StoredDraft. */
	content: string;
	updated_at: string;
}

interface SkillPackagesTable {
	skill_id: string;
	/** JSON of a PackageLock. */
	lock: string;
	installed_at: string;
}

/** Domains a skill may access. */
interface NetworkGrantsTable {
	skill_id: string;
	/** `example.org`, or `*.example.org`. */
	domain: string;
	created_at: string;
}

/** Variables of skills, encrypted with AES-256-GCM; the three parts are base64. */
interface SecretsTable {
	skill_id: string;
	name: string;
	iv: string;
	tag: string;
	ciphertext: string;
	updated_at: string;
}

/** Every run of a script or tool (E12, E13). */
export interface SkillExecutionsTable {
	id: string;
	skill_id: string;
	skill: string;
	version: string;
	tool: string | null;
	script: string | null;
	/** JSON array of strings. */
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
	/** JSON of `MissingNeed`. */
	missing: string | null;
	conversation_id: string | null;
	run_id: string | null;
	tool_call_id: string | null;
	api_key_id: string | null;
	session_id: string | null;
	created_at: string;
	finished_at: string | null;
	/** The server start that runs it; null in rows of older versions. */
	boot_id: Generated<string | null>;
}

/** Logged-in browsers. */
interface LoginSessionsTable {
	/** SHA-256 of the cookie's value, in hex. */
	token_hash: string;
	created_at: string;
	expires_at: string;
}

/** Wrong tokens and keys of the last minute. */
interface LoginFailuresTable {
	/** A keyed hash of the client's address; empty: all clients together. */
	client: string;
	/** Time of the first. */
	since: string;
	count: number;
}

/** Trials of drafts and lookups of packages, with several servers. */
interface ShownWorkTable {
	kind: 'trial' | 'packages';
	/** Of the draft, or the skill. */
	id: string;
	/** The server start that does it, or did it last. */
	boot_id: string;
	/** JSON of how it goes, or has ended. */
	body: string;
	is_running: number;
	stop_wanted: number;
	updated_at: string;
}

/** One row, which goes with the database into a dump. */
interface DatabaseIdentityTable {
	id: string;
}

export interface ApiKeysTable {
	id: string;
	name: string;
	/** The first characters of the key. */
	prefix: string;
	/** Separated by spaces. */
	scopes: string;
	/** SHA-256 of the key, in hex. */
	hash: string;
	created_at: string;
	last_used_at: Generated<string | null>;
	revoked_at: Generated<string | null>;
}

/** Stored responses, for `previous_response_id`. */
export interface ResponsesTable {
	id: string;
	/** The owner's key; null without a key. */
	api_key_id: string | null;
	previous_id: string | null;
	/** Same for the whole chain; names its workspace. */
	session_id: string;
	/** JSON array of this turn's items: input, then the model server's output (verbatim) and the results. */
	items: string;
	/** JSON of the response as it was sent. */
	body: string;
	created_at: string;
	/** 1 while it's being written in the background. */
	is_running: Generated<number>;
	/** How many of the items are input; null for responses of older versions. */
	input_count: Generated<number | null>;
	/** Of items and body, and of the events once it has ended. */
	bytes: Generated<number>;
	/** The server start that writes it in the background. */
	boot_id: Generated<string | null>;
	/** 1: it's asked to stop. */
	stop_wanted: Generated<number>;
}

/** Events of responses in the background. */
interface ResponseEventsTable {
	response_id: string;
	/** Contiguous from 1: the event's sequence number plus one. */
	seq: number;
	/** JSON of one ResponseEvent. */
	data: string;
}

/** Conversations of the Responses API; the page doesn't show them. */
interface ResponseConversationsTable {
	id: string;
	/** The owner's key; null without a key. */
	api_key_id: string | null;
	/** JSON of texts by name. */
	metadata: string;
	created_at: string;
	/** Of metadata and items, and an amount for itself. */
	bytes: Generated<number>;
}

interface ResponseConversationItemsTable {
	conversation_id: string;
	/** Order, from 1, with gaps where items were deleted. */
	position: number;
	id: string;
	/** The model that answered, or for which the item was read. */
	model: string;
	/** JSON of one item: as it was read from a request, or as it was shown in a response. */
	item: string;
}

/** Files that programs uploaded; the bytes are in a workspace. */
interface UploadedFilesTable {
	id: string;
	/** The owner's key; null without a key. */
	api_key_id: string | null;
	filename: string;
	purpose: string;
	bytes: number;
	created_at: string;
	/** null: never. */
	expires_at: string | null;
}

/** Contents of files in the bucket. */
interface BlobsTable {
	/** Its name in the bucket, never used twice: deleting one can't meet writing the same content again. */
	object: string;
	/** null: nothing has it any more, and the object is about to be deleted. */
	sha256: string | null;
	bytes: number;
	/** null: it may not be in the bucket yet. */
	stored_at: Generated<string | null>;
	/** When a file last took it. */
	used_at: string;
}

/** Folders whose files are in the bucket. */
interface StoredFoldersTable {
	/** Relative to the data folder: `workspaces/<name>`. */
	folder: string;
	/** Of its newest change. */
	version: number;
	/** It was deleted; null: it wasn't. */
	removed_at: Generated<string | null>;
}

interface StoredFilesTable {
	folder: string;
	/** Relative to the folder, with `/`. */
	path: string;
	/** null: the file was deleted in this version. */
	sha256: string | null;
	/** Permissions. */
	mode: number;
	modified_at: string;
	/** The folder's version in which it changed last. */
	version: number;
}

/** MCP servers whose tools the agent may use (E36). */
interface McpServersTable {
	name: string;
	/** JSON of its transport and approval, without secrets. */
	config: string;
	is_enabled: Generated<number>;
	created_at: string;
	updated_at: string;
}

/** Messages in the search index (search.ts). Other columns depend on the database. */
interface SearchEntriesTable {
	conversation_id: string;
	message_id: string;
}

export interface Database {
	api_keys: ApiKeysTable;
	responses: ResponsesTable;
	response_events: ResponseEventsTable;
	uploaded_files: UploadedFilesTable;
	response_conversations: ResponseConversationsTable;
	response_conversation_items: ResponseConversationItemsTable;
	blobs: BlobsTable;
	stored_folders: StoredFoldersTable;
	stored_files: StoredFilesTable;
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
	eval_answers: EvalAnswersTable;
	settings: SettingsTable;
	trusted_versions: TrustedVersionsTable;
	network_grants: NetworkGrantsTable;
	skill_drafts: SkillDraftsTable;
	task_pushes: TaskPushesTable;
	skill_packages: SkillPackagesTable;
	secrets: SecretsTable;
	skill_executions: SkillExecutionsTable;
	login_sessions: LoginSessionsTable;
	login_failures: LoginFailuresTable;
	database_identity: DatabaseIdentityTable;
	shown_work: ShownWorkTable;
	conversations: ConversationsTable;
	messages: MessagesTable;
	removed_messages: RemovedMessagesTable;
	queued_messages: QueuedMessagesTable;
	decisions: DecisionsTable;
	grants: GrantsTable;
	compactions: CompactionsTable;
	runs: RunsTable;
	run_events: RunEventsTable;
	replicas: ReplicasTable;
	script_jobs: ScriptJobsTable;
	script_output: ScriptOutputTable;
	script_workers: ScriptWorkersTable;
}

/** Runs an update or a delete, and returns whether it affected any row. */
export async function hasEffect(query: {
	executeTakeFirstOrThrow(): Promise<DeleteResult | UpdateResult>;
}): Promise<boolean> {
	const result = await query.executeTakeFirstOrThrow();
	return ('numDeletedRows' in result ? result.numDeletedRows : result.numUpdatedRows) > 0n;
}

/** Postgres may have several servers, SQLite has one. */
export function isPostgres(db: Kysely<Database>): boolean {
	return db.getExecutor().adapter instanceof PostgresAdapter;
}
