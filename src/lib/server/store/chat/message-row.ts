/** A message as its row, and back: what is not a column of its own is JSON in `body`, checked when it is read. */
import type { Insertable, Selectable } from 'kysely';
import { z } from 'zod';
import type { Message } from '../../../shared/message.ts';
import type { MessagesTable } from '../schema.ts';
import { parseJson } from '../../../shared/json.ts';

type Columns = 'id' | 'parent_id' | 'role' | 'status' | 'body' | 'run_id' | 'created_at';

/** The columns that make a Message. */
export const MESSAGE_COLUMNS = [
	'id',
	'parent_id',
	'role',
	'status',
	'body',
	'run_id',
	'created_at'
] as const satisfies Columns[];

// Loose: what a newer version wrote into a message survives an older one.
const error = z.looseObject({ code: z.string(), message: z.string() });
const execution = z.looseObject({
	skill: z.string(),
	script: z.string(),
	tool: z.string().optional(),
	args: z.array(z.string()),
	sandbox: z.string(),
	output: z.array(z.object({ stream: z.enum(['stdout', 'stderr']), text: z.string() })),
	exitCode: z.number().nullable().optional(),
	durationMs: z.number().optional(),
	truncated: z.boolean().optional(),
	files: z.array(z.looseObject({ path: z.string(), bytes: z.number() })),
	error: z.string().optional(),
	message: z.string().optional()
});
const approval = z.looseObject({
	interruptId: z.string(),
	skill: z.string(),
	script: z.string(),
	args: z.array(z.string()),
	reason: z.string(),
	digest: z.string(),
	trust: z.enum(['untrusted', 'changed']).optional(),
	missing: z.array(z.string()).optional(),
	skillId: z.string().optional(),
	decision: z
		.looseObject({ choice: z.enum(['once', 'script', 'skill', 'deny']), reason: z.string().optional() })
		.optional()
});
const part = z.discriminatedUnion('type', [
	z.looseObject({ type: z.literal('text'), id: z.string(), text: z.string() }),
	z.looseObject({ type: z.literal('reasoning'), id: z.string(), text: z.string(), done: z.boolean() }),
	z.looseObject({
		type: z.literal('tool'),
		id: z.string(),
		name: z.string(),
		arguments: z.string(),
		status: z.enum(['preparing', 'waiting', 'running', 'done', 'failed', 'cancelled', 'interrupted']),
		result: z.string().optional(),
		loaded: z
			.looseObject({ skill: z.string(), description: z.string(), path: z.string(), tokens: z.number() })
			.optional(),
		execution: execution.optional(),
		approval: approval.optional()
	}),
	z.looseObject({
		type: z.literal('compaction'),
		id: z.string(),
		removedResults: z.number(),
		summarizedMessages: z.number(),
		summary: z.string(),
		tokensBefore: z.number(),
		tokensAfter: z.number()
	})
]);
const usage = z.looseObject({
	model: z.string(),
	inputTokens: z.number(),
	outputTokens: z.number(),
	cachedTokens: z.number().optional(),
	reasoningTokens: z.number().optional(),
	cost: z.number().optional()
});
const context = z.looseObject({
	limit: z.number().nullable(),
	system: z.number(),
	catalog: z.number(),
	skills: z.number(),
	tools: z.number(),
	results: z.number(),
	messages: z.number()
});
const body: z.ZodType<Pick<Message, 'parts' | 'files' | 'error' | 'usage' | 'limit' | 'context' | 'retry'>> = z.object({
	parts: z.array(part),
	files: z.array(z.string()),
	error: error.nullable(),
	usage: usage.nullable(),
	// Absent in what was written before they came.
	limit: z.enum(['steps', 'cost', 'time', 'length']).nullable().default(null),
	context: context.nullable().default(null),
	retry: z.looseObject({ attempt: z.number(), delayMs: z.number(), message: z.string() }).nullable()
});
const head: z.ZodType<Pick<Message, 'role' | 'status'>> = z.object({
	role: z.enum(['user', 'assistant']),
	status: z.enum(['running', 'waiting', 'complete', 'cancelled', 'interrupted', 'failed'])
});

export function messageToRow(message: Message): Pick<Insertable<MessagesTable>, Columns> {
	const { id, parentId, role, status, runId, createdAt, parts, files, error, usage, limit, context, retry } = message;
	return {
		id,
		parent_id: parentId,
		role,
		status,
		body: JSON.stringify({ parts, files, error, usage, limit, context, retry }),
		run_id: runId,
		created_at: createdAt
	};
}

/** Never throws: a row that cannot be read is a failed, empty message whose error has the code `damaged`. */
export function messageFromRow(row: Pick<Selectable<MessagesTable>, Columns>): Message {
	const common = { id: row.id, parentId: row.parent_id, runId: row.run_id, createdAt: row.created_at };
	const columns = head.safeParse(row);
	const content = body.safeParse(parseJson(row.body));
	if (columns.success && content.success) return { ...common, ...columns.data, ...content.data };
	return {
		...common,
		role: row.role === 'user' ? 'user' : 'assistant',
		status: 'failed',
		parts: [],
		files: [],
		error: { code: 'damaged', message: 'This message is damaged in the database and cannot be shown.' },
		usage: null,
		limit: null,
		context: null,
		retry: null
	};
}

/** The items to show the model again; null when there are none or they cannot be read: then the parts have to do. */
export function itemsFromRow(items: string | null): unknown[] | null {
	const parsed = items === null ? null : parseJson(items);
	return Array.isArray(parsed) ? parsed : null;
}
