/** The REST API's requests (schemas) and answers (types), DESIGN §5. Unknown keys in a request are refused. */
import { z } from 'zod';
import type { TokenUsage } from './events.ts';
import type { Message } from './message.ts';

/** Ids that clients choose; one may name a folder. */
export const conversationId = z
	.string()
	.regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be 1 to 128 letters, digits, hyphens or underscores');

const aguiContent = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);

const aguiMessage = z.looseObject({
	id: z.string().min(1).max(128),
	role: z.enum(['user', 'assistant', 'tool', 'system', 'developer', 'reasoning', 'activity']),
	content: z.unknown().optional(),
	toolCallId: z.string().max(256).optional(),
	metadata: z.record(z.string(), z.unknown()).optional()
});

/** AG-UI 1.0 `RunAgentInput`. What the server takes from it: the newest user message, and the caller's tools. */
export const runAgentInput = z.strictObject({
	threadId: conversationId,
	runId: conversationId,
	protocolVersion: z.string().optional(),
	parentRunId: z.string().optional(),
	state: z.unknown().optional(),
	messages: z.array(aguiMessage),
	tools: z
		.array(
			z.looseObject({ name: z.string().min(1).max(64), description: z.string(), parameters: z.unknown().optional() })
		)
		.max(128)
		.default([]),
	context: z.array(z.looseObject({ description: z.string(), value: z.string() })).default([]),
	forwardedProps: z.unknown().optional(),
	resume: z
		.array(
			z.looseObject({
				interruptId: z.string().min(1).max(256),
				status: z.enum(['resolved', 'cancelled']),
				payload: z.unknown().optional()
			})
		)
		.max(128)
		.optional()
});
export type RunAgentInput = z.infer<typeof runAgentInput>;

/** The parts of an AG-UI user message that a run is started from. */
export const userMessage = z.looseObject({
	id: conversationId,
	role: z.literal('user'),
	content: aguiContent,
	metadata: z.looseObject({ files: z.array(z.string().min(1).max(1024)).max(100).optional() }).optional()
});

export const conversationCreate = z.strictObject({ title: z.string().trim().min(1).max(200).optional() });
export const conversationPatch = z
	.strictObject({
		title: z.string().trim().min(1).max(200).optional(),
		/** Shows the branch that this message is in. */
		show: conversationId.optional()
	})
	.refine(({ title, show }) => title !== undefined || show !== undefined, 'must name a title or a message to show');

/** A conversation of its own, with everything up to this message. */
export const conversationFork = z.strictObject({ messageId: conversationId });

export interface ConversationSummary {
	id: string;
	title: string;
	createdAt: string;
	updatedAt: string;
	/** The run that is under way, if one is. */
	activeRunId: string | null;
}

/** A conversation as the page opens it: messages folded so far, and where to follow on. */
export interface ConversationDetail extends ConversationSummary {
	/** The newest stretch of the branch that is shown. */
	messages: Message[];
	/** Are there earlier ones? */
	hasEarlier: boolean;
	/** Of each message that has any: the ids of the messages that could stand in its place, itself included, in order. */
	alternatives: Record<string, string[]>;
	/** Messages that wait for the end of the run, in order. */
	queue: QueuedMessage[];
	/** What all its runs have used together, in every branch; null when none has said. */
	usage: TokenUsage | null;
	/** The last event that `messages` already contains: follow the active run after it. */
	cursor: number;
}

/** A stretch of the conversation before a message. */
export type MessageList = Pick<ConversationDetail, 'messages' | 'hasEarlier' | 'alternatives'>;

/** A message that waits for the end of a run. */
export interface QueuedMessage {
	id: string;
	text: string;
	files: string[];
	/** ISO 8601. */
	createdAt: string;
}

const messageText = z
	.string()
	.max(1_000_000)
	.refine((text) => text.trim() !== '', 'must not be blank');

export const queuedMessage = z.strictObject({
	id: conversationId,
	text: messageText,
	files: z.array(z.string().min(1).max(1024)).max(100).default([])
});
export const queuedMessagePatch = z.strictObject({ text: messageText });

/** The answer to a call that waits for consent. */
export const approvalDecision = z.strictObject({
	choice: z.enum(['once', 'script', 'skill', 'deny']),
	reason: z.string().max(2000).optional()
});

/** What a run does when it does not answer a new message; AG-UI's `forwardedProps`. */
export const forwardedProps = z.looseObject({
	/** Another answer to this message of the user. */
	retry: conversationId.optional(),
	/** More of this answer. */
	continue: conversationId.optional(),
	/** The new message stands after this one, beside what came there before; null for the beginning. */
	after: conversationId.nullable().optional(),
	/** What of the skills this request may use (D42, B14); all of it without it. */
	skills: z
		.strictObject({
			/** Only these skills of folders, by name. */
			allowed: z.array(z.string().min(1).max(256)).max(1000).optional(),
			/** `false`: none of a folder, only those of this server. */
			customSkillExecutionEnabled: z.boolean().optional(),
			/** Of those of this server only these; `omniroute_web_search` is `web_search`. */
			builtinToolNames: z.array(z.string().min(1).max(256)).max(100).optional()
		})
		.optional()
});

export interface ConversationList {
	data: ConversationSummary[];
	total: number;
	page: number;
	limit: number;
}

export interface WorkspaceFile {
	/** Relative to the conversation's workspace, with `/`. */
	path: string;
	bytes: number;
	modifiedAt: string;
}

export interface RunState {
	id: string;
	conversationId: string;
	/** `waiting`: it ended with a question, and another run goes on once that is answered. */
	state: 'running' | 'waiting' | 'success' | 'cancelled' | 'failed' | 'interrupted';
	model: string;
	lastSeq: number;
	startedAt: string;
	finishedAt: string | null;
}

export interface SkillDiagnostic {
	severity: 'error' | 'warning';
	field: string;
	message: string;
	line?: number;
	fix?: string;
}

export interface SkillSummary {
	/** Folder-unique id: the name, or `source/name` for one that is shadowed or broken. */
	id: string;
	name: string;
	description: string;
	/** `ready` can be used; `broken` cannot, and `diagnostics` says why. */
	status: 'ready' | 'broken';
	path: string;
	scripts: string[];
	tools: string[];
	diagnostics: SkillDiagnostic[];
	/** May its scripts run without being asked about? */
	trust: TrustState;
	mode: 'on' | 'off' | 'auto';
	/** null for one that is broken. */
	version: string | null;
	/** Label of the folder that it lies in; `builtin` for those of this server. */
	source: string;
	/** Where it was installed from; `local` for what lies in a folder of skills, `builtin` for those of this server. */
	provider: SkillProvider;
	/** Whose it is; `system` is everybody’s (A41). */
	owner: string;
	usage: SkillUsage;
}

/** Where an installed skill came from; `custom` is made from a schema and the name of a handler (E5). */
export const INSTALL_PROVIDERS = [
	'github',
	'skillssh',
	'skillsmp',
	'well-known',
	'zip',
	'folder',
	'inline',
	'custom'
] as const;
export type InstallProvider = (typeof INSTALL_PROVIDERS)[number];

export type SkillProvider = InstallProvider | 'local' | 'builtin';

/** Executions of all its versions so far. */
export interface SkillUsage {
	executions: number;
	/** Those that ended in an error or a time-out. */
	failures: number;
	/** ISO 8601; null before the first. */
	lastUsedAt: string | null;
}

/** The query of `GET /api/skills` (E2). */
export const skillQuery = z.object({
	q: z.string().max(1000).optional(),
	mode: z.enum(['on', 'off', 'auto']).optional(),
	/** A provider, or the label of a folder. */
	source: z.string().max(256).optional(),
	status: z.enum(['ready', 'broken']).optional(),
	/** Only what this key sees: its own and the system's. */
	apiKeyId: z.string().min(1).max(256).optional()
});
export type SkillQuery = z.infer<typeof skillQuery>;

/**
 * `builtin`: part of this server; `trusted`: in a folder that the operator filled, or its files were looked at and trusted;
 * `changed`: they were, and are others now; `untrusted`: nobody has said so (FEATURES E30, F4).
 */
export type TrustState = 'builtin' | 'trusted' | 'changed' | 'untrusted';

/** Everything of one skill that somebody needs to decide about it. */
export interface SkillDetail extends SkillSummary {
	/** `source/name`: names it in executions, secrets and grants. */
	skillId: string;
	version: string;
	/** Trusted for where it lies, which cannot be withdrawn. */
	isTrustedByPlace: boolean;
	/** SHA-256 of all its files; trust is given to it. */
	digest: string;
	files: SkillFile[];
	findings: SkillFinding[];
	/** Against the files as they were trusted last; null when they never were or are the same. */
	changes: SkillFileChange[] | null;
	needs: SkillNeeds;
	network: { declared: string[]; granted: string[] };
	/** The raw `allowed-tools`. */
	allowedTools: string | null;
	/** Of each tool, the JSON Schema of its input. */
	inputSchemas: Record<string, Record<string, unknown>>;
}

export interface SkillFile {
	/** Relative to the skill's folder, with `/`. */
	path: string;
	bytes: number;
	/** null for what is no text or too long to be shown. */
	text: string | null;
}

/** Something that a static look at the files found; a hint for people, never a proof. */
export interface SkillFinding {
	severity: 'danger' | 'warning' | 'info';
	/** e.g. `pipe-to-shell`, `credential-path`, `obfuscation`, `invisible-characters`, `prompt-injection`. */
	kind: string;
	message: string;
	file: string;
	/** From 1. */
	line: number;
	/** The line, cut, with invisible characters shown as escapes. */
	excerpt: string;
}

export interface SkillFileChange {
	path: string;
	kind: 'added' | 'removed' | 'changed';
	/** Unified diff; null for what is no text. */
	diff: string | null;
}

/** What a skill needs to run, declared or found, and whether it is there (FEATURES F3). */
export interface SkillNeeds {
	binaries: { name: string; isDeclared: boolean; isFound: boolean }[];
	pythonModules: { name: string; isDeclared: boolean; isFound: boolean }[];
	/** `isSet`: stored for this skill, or offered by the operator. `problem`: why a stored value cannot be used. */
	variables: {
		name: string;
		isDeclared: boolean;
		isSet: boolean;
		setBy: 'secret' | 'operator' | null;
		problem?: string;
	}[];
}

/** What `PUT /api/skills/:id` takes. */
export const skillPatch = z
	.strictObject({
		enabled: z.boolean().optional(),
		mode: z.enum(['on', 'off', 'auto']).optional(),
		/** `digest` is that of the files that were looked at. */
		trust: z.strictObject({ digest: z.string().regex(/^[0-9a-f]{64}$/), isTrusted: z.boolean() }).optional(),
		/** The declared domains that it may reach from now on. */
		network: z.array(z.string().min(1).max(253)).max(100).optional()
	})
	.refine((patch) => Object.values(patch).some((value) => value !== undefined), 'must name something to change');
export type SkillPatch = z.infer<typeof skillPatch>;

/** Variables to store for a skill; null removes one. Values are never sent back. */
export const secretsPatch = z.record(
	z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/),
	z.string().min(1).max(65_536).nullable()
);

/** One execution of a script or tool (FEATURES E13). */
export interface SkillExecution {
	id: string;
	skillId: string;
	skill: string;
	version: string;
	tool: string | null;
	script: string | null;
	argv: string[];
	input: string | null;
	digest: string;
	sandbox: string;
	limits: Record<string, number>;
	status: 'pending' | 'running' | 'success' | 'error' | 'timeout';
	errorType: string | null;
	errorMessage: string | null;
	exitCode: number | null;
	stdoutBytes: number | null;
	stderrBytes: number | null;
	output: string | null;
	durationMs: number | null;
	files: { path: string; bytes: number }[];
	refused: string[];
	conversationId: string | null;
	runId: string | null;
	toolCallId: string | null;
	apiKeyId: string | null;
	sessionId: string | null;
	createdAt: string;
	finishedAt: string | null;
}

/** `POST /api/skills/executions`: a script with arguments, or a tool with its input; a built-in skill is its one tool. */
export const adHocExecution = z
	.strictObject({
		skillName: z.string().min(1).max(256),
		script: z.string().min(1).max(1024).optional(),
		args: z
			.union([z.array(z.union([z.string(), z.number(), z.boolean()])).max(1000), z.record(z.string(), z.unknown())])
			.optional(),
		tool: z.string().min(1).max(256).optional(),
		input: z.record(z.string(), z.unknown()).optional(),
		apiKeyId: z.string().min(1).max(256).optional(),
		sessionId: z.string().min(1).max(256).optional()
	})
	.refine(({ script, tool }) => script === undefined || tool === undefined, 'must name a script or a tool, not both');
export type AdHocExecution = z.infer<typeof adHocExecution>;

/** The query of `GET /api/skills/executions` and of its export (E10, E29). */
export const executionQuery = z.object({
	/** `source/name`, or a name. */
	skill: z.string().min(1).max(256).optional(),
	status: z.enum(['pending', 'running', 'success', 'error', 'timeout']).optional(),
	apiKeyId: z.string().min(1).max(256).optional(),
	conversationId: z.string().min(1).max(128).optional(),
	/** From this time on, and before that one. ISO 8601. */
	since: z.iso.datetime({ offset: true }).optional(),
	until: z.iso.datetime({ offset: true }).optional()
});
export type ExecutionQuery = z.infer<typeof executionQuery>;

/** The query of `GET /api/skills/executions/export` (E29). */
export const executionExportQuery = executionQuery.extend({ format: z.enum(['csv', 'json']).default('json') });

export interface SkillExecutionList {
	data: SkillExecution[];
	total: number;
	page: number;
	limit: number;
	totalPages: number;
}

export interface SkillList {
	data: SkillSummary[];
	/** The same as `data`: what the OmniRoute document calls it (E2). */
	skills: SkillSummary[];
	total: number;
	page: number;
	limit: number;
	totalPages: number;
	/** The catalog that skills are installed from. */
	provider: 'skillsmp' | 'skillssh' | 'github';
	/** Skills that the active catalog shows without a question; none are made up (E6). */
	popularDefaults: string[];
	/** Changes whenever the library does; the page compares it to know whether to render again. */
	revision: string;
}

export interface Health {
	status: 'ok';
	version: string;
	model: { id: string; offline: boolean; baseUrl: string | null };
	sandbox: {
		name: string;
		isolation: { files: boolean; network: boolean; processes: boolean; limits: boolean };
		/** Executions under way. */
		running: number;
	};
	database: string;
	/** True where one has to log in, so that one can log out as well. */
	login: boolean;
	skills: { ready: number; broken: number };
}

/** `POST /api/skills/score`: why a skill is or is not picked for a text (B7, B8). */
export const scoreRequest = z.strictObject({
	text: z.string().max(100_000),
	/** Scores as if this had been asked by this key. */
	apiKeyId: z.string().min(1).max(256).optional(),
	/** For the document's scorer: `openai`, `anthropic`, `google`. */
	provider: z.string().min(1).max(64).optional(),
	backgroundReason: z.string().max(10_000).optional(),
	limit: z.number().int().min(1).max(200).default(50)
});

export interface SkillScoreList {
	/** Best first, by the scorer that fills the catalog. */
	data: {
		id: string;
		name: string;
		mode: 'on' | 'off' | 'auto';
		/** The scorer that fills the catalog. */
		score: number;
		signals: { name: number; nameTokens: number; tags: number; description: number };
		/** The document's scorer. */
		omniroute: {
			score: number;
			signals: Record<'name' | 'nameTokens' | 'tags' | 'description' | 'background' | 'provider', number>;
			/** Among the best `autoMaxSkills` of `auto` with at least `autoMinScore`, or `on`. */
			isPicked: boolean;
		};
	}[];
	/** Skills that were scored. */
	total: number;
	autoMaxSkills: number;
	autoMinScore: number;
}

/** `GET /api/skills/:id/diagnostics` (F1). */
export interface SkillDiagnosis {
	id: string;
	name: string;
	status: 'ready' | 'broken';
	/** Absolute path of the SKILL.md. */
	path: string;
	issues: (SkillDiagnostic & {
		/** Names the fix that can be applied; null where a person has to write. */
		fixId: string | null;
		/** What this fix alone would change, as a unified diff; null without a fix and for a mere renaming. */
		diff: string | null;
	})[];
	/** The SKILL.md with all fixes applied; null where there is none to apply. */
	fixed: { before: string; after: string; diff: string } | null;
	/** SHA-256 of the SKILL.md that was looked at; empty where there is none that can be read. */
	digest: string;
	/** After a fix: the name of the file beside it that has the old text. */
	keptAs?: string;
}

/** `POST /api/skills/:id/diagnostics`: applies fixes to the file that was looked at; the old one is kept beside it. */
export const diagnosisFix = z.strictObject({
	digest: z.string().regex(/^[0-9a-f]{64}$/),
	/** All there are without it. */
	fixes: z.array(z.string().min(1).max(100)).min(1).max(100).optional()
});
export type DiagnosisFix = z.infer<typeof diagnosisFix>;
