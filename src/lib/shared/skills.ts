/** REST contracts of skills: showing, creating and editing them. Requests refuse unknown keys. */
import { z } from 'zod';
import {
	INSTALL_PROVIDERS,
	MAX_SKILL_DESCRIPTION,
	MAX_SKILL_EXAMPLE,
	MAX_SKILL_FILE_BYTES,
	MAX_SKILL_FILE_PATH,
	MAX_SKILL_NAME,
	SCRIPT_INPUTS,
	SKILL_FILE_PATH,
	SKILL_NAME,
	SKILL_TEMPLATES
} from './names.ts';

export const skillDiagnostic = z.object({
	severity: z.enum(['error', 'warning']),
	field: z.string(),
	message: z.string(),
	/** File in the skill’s folder. Default: SKILL.md. */
	file: z.string().optional(),
	/** From 1. */
	line: z.number().optional(),
	fix: z.string().optional()
});
export type SkillDiagnostic = z.infer<typeof skillDiagnostic>;

export const skillProvider = z.enum([...INSTALL_PROVIDERS, 'bundled', 'local', 'builtin']);
export type SkillProvider = z.infer<typeof skillProvider>;

export const skillUsage = z.object({
	executions: z.number(),
	/** Errors and timeouts. */
	failures: z.number(),
	/** ISO 8601; null before the first. */
	lastUsedAt: z.string().nullable()
});
export type SkillUsage = z.infer<typeof skillUsage>;

export const HEALTH_WEEKS = 8;

/** `GET /api/skills/:id/health`: of the last 8 weeks, without those that were denied and those of evals (F16). */
export const skillHealth = z.object({
	/** Oldest first, the current one last: each begins on its day (`2026-11-21`, UTC) and lasts 7. */
	weeks: z.array(z.object({ since: z.string(), runs: z.number(), failures: z.number() })),
	answers: z
		.object({
			count: z.number(),
			/** How many of them have a known cost. */
			priced: z.number(),
			/** USD, of the priced ones; null if there are none. */
			cost: z.number().nullable()
		})
		.describe('Answers of a model in which the skill ran. What they cost in all: a skill has no cost of its own.')
});
export type SkillHealth = z.infer<typeof skillHealth>;

/** `trusted`: by its folder, or reviewed; `changed`: since it was reviewed (E30, F4). */
export const trustState = z.enum(['builtin', 'trusted', 'changed', 'untrusted']);
export type TrustState = z.infer<typeof trustState>;

export const skillSummary = z.object({
	/** The name; `source/name@version` if shadowed, `source/folder` if broken; see `toSkillId`. */
	id: z.string(),
	name: z.string(),
	description: z.string(),
	/** More words that find it (`metadata.tags`); absent if none. */
	tags: z.array(z.string()).optional(),
	/** `broken` can’t be used; see `diagnostics`. */
	status: z.enum(['ready', 'broken']),
	path: z.string(),
	scripts: z.array(z.string()),
	tools: z.array(z.string()),
	/** An emoji (`metadata.icon`); null to choose an icon by topic. */
	icon: z.string().nullable(),
	/** An example message (`metadata.example`) with its files from `examples/`; `title` is short (`metadata.example-title`), or the message. */
	example: z.object({ title: z.string(), prompt: z.string(), files: z.array(z.string()) }).nullable(),
	diagnostics: z.array(skillDiagnostic),
	trust: trustState,
	/** Serious findings in a skill that isn’t trusted, as last counted; absent until they were. */
	risks: z.number().optional(),
	mode: z.enum(['on', 'off', 'auto']),
	/** null if broken. */
	version: z.string().nullable(),
	/** Its SKILL.md says the version; otherwise 1.0.0 may be filled in. */
	statesVersion: z.boolean().optional(),
	/** Label of its root folder, or `builtin`. */
	source: z.string(),
	/** Where it was installed from; `bundled` if it comes with the app, `local` if somebody put it into a folder. */
	provider: skillProvider,
	/** Owner; `system` for everyone (A41). */
	owner: z.string(),
	usage: skillUsage
});
export type SkillSummary = z.infer<typeof skillSummary>;

/** The query of `GET /api/skills` (E2). */
export const skillQuery = z.object({
	q: z.string().max(1000).optional().describe('Words to search for.'),
	mode: z.enum(['on', 'off', 'auto']).optional().describe('Only skills with this mode.'),
	source: z.string().max(256).optional().describe('A provider, or a folder’s label.'),
	status: z.enum(['ready', 'broken']).optional().describe('Only skills with this status.'),
	apiKeyId: z
		.string()
		.min(1)
		.max(256)
		.optional()
		.describe('Only what this API key sees: its own skills and the system’s.')
});
export type SkillQuery = z.infer<typeof skillQuery>;

export const skillFile = z.object({
	/** Relative to the skill's folder, with `/`. */
	path: z.string(),
	bytes: z.number(),
	/** null if it isn’t text or is too long. */
	text: z.string().nullable()
});
export type SkillFile = z.infer<typeof skillFile>;

/** A finding of the static security check: a hint, not proof. */
export const skillFinding = z.object({
	severity: z.enum(['danger', 'warning', 'info']),
	/** e.g. `pipe-to-shell`, `credential-path`, `obfuscation`, `invisible-characters`, `prompt-injection`. */
	kind: z.string(),
	message: z.string(),
	file: z.string(),
	/** From 1. */
	line: z.number(),
	/** The shortened line, with invisible characters escaped. */
	excerpt: z.string()
});
export type SkillFinding = z.infer<typeof skillFinding>;

export const skillFileChange = z.object({
	path: z.string(),
	kind: z.enum(['added', 'removed', 'changed']),
	/** Unified diff; null if it isn’t text. */
	diff: z.string().nullable()
});
export type SkillFileChange = z.infer<typeof skillFileChange>;

/** The same in short. */
export const fileChanges = z.object({
	/** `parts`: of a SKILL.md, the fields that changed, and `instructions`, where that’s known. `from`: an added file’s name before it was renamed. */
	files: z.array(
		skillFileChange.omit({ diff: true }).extend({ parts: z.array(z.string()).optional(), from: z.string().optional() })
	),
	/** Lines added and removed in them; null if that can’t be told. */
	lines: z.object({ added: z.number(), removed: z.number() }).nullable()
});
export type FileChanges = z.infer<typeof fileChanges>;

const need = {
	name: z.string(),
	/** Declared by the skill; otherwise detected. */
	isDeclared: z.boolean(),
	/** Files of the skill, or fields of its SKILL.md, such as `metadata.env`; at most 5. */
	from: z.array(z.string())
};

/** Requirements of a skill, declared or detected, and whether they are met (F3). */
export const skillNeeds = z.object({
	binaries: z.array(z.object({ ...need, isFound: z.boolean() })),
	/** `name`: as its index has it, such as `python-docx` for the module `docx`. `requirement`: with the versions asked for. */
	packages: z.array(
		z.object({
			...need,
			ecosystem: z.enum(['python', 'javascript']),
			requirement: z.string(),
			isFound: z.boolean()
		})
	),
	/** As they can be granted. Those that aren’t declared are a proposal, or were granted anyway. */
	hosts: z.array(z.object({ ...need, isGranted: z.boolean() })),
	/** `isSet`: stored for this skill, or provided by the operator. `problem`: why a stored value can’t be used. */
	variables: z.array(
		z.object({
			...need,
			isOptional: z.boolean(),
			isSet: z.boolean(),
			setBy: z.enum(['secret', 'operator']).nullable(),
			problem: z.string().optional()
		})
	),
	/** Other skills. `beside`: not in the library, but in the same download. */
	skills: z.array(z.object({ ...need, state: z.enum(['on', 'off', 'beside', 'missing']) }))
});
export type SkillNeeds = z.infer<typeof skillNeeds>;

/** What a failed script lacked, by its own output: a hint, not proof. */
export const missingNeed = z.discriminatedUnion('kind', [
	/** `name`: as the index has it, such as `python-docx`; `module`: as the script imports it. */
	z.object({
		kind: z.literal('package'),
		ecosystem: z.enum(['python', 'javascript']),
		name: z.string(),
		module: z.string()
	}),
	z.object({ kind: z.literal('command'), name: z.string() }),
	z.object({ kind: z.literal('host'), name: z.string() }),
	z.object({ kind: z.literal('variable'), name: z.string() })
]);
export type MissingNeed = z.infer<typeof missingNeed>;

/** Descriptions and inputs of tools by name, known before the skill is trusted. */
export const toolFacts = {
	toolDescriptions: z.record(z.string(), z.string()),
	/** JSON Schemas. */
	inputSchemas: z.record(z.string(), z.record(z.string(), z.unknown()))
};

export const skillDetail = skillSummary.extend({
	/** `source/name`, used in executions, secrets and grants. */
	skillId: z.string(),
	/** Empty if broken. */
	version: z.string(),
	/** Trusted because of its folder, which can’t be revoked. */
	isTrustedByPlace: z.boolean(),
	/** SHA-256 of all files, which trust refers to. */
	digest: z.string(),
	files: z.array(skillFile),
	findings: z.array(skillFinding),
	/** Compared with the last trusted files; null if never trusted or unchanged. */
	changes: z.array(skillFileChange).nullable(),
	needs: skillNeeds,
	network: z.object({ declared: z.array(z.string()), granted: z.array(z.string()) }),
	allowedTools: z.string().nullable(),
	...toolFacts
});
export type SkillDetail = z.infer<typeof skillDetail>;

/** `PUT /api/skills/:id` */
export const skillPatch = z
	.strictObject({
		enabled: z.boolean().optional(),
		mode: z.enum(['on', 'off', 'auto']).optional(),
		/** `digest` of the reviewed files. */
		trust: z.strictObject({ digest: z.string().regex(/^[0-9a-f]{64}$/), isTrusted: z.boolean() }).optional(),
		network: z.array(z.string().min(1).max(253)).max(100).optional()
	})
	.refine((patch) => Object.values(patch).some((value) => value !== undefined), 'must have something to change');
export type SkillPatch = z.infer<typeof skillPatch>;

/** Variables to store; null removes one. Values are never returned. */
export const secretsPatch = z.record(
	z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/),
	z.string().min(1).max(65_536).nullable()
);

/** Cost of listing all enabled skills in the prompt. */
export const catalogSize = z.object({
	/** Estimate with full descriptions. */
	tokens: z.number(),
	/** Beyond this budget, only skills that fit the question keep their description. */
	budgetTokens: z.number()
});
export type CatalogSize = z.infer<typeof catalogSize>;

export const skillList = z.object({
	data: z.array(skillSummary),
	/** Same as `data`, by OmniRoute’s name (E2). */
	skills: z.array(skillSummary),
	total: z.number(),
	page: z.number(),
	limit: z.number(),
	totalPages: z.number(),
	provider: z.enum(['skillsmp', 'skillssh', 'github']),
	/** Skills that the active catalog lists without a query (E6). */
	popularDefaults: z.array(z.string()),
	/** Changes with the library. */
	revision: z.string(),
	catalog: catalogSize
});
export type SkillList = z.infer<typeof skillList>;

/** `POST /api/skills/score`: explains the selection of skills for a text (B7, B8). */
export const scoreRequest = z.strictObject({
	text: z.string().max(100_000),
	/** Scores as if this key had asked. */
	apiKeyId: z.string().min(1).max(256).optional(),
	/** For OmniRoute’s scorer: `openai`, `anthropic`, `google`. */
	provider: z.string().min(1).max(64).optional(),
	backgroundReason: z.string().max(10_000).optional(),
	limit: z.number().int().min(1).max(200).default(50)
});

export const skillScoreList = z.object({
	/** Best first, by the prompt’s scorer. */
	data: z.array(
		z.object({
			id: z.string(),
			name: z.string(),
			mode: z.enum(['on', 'off', 'auto']),
			/** By the scorer of the prompt. */
			score: z.number(),
			signals: z.object({
				name: z.number(),
				nameTokens: z.number(),
				tags: z.number(),
				description: z.number()
			}),
			/** By OmniRoute’s scorer. */
			omniroute: z.object({
				score: z.number(),
				signals: z.record(z.enum(['name', 'nameTokens', 'tags', 'description', 'background', 'provider']), z.number()),
				/** `on`, or among the best `autoMaxSkills` of `auto` with at least `autoMinScore`. */
				isPicked: z.boolean()
			})
		})
	),
	total: z.number(),
	autoMaxSkills: z.number(),
	autoMinScore: z.number()
});
export type SkillScoreList = z.infer<typeof skillScoreList>;

/** `GET /api/skills/:id/diagnostics` (F1). */
export const skillDiagnosis = z.object({
	id: z.string(),
	name: z.string(),
	status: z.enum(['ready', 'broken']),
	/** Absolute path of the SKILL.md. */
	path: z.string(),
	issues: z.array(
		skillDiagnostic.extend({
			/** The available fix; null without one. */
			fixId: z.string().nullable(),
			/** Unified diff of this fix; null without a fix, or if it only renames the file. */
			diff: z.string().nullable(),
			/** The fix makes up the description of what the instructions begin with: a person has to check it. */
			isGuess: z.boolean().optional(),
			/** The fix brings back the description from before the edit of this time. */
			earlier: z.string().optional()
		})
	),
	/** The SKILL.md with all fixes; null without any. */
	fixed: z.object({ before: z.string(), after: z.string(), diff: z.string() }).nullable(),
	/** SHA-256 of the SKILL.md; empty if unreadable. */
	digest: z.string()
});
export type SkillDiagnosis = z.infer<typeof skillDiagnosis>;

/** `POST /api/skills/:id/diagnostics`: applies fixes, and keeps the old text as an edit to go back to. */
export const diagnosisFix = z.strictObject({
	digest: z.string().regex(/^[0-9a-f]{64}$/),
	/** Default: all. */
	fixes: z.array(z.string().min(1).max(100)).min(1).max(100).optional()
});
export type DiagnosisFix = z.infer<typeof diagnosisFix>;

/** Changes with the library. */
export const skillRevision = z.object({ revision: z.string() });

// Creating and editing (F1, F8).

/** Relative to the skill’s folder, with `/`. */
const skillFilePath = z
	.string()
	.min(1)
	.max(MAX_SKILL_FILE_PATH)
	.regex(SKILL_FILE_PATH, 'isn’t a file name that works on every system');

/** The query of `GET` and `DELETE /api/skills/:id/file`. */
export const skillFileQuery = z.object({ path: skillFilePath.describe('Path inside the skill’s folder.') });

/** The query of `GET /api/skills/:id/file`. */
export const skillFileReading = skillFileQuery.extend({
	format: z.enum(['json', 'file']).default('json').describe('`file`: the file itself, of any kind and size.'),
	view: z.enum(['plain', 'scripts']).optional().describe('With `file`: see `getFile`.')
});

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

/** `PATCH /api/skills/:id/file` */
export const skillFileRename = z.strictObject({
	path: skillFilePath,
	/** Also in another folder of the skill. */
	to: skillFilePath,
	/** Other files, in whose text the new path takes the place of the old one. */
	alsoIn: z.array(skillFilePath).max(100).optional()
});
export type SkillFileRename = z.infer<typeof skillFileRename>;

export const skillFileText = z.object({
	path: z.string(),
	text: z.string(),
	bytes: z.number(),
	/** SHA-256, to send back with a change. */
	digest: z.string(),
	isExecutable: z.boolean(),
	isWritable: z.boolean(),
	/** The skill’s id, which changes with the name in its SKILL.md. */
	skill: z.string(),
	/** The skill’s folder as `source/folder`: the same under each of its ids, and while it’s broken. */
	folder: z.string(),
	/** Of a written file, with a bucket: why other servers don’t have it yet. */
	hint: z.string().optional()
});
export type SkillFileText = z.infer<typeof skillFileText>;

/** An edit of a skill, to before which one can go back: a save or removal of a file, a return to before an earlier one, or a draft that was saved. */
export const skillEdit = z.object({
	id: z.string(),
	editedAt: z.string(),
	/** The edit was a return to before an earlier one. */
	isReturn: z.boolean(),
	/** The edit was a draft that was saved. */
	isDraft: z.boolean(),
	/** What it changed. */
	...fileChanges.shape,
	/** The first line that it added, or else removed, cut, with `+` or `−` before it. */
	line: z.string().optional(),
	/** It made the files what they were before the edit with this id. */
	backTo: z.string().optional(),
	/** It took the edit before it back. */
	isUndo: z.boolean().optional(),
	/** What was wrong with the SKILL.md before it, so that chats couldn’t use the skill. */
	problem: z.string().optional(),
	/** The name in the SKILL.md before it, where the skill has another one now. */
	name: z.string().optional()
});
export type SkillEdit = z.infer<typeof skillEdit>;
export const skillEdits = z.object({ edits: z.array(skillEdit) });
export const skillEditQuery = z.object({
	of: z
		.enum(['edit', 'return'])
		.default('edit')
		.describe('`return`: what going back to before the edit would change now, instead of what the edit changed.')
});
export const skillEditChanges = z.object({ changes: z.array(skillFileChange) });
/** The skill's id, which changes with the name in its SKILL.md. */
export const skillReturned = z.object({ skill: z.string() });

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
	template: z.enum(SKILL_TEMPLATES),
	/** A question that the skill answers; by default one that fits what it takes. */
	example: z.string().trim().min(1).max(MAX_SKILL_EXAMPLE).optional(),
	takes: z.enum(SCRIPT_INPUTS).optional()
});
export type NewSkill = z.infer<typeof newSkill>;
