/** Skills whose files somebody looked at and trusted: the digest that trust is bound to, and the files as they were (FEATURES F4). */
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Database } from './schema.ts';

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
