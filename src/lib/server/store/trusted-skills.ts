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

export interface TrustedSkill {
	/** SHA-256 of all files. */
	digest: string;
	files: TrustedFile[];
	/** ISO 8601. */
	trustedAt: string;
}

export interface TrustedSkills {
	/** `skillId` is `source/name`. */
	get(skillId: string): Promise<TrustedSkill | null>;
	/** The digests of all, by the ids of the skills. */
	digests(): Promise<Map<string, string>>;
	/** Replaces what was trusted before. */
	put(skillId: string, skill: TrustedSkill): Promise<void>;
	/** False when there was none. */
	remove(skillId: string): Promise<boolean>;
}

const files: z.ZodType<TrustedFile[]> = z.array(
	z.object({ path: z.string(), sha256: z.string(), text: z.string().nullable() })
);

export function createTrustedSkills(db: Kysely<Database>): TrustedSkills {
	return {
		async get(skillId) {
			const row = await db.selectFrom('trusted_skills').selectAll().where('skill_id', '=', skillId).executeTakeFirst();
			if (!row) return null;
			return { digest: row.digest, files: files.parse(JSON.parse(row.files)), trustedAt: row.trusted_at };
		},

		async digests() {
			const rows = await db.selectFrom('trusted_skills').select(['skill_id', 'digest']).execute();
			return new Map(rows.map(({ skill_id, digest }) => [skill_id, digest]));
		},

		async put(skillId, skill) {
			const columns = { digest: skill.digest, files: JSON.stringify(skill.files), trusted_at: skill.trustedAt };
			await db
				.insertInto('trusted_skills')
				.values({ skill_id: skillId, ...columns })
				.onConflict((conflict) => conflict.column('skill_id').doUpdateSet(columns))
				.execute();
		},

		async remove(skillId) {
			const { numDeletedRows } = await db
				.deleteFrom('trusted_skills')
				.where('skill_id', '=', skillId)
				.executeTakeFirstOrThrow();
			return numDeletedRows > 0n;
		}
	};
}
