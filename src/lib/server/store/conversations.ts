/** Conversations: their titles, their order in the list, and which of them a run is working on. */
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { ConversationSummary } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { TokenUsage } from '../../shared/events.ts';
import { cleanText } from './clean-text.ts';
import { readUsage } from './run-events.ts';
import type { Database } from './schema.ts';

/** One page of the list; `page` counts from 1. `query` is a part of the title, in any case; `%` and `_` are themselves. */
export interface ConversationQuery {
	page: number;
	limit: number;
	query?: string;
}

export interface Conversations {
	/** @throws {AppError} `conflict` when the id is taken. */
	create(conversation: { id: string; title: string; createdAt: string }): Promise<ConversationSummary>;
	/** null when there is none. */
	get(id: string): Promise<ConversationSummary | null>;
	/** What all runs of it have used together, in every branch; null when none has said. */
	usage(id: string): Promise<TokenUsage | null>;
	/** Newest update first; `total` counts all that match, not the page. */
	list(query: ConversationQuery): Promise<{ data: ConversationSummary[]; total: number }>;
	/** False when there is no such conversation; so are `touch` and `remove`. */
	rename(id: string, title: string, updatedAt: string): Promise<boolean>;
	touch(id: string, updatedAt: string): Promise<boolean>;
	/** With its messages, runs and run events. */
	remove(id: string): Promise<boolean>;
}

export function createConversations(db: Kysely<Database>): Conversations {
	const summaries = () =>
		db
			.selectFrom('conversations')
			// At most one run of a conversation is running, so the join adds no rows.
			.leftJoin('runs', (join) =>
				join.onRef('runs.conversation_id', '=', 'conversations.id').on('runs.state', '=', 'running')
			)
			.select([
				'conversations.id',
				'conversations.title',
				'conversations.created_at as createdAt',
				'conversations.updated_at as updatedAt',
				'runs.id as activeRunId'
			]);

	return {
		async create({ id, title, createdAt }) {
			const row = { id, title: cleanText(title), created_at: createdAt, updated_at: createdAt };
			const { numInsertedOrUpdatedRows } = await db
				.insertInto('conversations')
				.values(row)
				.onConflict((conflict) => conflict.column('id').doNothing())
				.executeTakeFirstOrThrow();
			if (numInsertedOrUpdatedRows === 0n) {
				throw new AppError('conflict', `The conversation ${id} exists already. Choose another id.`);
			}
			return { id, title: row.title, createdAt, updatedAt: createdAt, activeRunId: null };
		},

		async get(id) {
			const row = await summaries().where('conversations.id', '=', id).executeTakeFirst();
			return row ? { ...row } : null;
		},

		async usage(id) {
			const row = await db.selectFrom('conversations').select('usage').where('id', '=', id).executeTakeFirst();
			return row?.usage ? readUsage(row.usage) : null;
		},

		async list({ page, limit, query = '' }) {
			const text = cleanText(query);
			const [rows, { total }] = await Promise.all([
				summaries()
					.$if(text !== '', (found) => found.where(titleContains(text)))
					.orderBy('conversations.updated_at', 'desc')
					.orderBy('conversations.id', 'desc')
					.limit(limit)
					.offset((page - 1) * limit)
					.execute(),
				db
					.selectFrom('conversations')
					.select(({ fn }) => fn.countAll().as('total'))
					.$if(text !== '', (found) => found.where(titleContains(text)))
					.executeTakeFirstOrThrow()
			]);
			return { data: rows.map((row) => ({ ...row })), total: Number(total) };
		},

		rename: (id, title, updatedAt) => update(db, id, { title: cleanText(title), updated_at: updatedAt }),

		touch: (id, updatedAt) => update(db, id, { updated_at: updatedAt }),

		async remove(id) {
			const { numDeletedRows } = await db.deleteFrom('conversations').where('id', '=', id).executeTakeFirstOrThrow();
			return numDeletedRows > 0n;
		}
	};
}

async function update(
	db: Kysely<Database>,
	id: string,
	changes: { title?: string; updated_at: string }
): Promise<boolean> {
	const { numUpdatedRows } = await db
		.updateTable('conversations')
		.set(changes)
		.where('id', '=', id)
		.executeTakeFirstOrThrow();
	return numUpdatedRows > 0n;
}

function titleContains(text: string) {
	const pattern = `%${text.replaceAll(/[!%_]/g, '!$&')}%`;
	return sql<boolean>`lower(conversations.title) like lower(cast(${pattern} as text)) escape '!'`;
}
