/** Variables of skills, as the vault encrypted them: nothing here can read one (FEATURES F3). */
import type { Kysely } from 'kysely';
import type { Database } from './schema.ts';

/** The three parts are base64. */
export interface EncryptedSecret {
	name: string;
	iv: string;
	tag: string;
	ciphertext: string;
}

export interface Secrets {
	/** In place of the one of that name, if there is one. */
	put(skillId: string, secret: EncryptedSecret, now: string): Promise<void>;
	/** False when there was none. */
	remove(skillId: string, name: string): Promise<boolean>;
	/** By name. */
	list(skillId: string): Promise<EncryptedSecret[]>;
}

export function createSecrets(db: Kysely<Database>): Secrets {
	return {
		async put(skillId, { name, ...parts }, now) {
			const values = { ...parts, updated_at: now };
			await db
				.insertInto('secrets')
				.values({ skill_id: skillId, name, ...values })
				.onConflict((conflict) => conflict.columns(['skill_id', 'name']).doUpdateSet(values))
				.execute();
		},

		async remove(skillId, name) {
			const { numDeletedRows } = await db
				.deleteFrom('secrets')
				.where('skill_id', '=', skillId)
				.where('name', '=', name)
				.executeTakeFirstOrThrow();
			return numDeletedRows > 0n;
		},

		list: (skillId) =>
			db
				.selectFrom('secrets')
				.select(['name', 'iv', 'tag', 'ciphertext'])
				.where('skill_id', '=', skillId)
				.orderBy('name')
				.execute()
	};
}
