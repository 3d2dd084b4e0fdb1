/** Drafts of skills: each whole in one row, so that it's never half written (F8). */
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { skillDraft } from '../../../shared/drafts.ts';
import { type Database, hasEffect } from '../schema.ts';

const storedFile = z.object({ path: z.string(), content: z.string(), encoding: z.enum(['utf8', 'base64']) });
export type StoredFile = z.infer<typeof storedFile>;

const storedDraft = skillDraft.omit({ files: true, canUndo: true, progress: true }).extend({
	files: z.array(storedFile),
	/** SHA-256 by path of the skill’s files when the draft was begun, to see whether somebody changed them since. */
	baseFiles: z.record(z.string(), z.string()).optional(),
	/** What the files were before the last changes, oldest first. */
	earlier: z.array(z.array(storedFile)),
	/** The server start whose model writes it. */
	writer: z.string().optional()
});
export type StoredDraft = z.infer<typeof storedDraft>;

export function createSkillDrafts(db: Kysely<Database>) {
	const rowOf = (draft: StoredDraft) => ({
		revision: draft.revision,
		content: JSON.stringify(draft),
		updated_at: draft.updatedAt
	});
	return {
		async get(id: string): Promise<StoredDraft | null> {
			const row = await db.selectFrom('skill_drafts').select('content').where('id', '=', id).executeTakeFirst();
			return row ? storedDraft.parse(JSON.parse(row.content)) : null;
		},

		/** Newest first. */
		async list(): Promise<StoredDraft[]> {
			const rows = await db.selectFrom('skill_drafts').select('content').orderBy('updated_at', 'desc').execute();
			return rows.map(({ content }) => storedDraft.parse(JSON.parse(content)));
		},

		async add(draft: StoredDraft): Promise<void> {
			await db
				.insertInto('skill_drafts')
				.values({ id: draft.id, ...rowOf(draft) })
				.execute();
		},

		/** False, and nothing is changed, if it isn't at this revision any more. */
		change(draft: StoredDraft, revision: number): Promise<boolean> {
			return hasEffect(
				db.updateTable('skill_drafts').set(rowOf(draft)).where('id', '=', draft.id).where('revision', '=', revision)
			);
		},

		/** False if there was none. */
		remove: (id: string): Promise<boolean> => hasEffect(db.deleteFrom('skill_drafts').where('id', '=', id))
	};
}
