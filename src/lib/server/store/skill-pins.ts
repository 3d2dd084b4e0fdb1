/** Which version of a skill its bare name means, where somebody chose one (FEATURES A38). */
import type { Kysely } from 'kysely';
import type { Database } from './schema.ts';

export interface SkillPins {
	/** Versions by `source/name`. */
	list(): Promise<Map<string, string>>;
	/** null: the newest that is enabled. */
	set(skillId: string, version: string | null, now: string): Promise<void>;
}

export function createSkillPins(db: Kysely<Database>): SkillPins {
	return {
		async list() {
			const rows = await db.selectFrom('skill_pins').select(['skill_id', 'version']).execute();
			return new Map(rows.map(({ skill_id, version }) => [skill_id, version]));
		},

		async set(skillId, version, now) {
			if (version === null) {
				await db.deleteFrom('skill_pins').where('skill_id', '=', skillId).execute();
				return;
			}
			const columns = { version, updated_at: now };
			await db
				.insertInto('skill_pins')
				.values({ skill_id: skillId, ...columns })
				.onConflict((conflict) => conflict.column('skill_id').doUpdateSet(columns))
				.execute();
		}
	};
}
