/** REST contracts for creating and editing skills (FEATURES F1, F8). */
import { z } from 'zod';
import { skillDiagnostic } from './skills.ts';
import {
	MAX_SKILL_DESCRIPTION,
	MAX_SKILL_FILE_BYTES,
	MAX_SKILL_FILE_PATH,
	MAX_SKILL_NAME,
	SKILL_FILE_PATH,
	SKILL_NAME,
	SKILL_TEMPLATES
} from './names.ts';

/** Relative to the skill’s folder, with `/`. */
const skillFilePath = z
	.string()
	.min(1)
	.max(MAX_SKILL_FILE_PATH)
	.regex(SKILL_FILE_PATH, 'isn’t a file name that works on every system');

/** The query of `GET` and `DELETE /api/skills/:id/file`. */
export const skillFileQuery = z.object({ path: skillFilePath.describe('Path inside the skill’s folder.') });

/** `PUT /api/skills/:id/file` */
export const skillFileWrite = z.strictObject({
	path: skillFilePath,
	text: z.string().max(MAX_SKILL_FILE_BYTES),
	/** SHA-256 of the file when it was read; null for a new file. */
	digest: z
		.string()
		.regex(/^[0-9a-f]{64}$/)
		.nullable()
});
export type SkillFileWrite = z.infer<typeof skillFileWrite>;

export const skillFileText = z.object({
	path: z.string(),
	text: z.string(),
	bytes: z.number(),
	/** SHA-256, to send back with a change. */
	digest: z.string(),
	isExecutable: z.boolean(),
	isWritable: z.boolean(),
	/** The skill’s id, which changes with the name in its SKILL.md. */
	skill: z.string()
});
export type SkillFileText = z.infer<typeof skillFileText>;

/** `POST /api/skills/:id/check`: unsaved text. */
export const skillCheckRequest = z.strictObject({ text: z.string().max(MAX_SKILL_FILE_BYTES) });

/** The result of a text as SKILL.md, without writing it. */
export const skillCheck = z.object({
	status: z.enum(['ready', 'broken']),
	name: z.string(),
	description: z.string(),
	/** By the strict rules; `fixId` is a key of `fixes`. */
	issues: z.array(skillDiagnostic.extend({ fixId: z.string().nullable() })),
	/** The whole text with one fix applied, by fix id. */
	fixes: z.record(z.string(), z.string()),
	/** Estimated tokens of the instructions. */
	tokens: z.number()
});
export type SkillCheck = z.infer<typeof skillCheck>;

/** `POST /api/skills`: creates a working skill. */
export const newSkill = z.strictObject({
	name: z
		.string()
		.max(MAX_SKILL_NAME)
		.regex(SKILL_NAME, 'must have only lowercase letters, digits and single hyphens, such as invoice-reader'),
	description: z.string().trim().min(1).max(MAX_SKILL_DESCRIPTION),
	template: z.enum(SKILL_TEMPLATES)
});
export type NewSkill = z.infer<typeof newSkill>;
