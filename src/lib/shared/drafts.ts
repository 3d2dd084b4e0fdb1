/** Drafts of skills: made of a chat, changed in the workbench, placed only when a person saves them (F8). Times are ISO 8601. */
import { z } from 'zod';
import { stagedSkill } from './install.ts';
import { MAX_SKILL_FILE_BYTES } from './names.ts';
import { fileChanges, skillDiagnostic } from './skills.ts';

export const MAX_DRAFT_FILES = 100;
const path = z.string().min(1).max(1024);

export const skillDraft = z.object({
	id: z.string(),
	/** As its SKILL.md says; empty if it doesn’t. */
	name: z.string(),
	/** `writing`: a model is improving on what is there already. */
	state: z.enum(['writing', 'ready', 'saved', 'discarded']),
	/** What the model is doing, as a sentence; null unless `writing`. */
	progress: z.string().nullable(),
	/** Counts changes, so that none of another tab is overwritten. */
	revision: z.number(),
	/** The model that wrote it; null: made by rules. */
	model: z.string().nullable(),
	/** Why the model’s text wasn’t used; that no step of the chat succeeded. */
	problem: z.string().nullable(),
	/** `messageId`: the last message that counts, if somebody chose it. */
	from: z.object({ conversationId: z.string(), title: z.string(), messageId: z.string().optional() }).nullable(),
	/** The skill that it changes, as `source/name`; null for a new one. */
	base: z.string().nullable(),
	/** Secrets, addresses and personal paths that were taken out, and the variable or sign in their place. */
	replaced: z.array(z.object({ name: z.string(), what: z.string() })),
	/** What was left out, as sentences. */
	notes: z.array(z.string()),
	/** `text` is null for what isn’t text. */
	files: z.array(z.object({ path, bytes: z.number(), text: z.string().nullable() })),
	canUndo: z.boolean(),
	/** `source/name`, once it was saved. */
	savedAs: z.string().nullable(),
	createdAt: z.string(),
	updatedAt: z.string()
});
export type SkillDraft = z.infer<typeof skillDraft>;

/** Of a chat, and no model has written it yet: it was stopped, or it failed. */
export function isByRules({ from, base, model }: Pick<SkillDraft, 'from' | 'base' | 'model'>): boolean {
	return from !== null && base === null && model === null;
}

const isStale = z.boolean().describe('The skill that it changes has changed since it was begun, so it can’t be saved.');

/** The one to go on with, of the newest-first drafts of this skill, `source/name`. */
export function openDraftOf<Draft extends Pick<SkillDraft, 'state' | 'base'>>(
	drafts: readonly Draft[],
	skillId: string
): Draft | undefined {
	return drafts.find(({ state, base }) => base === skillId && (state === 'ready' || state === 'writing'));
}

/** Newest first, without those of a skill in which nobody has changed anything yet. */
export const draftList = z.object({
	data: z.array(
		skillDraft
			.pick({ id: true, name: true, state: true, model: true, from: true, base: true, updatedAt: true })
			/** The errors that keep it from being saved, as its review says. */
			.extend({
				faults: z.array(skillDiagnostic),
				hasChanges: z.boolean().describe('It differs from the skill that it changes; a new one always does.'),
				/** Of its files beside those of the skill as it is; all of a new one. */
				changes: fileChanges,
				isStale
			})
	)
});
export type DraftList = z.infer<typeof draftList>;
export type DraftSummary = DraftList['data'][number];

/** `POST /api/skills/drafts`: of a chat’s shown branch, or of a skill. */
export const draftStart = z
	.strictObject({
		conversationId: z.string().min(1).max(128).optional(),
		/** The last message that counts. Default: the end of the shown branch. */
		messageId: z.string().min(1).max(128).optional(),
		/** In any form the API accepts. */
		skill: z.string().min(1).max(256).optional(),
		/** Another one of the skill, though there is one to go on with. */
		another: z.literal(true).optional(),
		/** What a model should mind, in a person’s words. */
		wish: z.string().max(10_000).optional()
	})
	.refine(({ conversationId, skill }) => (conversationId === undefined) !== (skill === undefined), {
		error: 'must have conversationId or skill, not both'
	});
export type DraftStart = z.infer<typeof draftStart>;

/**
 * `PUT /api/skills/drafts/:draft`: changed files, where null removes one; or back to what it was before the last change; or
 * a draft again, after it was discarded or its skill removed.
 */
export const draftChange = z
	.strictObject({
		revision: z.number().int(),
		files: z
			.array(z.strictObject({ path, text: z.string().max(MAX_SKILL_FILE_BYTES).nullable() }))
			.min(1)
			.max(MAX_DRAFT_FILES)
			.optional(),
		undo: z.literal(true).optional(),
		restore: z.literal(true).optional()
	})
	.refine((change) => [change.files, change.undo, change.restore].filter((each) => each !== undefined).length === 1, {
		error: 'must have one of files, undo and restore'
	});
export type DraftChange = z.infer<typeof draftChange>;

/** What the library, the security check and a look at its needs say of it; its changes are those against the skill there is. */
export const draftReview = stagedSkill.extend({
	revision: z.number(),
	isStale,
	/** Estimated tokens of its instructions. */
	tokens: z.number()
});
export type DraftReview = z.infer<typeof draftReview>;

/** `POST /api/skills/drafts/:draft/improve` */
export const draftWish = z.strictObject({
	revision: z.number().int(),
	/** What should be better, in a person’s words. */
	wish: z.string().max(10_000).optional()
});
export type DraftWish = z.infer<typeof draftWish>;

/** `POST /api/skills/drafts/:draft/trial`: one prompt, or all evals beside the skill that the draft changes. */
export const draftTrial = z.strictObject({
	revision: z.number().int(),
	prompt: z.string().min(1).max(100_000).optional()
});
export type DraftTrial = z.infer<typeof draftTrial>;

export const draftSave = z.strictObject({ revision: z.number().int() });
