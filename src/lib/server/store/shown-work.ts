/** Work of one of several servers whose progress all of them show: trials of drafts, lookups of packages. */
import type { Kysely } from 'kysely';
import { lockName } from './locks.ts';
import { type Database, hasEffect } from './schema.ts';

export type ShownWorkKind = 'trial' | 'packages';

/** How it goes, or has ended. */
export interface StoredWork {
	/** The server start that does it, or did it last. */
	bootId: string;
	/** Its own form, which only the kind knows. */
	body: unknown;
	isRunning: boolean;
	/** Its server has stopped meanwhile. */
	isLost: boolean;
}

/** What has ended, of one kind; the oldest is forgotten first. */
const MAX_KEPT = 50;

export function createShownWork(db: Kysely<Database>) {
	const of = (on: Kysely<Database>, kind: ShownWorkKind, id: string) =>
		on.selectFrom('shown_work').where('kind', '=', kind).where('shown_work.id', '=', id);
	const find = async (on: Kysely<Database>, kind: ShownWorkKind, id: string): Promise<StoredWork | null> => {
		const row = await of(on, kind, id)
			.leftJoin('replicas', 'replicas.id', 'shown_work.boot_id')
			.select(['boot_id', 'body', 'is_running', 'replicas.id as server'])
			.executeTakeFirst();
		if (!row) return null;
		const isRunning = row.is_running === 1;
		return { bootId: row.boot_id, body: JSON.parse(row.body), isRunning, isLost: isRunning && row.server === null };
	};

	return {
		/** Begins it, in place of what was there. False if another server, which lives, is doing it. */
		begin: (kind: ShownWorkKind, id: string, { bootId, body, now }: { bootId: string; body: unknown; now: string }) =>
			db.transaction().execute(async (transaction) => {
				// One name, because what is old is removed as well.
				await lockName(transaction, `shown work ${kind}`);
				const before = await find(transaction, kind, id);
				if (before?.isRunning && !before.isLost && before.bootId !== bootId) return false;
				const values = { boot_id: bootId, body: JSON.stringify(body), is_running: 1, stop_wanted: 0, updated_at: now };
				await transaction
					.insertInto('shown_work')
					.values({ kind, id, ...values })
					.onConflict((conflict) => conflict.columns(['kind', 'id']).doUpdateSet(values))
					.execute();
				const ended = transaction
					.selectFrom('shown_work')
					.select('id')
					.where('kind', '=', kind)
					.where('is_running', '=', 0);
				const old = await ended.orderBy('updated_at', 'desc').limit(MAX_KEPT).offset(MAX_KEPT).execute();
				for (const row of old) {
					await transaction.deleteFrom('shown_work').where('kind', '=', kind).where('id', '=', row.id).execute();
				}
				return true;
			}),

		/** Does nothing if it isn't this server's any more. */
		async put(
			kind: ShownWorkKind,
			id: string,
			{ bootId, body, isRunning, now }: { bootId: string; body: unknown; isRunning: boolean; now: string }
		): Promise<void> {
			await db
				.updateTable('shown_work')
				.set({ body: JSON.stringify(body), is_running: Number(isRunning), updated_at: now })
				.where('kind', '=', kind)
				.where('id', '=', id)
				.where('boot_id', '=', bootId)
				.execute();
		},

		get: (kind: ShownWorkKind, id: string): Promise<StoredWork | null> => find(db, kind, id),

		async remove(kind: ShownWorkKind, id: string): Promise<void> {
			await db.deleteFrom('shown_work').where('kind', '=', kind).where('id', '=', id).execute();
		},

		/** Leaves the wish that it stops. False if it isn't running. */
		wantStop: (kind: ShownWorkKind, id: string): Promise<boolean> =>
			hasEffect(
				db
					.updateTable('shown_work')
					.set({ stop_wanted: 1 })
					.where('kind', '=', kind)
					.where('id', '=', id)
					.where('is_running', '=', 1)
					.where('boot_id', 'in', db.selectFrom('replicas').select('id'))
			),

		/** Ids of what this server start is asked to stop. */
		async stopsWanted(kind: ShownWorkKind, bootId: string): Promise<string[]> {
			const wanted = db.selectFrom('shown_work').select('id').where('kind', '=', kind).where('boot_id', '=', bootId);
			const rows = await wanted.where('is_running', '=', 1).where('stop_wanted', '=', 1).execute();
			return rows.map(({ id }) => id);
		}
	};
}

export type ShownWorkStore = ReturnType<typeof createShownWork>;
