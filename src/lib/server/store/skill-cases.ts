/** Runs by hand that are kept to be run again (FEATURES F6). */
import type { Kysely, Selectable } from 'kysely';
import type { SkillCase } from '../../shared/try-out.ts';
import type { Database, SkillCasesTable } from './schema.ts';

export interface SkillCases {
	add(entry: Omit<SkillCase, 'lastRun'>): Promise<void>;
	get(id: string): Promise<SkillCase | null>;
	/** `skillId` is `source/name`; the oldest comes first. */
	list(skillId: string): Promise<SkillCase[]>;
	setLastRun(id: string, lastRun: NonNullable<SkillCase['lastRun']>): Promise<void>;
	/** False when there was none. */
	remove(id: string): Promise<boolean>;
}

export function createSkillCases(db: Kysely<Database>): SkillCases {
	return {
		async add({ id, skillId, createdAt, ...body }) {
			await db
				.insertInto('skill_cases')
				.values({ id, skill_id: skillId, body: JSON.stringify(body), created_at: createdAt })
				.execute();
		},

		async get(id) {
			const row = await db.selectFrom('skill_cases').selectAll().where('id', '=', id).executeTakeFirst();
			return row ? toCase(row) : null;
		},

		async list(skillId) {
			const rows = await db
				.selectFrom('skill_cases')
				.selectAll()
				.where('skill_id', '=', skillId)
				.orderBy('created_at')
				.orderBy('id')
				.execute();
			return rows.map(toCase);
		},

		async setLastRun(id, lastRun) {
			await db
				.updateTable('skill_cases')
				.set({ last_run: JSON.stringify(lastRun) })
				.where('id', '=', id)
				.execute();
		},

		async remove(id) {
			const { numDeletedRows } = await db.deleteFrom('skill_cases').where('id', '=', id).executeTakeFirstOrThrow();
			return numDeletedRows > 0n;
		}
	};
}

function toCase(row: Selectable<SkillCasesTable>): SkillCase {
	const body = JSON.parse(row.body) as Omit<SkillCase, 'id' | 'skillId' | 'createdAt' | 'lastRun'>;
	const lastRun = row.last_run === null ? null : (JSON.parse(row.last_run) as SkillCase['lastRun']);
	return { id: row.id, skillId: row.skill_id, ...body, createdAt: row.created_at, lastRun };
}
