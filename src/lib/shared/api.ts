/** Conversations, runs and files as the REST API has them: requests (schemas) and answers (types). Unknown keys in a request are refused, but for AG-UI’s own. */
import { z } from 'zod';
import { decision, message, skillOffer, tokenUsage } from './message-schema.ts';
import { modelId, reasoningEffort } from './models.ts';

/** Ids that clients choose; one may name a folder. */
export const conversationId = z
	.string()
	.regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be 1 to 128 letters, digits, hyphens or underscores');

const aguiContent = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);

const aguiMessage = z.looseObject({
	id: z.string().min(1),
	role: z.enum(['user', 'assistant', 'tool', 'system', 'developer', 'reasoning', 'activity']),
	content: z.unknown().optional(),
	toolCallId: z.string().optional(),
	metadata: z.record(z.string(), z.unknown()).optional()
});

/**
 * AG-UI 1.0 `RunAgentInput`. What the server takes from it: the newest user message, the caller's tools and their
 * results, what stands as instructions. What a newer version of AG-UI has besides is ignored, as AG-UI says.
 */
export const runAgentInput = z.looseObject({
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
	role: z.literal('user'),
	content: aguiContent,
	metadata: z.looseObject({ files: z.array(z.string().min(1).max(1024)).max(100).optional() }).optional()
});

/** What a tool of the caller came to: AG-UI's tool message. */
export const toolMessage = z.looseObject({
	toolCallId: z.string().min(1),
	content: aguiContent,
	error: z.string().optional()
});

export const conversationCreate = z.strictObject({ title: z.string().trim().min(1).max(200).optional() });

/** What is left out stays as it is. */
export const conversationPatch = z
	.strictObject({
		title: z.string().trim().min(1).max(200).optional(),
		/** Shows the branch that this message is in. */
		show: conversationId.optional(),
		isPinned: z.boolean().optional(),
		isArchived: z.boolean().optional(),
		/** Somebody has seen the end of its last answer. */
		isUnread: z.literal(false).optional(),
		/** For its next answers; null for what the settings say. */
		model: modelId.nullable().optional(),
		effort: reasoningEffort.nullable().optional()
	})
	.refine((patch) => Object.values(patch).some((value) => value !== undefined), 'must have something to change');

/** A conversation of its own, with everything up to this message. */
export const conversationFork = z.strictObject({ messageId: conversationId });

/** A piece of text around what was searched for. */
export const snippet = z.object({
	text: z.string(),
	/** Of the message that it is of. */
	messageId: z.string(),
	/** Where in `text` the words are: `[from, to)`, in UTF-16 units. */
	matches: z.array(z.tuple([z.number(), z.number()]))
});
export type Snippet = z.infer<typeof snippet>;

export const conversationSummary = z.object({
	id: z.string(),
	title: z.string(),
	createdAt: z.string(),
	updatedAt: z.string(),
	/** The run that is under way, if one is. */
	activeRunId: z.string().nullable(),
	isPinned: z.boolean(),
	isArchived: z.boolean(),
	/** An answer has ended, well or not, and nobody has looked since. */
	isUnread: z.boolean(),
	/** Its last answer waits for somebody's consent. */
	isWaiting: z.boolean(),
	/** Where a search found it, outside its title. */
	snippet: snippet.optional()
});
export type ConversationSummary = z.infer<typeof conversationSummary>;

/** A message that waits for the end of a run. */
export const queuedMessage = z.object({
	id: z.string(),
	text: z.string(),
	files: z.array(z.string()),
	/** ISO 8601. */
	createdAt: z.string()
});
export type QueuedMessage = z.infer<typeof queuedMessage>;

/** A conversation as the page opens it: messages folded so far, and where to follow on. */
export const conversationDetail = conversationSummary.extend({
	/** The newest stretch of the branch that is shown. */
	messages: z.array(message),
	/** Are there earlier ones? */
	hasEarlier: z.boolean(),
	/** Of each message that has any: the ids of the messages that could stand in its place, itself included, in order. */
	alternatives: z.record(z.string(), z.array(z.string())),
	/** Messages that wait for the end of the run, in order. */
	queue: z.array(queuedMessage),
	/** What all its runs have used together, in every branch; null when none has said. */
	usage: tokenUsage.nullable(),
	/** The last event that `messages` already contains: follow the active run after it. */
	cursor: z.number(),
	/** Chosen for this conversation; null for what the settings say. */
	model: z.string().nullable(),
	effort: reasoningEffort.nullable()
});
export type ConversationDetail = z.infer<typeof conversationDetail>;

/** A skill as one conversation has it (FEATURES F7): loaded by the model, or pinned by somebody. */
export const conversationSkill = z.object({
	name: z.string(),
	description: z.string(),
	/** `pinned`: always with the model; `loaded`: since the model has loaded it. */
	state: z.enum(['pinned', 'loaded']),
	/** Estimated tokens of its instructions; 0 for one that is pinned and cannot be used. */
	tokens: z.number(),
	/** False where no such skill can be used any more. */
	isAvailable: z.boolean()
});
export type ConversationSkill = z.infer<typeof conversationSkill>;

/** The skills of a conversation: first those that are pinned, then those that are loaded, in order. */
export const conversationSkillList = z.object({
	data: z.array(conversationSkill),
	/** Estimated, of all of them together. */
	tokens: z.number()
});
export type ConversationSkillList = z.infer<typeof conversationSkillList>;

/** `PUT /api/conversations/:id/skills/:name`. `loaded`: not pinned any more, its instructions stay as a result in the history. */
export const conversationSkillPatch = z.strictObject({ state: z.enum(['pinned', 'loaded', 'unloaded']) });

/** A stretch of the conversation before a message. */
export const messageList = conversationDetail.pick({ messages: true, hasEarlier: true, alternatives: true });
export type MessageList = z.infer<typeof messageList>;

const messageText = z
	.string()
	.max(1_000_000)
	.refine((text) => text.trim() !== '', 'must not be blank');

export const queuedMessageCreate = z.strictObject({
	id: conversationId,
	text: messageText,
	files: z.array(z.string().min(1).max(1024)).max(100).default([])
});

export const queuedMessagePatch = z.strictObject({ text: messageText });

/** The answer to a call that waits for consent. */
export const approvalDecision = decision.extend({ reason: z.string().max(2000).optional() });

/** What a run does when it does not answer a new message; AG-UI's `forwardedProps`. */
export const forwardedProps = z.looseObject({
	/** Another answer to this message of the user. */
	retry: conversationId.optional(),
	/** More of this answer. */
	continue: conversationId.optional(),
	/** The new message stands after this one, beside what came there before; null for the beginning. */
	after: conversationId.nullable().optional(),
	/** Answers this time and from now on in this conversation; null for what the settings say. */
	model: modelId.nullable().optional(),
	effort: reasoningEffort.nullable().optional(),
	/** Names of skills to pin in the conversation before it is answered (F7). */
	pins: z.array(z.string().min(1).max(256)).max(20).optional(),
	/** The stream carries STATE_SNAPSHOT and MESSAGES_SNAPSHOT too (F13). */
	snapshots: z.boolean().optional(),
	/** The run ends when its reader goes away; without it, it goes on (F13, F14). */
	cancelOnDisconnect: z.boolean().optional(),
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

export const conversationList = z.object({
	data: z.array(conversationSummary),
	total: z.number(),
	page: z.number(),
	limit: z.number()
});
export type ConversationList = z.infer<typeof conversationList>;

export const workspaceFile = z.object({
	/** Relative to the conversation's workspace, with `/`. */
	path: z.string(),
	bytes: z.number(),
	modifiedAt: z.string()
});
export type WorkspaceFile = z.infer<typeof workspaceFile>;

/** A skill by its id. */
export const exampleRequest = z.strictObject({ skill: z.string().min(1).max(500) });
export const exampleFiles = z.object({ prompt: z.string(), files: z.array(workspaceFile) });

export const workspaceFileList = z.object({ data: z.array(workspaceFile) });

export const runState = z.object({
	id: z.string(),
	conversationId: z.string(),
	/** `waiting`: it ended with a question, and another run goes on once that is answered. */
	state: z.enum(['running', 'waiting', 'success', 'cancelled', 'failed', 'interrupted']),
	model: z.string(),
	lastSeq: z.number(),
	startedAt: z.string(),
	finishedAt: z.string().nullable()
});
export type RunState = z.infer<typeof runState>;

/** `POST /api/chat`: the run that was started. */
export const runNamed = z.object({ threadId: z.string(), runId: z.string() });

/** The run that goes on with what was sent; null while it waits. */
export const runStarted = z.object({ runId: z.string().nullable() });

/** Why a run offered what it did, and what came of it (FEATURES F2). */
export const runOffer = z.object({
	/** Demo mode answered, not a model. */
	isBuiltIn: z.boolean(),
	/** null where the run has none: of an older version, or ended before it began. */
	offer: skillOffer.nullable(),
	/** Names of the skills that the run loaded, in order. */
	loaded: z.array(z.string()),
	/** What it ran of skills, in order. */
	ran: z.array(
		z.object({
			skill: z.string(),
			script: z.string(),
			status: z.enum(['running', 'success', 'error'])
		})
	)
});
export type RunOffer = z.infer<typeof runOffer>;

export const health = z.object({
	status: z.literal('ok'),
	version: z.string(),
	model: z.object({
		id: z.string(),
		offline: z.boolean(),
		baseUrl: z.string().nullable()
	}),
	sandbox: z.object({
		name: z.string(),
		isolation: z.object({
			files: z.boolean(),
			network: z.boolean(),
			processes: z.boolean(),
			limits: z.boolean()
		}),
		/** Executions under way. */
		running: z.number(),
		/** Scripts and programs that wait for their turn. */
		waiting: z.number(),
		/** Of the one that has waited longest; 0 when none waits. */
		longestWaitMs: z.number()
	}),
	database: z.string(),
	/** True where one has to log in, so that one can log out as well. */
	login: z.boolean(),
	skills: z.object({
		ready: z.number(),
		broken: z.number()
	})
});
export type Health = z.infer<typeof health>;

// Queries that are no part of a larger contract; the description of the API and the routes read the same.

/** Of every list that has pages. The page is a whole number from 1, `limit` at most 200. */
export const pageQuery = z.object({
	page: z.coerce.number().int().min(1).max(1_000_000).default(1).describe('From 1.'),
	limit: z.coerce.number().int().min(1).max(200).default(50).describe('Items per page, up to 200.')
});

/** `GET /api/conversations`. Any text is a query; of a very long one the beginning is looked for. */
export const conversationQuery = z.object({
	q: z.string().max(100_000).optional().describe('Words to search for.'),
	archived: z.enum(['true', 'false']).optional().describe('`true` lists archived conversations instead.')
});

/** `GET /api/conversations/:id/export`. */
export const conversationExportQuery = z.object({
	format: z.enum(['json', 'markdown']).default('json').describe('File format.')
});

/** `GET /api/conversations/:id/messages`: those before this one. */
export const earlierQuery = z.object({
	before: z.string('must be the id of a message').max(256).describe('ID of a message.')
});

/** `GET /api/runs/:id/events`: a number that is none of this run starts over. */
export const eventsQuery = z.object({
	after: z.string().optional().describe('Number of the last event you have.')
});

/** `POST /api/session`. */
export const credentials = z.strictObject({ token: z.string().min(1).max(1000) });

/** `GET /api/skills/marketplace` and `/skillssh`. Other sites are asked for less at once. */
export const catalogQuery = pageQuery.extend({
	q: z.string().max(200).optional().describe('Words to search for.'),
	limit: z.coerce.number().int().min(1).max(200).default(20).describe('Items per page, up to 200.')
});
