/** Conversations: the list and its search, titles, marks, and deletion. */
import type { ExpressionBuilder, Kysely, Transaction } from 'kysely';
import { type RawBuilder, sql, type UpdateObject } from 'kysely';
import { z } from 'zod';
import type { ChatChoices, ConversationSummary, DeletedConversation } from '../../../shared/api.ts';
import { AppError } from '../../../shared/errors.ts';
import { modelRouting } from '../../../shared/models.ts';
import type { TokenUsage } from '../../../shared/events.ts';
import { isReasoningEffort, WEB_TOOLS } from '../../../shared/names.ts';
import { cleanText } from '../errors.ts';
import { addUsage, readUsage } from './runs.ts';
import { lockConversation, locked } from '../locks.ts';
import { nothingDue } from './queue.ts';
import { type Database, hasEffect, isPostgres } from '../schema.ts';
import { findSnippets, foldText, matches, readQuery, searchOf } from './search.ts';

export interface ConversationQuery {
	/** From 1. */
	page: number;
	limit: number;
	/** Finds a part of the title or summary, or words of one message, the last of which may be incomplete. */
	query?: string;
	/** Default false: only conversations that aren't archived. */
	isArchived?: boolean;
}

/** Fields left out don't change. None of them changes `updated_at`. */
export interface ConversationMarks extends ChatChoices {
	isPinned?: boolean | undefined;
	isArchived?: boolean | undefined;
	isUnread?: boolean | undefined;
	/** Of the editor that it's open in: an absolute path. */
	folder?: string | undefined;
}

/** A deleted conversation, until its files are being removed. */
type DeletedRow = Pick<DeletedConversation, 'id' | 'title' | 'deletedAt'>;

/** Begins `deleted_at` while a server, whose id follows, removes the files; sorts before every time. */
const CLAIMED = '0 ';
/** Sorts after what is claimed, and before every time. */
const UNCLAIMED = '1';

/** A deleted conversation counts as not found, except for `create`, `restore` and the purge. */
export function createConversations(db: Kysely<Database>) {
	const search = searchOf(db);
	const summaries = db
		.selectFrom('conversations')
		.leftJoin('messages as head', (join) =>
			join.onRef('head.conversation_id', '=', 'conversations.id').onRef('head.id', '=', 'conversations.head_id')
		)
		.select(SUMMARY_COLUMNS)
		// Of answers that are written side by side, the shown one.
		.select(({ selectFrom }) =>
			selectFrom('runs')
				.select('runs.id')
				.whereRef('runs.conversation_id', '=', 'conversations.id')
				.where('runs.state', '=', 'running')
				.orderBy(sql`case when runs.message_id = conversations.head_id then 0 else 1 end`)
				.limit(1)
				.as('activeRunId')
		)
		.select(({ selectFrom }) =>
			selectFrom('runs')
				.select(({ fn }) => fn.max('runs.asks').as('asks'))
				.whereRef('runs.conversation_id', '=', 'conversations.id')
				.where('runs.state', '=', 'running')
				.as('asks')
		)
		.where('conversations.deleted_at', 'is', null);

	return {
		/** The key that created it; null without one, or if not found. */
		async apiKeyOf(id: string): Promise<string | null> {
			const row = await db.selectFrom('conversations').select('api_key_id').where('id', '=', id).executeTakeFirst();
			return row?.api_key_id ?? null;
		},

		/** @throws {AppError} `conflict` if the id is taken, also by a deleted conversation. */
		async create({
			id,
			title,
			createdAt,
			summary,
			apiKeyId
		}: {
			id: string;
			title: string;
			createdAt: string;
			summary?: string | undefined;
			apiKeyId?: string;
		}): Promise<ConversationSummary> {
			const clean = { ...titleColumns(title), ...(summary && summaryColumns(summary)) };
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
				...(clean.summary && { summary: clean.summary }),
				createdAt,
				updatedAt: createdAt,
				activeRunId: null,
				isPinned: false,
				isArchived: false,
				isUnread: false,
				isWaiting: false
			};
		},

		async get(id: string): Promise<ConversationSummary | null> {
			const row = await summaries.where('conversations.id', '=', id).executeTakeFirst();
			return row ? toSummary(row) : null;
		},

		/** Total usage of its runs, in every branch; null if unknown. */
		async usage(id: string): Promise<TokenUsage | null> {
			const row = await db.selectFrom('conversations').select('usage').where('id', '=', id).executeTakeFirst();
			return row?.usage ? readUsage(row.usage) : null;
		},

		/** Pinned first (newest pin first), then by last update, without those that have neither a title nor a message: a file was put there, and nothing sent. `total` counts all matches. */
		async list({
			page,
			limit,
			query = '',
			isArchived = false
		}: ConversationQuery): Promise<{ data: ConversationSummary[]; total: number }> {
			const sought = readQuery(query);
			const found = sought.folded === '' ? null : matches(search, sought);
			const archived = isArchived ? 'is not' : 'is';
			const before = (page - 1) * limit;
			const rows = await summaries
				.where('conversations.archived_at', archived, null)
				.where(isBegun)
				.$if(found !== null, (all) => all.where(found ?? sql<boolean>`true`))
				// The databases sort nulls differently.
				.orderBy(sql`coalesce(conversations.pinned_at, '')`, 'desc')
				.orderBy('conversations.updated_at', 'desc')
				.orderBy('conversations.id', 'desc')
				.limit(limit)
				.offset(before)
				.execute();
			const count = async () => {
				const { total } = await db
					.selectFrom('conversations')
					.select(({ fn }) => fn.countAll().as('total'))
					.where('deleted_at', 'is', null)
					.where('archived_at', archived, null)
					.where(isBegun)
					.$if(found !== null, (all) => all.where(found ?? sql<boolean>`true`))
					.executeTakeFirstOrThrow();
				return Number(total);
			};
			// A page that isn't full is the last one.
			const isLast = rows.length < limit && (rows.length > 0 || page === 1);
			const total = isLast ? before + rows.length : await count();
			const data = rows.map(toSummary);
			const snippets = await findSnippets(db, search, sought, data);
			return { data: data.map((summary) => ({ ...summary, ...snippets.get(summary.id) })), total };
		},

		/** Those with a message that were opened in an editor, in any folder or in this one; last updated first. */
		async listInFolder({
			folder,
			page,
			limit
		}: {
			folder?: string;
			page: number;
			limit: number;
		}): Promise<(ConversationSummary & { folder: string })[]> {
			const key = folder === undefined ? '"folder":"' : `"folder":${JSON.stringify(folder)}`;
			const like = `%${key.replaceAll(/[\\%_]/g, '\\$&')}%`;
			const rows = await summaries
				.select('conversations.choices')
				.where(sql<boolean>`conversations.choices like ${like} escape '\\'`)
				.where('conversations.head_id', 'is not', null)
				.where('conversations.api_key_id', 'is', null)
				.orderBy('conversations.updated_at', 'desc')
				.orderBy('conversations.id', 'desc')
				.limit(limit)
				.offset((page - 1) * limit)
				.execute();
			return rows.flatMap(({ choices, ...row }) => {
				const kept = keptChoices.safeParse(JSON.parse(choices ?? '{}')).data?.folder;
				return kept === undefined || kept !== (folder ?? kept) ? [] : { ...toSummary(row), folder: kept };
			});
		},

		/** False if not found, like `touch`, `change` and `restore`. */
		rename: (id: string, title: string, updatedAt: string): Promise<boolean> =>
			update(db, id, { ...titleColumns(title), updated_at: updatedAt }),

		/**
		 * Replaces the title while it is still `from` and the new one isn't empty; `updatedAt` stays. Sets a summary that isn't
		 * empty, and adds `used` to the conversation's usage, in any case.
		 */
		retitle: (
			id: string,
			{ from, title, summary, used }: { from: string; title: string; summary: string; used: TokenUsage | null }
		): Promise<void> =>
			db.transaction().execute(async (transaction) => {
				await lockConversation(transaction, id);
				if (summary !== '') await update(transaction, id, summaryColumns(summary));
				const changes = title === '' ? {} : titleColumns(title);
				const named = transaction.updateTable('conversations').set({ ...changes, id });
				await named.where('id', '=', id).where('title', '=', from).where('deleted_at', 'is', null).execute();
				if (used) await addUsage(transaction, id, used);
			}),

		touch: (id: string, updatedAt: string): Promise<boolean> => update(db, id, { updated_at: updatedAt }),

		/** `now` (ISO 8601) becomes the time of a new pin or archiving. */
		change: (
			id: string,
			{ isPinned, isArchived, isUnread, ...choices }: ConversationMarks,
			now: string
		): Promise<boolean> => {
			// Kysely leaves out columns that are undefined.
			const since = (column: 'pinned_at' | 'archived_at', is: boolean | undefined) =>
				is ? sql<string>`coalesce(${sql.ref(column)}, ${now})` : is === undefined ? undefined : null;
			const marks = {
				pinned_at: since('pinned_at', isPinned),
				archived_at: since('archived_at', isArchived),
				is_unread: isUnread === undefined ? undefined : Number(isUnread)
			};
			return db.transaction().execute(async (transaction) => {
				if (!(await update(transaction, id, marks))) return false;
				await keepChoices(transaction, id, choices);
				return true;
			});
		},

		/** Prevents new runs. Returns the active runs; null if not found. */
		markDeleted: (id: string, now: string): Promise<{ runIds: string[] } | null> =>
			db.transaction().execute(async (transaction) => {
				// The update locks the conversation, so a run that starts right now is either found below or refused.
				if (!(await update(transaction, id, { deleted_at: now }))) return null;
				await nothingDue(transaction, id);
				const runs = transaction.selectFrom('runs').select('id').where('conversation_id', '=', id);
				const active = await runs.where('state', '=', 'running').execute();
				return { runIds: active.map((run) => run.id) };
			}),

		/** Also true if it wasn't deleted. */
		restore: (id: string): Promise<boolean> =>
			hasEffect(
				db
					.updateTable('conversations')
					.set({ deleted_at: null })
					.where('id', '=', id)
					.where(({ eb, or }) => or([eb('deleted_at', 'is', null), eb('deleted_at', '>', UNCLAIMED)]))
			),

		isDeleted: (id: string): Promise<boolean> => isDeleted(db, id),

		/** Those that can be restored, last deleted first. `total` counts all. */
		async listDeleted({
			page,
			limit
		}: Pick<ConversationQuery, 'page' | 'limit'>): Promise<{ data: DeletedRow[]; total: number }> {
			const deleted = db.selectFrom('conversations').where('deleted_at', '>', UNCLAIMED);
			const [data, { total }] = await Promise.all([
				deleted
					.select(['id', 'title', 'deleted_at as deletedAt'])
					.$narrowType<{ deletedAt: string }>()
					.orderBy('deleted_at', 'desc')
					.orderBy('id')
					.limit(limit)
					.offset((page - 1) * limit)
					.execute(),
				deleted.select(({ fn }) => fn.countAll().as('total')).executeTakeFirstOrThrow()
			]);
			return { data, total: Number(total) };
		},

		/**
		 * Claims those deleted at `until` or before for the purge by a server, of one id if it's given, and returns their ids. They
		 * can't be restored any more. What a server has claimed that lives is left to it; its own are claimed again each time.
		 */
		async claimDeleted(until: string, by: string, id?: string): Promise<string[]> {
			const claimOf = (server: RawBuilder<string>) => sql<string>`${sql.lit(CLAIMED)} || ${server}`;
			const others = db.selectFrom('replicas').where('id', '!=', by);
			const free = db
				.selectFrom('conversations')
				.select('id')
				.where('deleted_at', '<=', until)
				.where('deleted_at', 'not in', others.select(claimOf(sql.ref('replicas.id')).as('claim')))
				.$if(id !== undefined, (all) => all.where('id', '=', id ?? ''))
				.orderBy('id')
				.modifyEnd(locked(db));
			const claim = db.updateTable('conversations').set({ deleted_at: CLAIMED + by });
			const rows = await claim.where('id', 'in', free).returning('id').execute();
			return rows.map(({ id }) => id);
		},

		/** Deletes permanently, with messages, runs and run events, even if not marked as deleted. False if not found. */
		remove: (id: string): Promise<boolean> =>
			db.transaction().execute(async (transaction) => {
				if (isPostgres(transaction)) {
					// Before what it deletes with it, in the order in which others lock it.
					await lockConversation(transaction, id, 'update');
					const runs = transaction.selectFrom('runs').select('id').where('conversation_id', '=', id).orderBy('id');
					await runs.modifyEnd(locked(transaction, 'update')).execute();
				}
				return hasEffect(transaction.deleteFrom('conversations').where('id', '=', id));
			})
	};
}

export type Conversations = ReturnType<typeof createConversations>;

function isBegun({ eb, or }: ExpressionBuilder<Database, 'conversations'>) {
	return or([eb('conversations.title', '!=', ''), eb('conversations.head_id', 'is not', null)]);
}

export async function isDeleted(db: Kysely<Database>, id: string): Promise<boolean> {
	const row = await db.selectFrom('conversations').select('deleted_at').where('id', '=', id).executeTakeFirst();
	return (row?.deleted_at ?? null) !== null;
}

/** The id of a deleted conversation stays taken. */
export function wasDeleted(): AppError {
	return new AppError('conflict', 'This conversation was deleted. Restore it to continue, or start a new one.');
}

/** What a conversation has chosen. Others than model and effort are left out if not chosen. */
export type KeptChoices = Required<Pick<ChatChoices, 'model' | 'effort'>> & z.infer<typeof keptChoices>;

/** The column `choices`. A value of a newer version counts as not chosen. */
const keptChoices = z.object({
	instructions: z.string().optional().catch(undefined),
	web: z.array(z.enum(WEB_TOOLS)).optional().catch(undefined),
	routing: modelRouting.optional().catch(undefined),
	approval: z.literal('ask').optional().catch(undefined),
	preset: z.string().optional().catch(undefined),
	folder: z.string().optional().catch(undefined)
});

export async function choiceOf(db: Kysely<Database>, conversationId: string): Promise<KeptChoices> {
	const row = await db
		.selectFrom('conversations')
		.select(['model', 'effort', 'choices'])
		.where('id', '=', conversationId)
		.executeTakeFirst();
	// A value of a newer version counts as not chosen.
	const effort = row?.effort;
	const others = keptChoices.safeParse(JSON.parse(row?.choices ?? '{}')).data;
	return { model: row?.model ?? null, effort: isReasoningEffort(effort) ? effort : null, ...others };
}

/** The conversation's row must be locked by an earlier statement. */
export async function keepChoices(
	transaction: Transaction<Database>,
	conversationId: string,
	{ model, effort, ...others }: ChatChoices & Pick<ConversationMarks, 'folder'>
): Promise<void> {
	const changed = Object.entries(others).filter(([, value]) => value !== undefined);
	if (model === undefined && effort === undefined && changed.length === 0) return;
	const kept = changed.length === 0 ? undefined : await choiceOf(transaction, conversationId);
	const { model: _model, effort: _effort, ...before } = kept ?? {};
	const after = Object.entries({ ...before, ...Object.fromEntries(changed) }).filter(
		([, value]) => value !== null && value !== ''
	);
	const choices = after.length === 0 ? null : JSON.stringify(Object.fromEntries(after));
	const columns = { model, effort, choices: kept ? choices : undefined };
	await transaction.updateTable('conversations').set(columns).where('id', '=', conversationId).execute();
}

/** A title as shown, and as searched. */
export function titleColumns(title: string): { title: string; folded_title: string } {
	const clean = cleanText(title);
	return { title: clean, folded_title: foldText(clean) };
}

function summaryColumns(summary: string): { summary: string; folded_summary: string } {
	const clean = cleanText(summary);
	return { summary: clean, folded_summary: foldText(clean) };
}

const SUMMARY_COLUMNS = [
	'conversations.id',
	'conversations.title',
	'conversations.summary',
	'conversations.created_at as createdAt',
	'conversations.updated_at as updatedAt',
	'conversations.pinned_at as pinnedAt',
	'conversations.archived_at as archivedAt',
	'conversations.is_unread as unread',
	'head.status as headStatus'
] as const;

interface SummaryRow {
	id: string;
	title: string;
	summary: string | null;
	createdAt: string;
	updatedAt: string;
	pinnedAt: string | null;
	archivedAt: string | null;
	unread: number;
	/** Status of the last shown message. */
	headStatus: string | null;
	activeRunId: string | null;
	/** 1: a tool of its runs asks something. */
	asks: number | null;
}

function toSummary({
	summary,
	pinnedAt,
	archivedAt,
	unread,
	headStatus,
	asks,
	...row
}: SummaryRow): ConversationSummary {
	const marks = { isPinned: pinnedAt !== null, isArchived: archivedAt !== null, isUnread: unread !== 0 };
	return { ...row, ...(summary && { summary }), ...marks, isWaiting: headStatus === 'waiting' || asks === 1 };
}

async function update(
	db: Kysely<Database>,
	id: string,
	changes: UpdateObject<Database, 'conversations'>
): Promise<boolean> {
	return hasEffect(
		db
			.updateTable('conversations')
			// `id` so that the statement is never empty.
			.set({ ...changes, id })
			.where('id', '=', id)
			.where('deleted_at', 'is', null)
	);
}
