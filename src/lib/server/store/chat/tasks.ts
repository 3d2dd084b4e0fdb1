/** Tasks, as programs see them: an answer with the runs that wrote it. And where to tell of their progress (A2A, E16). */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { MessageStatus } from '../../../shared/message.ts';
import { locked } from '../locks.ts';
import { type Database, hasEffect } from '../schema.ts';

export interface TaskQuery {
	/** Only tasks of this key; null: of everybody. */
	apiKeyId: string | null;
	contextId?: string | undefined;
	/** Empty: none. */
	statuses?: readonly MessageStatus[] | undefined;
	/** ISO 8601 in UTC, inclusive. */
	since?: string | undefined;
	/** The last of the previous page. */
	after?: TaskPlace | undefined;
	limit: number;
}

/** The place of a task in the list: when its status changed last, and its latest run. */
export interface TaskPlace {
	at: string;
	runId: string;
}

export interface TaskRow extends TaskPlace {
	/** Id of the run that started the answer. */
	taskId: string;
}

/** Where one program wants to be told of one task. */
export interface TaskPush {
	contextId: string;
	/** The answer. */
	messageId: string;
	id: string;
	/** As the program named it. */
	taskId: string;
	/** Encrypted. */
	sealed: string;
	/** Whether there is something to tell yet. */
	isOpen: boolean;
}

const statusTime = sql<string>`coalesce(runs.finished_at, runs.started_at)`;

export function createTasks(db: Kysely<Database>) {
	const matching = ({ apiKeyId, contextId, statuses, since }: Omit<TaskQuery, 'after' | 'limit'>) => {
		let query = db
			.selectFrom('runs')
			.innerJoin('messages', (join) =>
				join
					.onRef('messages.conversation_id', '=', 'runs.conversation_id')
					.onRef('messages.id', '=', 'runs.message_id')
					.onRef('messages.run_id', '=', 'runs.id')
			)
			.innerJoin('conversations', 'conversations.id', 'runs.conversation_id')
			.where('conversations.deleted_at', 'is', null);
		if (apiKeyId !== null) query = query.where('conversations.api_key_id', '=', apiKeyId);
		if (contextId !== undefined) query = query.where('runs.conversation_id', '=', contextId);
		if (statuses) query = query.where('messages.status', 'in', statuses);
		if (since !== undefined) query = query.where(statusTime, '>=', since);
		return query;
	};

	return {
		/** The tasks whose status changed last come first. `total` counts all pages. */
		async list({ after, limit, ...filter }: TaskQuery): Promise<{ data: TaskRow[]; total: number }> {
			if (filter.statuses?.length === 0) return { data: [], total: 0 };
			let page = matching(filter)
				.select(['runs.id as runId', 'runs.conversation_id', 'runs.message_id', statusTime.as('at')])
				.orderBy(statusTime, 'desc')
				.orderBy('runs.id', 'desc')
				.limit(limit);
			if (after) {
				const { at, runId } = after;
				page = page.where((where) =>
					where.or([where(statusTime, '<', at), where.and([where(statusTime, '=', at), where('runs.id', '<', runId)])])
				);
			}
			const [rows, counted] = await Promise.all([
				// Looks for the first runs of the page only, not of all that are sorted.
				db
					.selectFrom(page.as('page'))
					.select((paged) => [
						'page.runId',
						'page.at',
						paged
							.selectFrom('runs as first')
							.whereRef('first.conversation_id', '=', 'page.conversation_id')
							.whereRef('first.message_id', '=', 'page.message_id')
							.select('first.id')
							.orderBy('first.started_at')
							.orderBy('first.id')
							.limit(1)
							.as('firstId')
					])
					.orderBy('page.at', 'desc')
					.orderBy('page.runId', 'desc')
					.execute(),
				matching(filter)
					.select((runs) => runs.fn.countAll<number | string>().as('total'))
					.executeTakeFirstOrThrow()
			]);
			const data = rows.map(({ runId, at, firstId }) => ({ runId, at, taskId: firstId ?? runId }));
			return { data, total: Number(counted.total) };
		},

		/** Adds it, or replaces the one of its id. `bootId`: the server start that tells. */
		async putPush(
			{ contextId, messageId, id, taskId, sealed, isOpen }: TaskPush,
			now: string,
			bootId: string | null = null
		): Promise<void> {
			const values = { task_id: taskId, sealed, is_open: isOpen ? 1 : 0, boot_id: bootId };
			await db
				.insertInto('task_pushes')
				.values({ conversation_id: contextId, message_id: messageId, id, ...values, created_at: now })
				.onConflict((conflict) => conflict.columns(['conversation_id', 'message_id', 'id']).doUpdateSet(values))
				.execute();
		},

		/** Those of a task, oldest first. */
		async pushes(contextId: string, messageId: string): Promise<TaskPush[]> {
			const rows = await db
				.selectFrom('task_pushes')
				.selectAll()
				.where('conversation_id', '=', contextId)
				.where('message_id', '=', messageId)
				.orderBy('created_at')
				.orderBy('id')
				.execute();
			return rows.map(toPush);
		},

		/** Takes over those that no living server start tells, of all tasks, the newest `limit` first. */
		async claimPushes(bootId: string, limit: number): Promise<TaskPush[]> {
			const live = db.selectFrom('replicas').select('id');
			const free = db
				.selectFrom('task_pushes')
				.select(['conversation_id', 'message_id', 'id'])
				.where('is_open', '=', 1)
				.where(({ or, and, eb }) =>
					or([eb('boot_id', 'is', null), and([eb('boot_id', '!=', bootId), eb('boot_id', 'not in', live)])])
				)
				.modifyEnd(locked(db, 'free'));
			const rows = await db
				.updateTable('task_pushes')
				.set({ boot_id: bootId })
				.where(({ eb, refTuple }) =>
					eb(
						refTuple('conversation_id', 'message_id', 'id'),
						'in',
						free.$asTuple('conversation_id', 'message_id', 'id')
					)
				)
				.returningAll()
				.execute();
			rows.sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
			return rows.slice(0, limit).map(toPush);
		},

		/** Whether it's there yet, and this server start tells it. */
		async isPushOf(
			{ contextId, messageId, id }: Pick<TaskPush, 'contextId' | 'messageId' | 'id'>,
			bootId: string
		): Promise<boolean> {
			const found = db.selectFrom('task_pushes').select('id').where('conversation_id', '=', contextId);
			const own = found.where('message_id', '=', messageId).where('id', '=', id).where('boot_id', '=', bootId);
			return (await own.executeTakeFirst()) !== undefined;
		},

		/** There is nothing more to tell. */
		async closePush({ contextId, messageId, id }: Pick<TaskPush, 'contextId' | 'messageId' | 'id'>): Promise<void> {
			await db
				.updateTable('task_pushes')
				.set({ is_open: 0 })
				.where('conversation_id', '=', contextId)
				.where('message_id', '=', messageId)
				.where('id', '=', id)
				.execute();
		},

		/** False if there was none. */
		removePush: ({ contextId, messageId, id }: Pick<TaskPush, 'contextId' | 'messageId' | 'id'>): Promise<boolean> =>
			hasEffect(
				db
					.deleteFrom('task_pushes')
					.where('conversation_id', '=', contextId)
					.where('message_id', '=', messageId)
					.where('id', '=', id)
			)
	};
}

function toPush(row: Selectable<Database['task_pushes']>): TaskPush {
	return {
		contextId: row.conversation_id,
		messageId: row.message_id,
		id: row.id,
		taskId: row.task_id,
		sealed: row.sealed,
		isOpen: row.is_open === 1
	};
}
