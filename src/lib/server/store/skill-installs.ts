/** What was installed, where from, and what became of it (FEATURES E5–E9, E28, E29). */
import type { Kysely, Selectable } from 'kysely';
import type { InstalledSkill, SkillOrigin } from '../../shared/install.ts';
import type { Database, SkillInstallsTable } from './schema.ts';

/** An installation, with where it lies; `placing` is between the record and the folder. */
export interface InstallRecord extends Omit<InstalledSkill, 'state'> {
	state: InstalledSkill['state'] | 'placing';
	/** Absolute path of its folder. */
	dir: string;
	/** SHA-256 over sorted paths and contents, as skills-lock.json has it (E28). */
	computedHash: string;
}

export interface SkillInstalls {
	/** @throws an error of the database when the id is taken, or this version is active already */
	add(record: InstallRecord, now: string): Promise<void>;
	/** What it is now, and where it lies. */
	move(id: string, change: Pick<InstallRecord, 'state' | 'dir'>, now: string): Promise<void>;
	get(id: string): Promise<InstallRecord | null>;
	/** All of a skill, or all there are; the newest installation first. */
	list(skillId?: string): Promise<InstallRecord[]>;
	/** Does nothing for one that does not exist. */
	remove(id: string): Promise<void>;
}

export function createSkillInstalls(db: Kysely<Database>): SkillInstalls {
	return {
		async add(record, now) {
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

		async move(id, { state, dir }, now) {
			await db.updateTable('skill_installs').set({ state, dir, changed_at: now }).where('id', '=', id).execute();
		},

		async get(id) {
			const row = await db.selectFrom('skill_installs').selectAll().where('id', '=', id).executeTakeFirst();
			return row ? toRecord(row) : null;
		},

		async list(skillId) {
			let query = db.selectFrom('skill_installs').selectAll();
			if (skillId !== undefined) query = query.where('skill_id', '=', skillId);
			return (await query.orderBy('installed_at', 'desc').orderBy('id').execute()).map(toRecord);
		},

		async remove(id) {
			await db.deleteFrom('skill_installs').where('id', '=', id).execute();
		}
	};
}

function toRecord(row: Selectable<SkillInstallsTable>): InstallRecord {
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
