/** REST contracts of conversations, runs and files. Requests refuse unknown keys, except in AG-UI’s own objects. Times are ISO 8601. */
import { z } from 'zod';
import { decision, message, skillOffer, tokenUsage } from './message-schema.ts';
import { WEB_TOOLS } from './names.ts';
import {
	customInstructions,
	modelId,
	modelRouting,
	MOST_COMPARED,
	presetId,
	presetOfModel,
	reasoningEffort,
	webTools
} from './models.ts';

/** Ids chosen by clients, also used as folder names. Two are addresses beside those of conversations. */
export const conversationId = z
	.string()
	.regex(
		/^(?!(?:import|trash)$)[A-Za-z0-9_-]{1,128}$/,
		'must be 1 to 128 letters, digits, hyphens or underscores, and not “import” or “trash”'
	);

const aguiContent = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);

const aguiMessage = z.looseObject({
	id: z.string().min(1),
	role: z.enum(['user', 'assistant', 'tool', 'system', 'developer', 'reasoning', 'activity']),
	content: z.unknown().optional(),
	toolCallId: z.string().optional(),
	metadata: z.record(z.string(), z.unknown()).optional()
});

/**
 * AG-UI 1.0 `RunAgentInput`. The server uses the newest user message, the caller’s tools and their results, and
 * instructions. It ignores fields of newer versions, as AG-UI requires.
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

/** The used parts of an AG-UI user message. */
export const userMessage = z.looseObject({
	role: z.literal('user'),
	content: aguiContent,
	metadata: z.looseObject({ files: z.array(z.string().min(1).max(1024)).max(100).optional() }).optional()
});

/** AG-UI’s tool message: the result of a caller’s tool. */
export const toolMessage = z.looseObject({
	toolCallId: z.string().min(1),
	content: aguiContent,
	error: z.string().optional()
});

export const conversationCreate = z.strictObject({ title: z.string().trim().min(1).max(200).optional() });

/** What a chat chooses instead of the settings. null: the settings' value; left out: no change. */
const chatChoices = z.object({
	model: modelId.nullable().optional(),
	effort: reasoningEffort.nullable().optional(),
	/** The user's, for the model; empty like null. */
	instructions: customInstructions.nullable().optional(),
	/** What the model may do on the web. */
	web: webTools.nullable().optional(),
	/** What it leaves out is as in the settings. */
	routing: modelRouting.nullable().optional(),
	/** `ask`: every script needs approval, even if the server doesn't ask. */
	approval: z.literal('ask').nullable().optional(),
	/** Id of the preset it was started with. */
	preset: presetId.nullable().optional()
});
export type ChatChoices = z.infer<typeof chatChoices>;

/** `PATCH /api/conversations/:id/messages/:message` */
export const messagePatch = z.strictObject({ isDisliked: z.boolean() });

export const conversationPatch = z
	.strictObject({
		title: z.string().trim().min(1).max(200).optional(),
		/** Shows the branch of this message. */
		show: conversationId.optional(),
		isPinned: z.boolean().optional(),
		isArchived: z.boolean().optional(),
		/** The user has seen the last answer. */
		isUnread: z.literal(false).optional(),
		/** For the next answers. */
		...chatChoices.shape
	})
	.refine((patch) => Object.values(patch).some((value) => value !== undefined), 'must have something to change')
	.refine(({ model }) => presetOfModel(model) === null, {
		path: ['model'],
		message: 'must not be a preset: a chat takes one with its next message'
	});

/** Copies everything up to this message to a new conversation. */
export const conversationFork = z.strictObject({ messageId: conversationId });

export const snippet = z.object({
	text: z.string(),
	messageId: z.string(),
	/** Matches in `text`: `[from, to)`, in UTF-16 units. */
	matches: z.array(z.tuple([z.number(), z.number()]))
});
export type Snippet = z.infer<typeof snippet>;

export const conversationSummary = z.object({
	id: z.string(),
	title: z.string(),
	/** What it’s about, in a line by the model that named it; left out if there is none. */
	summary: z.string().optional(),
	createdAt: z.string(),
	updatedAt: z.string(),
	activeRunId: z.string().nullable(),
	isPinned: z.boolean(),
	isArchived: z.boolean(),
	/** An answer has ended, successfully or not, and wasn’t seen yet. */
	isUnread: z.boolean(),
	/** The last answer waits for a person: for approval, or during a run (`activeRunId`) for what a tool asks. */
	isWaiting: z.boolean(),
	/** Search match in a message. */
	snippet: snippet.optional()
});
export type ConversationSummary = z.infer<typeof conversationSummary>;

/** A deleted conversation that can be restored until `expiresAt`. */
const deletedConversation = conversationSummary
	.pick({ id: true, title: true })
	.extend({ deletedAt: z.string(), expiresAt: z.string() });
export type DeletedConversation = z.infer<typeof deletedConversation>;

/** A message waiting for the current run to end. */
export const queuedMessage = z.object({
	id: z.string(),
	text: z.string(),
	files: z.array(z.string()),
	createdAt: z.string()
});
export type QueuedMessage = z.infer<typeof queuedMessage>;

/** A conversation for the page: messages so far, and where to continue. */
export const conversationDetail = conversationSummary.extend({
	/** The newest messages of the shown branch. */
	messages: z.array(message),
	hasEarlier: z.boolean(),
	/** Alternatives by message id: ids of all versions in order, including itself. */
	alternatives: z.record(z.string(), z.array(z.string())),
	/** Answers to the last question, side by side until one of them is shown (`PATCH` with `show`). */
	compared: z
		.array(
			z.object({
				/** Empty if unknown. */
				model: z.string(),
				message,
				/** As below, of its run. */
				cursor: z.number(),
				epoch: z.number().optional()
			})
		)
		.optional(),
	queue: z.array(queuedMessage),
	/** Total usage of all runs in all branches; null if unknown. */
	usage: tokenUsage.nullable(),
	/** The last event included in `messages`: follow the active run after it. */
	cursor: z.number(),
	/** Of that event, if another server has gone on with the run: its ID is `epoch.cursor`. */
	epoch: z.number().optional(),
	/** Chosen for this conversation; null for the default in the settings. */
	model: z.string().nullable(),
	effort: reasoningEffort.nullable(),
	instructions: z.string().optional(),
	web: z.array(z.enum(WEB_TOOLS)).optional(),
	routing: modelRouting.optional(),
	approval: z.literal('ask').optional(),
	preset: z.string().optional(),
	/** The project's folder, if it was opened in an editor. */
	folder: z.string().optional()
});
export type ConversationDetail = z.infer<typeof conversationDetail>;

/** A skill of a conversation (F7). */
export const conversationSkill = z.object({
	name: z.string(),
	description: z.string(),
	/** `pinned` by the user, or `loaded` by the model. */
	state: z.enum(['pinned', 'loaded']),
	/** Estimated tokens of its instructions; 0 if pinned and unavailable. */
	tokens: z.number(),
	/** False if the skill can’t be used any more. */
	isAvailable: z.boolean(),
	/** Of one that is there and can’t be used: `off`, or `broken: its description is missing`. */
	why: z.string().optional(),
	/** Skills that it requires and that are off or not installed; absent if none. */
	lacks: z.array(z.string()).optional()
});
export type ConversationSkill = z.infer<typeof conversationSkill>;

/** Pinned skills, then loaded ones, in order. */
export const conversationSkillList = z.object({
	data: z.array(conversationSkill),
	tokens: z.number()
});
export type ConversationSkillList = z.infer<typeof conversationSkillList>;

/** `PUT /api/conversations/:id/skills/:name`. `loaded` unpins it, but keeps its instructions in the history. */
export const conversationSkillPatch = z.strictObject({ state: z.enum(['pinned', 'loaded', 'unloaded']) });

/** Messages before another one. */
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

export const approvalDecision = decision.extend({ reason: z.string().max(2000).optional() });

/** AG-UI’s `forwardedProps`. */
export const forwardedProps = z.looseObject({
	/** Answers this user message again. */
	retry: conversationId.optional(),
	continue: conversationId.optional(),
	/** Adds the new message after this one, in a new branch; null for the beginning. */
	after: conversationId.nullable().optional(),
	/** Each of these models answers the question, side by side. None of them is chosen for the conversation. */
	compare: z
		.array(modelId.refine((id) => presetOfModel(id) === null, 'must be a model, not a preset'))
		.min(1)
		.max(MOST_COMPARED)
		.optional(),
	/** With `compare` and `retry`: beside this answer. */
	beside: conversationId.optional(),
	/** With `compare` and `retry`: in the place of this answer, beside the others. */
	instead: conversationId.optional(),
	/** From now on in this conversation. */
	...chatChoices.shape,
	/** Names of skills to pin first (F7). */
	pins: z.array(z.string().min(1).max(256)).max(20).optional(),
	/** Adds STATE_SNAPSHOT and MESSAGES_SNAPSHOT to the stream (F13). */
	snapshots: z.boolean().optional(),
	/** Cancels the run when its reader disconnects. Default: it continues (F13, F14). */
	cancelOnDisconnect: z.boolean().optional(),
	/** Limits the skills of this request (D42, B14). Default: all. */
	skills: z
		.strictObject({
			/** Only these folder skills, by name. */
			allowed: z.array(z.string().min(1).max(256)).max(1000).optional(),
			/** `false`: no folder skills, only built-in ones. */
			customSkillExecutionEnabled: z.boolean().optional(),
			/** Only these built-in skills; `omniroute_web_search` is `web_search`. */
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

export const deletedConversationList = conversationList.extend({ data: z.array(deletedConversation) });

export const workspaceFile = z.object({
	/** Relative to the conversation's workspace, with `/`. */
	path: z.string(),
	bytes: z.number(),
	modifiedAt: z.string(),
	/** Of a written file, with a bucket: why other servers don’t have it yet. */
	hint: z.string().optional()
});
export type WorkspaceFile = z.infer<typeof workspaceFile>;

/** `skill` is an id. */
export const exampleRequest = z.strictObject({ skill: z.string().min(1).max(500) });
export const exampleFiles = z.object({ prompt: z.string(), files: z.array(workspaceFile) });

export const fileListQuery = z.object({
	format: z.enum(['json', 'zip']).default('json').describe('A list, or a zip with all files.'),
	model: modelId.optional().describe('Adds what this model is given of each file if it’s attached.'),
	path: z.string().max(1000).optional().describe('Lists only this file.')
});
export const fileQuery = z.object({
	version: z.string().max(64).optional().describe('ID of an earlier content of the file.'),
	view: z
		.enum(['plain', 'scripts'])
		.optional()
		.describe('Shows HTML and SVG in a frame of the app: without scripts, or with them.')
});
export const putFileQuery = z.object({
	as: z
		.enum(['file', 'copy'])
		.default('file')
		.describe(
			'`copy`: keeps the body beside the file that is there, and models are sent it in its place. A PNG, JPEG, GIF or WebP of at most 1,568 pixels and 5 MB.'
		)
});
/** What a file had in it earlier. */
const fileVersion = z.object({
	/** SHA-256 of the content. */
	id: z.string(),
	bytes: z.number(),
	/** When it was written. */
	modifiedAt: z.string()
});
export type FileVersion = z.infer<typeof fileVersion>;
/** `versions`: the newest first. */
const listedFile = workspaceFile.extend({
	versions: z.array(fileVersion),
	/** Only if a model was named. `name`: it only learns that the file is there; `unseen`: because it can't see pictures. */
	seenAs: z.object({ as: z.enum(['picture', 'file', 'text', 'name', 'unseen']), why: z.string() }).optional()
});
export type ListedFile = z.infer<typeof listedFile>;
export const workspaceFileList = z.object({ data: z.array(listedFile) });

export const runState = z.object({
	id: z.string(),
	conversationId: z.string(),
	/** `waiting`: it ended with a question; another run continues after the answer. */
	state: z.enum(['running', 'waiting', 'success', 'cancelled', 'failed', 'interrupted']),
	model: z.string(),
	lastSeq: z.number(),
	startedAt: z.string(),
	finishedAt: z.string().nullable()
});
export type RunState = z.infer<typeof runState>;

/** `POST /api/chat`: the started run. */
export const runNamed = z.object({ threadId: z.string(), runId: z.string() });

/** The run that continues; null while waiting. */
export const runStarted = z.object({ runId: z.string().nullable() });

/** Why a run offered its skills, and what it did with them (F2). */
export const runOffer = z.object({
	/** Demo mode answered. */
	isBuiltIn: z.boolean(),
	/** null for runs of older versions, and runs that ended early. */
	offer: skillOffer.nullable(),
	loaded: z.array(z.string()),
	ran: z.array(z.object({ skill: z.string(), script: z.string(), status: z.enum(['running', 'success', 'error']) }))
});
export type RunOffer = z.infer<typeof runOffer>;

export const health = z.object({
	status: z.literal('ok'),
	version: z.string(),
	model: z.object({ id: z.string(), offline: z.boolean(), baseUrl: z.string().nullable() }),
	sandbox: z.object({
		name: z.string(),
		isolation: z.object({
			files: z.boolean(),
			network: z.boolean(),
			processes: z.boolean(),
			limits: z.boolean()
		}),
		running: z.number(),
		waiting: z.number(),
		/** 0 if none waits. */
		longestWaitMs: z.number()
	}),
	database: z.string(),
	/** Whether login is required, so that the page can offer to log out. */
	login: z.boolean(),
	skills: z.object({ ready: z.number(), broken: z.number() })
});
export type Health = z.infer<typeof health>;

// Queries, used by the routes and the API description.

export const pageQuery = z.object({
	page: z.coerce.number().int().min(1).max(1_000_000).default(1).describe('From 1.'),
	limit: z.coerce.number().int().min(1).max(200).default(50).describe('Items per page, up to 200.')
});

/** `GET /api/conversations`. Only the beginning of a very long query is used. */
export const conversationQuery = z.object({
	q: z.string().max(100_000).optional().describe('Words to search for.'),
	archived: z.enum(['true', 'false']).optional().describe('`true` lists archived conversations instead.')
});

/** `GET /api/conversations/:id/export`. */
export const conversationExportQuery = z.object({
	format: z.enum(['json', 'markdown']).default('json').describe('File format.')
});

/** `GET /api/conversations/:id/messages` */
export const earlierQuery = z.object({
	before: z.string('must be the id of a message').max(256).describe('ID of a message.')
});

/** `GET /api/runs/:id/events`: an unknown number starts over. */
export const eventsQuery = z.object({
	after: z.string().optional().describe('ID of the last event you have.'),
	beside: z
		.string()
		.regex(/^[\w-]{1,128}:[\d.]{1,24}(,[\w-]{1,128}:[\d.]{1,24}){0,7}$/, 'must be like `run-2:0,run-3:12`')
		.optional()
		.describe(
			'Answers to follow over the same connection, each with the ID of the last event you have: `run-2:0,run-3:12`. Their events are named after their `runId`.'
		)
});

/** `POST /api/session`. */
export const credentials = z.strictObject({ token: z.string().min(1).max(1000) });

/** `GET /api/skills/marketplace` and `/skillssh`, with a smaller default for other sites. */
export const catalogQuery = pageQuery.extend({
	q: z.string().max(200).optional().describe('Words to search for.'),
	limit: z.coerce.number().int().min(1).max(200).default(20).describe('Items per page, up to 200.')
});
