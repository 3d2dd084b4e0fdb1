/** What somebody changed while the server ran, by name; values are JSON. */
import type { Kysely } from 'kysely';
import type { Database } from './schema.ts';

export interface StoredSettings {
	list(): Promise<Map<string, unknown>>;
	/** All of them or, where one fails, none; undefined removes one. */
	set(values: Readonly<Record<string, unknown>>, now: string): Promise<void>;
}

export function createStoredSettings(db: Kysely<Database>): StoredSettings {
	return {
		async list() {
			const rows = await db.selectFrom('settings').select(['key', 'value']).execute();
			return new Map(rows.map(({ key, value }) => [key, JSON.parse(value) as unknown]));
		},

		async set(values, now) {
			await db.transaction().execute(async (transaction) => {
				for (const [key, value] of Object.entries(values)) {
					if (value === undefined) {
						await transaction.deleteFrom('settings').where('key', '=', key).execute();
						continue;
					}
					const columns = { value: JSON.stringify(value), updated_at: now };
					await transaction
						.insertInto('settings')
						.values({ key, ...columns })
						.onConflict((conflict) => conflict.column('key').doUpdateSet(columns))
						.execute();
				}
			});
		}
	};
}
