/** Converts messages to rows and back. Fields without a column are JSON in `body`, validated when read. */
import type { Insertable, Selectable } from 'kysely';
import { z } from 'zod';
import type { Message } from '../../../shared/message.ts';
import { storedMessage } from '../../../shared/message-schema.ts';
import type { MessagesTable } from '../schema.ts';
import { parseJson } from '../../../shared/json.ts';

type Columns = 'id' | 'parent_id' | 'role' | 'status' | 'body' | 'run_id' | 'created_at';

/** The columns of a Message. */
export const MESSAGE_COLUMNS = [
	'id',
	'parent_id',
	'role',
	'status',
	'body',
	'run_id',
	'created_at'
] as const satisfies Columns[];

type Body = 'parts' | 'files' | 'error' | 'usage' | 'limit' | 'context' | 'retry' | 'isDisliked';
const body: z.ZodType<Pick<Message, Body>> =
	// Ignores fields that have a column.
	z.object({
		...storedMessage.pick({ parts: true, files: true, error: true, usage: true, retry: true, isDisliked: true }).shape,
		// Missing in older messages.
		limit: storedMessage.shape.limit.default(null),
		context: storedMessage.shape.context.default(null)
	});
const head: z.ZodType<Pick<Message, 'role' | 'status'>> = z.object({
	role: storedMessage.shape.role,
	status: storedMessage.shape.status
});

export function messageToRow(message: Message): Pick<Insertable<MessagesTable>, Columns | 'cost'> {
	const {
		id,
		parentId,
		role,
		status,
		runId,
		createdAt,
		parts,
		files,
		error,
		usage,
		limit,
		context,
		retry,
		isDisliked
	} = message;
	return {
		id,
		parent_id: parentId,
		role,
		status,
		body: JSON.stringify({ parts, files, error, usage, limit, context, retry, isDisliked }),
		run_id: runId,
		cost: usage?.cost ?? null,
		created_at: createdAt
	};
}

/** Never throws: an unreadable row becomes a failed, empty message with the error code `damaged`. */
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
		error: { code: 'damaged', message: 'This message is damaged and can’t be shown.' },
		usage: null,
		limit: null,
		context: null,
		retry: null
	};
}

/** The items to send to the model again; null if there are none or they can't be read. */
export function itemsFromRow(items: string | null): unknown[] | null {
	const parsed = items === null ? null : parseJson(items);
	return Array.isArray(parsed) ? parsed : null;
}
