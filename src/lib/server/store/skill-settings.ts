/** The modes of skills that somebody chose (FEATURES B6, E3). */
import type { Kysely } from 'kysely';
import type { Database, SkillSettingsTable } from './schema.ts';

export interface SkillSetting {
	skillId: string;
	mode: SkillSettingsTable['mode'];
	/** The mode that switching it on again brings back. */
	modeBefore: SkillSettingsTable['mode'] | null;
}

export interface SkillSettings {
	list(): Promise<SkillSetting[]>;
	set(setting: SkillSetting, now: string): Promise<void>;
	/** Does nothing where there is none. */
	remove(skillId: string): Promise<void>;
}

export function createSkillSettings(db: Kysely<Database>): SkillSettings {
	return {
		async list() {
			const rows = await db.selectFrom('skill_settings').select(['skill_id', 'mode', 'mode_before']).execute();
			return rows.map(({ skill_id, mode, mode_before }) => ({
				skillId: skill_id,
				mode,
				modeBefore: mode_before as SkillSetting['modeBefore']
			}));
		},
		async set({ skillId, mode, modeBefore }, now) {
			const values = { mode, mode_before: modeBefore, updated_at: now };
			await db
				.insertInto('skill_settings')
				.values({ skill_id: skillId, ...values })
				.onConflict((conflict) => conflict.column('skill_id').doUpdateSet(values))
				.execute();
		},
		async remove(skillId) {
			await db.deleteFrom('skill_settings').where('skill_id', '=', skillId).execute();
		}
	};
}
