/** What people decided about skills: trust (F4), modes, network access, and versions. */
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { type PackageLock, packageLock } from '../../../shared/packages.ts';
import { lockName } from '../locks.ts';
import { type Database, hasEffect, type SkillSettingsTable } from '../schema.ts';

/** A file or link of a skill at the time it was trusted. */
const trustedFile = z.object({
	/** Relative to the skill's folder, with `/`. */
	path: z.string(),
	/** SHA-256 of its bytes (of a link: of its target path), in hex. */
	sha256: z.string(),
	/** null if binary, or too long to show. */
	text: z.string().nullable()
});
export type TrustedFile = z.infer<typeof trustedFile>;

/** A trusted version of a skill. */
export interface TrustedSkill {
	version: string;
	/** SHA-256 of all files. */
	digest: string;
	files: TrustedFile[];
	/** ISO 8601. */
	trustedAt: string;
}

export function createTrustedSkills(db: Kysely<Database>) {
	return {
		/** Digests of the trusted versions. `skillId`: `source/name`. */
		async digestsOf(skillId: string): Promise<string[]> {
			const rows = await db
				.selectFrom('trusted_versions')
				.select('digest')
				.where('skill_id', '=', skillId)
				.orderBy('version')
				.execute();
			return rows.map(({ digest }) => digest);
		},

		/** Digests of all trusted versions, by skill id. */
		async digests(): Promise<Map<string, string[]>> {
			const rows = await db
				.selectFrom('trusted_versions')
				.select(['skill_id', 'digest'])
				.orderBy('skill_id')
				.orderBy('version')
				.execute();
			const found = new Map<string, string[]>();
			for (const { skill_id, digest } of rows) found.set(skill_id, [...(found.get(skill_id) ?? []), digest]);
			return found;
		},

		/** This version if trusted, otherwise the version trusted last; null if none is. */
		async get(skillId: string, version: string): Promise<TrustedSkill | null> {
			const row = await db
				.selectFrom('trusted_versions')
				.selectAll()
				.where('skill_id', '=', skillId)
				.orderBy((eb) => eb.case().when('version', '=', version).then(0).else(1).end())
				.orderBy('trusted_at', 'desc')
				.limit(1)
				.executeTakeFirst();
			if (!row) return null;
			const { digest, trusted_at: trustedAt } = row;
			return { version: row.version, digest, files: z.array(trustedFile).parse(JSON.parse(row.files)), trustedAt };
		},

		/** Replaces an earlier record of this version. */
		async put(skillId: string, { version, digest, files: kept, trustedAt }: TrustedSkill): Promise<void> {
			const columns = { digest, files: JSON.stringify(kept), trusted_at: trustedAt };
			await db
				.insertInto('trusted_versions')
				.values({ skill_id: skillId, version, ...columns })
				.onConflict((conflict) => conflict.columns(['skill_id', 'version']).doUpdateSet(columns))
				.execute();
		},

		/** Removes trust in a version and in files with this digest; default: in all versions. False if there was none. */
		async remove(skillId: string, which?: { version: string; digest: string }): Promise<boolean> {
			let query = db.deleteFrom('trusted_versions').where('skill_id', '=', skillId);
			if (which) {
				const { version, digest } = which;
				query = query.where(({ or, eb }) => or([eb('version', '=', version), eb('digest', '=', digest)]));
			}
			return hasEffect(query);
		}
	};
}

export type TrustedSkills = ReturnType<typeof createTrustedSkills>;

/** A skill's mode (B6, E3). */
export interface SkillSetting {
	skillId: string;
	mode: SkillSettingsTable['mode'];
	/** The mode to return to when turned on again. */
	modeBefore: SkillSettingsTable['mode'] | null;
}

export function createSkillSettings(db: Kysely<Database>) {
	return {
		async list(): Promise<SkillSetting[]> {
			const rows = await db.selectFrom('skill_settings').select(['skill_id', 'mode', 'mode_before']).execute();
			return rows.map(({ skill_id, mode, mode_before }) => ({
				skillId: skill_id,
				mode,
				modeBefore: mode_before as SkillSetting['modeBefore']
			}));
		},
		async set({ skillId, mode, modeBefore }: SkillSetting, now: string): Promise<void> {
			const values = { mode, mode_before: modeBefore, updated_at: now };
			await db
				.insertInto('skill_settings')
				.values({ skill_id: skillId, ...values })
				.onConflict((conflict) => conflict.column('skill_id').doUpdateSet(values))
				.execute();
		},
		async remove(skillId: string): Promise<void> {
			await db.deleteFrom('skill_settings').where('skill_id', '=', skillId).execute();
		}
	};
}

/** Domains a skill may access (D35). */
export function createNetworkGrants(db: Kysely<Database>) {
	return {
		/** Sorted. */
		async list(skillId: string): Promise<string[]> {
			const rows = await db.selectFrom('network_grants').select('domain').where('skill_id', '=', skillId).execute();
			return rows.map(({ domain }) => domain).sort();
		},

		/** Replaces the list; existing domains keep their time. */
		async replace(skillId: string, domains: readonly string[], now: string): Promise<void> {
			const rows = [...new Set(domains)].map((domain) => ({ skill_id: skillId, domain, created_at: now }));
			await db.transaction().execute(async (transaction) => {
				// Otherwise two lists that are written at once would both count.
				await lockName(transaction, `network grants of ${skillId}`);
				let others = transaction.deleteFrom('network_grants').where('skill_id', '=', skillId);
				if (rows.length > 0) others = others.where('domain', 'not in', domains);
				await others.execute();
				if (rows.length === 0) return;
				await transaction
					.insertInto('network_grants')
					.values(rows)
					.onConflict((conflict) => conflict.columns(['skill_id', 'domain']).doNothing())
					.execute();
			});
		}
	};
}

export type NetworkGrants = ReturnType<typeof createNetworkGrants>;

export interface InstalledPackages {
	lock: PackageLock;
	/** ISO 8601. */
	installedAt: string;
}

/** The packages that somebody allowed for a skill (D46). */
export function createSkillPackages(db: Kysely<Database>) {
	const read = ({ lock, installed_at: installedAt }: { lock: string; installed_at: string }): InstalledPackages => ({
		lock: packageLock.parse(JSON.parse(lock)),
		installedAt
	});
	return {
		async get(skillId: string): Promise<InstalledPackages | null> {
			const row = await db.selectFrom('skill_packages').selectAll().where('skill_id', '=', skillId).executeTakeFirst();
			return row ? read(row) : null;
		},

		/** By skill id. */
		async list(): Promise<Map<string, InstalledPackages>> {
			const rows = await db.selectFrom('skill_packages').selectAll().execute();
			return new Map(rows.map((row) => [row.skill_id, read(row)]));
		},

		/** What has this digest, for whichever skill. */
		async lockOf(digest: string): Promise<PackageLock | null> {
			const rows = await db.selectFrom('skill_packages').selectAll().execute();
			return rows.map(read).find(({ lock }) => lock.digest === digest)?.lock ?? null;
		},

		/** Replaces what was there. */
		async put(skillId: string, { lock, installedAt }: InstalledPackages): Promise<void> {
			const columns = { lock: JSON.stringify(lock), installed_at: installedAt };
			await db
				.insertInto('skill_packages')
				.values({ skill_id: skillId, ...columns })
				.onConflict((conflict) => conflict.column('skill_id').doUpdateSet(columns))
				.execute();
		},

		/** False if there was none. */
		async remove(skillId: string): Promise<boolean> {
			return hasEffect(db.deleteFrom('skill_packages').where('skill_id', '=', skillId));
		}
	};
}

export type SkillPackagesStore = ReturnType<typeof createSkillPackages>;

/** Versions chosen for skills' names (A38). */
export function createSkillPins(db: Kysely<Database>) {
	return {
		/** Versions by `source/name`. */
		async list(): Promise<Map<string, string>> {
			const rows = await db.selectFrom('skill_pins').select(['skill_id', 'version']).execute();
			return new Map(rows.map(({ skill_id, version }) => [skill_id, version]));
		},

		/** null: the newest enabled version. */
		async set(skillId: string, version: string | null, now: string): Promise<void> {
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
