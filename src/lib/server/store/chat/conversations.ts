/** Conversations: their titles, their order in the list, what people make of them, and which of them a run is working on. */
import type { Kysely } from 'kysely';
import { sql, type UpdateObject } from 'kysely';
import type { ConversationSummary } from '../../../shared/api.ts';
import { AppError } from '../../../shared/errors.ts';
import type { TokenUsage } from '../../../shared/events.ts';
import type { ReasoningEffort } from '../../../shared/names.ts';
import { cleanText } from '../errors.ts';
import { readUsage } from './runs.ts';
import type { Database } from '../schema.ts';
import { findSnippets, matches, searchOf } from './search.ts';
import { foldText, readQuery } from './search-words.ts';

/** One page of the list; `page` counts from 1. */
export interface ConversationQuery {
	page: number;
	limit: number;
	/** Any text: a part of the title, or words of one message, the last of them perhaps only begun. */
	query?: string;
	/** Those that are archived, in place of those that are not. */
	isArchived?: boolean;
}

/** What is left out stays as it is. None of it makes a conversation newer. */
export interface ConversationMarks {
	isPinned?: boolean | undefined;
	isArchived?: boolean | undefined;
	isUnread?: boolean | undefined;
	/** What answers in it; null for what the settings say. */
	model?: string | null | undefined;
	effort?: ReasoningEffort | null | undefined;
}

/** One that is deleted counts as not there for all but `create`, `restore` and what is for the purge. */
export interface Conversations {
	/** The key that began it; null for none, and for a conversation that is not there. */
	apiKeyOf(id: string): Promise<string | null>;
	/** @throws {AppError} `conflict` when the id is taken, also by one that is deleted. */
	create(conversation: {
		id: string;
		title: string;
		createdAt: string;
		apiKeyId?: string;
	}): Promise<ConversationSummary>;
	/** null when there is none. */
	get(id: string): Promise<ConversationSummary | null>;
	/** What all runs of it have used together, in every branch; null when none has said. */
	usage(id: string): Promise<TokenUsage | null>;
	/** Pinned ones first, the newest pin before the others, then the newest update; `total` counts all that match, not the page. */
	list(query: ConversationQuery): Promise<{ data: ConversationSummary[]; total: number }>;
	/** False when there is no such conversation; so are `touch`, `change` and `restore`. */
	rename(id: string, title: string, updatedAt: string): Promise<boolean>;
	touch(id: string, updatedAt: string): Promise<boolean>;
	/** `now` (ISO 8601) is since when it is pinned or archived, where it was not before. */
	change(id: string, changes: ConversationMarks, now: string): Promise<boolean>;
	/** From here on no run starts in it. Returns the run that is under way, if any; null when there is no such conversation. */
	markDeleted(id: string, now: string): Promise<{ activeRunId: string | null } | null>;
	/** True also when it was not deleted. */
	restore(id: string): Promise<boolean>;
	isDeleted(id: string): Promise<boolean>;
	/** Ids of what was deleted at `until` or before; from here on they cannot be restored. */
	claimDeleted(until: string): Promise<string[]>;
	/** For good, with its messages, runs and run events. False when there is none; one that is not deleted goes as well. */
	remove(id: string): Promise<boolean>;
}

/** Stands in `deleted_at` while the files of a conversation are being removed: earlier than every time. */
const CLAIMED = '0';

export function createConversations(db: Kysely<Database>): Conversations {
	const search = searchOf(db);
	const summaries = () =>
		db
			.selectFrom('conversations')
			// At most one run of a conversation is running, so the join adds no rows.
			.leftJoin('runs', (join) =>
				join.onRef('runs.conversation_id', '=', 'conversations.id').on('runs.state', '=', 'running')
			)
			.leftJoin('messages as head', (join) =>
				join.onRef('head.conversation_id', '=', 'conversations.id').onRef('head.id', '=', 'conversations.head_id')
			)
			.select(SUMMARY_COLUMNS)
			.where('conversations.deleted_at', 'is', null);

	return {
		async apiKeyOf(id) {
			const row = await db.selectFrom('conversations').select('api_key_id').where('id', '=', id).executeTakeFirst();
			return row?.api_key_id ?? null;
		},

		async create({ id, title, createdAt, apiKeyId }) {
			const clean = titleColumns(title);
			const { numInsertedOrUpdatedRows } = await db
				.insertInto('conversations')
				.values({ id, ...clean, api_key_id: apiKeyId ?? null, created_at: createdAt, updated_at: createdAt })
				.onConflict((conflict) => conflict.column('id').doNothing())
				.executeTakeFirstOrThrow();
			if (numInsertedOrUpdatedRows === 0n) {
				throw (await isDeleted(db, id))
					? wasDeleted()
					: new AppError('conflict', `The conversation ${id} already exists. Choose another id.`);
			}
			return {
				id,
				title: clean.title,
				createdAt,
				updatedAt: createdAt,
				activeRunId: null,
				isPinned: false,
				isArchived: false,
				isUnread: false,
				isWaiting: false
			};
		},

		async get(id) {
			const row = await summaries().where('conversations.id', '=', id).executeTakeFirst();
			return row ? toSummary(row) : null;
		},

		async usage(id) {
			const row = await db.selectFrom('conversations').select('usage').where('id', '=', id).executeTakeFirst();
			return row?.usage ? readUsage(row.usage) : null;
		},

		async list({ page, limit, query = '', isArchived = false }) {
			const sought = readQuery(query);
			const found = sought.folded === '' ? null : matches(search, sought);
			const archived = isArchived ? 'is not' : 'is';
			const [rows, { total }] = await Promise.all([
				summaries()
					.where('conversations.archived_at', archived, null)
					.$if(found !== null, (all) => all.where(found ?? sql<boolean>`true`))
					// Pinned ones first, in both databases alike: they order nulls differently.
					.orderBy(sql`coalesce(conversations.pinned_at, '')`, 'desc')
					.orderBy('conversations.updated_at', 'desc')
					.orderBy('conversations.id', 'desc')
					.limit(limit)
					.offset((page - 1) * limit)
					.execute(),
				db
					.selectFrom('conversations')
					.select(({ fn }) => fn.countAll().as('total'))
					.where('deleted_at', 'is', null)
					.where('archived_at', archived, null)
					.$if(found !== null, (all) => all.where(found ?? sql<boolean>`true`))
					.executeTakeFirstOrThrow()
			]);
			const data = rows.map(toSummary);
			const snippets = await findSnippets(db, search, sought, data);
			return { data: data.map((summary) => ({ ...summary, ...snippets.get(summary.id) })), total: Number(total) };
		},

		rename: (id, title, updatedAt) => update(db, id, { ...titleColumns(title), updated_at: updatedAt }),

		touch: (id, updatedAt) => update(db, id, { updated_at: updatedAt }),

		change: (id, { isPinned, isArchived, isUnread, model, effort }, now) => {
			const since = (column: 'pinned_at' | 'archived_at', is: boolean | undefined) =>
				is === undefined ? {} : { [column]: is ? sql<string>`coalesce(${sql.ref(column)}, ${now})` : null };
			return update(db, id, {
				...since('pinned_at', isPinned),
				...since('archived_at', isArchived),
				...(isUnread === undefined ? {} : { is_unread: isUnread ? 1 : 0 }),
				...(model === undefined ? {} : { model }),
				...(effort === undefined ? {} : { effort })
			});
		},

		markDeleted: (id, now) =>
			db.transaction().execute(async (transaction) => {
				// The update locks the conversation: a run that starts at this moment is seen, or sees that it is deleted.
				if (!(await update(transaction, id, { deleted_at: now }))) return null;
				const runs = transaction.selectFrom('runs').select('id').where('conversation_id', '=', id);
				const run = await runs.where('state', '=', 'running').executeTakeFirst();
				return { activeRunId: run?.id ?? null };
			}),

		async restore(id) {
			const { numUpdatedRows } = await db
				.updateTable('conversations')
				.set({ deleted_at: null })
				.where('id', '=', id)
				.where(({ eb, or }) => or([eb('deleted_at', 'is', null), eb('deleted_at', '!=', CLAIMED)]))
				.executeTakeFirstOrThrow();
			return numUpdatedRows > 0n;
		},

		isDeleted: (id) => isDeleted(db, id),

		async claimDeleted(until) {
			const rows = await db
				.updateTable('conversations')
				.set({ deleted_at: CLAIMED })
				.where('deleted_at', '<=', until)
				.returning('id')
				.execute();
			return rows.map(({ id }) => id);
		},

		async remove(id) {
			const { numDeletedRows } = await db.deleteFrom('conversations').where('id', '=', id).executeTakeFirstOrThrow();
			return numDeletedRows > 0n;
		}
	};
}

export async function isDeleted(db: Kysely<Database>, id: string): Promise<boolean> {
	const row = await db.selectFrom('conversations').select('deleted_at').where('id', '=', id).executeTakeFirst();
	return (row?.deleted_at ?? null) !== null;
}

/** Its id is taken, so that neither a new conversation nor a new message can have it, and the way out is to restore it. */
export function wasDeleted(): AppError {
	return new AppError('conflict', 'This conversation was deleted. Restore it to continue, or start a new one.');
}

/** Of a title that somebody gave: as it is shown, and as it is searched. */
export function titleColumns(title: string): { title: string; folded_title: string } {
	const clean = cleanText(title);
	return { title: clean, folded_title: foldText(clean) };
}

const SUMMARY_COLUMNS = [
	'conversations.id',
	'conversations.title',
	'conversations.created_at as createdAt',
	'conversations.updated_at as updatedAt',
	'conversations.pinned_at as pinnedAt',
	'conversations.archived_at as archivedAt',
	'conversations.is_unread as unread',
	'head.status as headStatus',
	'runs.id as activeRunId'
] as const;

interface SummaryRow {
	id: string;
	title: string;
	createdAt: string;
	updatedAt: string;
	pinnedAt: string | null;
	archivedAt: string | null;
	unread: number;
	/** Of the last message that is shown. */
	headStatus: string | null;
	activeRunId: string | null;
}

function toSummary({ pinnedAt, archivedAt, unread, headStatus, ...row }: SummaryRow): ConversationSummary {
	const marks = { isPinned: pinnedAt !== null, isArchived: archivedAt !== null, isUnread: unread !== 0 };
	return { ...row, ...marks, isWaiting: headStatus === 'waiting' };
}

async function update(
	db: Kysely<Database>,
	id: string,
	changes: UpdateObject<Database, 'conversations'>
): Promise<boolean> {
	const { numUpdatedRows } = await db
		.updateTable('conversations')
		// An update of nothing is no statement.
		.set({ ...changes, id })
		.where('id', '=', id)
		.where('deleted_at', 'is', null)
		.executeTakeFirstOrThrow();
	return numUpdatedRows > 0n;
}
