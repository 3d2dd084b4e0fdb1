/** Making, editing and handing on skills, as the REST API has it: one file, a check of a text, a new skill (FEATURES F1, F8). */
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

/** Of a file inside a skill's folder, with `/`. */
const skillFilePath = z
	.string()
	.min(1)
	.max(MAX_SKILL_FILE_PATH)
	.regex(SKILL_FILE_PATH, 'isn’t a file name that works on every system');

/** The query of `GET` and `DELETE /api/skills/:id/file`. */
export const skillFileQuery = z.object({
	path: skillFilePath.describe('Path inside the skill’s folder.')
});

/** `PUT /api/skills/:id/file`: the whole text of one file. */
export const skillFileWrite = z.strictObject({
	path: skillFilePath,
	text: z.string().max(MAX_SKILL_FILE_BYTES),
	/** SHA-256 of the file as it was read; null for one that is new. */
	digest: z
		.string()
		.regex(/^[0-9a-f]{64}$/)
		.nullable()
});

export type SkillFileWrite = z.infer<typeof skillFileWrite>;

/** One text file of a skill. */
export const skillFileText = z.object({
	path: z.string(),
	text: z.string(),
	bytes: z.number(),
	/** SHA-256, to be sent back with what is written. */
	digest: z.string(),
	/** May it be run by its mode? It keeps that. */
	isExecutable: z.boolean(),
	/** May this server write it? */
	isWritable: z.boolean(),
	/** The id of its skill: a SKILL.md that names another names the skill anew. */
	skill: z.string()
});
export type SkillFileText = z.infer<typeof skillFileText>;

/** `POST /api/skills/:id/check`: a text as somebody is writing it. */
export const skillCheckRequest = z.strictObject({
	text: z.string().max(MAX_SKILL_FILE_BYTES)
});

/** What a text would be as the SKILL.md of this folder; nothing is written. */
export const skillCheck = z.object({
	status: z.enum(['ready', 'broken']),
	name: z.string(),
	description: z.string(),
	/** By the strict rules; `fixId` names one of `fixes`. */
	issues: z.array(
		skillDiagnostic.extend({
			fixId: z.string().nullable()
		})
	),
	/** The whole text with one fix applied, by the fix's name. */
	fixes: z.record(z.string(), z.string()),
	/** Roughly, of the instructions that the model reads when it loads the skill. */
	tokens: z.number()
});
export type SkillCheck = z.infer<typeof skillCheck>;

/** `POST /api/skills`: a folder with a skill that works as it is. */
export const newSkill = z.strictObject({
	name: z
		.string()
		.max(MAX_SKILL_NAME)
		.regex(SKILL_NAME, 'must have only lowercase letters, digits and single hyphens, such as invoice-reader'),
	description: z.string().trim().min(1).max(MAX_SKILL_DESCRIPTION),
	template: z.enum(SKILL_TEMPLATES)
});

export type NewSkill = z.infer<typeof newSkill>;
