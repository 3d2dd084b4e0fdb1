/** What a message is, said once: as the API answers it, as a file of a conversation holds it, and as a row of the database is read. */
import { z } from 'zod';

/** Figures of tokens as a model's server counted them. */
export const tokenUsage = z.object({
	inputTokens: z.number(),
	outputTokens: z.number(),
	cachedTokens: z.number().optional(),
	reasoningTokens: z.number().optional(),
	/** USD. */
	cost: z.number().optional()
});
export type TokenUsage = z.infer<typeof tokenUsage>;

/** `once`: this call; `script`, `skill`: also every later one, as long as the skill's files stay the same. */
export const decision = z.strictObject({
	choice: z.enum(['once', 'script', 'skill', 'deny']),
	/** Why not; the model reads it. */
	reason: z.string().optional()
});
export type ApprovalDecision = z.infer<typeof decision>;

/** What `messageSchemas` makes: objects that refuse, drop or keep what they do not know, and lists that may be bounded. */
interface Manner {
	object: typeof z.object;
	list: <Item extends z.ZodType>(item: Item, most: number) => z.ZodArray<Item>;
	count: z.ZodNumber;
	/** A program's exit code. */
	exit: z.ZodNumber;
	id: z.ZodString;
	/** What is known only while a call is under way, and is in no file and no row. */
	live: { elapsedMs: z.ZodOptional<z.ZodNumber> };
}

export const MAX_FILE_PARTS = 5_000;

/** The whole of a message, in one manner. */
function messageSchemas({ object, list, count, exit, id, live }: Manner) {
	const text = z.string();
	const tokens = {
		inputTokens: count,
		outputTokens: count,
		cachedTokens: count.optional(),
		reasoningTokens: count.optional(),
		/** USD. */
		cost: count.optional()
	};

	const approval = object({
		/** AG-UI's id of the question. */
		interruptId: id,
		skill: text,
		/** Script path relative to the skill's folder, or the name of a tools.json tool. */
		script: text,
		args: list(text, 10_000),
		/** Why it asks, in a sentence. */
		reason: text,
		/** Of the skill's files, as they were when it was asked. */
		digest: text,
		/** Why nothing of the skill runs unasked, or for good; absent for a trusted one. */
		trust: z.enum(['untrusted', 'changed']).optional(),
		/** Variables that the skill declares and nobody has set. */
		missing: list(text, 1000).optional(),
		/** `source/name`, where `trust` or `missing` is there: names its page. */
		skillId: text.optional(),
		/** Absent while nobody has decided. */
		decision: object(decision.shape).optional()
	});

	const execution = object({
		skill: text,
		script: text,
		tool: text.optional(),
		args: list(text, 10_000),
		sandbox: text,
		/** Live output in the order it came; neighbours of one stream are one chunk. */
		output: list(object({ stream: z.enum(['stdout', 'stderr']), text }), 100_000),
		/** Absent while it runs; null when a signal ended it. */
		exitCode: exit.nullable().optional(),
		durationMs: count.optional(),
		truncated: z.boolean().optional(),
		/** `path` is relative to the conversation's workspace, with `/`. */
		files: list(object({ path: text, bytes: count }), 10_000),
		error: text.optional(),
		message: text.optional(),
		executionId: text.optional(),
		/** Connections that were refused, `host:port`. */
		refused: list(text, 10_000).optional()
	});

	const textPart = object({
		type: z.literal('text'),
		id,
		/** Markdown in an answer, plain text in a question. */
		text
	});
	const reasoningPart = object({ type: z.literal('reasoning'), id, text, done: z.boolean() });
	const toolPart = object({
		type: z.literal('tool'),
		/** The tool call's id. */
		id,
		name: text,
		/** What the call is about, in the words of a model that writes its calls as text. */
		headline: text.optional(),
		/** JSON text, complete once the status has left `preparing`. */
		arguments: text,
		status: z.enum(['preparing', 'waiting', 'running', 'done', 'failed', 'cancelled', 'interrupted']),
		/** What the model read. */
		result: text.optional(),
		loaded: object({ skill: text, description: text, path: text, tokens: count }).optional(),
		execution: execution.optional(),
		...live,
		/**
		 * What is to be allowed, while the status is `waiting`; afterwards what was decided. One that waits without it is a
		 * call of the caller's own tool, which waits for its result.
		 */
		approval: approval.optional()
	});
	const compaction = object({
		id,
		/** Old results that were left out. */
		removedResults: count,
		/** Messages that a summary stands for; 0 when there is none. */
		summarizedMessages: count,
		summary: text,
		tokensBefore: count,
		tokensAfter: count
	});
	const compactionPart = object({ type: z.literal('compaction'), ...compaction.shape });
	const part = z.discriminatedUnion('type', [textPart, reasoningPart, toolPart, compactionPart]);

	const usage = object({
		...tokens,
		model: text,
		/** Of the last model call alone. */
		lastStep: object(tokens).optional(),
		/** From the beginning of the run to its first text; absent while there is none. */
		firstTextMs: count.optional()
	});

	const context = object({
		/** The model's context length; null where it is not known. */
		limit: count.nullable(),
		system: count,
		/** What the model was told of the skills there are. */
		catalog: count,
		/** Instructions of skills that were loaded. */
		skills: count,
		tools: count,
		/** Results of other tools. */
		results: count,
		/** What people and the model said. */
		messages: count
	});

	const message = object({
		id,
		role: z.enum(['user', 'assistant']),
		/** The message that it follows; null for a first one. */
		parentId: id.nullable(),
		/** `waiting`: for somebody to allow or deny a call. */
		status: z.enum(['running', 'waiting', 'complete', 'cancelled', 'interrupted', 'failed']),
		parts: list(part, MAX_FILE_PARTS),
		/** Workspace paths that came with a user's message. */
		files: list(text, 1000),
		/** The run that writes, or wrote, an assistant's message. */
		runId: z.string().nullable(),
		/** `retryAfterMs`: how long the model's server asks to wait, where it says so. */
		error: object({ code: text, message: text, retryAfterMs: count.optional() }).nullable(),
		usage: usage.nullable(),
		/** What ended an answer that might have gone on: model calls, cost or time of one run, or the length that the model's server allows. */
		limit: z.enum(['steps', 'cost', 'time', 'length']).nullable(),
		/** Estimated tokens of what the model was last sent, by part; null before the first step and for a user's message. */
		context: context.nullable(),
		/** The wait before the model is asked again, while there is one. */
		retry: object({ attempt: count, delayMs: count, message: text }).nullable(),
		/** ISO 8601. */
		createdAt: text
	});
	return {
		approval,
		execution,
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

/** As the API answers it. */
const answered = messageSchemas({
	object: z.object,
	list: (item) => z.array(item),
	count: z.number(),
	exit: z.number(),
	id: z.string(),
	// How long the call had been under way when the conversation was read, by the server's clock.
	live: { elapsedMs: z.number().optional() }
});
export const message = answered.message;

/** As a file holds it, which anybody may have written: nothing unknown, and nothing without end. A run stays where it ran. */
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

/** As a row of any version holds it: what a newer version wrote into it survives an older one. */
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
export type ReasoningPart = Answered['reasoningPart'];
/** One step of the timeline: a call that the model made, and what came of it. */
export type ToolPart = Answered['toolPart'];
/** The beginning of the conversation was made shorter for the model; people still see all of it. */
export type CompactionPart = Answered['compactionPart'];
/** How the history was made to fit. */
export type RunCompaction = Answered['compaction'];
/** A run of a skill's script or tools.json tool inside a tool call. */
export type Execution = Answered['execution'];
/** A call that runs only when somebody allows it. */
export type Approval = Answered['approval'];
/** What a call that needs somebody's consent would do. */
export type ApprovalRequest = Omit<Approval, 'decision'>;
/** Figures of one answer so far; tokens as the model's server counted them, cost when it says. */
export type RunUsage = Answered['usage'];
export type RunContext = Answered['context'];
/** The model is asked again after a failure that nothing had been shown of. */
export type RunRetry = NonNullable<Message['retry']>;
/** A file that a script created or changed. */
export type ProducedFile = Execution['files'][number];

/** One skill of those that a run told the model of, and why it stands where it does (FEATURES F2). */
export const offeredSkill = z.object({
	name: z.string(),
	description: z.string(),
	/** How it was told: with its description, by name alone, or not at all because there was no room. */
	told: z.enum(['full', 'name', 'omitted']),
	/** Estimated tokens of what was told of it, its instructions included where they are always there. */
	tokens: z.number(),
	/** Why it was offered whatever was asked; absent for most. */
	always: z.enum(['pinned', 'on']).optional(),
	/** Of the ranking against the question; comparable within one run. 0: no word of the question fits. */
	points: z.number(),
	/** Where the points come from, most first: words of the question, by the field that they were found in. */
	signals: z.array(
		z.object({
			signal: z.enum(['name', 'description', 'tag', 'trigger', 'whole name']),
			words: z.array(z.string()),
			points: z.number()
		})
	)
});
export type OfferedSkill = z.infer<typeof offeredSkill>;

/** What a run offered; of many skills the best `MAX_OFFERED`. */
export const skillOffer = z.object({
	skills: z.array(offeredSkill),
	/** All that could have been offered. */
	total: z.number(),
	/** Estimated tokens of all that the model was told of skills, and of the instructions that are always there. */
	tokens: z.number()
});
export type SkillOffer = z.infer<typeof skillOffer>;
