/** The schema of messages, in the variants of the API, of conversation files and of database rows. Times are ISO 8601. */
import { z } from 'zod';
import { missingNeed } from './skills.ts';

const tokensIn = (count: z.ZodNumber) => ({
	inputTokens: count,
	outputTokens: count,
	cachedTokens: count.optional(),
	reasoningTokens: count.optional(),
	/** USD. */
	cost: count.optional(),
	/** USD that cached input tokens saved, by the server’s list of prices; without what writing to the cache costs. */
	saved: count.optional()
});
export const tokenUsage = z.object(tokensIn(z.number()));
export type TokenUsage = z.infer<typeof tokenUsage>;

/** `once`: this call; `script`, `skill`: also later ones while the skill’s files are unchanged. */
export const decision = z.strictObject({
	choice: z.enum(['once', 'script', 'skill', 'deny']),
	/** Reason of a denial, for the model. */
	reason: z.string().optional()
});
export type ApprovalDecision = z.infer<typeof decision>;

/** A variant of `messageSchemas`: how objects treat unknown keys, and how lists are limited. */
interface Manner {
	object: typeof z.object;
	list: <Item extends z.ZodType>(item: Item, most: number) => z.ZodArray<Item>;
	count: z.ZodNumber;
	exit: z.ZodNumber;
	id: z.ZodString;
	/** Only known while a call is running, so not stored. */
	live: { elapsedMs: z.ZodOptional<z.ZodNumber> };
}

export const MAX_FILE_PARTS = 5_000;

function messageSchemas({ object, list, count, exit, id, live }: Manner) {
	const text = z.string();
	const tokens = tokensIn(count);

	/** What the security check found, for a card. */
	const checked = {
		/** Serious ones first. */
		findings: list(
			object({ severity: z.enum(['danger', 'warning', 'info']), message: text, file: text, line: count }),
			100
		),
		/** Serious ones that aren’t among them. */
		moreRisks: count.optional()
	};
	const approval = object({
		/** AG-UI’s id of the interrupt. */
		interruptId: id,
		skill: text,
		/** Script path relative to the skill's folder, or the name of a tools.json tool. */
		script: text,
		args: list(text, 10_000),
		/** Why it asks, as a sentence. */
		reason: text,
		/** Digest of the skill’s files at that time. */
		digest: text,
		/** Why the skill needs approval; absent if trusted. */
		trust: z.enum(['untrusted', 'changed']).optional(),
		/** Declared variables without a value. */
		missing: list(text, 1000).optional(),
		/**
		 * What the script can reach: the allowed hosts, null where the sandbox doesn’t limit the network, and whether it can
		 * read everything that the server can. Absent if it isn’t a script of a skill.
		 */
		reach: object({ hosts: list(text, 100).nullable(), readsServer: z.boolean() }).optional(),
		/** Asks to install this skill, as it was fetched and checked. */
		install: object({
			/** Of the staged skill, for its whole review. */
			stagedId: id,
			version: text,
			description: text,
			/** The place that it comes from, in words, and its address. */
			from: text,
			url: text.optional(),
			/** What the model needs it for, in its words. */
			why: text,
			files: count,
			/** Scripts and tools. */
			scripts: count,
			...checked,
			/** That aren’t met: of which kind, such as `package`. */
			needs: list(object({ kind: text, name: text }), 100)
		}).optional(),
		/** Asks to define this tool in the chat; `digest` is that of its files. */
		define: object({
			tool: text,
			description: text,
			/** JSON of what tools.json says of them. */
			parameters: text,
			/** The whole script. */
			code: text,
			/** Kept as a skill at once. */
			isKept: z.boolean(),
			replaces: z.boolean(),
			/** Unified diffs to the tool that it replaces; '' for what is too long. */
			changes: list(object({ path: text, diff: text }), 10),
			...checked
		}).optional(),
		/** `source/name` for a link to its page, if `trust` or `missing` is set, or to a chat’s own tool. */
		skillId: text.optional(),
		/** Absent before the decision. */
		decision: object(decision.shape).optional()
	});

	const field = object({
		name: text,
		title: text,
		description: text.optional(),
		type: z.enum(['text', 'number', 'integer', 'boolean', 'choice', 'choices']),
		isRequired: z.boolean(),
		/** Of a text. */
		format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
		/** Of a choice. */
		options: list(object({ value: text, title: text }), 100).optional(),
		/** Of a number; of a text its length, of choices how many. */
		min: z.number().optional(),
		max: z.number().optional(),
		initial: z.union([text, z.number(), z.boolean(), list(text, 100)]).optional()
	});
	/** Asked of the person by an MCP server during the call: a form, a page to open, or a request to the model. */
	const question = object({
		id,
		/** The server’s name. */
		server: text,
		message: text,
		fields: list(field, 100).optional(),
		url: text.optional(),
		/** What it wants to ask the chat’s model. */
		sample: object({ prompt: text, maxTokens: count }).optional(),
		/** Absent while it’s open. What was filled in isn’t kept. */
		reply: z.enum(['accept', 'decline', 'cancel']).optional()
	});

	const execution = object({
		skill: text,
		/** Path relative to the skill’s folder. */
		script: text,
		/** Name of the tools.json tool, if it is one. */
		tool: text.optional(),
		args: list(text, 10_000),
		/** The backend that runs it, such as `process`. */
		sandbox: text,
		/** Output in order; adjacent chunks of a stream are merged. */
		output: list(object({ stream: z.enum(['stdout', 'stderr']), text }), 100_000),
		/** In the queue for a worker; `waitsFor`: on the worker, which installs something first. */
		isWaiting: z.boolean().optional(),
		waitsFor: z.enum(['packages']).optional(),
		/** Absent while running; null if a signal ended it. */
		exitCode: exit.nullable().optional(),
		durationMs: count.optional(),
		/** A stream was longer than its cap. */
		truncated: z.boolean().optional(),
		/** `path` is relative to the workspace, with `/`; `seen`: the version that the model looked at, which the step didn't make; `width` and `height` of a picture in pixels, and the `version` that was made. */
		files: list(
			object({
				path: text,
				bytes: count,
				seen: text.optional(),
				width: count.optional(),
				height: count.optional(),
				version: text.optional()
			}),
			10_000
		),
		/** A type of FEATURES D13, such as `ExecutionTimeout`. */
		error: text.optional(),
		message: text.optional(),
		/** Names it in the record of executions; absent in runs of older versions. */
		executionId: text.optional(),
		/** A tool that was defined in the chat, so there’s no skill to open. */
		isOfChat: z.boolean().optional(),
		/** What it lacked, by its own output. */
		missing: missingNeed.optional(),
		/** Refused connections: `host:port`. */
		refused: list(text, 10_000).optional()
	});

	const citation = object({
		/** http or https; absent for a file that the model's provider has. */
		url: text.optional(),
		/** '' if the model gave none. */
		title: text,
		/** What it supports, as places in the part's text. */
		start: count,
		end: count,
		/** Words of the source. */
		content: text.optional(),
		/** The provider's id of a file. */
		fileId: text.optional()
	});
	const textPart = object({
		type: z.literal('text'),
		id,
		/** Markdown in an answer, plain text in a question. */
		text,
		/** Sources of an answer. */
		citations: list(citation, 1000).optional()
	});
	const reasoningPart = object({ type: z.literal('reasoning'), id, text, done: z.boolean() });
	const toolPart = object({
		type: z.literal('tool'),
		/** The tool call's id. */
		id,
		name: text,
		/** The model’s own description of the call, if it writes calls as text. */
		headline: text.optional(),
		/** JSON text, complete after `preparing`. */
		arguments: text,
		status: z.enum(['preparing', 'waiting', 'running', 'done', 'failed', 'cancelled', 'interrupted']),
		result: text.optional(),
		loaded: object({
			skill: text,
			description: text,
			/** Absolute path of the SKILL.md. */
			path: text,
			/** Estimated, of the instructions. */
			tokens: count,
			/** Skills that it names and that couldn’t be loaded. */
			lacks: list(object({ name: text, state: z.enum(['off', 'missing']) }), 64).optional()
		}).optional(),
		execution: execution.optional(),
		questions: list(question, 100).optional(),
		/** Made by a tool of the model's server. */
		files: execution.shape.files.optional(),
		...live,
		/** The requested approval, later with its decision. A `waiting` call without it is the caller’s own tool, waiting for its result. */
		approval: approval.optional()
	});
	const compaction = object({
		id,
		removedResults: count,
		/** Messages replaced by the summary; 0 without one. */
		summarizedMessages: count,
		summary: text,
		tokensBefore: count,
		tokensAfter: count
	});
	const compactionPart = object({ type: z.literal('compaction'), ...compaction.shape });
	const part = z.discriminatedUnion('type', [textPart, reasoningPart, toolPart, compactionPart]);

	const usage = object({
		...tokens,
		/** The model asked for. */
		model: text,
		/** The model that answered last, if it was another one. */
		answeredBy: text.optional(),
		/** What the model wasn’t given of the conversation, and which fallbacks couldn’t be asked: sentences. */
		leftOut: list(text, 1000).optional(),
		notAsked: list(text, 100).optional(),
		/** The last model call. */
		lastStep: object(tokens).optional(),
		/** Time from the start of the run to its first text. */
		firstTextMs: count.optional(),
		/** How fast the model was: until the first word, thought or call of the first request, and from there. */
		firstTokenMs: count.optional(),
		tokensPerSecond: count.optional()
	});

	const context = object({
		/** The model’s context length; null if unknown. */
		limit: count.nullable(),
		system: count,
		/** List of available skills. */
		catalog: count,
		skills: count,
		tools: count,
		results: count,
		messages: count
	});

	const message = object({
		id,
		role: z.enum(['user', 'assistant']),
		/** The previous message; null for the first. */
		parentId: id.nullable(),
		/** `waiting`: for an approval. */
		status: z.enum(['running', 'waiting', 'complete', 'cancelled', 'interrupted', 'failed']),
		parts: list(part, MAX_FILE_PARTS),
		/** Workspace paths attached to a user message. */
		files: list(text, 1000),
		/** The run of an assistant message. */
		runId: z.string().nullable(),
		/** `retryAfterMs`: the wait requested by the model server, if any; `fallbacks`: ids of models that may answer instead. */
		error: object({
			code: text,
			message: text,
			retryAfterMs: count.optional(),
			fallbacks: list(text, 10).optional()
		}).nullable(),
		usage: usage.nullable(),
		/** The limit that ended the answer: model calls, cost or time of the run, or the model server’s maximum length. */
		limit: z.enum(['steps', 'cost', 'time', 'length']).nullable(),
		/** Estimated tokens of the last request, by part; null before the first step and for user messages. */
		context: context.nullable(),
		/** The current wait before a retry. */
		retry: object({ attempt: count, delayMs: count, message: text }).nullable(),
		/** Somebody found this answer not good: it’s read when a skill that it used is improved. */
		isDisliked: z.boolean().optional(),
		createdAt: text
	});
	return {
		approval,
		field,
		question,
		execution,
		citation,
		textPart,
		reasoningPart,
		toolPart,
		compaction,
		compactionPart,
		part,
		usage,
		context,
		message
	};
}

/** For the API. */
const answered = messageSchemas({
	object: z.object,
	list: (item) => z.array(item),
	count: z.number(),
	exit: z.number(),
	id: z.string(),
	// Duration so far when the conversation was read, by the server’s clock.
	live: { elapsedMs: z.number().optional() }
});
export const message = answered.message;

/** For untrusted files: refuses unknown keys, limits lists, and omits the run. */
export const fileMessage = messageSchemas({
	object: z.strictObject as unknown as typeof z.object,
	list: (item, most) => z.array(item).max(most),
	count: z.number().min(0),
	exit: z.number().int(),
	id: z.string().min(1).max(256),
	live: {} as Manner['live']
})
	.message.omit({ runId: true })
	.extend({ createdAt: z.iso.datetime() });

/** For rows of any version: keeps unknown keys of newer versions. */
export const storedMessage = messageSchemas({
	object: z.looseObject as unknown as typeof z.object,
	list: (item) => z.array(item),
	count: z.number(),
	exit: z.number(),
	id: z.string(),
	live: {} as Manner['live']
}).message;

type Answered = { [Name in keyof typeof answered]: z.infer<(typeof answered)[Name]> };

export type Message = Answered['message'];
export type Part = Answered['part'];
export type TextPart = Answered['textPart'];
export type Citation = Answered['citation'];
export type ReasoningPart = Answered['reasoningPart'];
/** A step of the timeline: a tool call and its result. */
export type ToolPart = Answered['toolPart'];
/** The history was shortened for the model; people still see all of it. */
export type CompactionPart = Answered['compactionPart'];
export type RunCompaction = Answered['compaction'];
/** A skill’s script or tool running in a tool call. */
export type Execution = Answered['execution'];
export type Approval = Answered['approval'];
export type Question = Answered['question'];
export type QuestionField = Answered['field'];
export type ApprovalRequest = Omit<Approval, 'decision'>;
/** Usage of an answer so far, from the model server. */
export type RunUsage = Answered['usage'];
export type RunContext = Answered['context'];
/** A retry after a failure without visible output. */
export type RunRetry = NonNullable<Message['retry']>;
export type ProducedFile = Execution['files'][number];

/** A skill offered to the model, with the reason for its rank (F2). */
export const offeredSkill = z.object({
	name: z.string(),
	description: z.string(),
	/** In the prompt: with its description, by name only, or omitted for lack of room. */
	told: z.enum(['full', 'name', 'omitted']),
	/** Estimated tokens in the prompt, including instructions that are always there. */
	tokens: z.number(),
	/** Set if it is offered for every question. */
	always: z.enum(['pinned', 'on']).optional(),
	/** Score for the question, comparable within a run. 0 for no match. */
	points: z.number(),
	/** Matched words by field, highest score first. */
	signals: z.array(
		z.object({
			signal: z.enum(['name', 'description', 'tag', 'trigger', 'whole name']),
			words: z.array(z.string()),
			points: z.number()
		})
	)
});
export type OfferedSkill = z.infer<typeof offeredSkill>;

/** The skills a run offered: the best `MAX_OFFERED`. */
export const skillOffer = z.object({
	skills: z.array(offeredSkill),
	/** Number of candidates. */
	total: z.number(),
	/** Estimated tokens of all skills in the prompt, including instructions that are always there. */
	tokens: z.number(),
	/** The user's own instructions, as the model got them, if there are any. */
	custom: z.object({ allChats: z.string(), thisChat: z.string() }).optional()
});
export type SkillOffer = z.infer<typeof skillOffer>;

// The file of an exported conversation. Imports refuse unknown keys.

export const FILE_FORMAT = 'openrouter-skills/conversation';
export const FILE_VERSION = 1;
export const MAX_FILE_BYTES = 20 * 1024 * 1024;
export const MAX_FILE_MESSAGES = 10_000;

/** A message without its run. */
export type FileMessage = Omit<Message, 'runId'>;

/** Parents come before their replies; `head` is the last message of the shown branch. */
export const conversationFile = z.strictObject({
	format: z.literal(FILE_FORMAT),
	version: z.literal(FILE_VERSION),
	title: z.string().trim().min(1).max(1000),
	summary: z.string().trim().max(200).optional(),
	createdAt: z.iso.datetime(),
	exportedAt: z.iso.datetime(),
	head: z.string().min(1).max(256).nullable(),
	messages: z.array(fileMessage).max(MAX_FILE_MESSAGES)
});
export type ConversationFile = z.infer<typeof conversationFile>;
