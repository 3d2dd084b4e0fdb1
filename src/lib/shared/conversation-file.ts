/** A conversation as a file: what an export writes, and all that an import takes. Unknown keys are refused. */
import { z } from 'zod';
import type { Message } from './message.ts';

export const FILE_FORMAT = 'openrouter-skills/conversation';
export const FILE_VERSION = 1;
export const MAX_FILE_BYTES = 20 * 1024 * 1024;
export const MAX_FILE_MESSAGES = 10_000;
export const MAX_FILE_PARTS = 5_000;

/** A message without its run: that stays where it ran. */
export type FileMessage = Omit<Message, 'runId'>;

const id = z.string().min(1).max(256);
const text = z.string();
const count = z.number().finite().min(0);
const texts = (max: number) => z.array(text).max(max);
const time = z.iso.datetime();

const producedFile = z.strictObject({ path: text, bytes: count });
const decision = z.strictObject({ choice: z.enum(['once', 'script', 'skill', 'deny']), reason: text.optional() });

const execution = z.strictObject({
	skill: text,
	script: text,
	tool: text.optional(),
	args: texts(10_000),
	sandbox: text,
	output: z.array(z.strictObject({ stream: z.enum(['stdout', 'stderr']), text })).max(100_000),
	exitCode: z.number().int().nullable().optional(),
	durationMs: count.optional(),
	truncated: z.boolean().optional(),
	files: z.array(producedFile).max(10_000),
	error: text.optional(),
	message: text.optional(),
	executionId: text.optional(),
	refused: texts(10_000).optional()
});

const approval = z.strictObject({
	interruptId: id,
	skill: text,
	script: text,
	args: texts(10_000),
	reason: text,
	digest: text,
	trust: z.enum(['untrusted', 'changed']).optional(),
	missing: texts(1000).optional(),
	skillId: text.optional(),
	decision: decision.optional()
});

const part = z.discriminatedUnion('type', [
	z.strictObject({ type: z.literal('text'), id, text }),
	z.strictObject({ type: z.literal('reasoning'), id, text, done: z.boolean() }),
	z.strictObject({
		type: z.literal('tool'),
		id,
		name: text,
		headline: text.optional(),
		arguments: text,
		status: z.enum(['preparing', 'waiting', 'running', 'done', 'failed', 'cancelled', 'interrupted']),
		result: text.optional(),
		loaded: z.strictObject({ skill: text, description: text, path: text, tokens: count }).optional(),
		execution: execution.optional(),
		approval: approval.optional()
	}),
	z.strictObject({
		type: z.literal('compaction'),
		id,
		removedResults: count,
		summarizedMessages: count,
		summary: text,
		tokensBefore: count,
		tokensAfter: count
	})
]);

const tokens = {
	inputTokens: count,
	outputTokens: count,
	cachedTokens: count.optional(),
	reasoningTokens: count.optional(),
	cost: count.optional()
};

export const fileMessage = z.strictObject({
	id,
	role: z.enum(['user', 'assistant']),
	parentId: id.nullable(),
	status: z.enum(['running', 'waiting', 'complete', 'cancelled', 'interrupted', 'failed']),
	parts: z.array(part).max(MAX_FILE_PARTS),
	files: texts(1000),
	error: z.strictObject({ code: text, message: text }).nullable(),
	usage: z
		.strictObject({
			...tokens,
			model: text,
			lastStep: z.strictObject(tokens).optional(),
			firstTextMs: count.optional()
		})
		.nullable(),
	limit: z.enum(['steps', 'cost', 'time', 'length']).nullable(),
	context: z
		.strictObject({
			limit: count.nullable(),
			system: count,
			catalog: count,
			skills: count,
			tools: count,
			results: count,
			messages: count
		})
		.nullable(),
	retry: z.strictObject({ attempt: count, delayMs: count, message: text }).nullable(),
	createdAt: time
});

/** Parents stand before the messages that follow them; `head` is the last message of the branch that is shown. */
export const conversationFile = z.strictObject({
	format: z.literal(FILE_FORMAT),
	version: z.literal(FILE_VERSION),
	title: z.string().trim().min(1).max(1000),
	createdAt: time,
	exportedAt: time,
	head: id.nullable(),
	messages: z.array(fileMessage).max(MAX_FILE_MESSAGES)
});

export type ConversationFile = z.infer<typeof conversationFile>;
