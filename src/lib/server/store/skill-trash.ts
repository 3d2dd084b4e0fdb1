/** Skills that were removed and can be restored (FEATURES E4). */
import type { Kysely, Selectable } from 'kysely';
import type { Database, SkillTrashTable } from './schema.ts';

export interface TrashRecord {
	id: string;
	/** `source/name`. */
	skillId: string;
	name: string;
	version: string | null;
	/** Where it lay, and where it lies now: absolute paths. */
	path: string;
	stored: string;
	/** The installation that it was; null for a folder that nobody installed. */
	installId: string | null;
	/** ISO 8601. */
	removedAt: string;
}

export interface SkillTrash {
	add(record: TrashRecord): Promise<void>;
	get(id: string): Promise<TrashRecord | null>;
	/** What was removed last comes first. */
	list(): Promise<TrashRecord[]>;
	/** False when there was none. */
	remove(id: string): Promise<boolean>;
}

export function createSkillTrash(db: Kysely<Database>): SkillTrash {
	return {
		async add({ id, skillId, name, version, path, stored, installId, removedAt }) {
			const columns = { id, skill_id: skillId, name, version, path, stored };
			await db
				.insertInto('skill_trash')
				.values({ ...columns, install_id: installId, removed_at: removedAt })
				.execute();
		},

		async get(id) {
			const row = await db.selectFrom('skill_trash').selectAll().where('id', '=', id).executeTakeFirst();
			return row ? toRecord(row) : null;
		},

		async list() {
			const rows = await db.selectFrom('skill_trash').selectAll().orderBy('removed_at', 'desc').orderBy('id').execute();
			return rows.map(toRecord);
		},

		async remove(id) {
			const { numDeletedRows } = await db.deleteFrom('skill_trash').where('id', '=', id).executeTakeFirstOrThrow();
			return numDeletedRows > 0n;
		}
	};
}

function toRecord(row: Selectable<SkillTrashTable>): TrashRecord {
	const { id, name, version, path, stored } = row;
	return {
		id,
		skillId: row.skill_id,
		name,
		version,
		path,
		stored,
		installId: row.install_id,
		removedAt: row.removed_at
	};
}
