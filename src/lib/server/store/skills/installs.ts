/** Installed skills and their trash (E4–E9, E28, E29). */
import type { Kysely, Selectable } from 'kysely';
import type { InstalledSkill, SkillOrigin } from '../../../shared/install.ts';
import { type Database, hasEffect, type SkillInstallsTable, type SkillTrashTable } from '../schema.ts';

export interface InstallRecord extends Omit<InstalledSkill, 'state'> {
	/** `placing`: recorded, but the folder isn't in place yet. */
	state: InstalledSkill['state'] | 'placing';
	/** Its folder: an absolute path, which its row has relative to the data folder (`withSkillPlaces`). */
	dir: string;
	/** SHA-256 over sorted paths and contents, as in skills-lock.json (E28). */
	computedHash: string;
}

export function createSkillInstalls(db: Kysely<Database>) {
	return {
		/** @throws a database error if the id is taken or this version is already active */
		async add(record: InstallRecord, now: string): Promise<void> {
			await db
				.insertInto('skill_installs')
				.values({
					id: record.id,
					owner: record.owner,
					skill_id: record.skillId,
					name: record.name,
					version: record.version,
					state: record.state,
					dir: record.dir,
					origin: JSON.stringify(record.origin),
					digest: record.digest,
					files: JSON.stringify(record.files),
					computed_hash: record.computedHash,
					installed_at: record.installedAt,
					changed_at: now
				})
				.execute();
		},

		async move(id: string, { state, dir }: Pick<InstallRecord, 'state' | 'dir'>, now: string): Promise<void> {
			await db.updateTable('skill_installs').set({ state, dir, changed_at: now }).where('id', '=', id).execute();
		},

		async get(id: string): Promise<InstallRecord | null> {
			const row = await db.selectFrom('skill_installs').selectAll().where('id', '=', id).executeTakeFirst();
			return row ? toInstallRecord(row) : null;
		},

		/** Installations of a skill (default: of all), newest first. */
		async list(skillId?: string): Promise<InstallRecord[]> {
			let query = db.selectFrom('skill_installs').selectAll();
			if (skillId !== undefined) query = query.where('skill_id', '=', skillId);
			return (await query.orderBy('installed_at', 'desc').orderBy('id').execute()).map(toInstallRecord);
		},

		async remove(id: string): Promise<void> {
			await db.deleteFrom('skill_installs').where('id', '=', id).execute();
		}
	};
}

export type SkillInstalls = ReturnType<typeof createSkillInstalls>;

function toInstallRecord(row: Selectable<SkillInstallsTable>): InstallRecord {
	return {
		id: row.id,
		owner: row.owner,
		skillId: row.skill_id,
		name: row.name,
		version: row.version,
		state: row.state,
		dir: row.dir,
		origin: JSON.parse(row.origin) as SkillOrigin,
		digest: row.digest,
		files: JSON.parse(row.files) as InstallRecord['files'],
		computedHash: row.computed_hash,
		installedAt: row.installed_at
	};
}

/** A removed skill that can be restored (E4). */
export interface TrashRecord {
	id: string;
	/** `source/name`. */
	skillId: string;
	name: string;
	version: string | null;
	/** Original path; absolute, unless its folder of skills isn't there any more (`withSkillPlaces`). */
	path: string;
	/** Current absolute path. */
	stored: string;
	/** The former installation; null if it wasn't installed. */
	installId: string | null;
	/** ISO 8601. */
	removedAt: string;
}

export function createSkillTrash(db: Kysely<Database>) {
	return {
		async add({ id, skillId, name, version, path, stored, installId, removedAt }: TrashRecord): Promise<void> {
			const columns = { id, skill_id: skillId, name, version, path, stored };
			await db
				.insertInto('skill_trash')
				.values({ ...columns, install_id: installId, removed_at: removedAt })
				.execute();
		},

		async get(id: string): Promise<TrashRecord | null> {
			const row = await db.selectFrom('skill_trash').selectAll().where('id', '=', id).executeTakeFirst();
			return row ? toTrashRecord(row) : null;
		},

		/** Last removed first. */
		async list(): Promise<TrashRecord[]> {
			const rows = await db.selectFrom('skill_trash').selectAll().orderBy('removed_at', 'desc').orderBy('id').execute();
			return rows.map(toTrashRecord);
		},

		/** False if not found. */
		remove: (id: string): Promise<boolean> => hasEffect(db.deleteFrom('skill_trash').where('id', '=', id))
	};
}

export type SkillTrash = ReturnType<typeof createSkillTrash>;

function toTrashRecord(row: Selectable<SkillTrashTable>): TrashRecord {
	const { id, name, version, path, stored } = row;
	const { skill_id: skillId, install_id: installId, removed_at: removedAt } = row;
	return { id, skillId, name, version, path, stored, installId, removedAt };
}
