/** Skills whose files somebody looked at and trusted: the digest that trust is bound to, and the files as they were (FEATURES F4). */
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Database, SkillSettingsTable } from '../schema.ts';

/** A file, or a link, of a skill at the time that it was trusted. */
export interface TrustedFile {
	/** Relative to the skill's folder, with `/`. */
	path: string;
	/** SHA-256 of its bytes (of a link: of the path that it leads to), in hexadecimal. */
	sha256: string;
	/** null for what is no text, or too long to be shown. */
	text: string | null;
}

/** One version of a skill, as it was trusted. */
export interface TrustedSkill {
	version: string;
	/** SHA-256 of all files. */
	digest: string;
	files: TrustedFile[];
	/** ISO 8601. */
	trustedAt: string;
}

export interface TrustedSkills {
	/** Digests of the versions that are trusted; `skillId` is `source/name`. */
	digestsOf(skillId: string): Promise<string[]>;
	/** The digests of all, by the ids of the skills. */
	digests(): Promise<Map<string, string[]>>;
	/** Of this version where it was trusted, else what was trusted last; null where nothing was. */
	get(skillId: string, version: string): Promise<TrustedSkill | null>;
	/** Replaces what was trusted of this version before. */
	put(skillId: string, skill: TrustedSkill): Promise<void>;
	/** What was trusted of a version, or as these files; all of the skill without either. False when there was none. */
	remove(skillId: string, which?: { version: string; digest: string }): Promise<boolean>;
}

const files: z.ZodType<TrustedFile[]> = z.array(
	z.object({ path: z.string(), sha256: z.string(), text: z.string().nullable() })
);

export function createTrustedSkills(db: Kysely<Database>): TrustedSkills {
	return {
		async digestsOf(skillId) {
			const rows = await db
				.selectFrom('trusted_versions')
				.select('digest')
				.where('skill_id', '=', skillId)
				.orderBy('version')
				.execute();
			return rows.map(({ digest }) => digest);
		},

		async digests() {
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

		async get(skillId, version) {
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
			return { version: row.version, digest, files: files.parse(JSON.parse(row.files)), trustedAt };
		},

		async put(skillId, { version, digest, files: kept, trustedAt }) {
			const columns = { digest, files: JSON.stringify(kept), trusted_at: trustedAt };
			await db
				.insertInto('trusted_versions')
				.values({ skill_id: skillId, version, ...columns })
				.onConflict((conflict) => conflict.columns(['skill_id', 'version']).doUpdateSet(columns))
				.execute();
		},

		async remove(skillId, which) {
			let query = db.deleteFrom('trusted_versions').where('skill_id', '=', skillId);
			if (which) {
				const { version, digest } = which;
				query = query.where(({ or, eb }) => or([eb('version', '=', version), eb('digest', '=', digest)]));
			}
			const { numDeletedRows } = await query.executeTakeFirstOrThrow();
			return numDeletedRows > 0n;
		}
	};
}

// The modes of skills that somebody chose (FEATURES B6, E3).

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

// The domains that people let a skill reach (FEATURES D35).

export interface NetworkGrants {
	/** Sorted; none is a skill that may reach nothing. */
	list(skillId: string): Promise<string[]>;
	/** These, and no longer the others; what was granted before keeps its time. */
	replace(skillId: string, domains: readonly string[], now: string): Promise<void>;
}

export function createNetworkGrants(db: Kysely<Database>): NetworkGrants {
	return {
		async list(skillId) {
			const rows = await db.selectFrom('network_grants').select('domain').where('skill_id', '=', skillId).execute();
			return rows.map(({ domain }) => domain).sort();
		},

		async replace(skillId, domains, now) {
			const rows = [...new Set(domains)].map((domain) => ({ skill_id: skillId, domain, created_at: now }));
			await db.transaction().execute(async (transaction) => {
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

// Which version of a skill its bare name means, where somebody chose one (FEATURES A38).

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
