/** Skills as the REST API has them: requests (schemas) and answers (types). Unknown keys in a request are refused. */
import { z } from 'zod';
import { INSTALL_PROVIDERS } from './names.ts';

export const skillDiagnostic = z.object({
	severity: z.enum(['error', 'warning']),
	field: z.string(),
	message: z.string(),
	/** The file that it is about, from the skill's folder; the SKILL.md without it. */
	file: z.string().optional(),
	/** From 1. */
	line: z.number().optional(),
	fix: z.string().optional()
});
export type SkillDiagnostic = z.infer<typeof skillDiagnostic>;

export const skillProvider = z.enum([...INSTALL_PROVIDERS, 'local', 'builtin']);
export type SkillProvider = z.infer<typeof skillProvider>;

/** Executions of all its versions so far. */
export const skillUsage = z.object({
	executions: z.number(),
	/** Those that ended in an error or a time-out. */
	failures: z.number(),
	/** ISO 8601; null before the first. */
	lastUsedAt: z.string().nullable()
});
export type SkillUsage = z.infer<typeof skillUsage>;

/**
 * `builtin`: part of this server; `trusted`: in a folder that the operator filled, or its files were looked at and trusted;
 * `changed`: they were, and are others now; `untrusted`: nobody has said so (FEATURES E30, F4).
 */
export const trustState = z.enum(['builtin', 'trusted', 'changed', 'untrusted']);
export type TrustState = z.infer<typeof trustState>;

export const skillSummary = z.object({
	/** Of every call: the name, `source/name@version` for one that is shadowed, `source/folder` for one that is broken; see `toSkillId`. */
	id: z.string(),
	name: z.string(),
	description: z.string(),
	/** `ready` can be used; `broken` cannot, and `diagnostics` says why. */
	status: z.enum(['ready', 'broken']),
	path: z.string(),
	scripts: z.array(z.string()),
	tools: z.array(z.string()),
	/** One emoji (`metadata.icon`); null: an icon is chosen by what it is about. */
	icon: z.string().nullable(),
	/** A message that shows what it does, ready to send (`metadata.example`), and the files in `examples/` that go with it. */
	example: z.object({ prompt: z.string(), files: z.array(z.string()) }).nullable(),
	diagnostics: z.array(skillDiagnostic),
	/** May its scripts run without being asked about? */
	trust: trustState,
	mode: z.enum(['on', 'off', 'auto']),
	/** null for one that is broken. */
	version: z.string().nullable(),
	/** Label of the folder that it lies in; `builtin` for those of this server. */
	source: z.string(),
	/** Where it was installed from; `local` for what lies in a folder of skills, `builtin` for those of this server. */
	provider: skillProvider,
	/** Whose it is; `system` is everybody’s (A41). */
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
	/** null for what is no text or too long to be shown. */
	text: z.string().nullable()
});
export type SkillFile = z.infer<typeof skillFile>;

/** Something that a static look at the files found; a hint for people, never a proof. */
export const skillFinding = z.object({
	severity: z.enum(['danger', 'warning', 'info']),
	/** e.g. `pipe-to-shell`, `credential-path`, `obfuscation`, `invisible-characters`, `prompt-injection`. */
	kind: z.string(),
	message: z.string(),
	file: z.string(),
	/** From 1. */
	line: z.number(),
	/** The line, cut, with invisible characters shown as escapes. */
	excerpt: z.string()
});
export type SkillFinding = z.infer<typeof skillFinding>;

export const skillFileChange = z.object({
	path: z.string(),
	kind: z.enum(['added', 'removed', 'changed']),
	/** Unified diff; null for what is no text. */
	diff: z.string().nullable()
});
export type SkillFileChange = z.infer<typeof skillFileChange>;

/** What a skill needs to run, declared or found, and whether it is there (FEATURES F3). */
export const skillNeeds = z.object({
	binaries: z.array(
		z.object({
			name: z.string(),
			isDeclared: z.boolean(),
			isFound: z.boolean()
		})
	),
	pythonModules: z.array(
		z.object({
			name: z.string(),
			isDeclared: z.boolean(),
			isFound: z.boolean()
		})
	),
	/** `isOptional`: declared as one that it runs without. `isSet`: stored for this skill, or offered by the operator. `problem`: why a stored value cannot be used. */
	variables: z.array(
		z.object({
			name: z.string(),
			isDeclared: z.boolean(),
			isOptional: z.boolean(),
			isSet: z.boolean(),
			setBy: z.enum(['secret', 'operator']).nullable(),
			problem: z.string().optional()
		})
	)
});
export type SkillNeeds = z.infer<typeof skillNeeds>;

/** What its tools do and take, by their names: known before anybody trusts them. */
export const toolFacts = {
	toolDescriptions: z.record(z.string(), z.string()),
	/** JSON Schemas. */
	inputSchemas: z.record(z.string(), z.record(z.string(), z.unknown()))
};

/** Everything of one skill that somebody needs to decide about it. */
export const skillDetail = skillSummary.extend({
	/** `source/name`: names it in executions, secrets and grants. */
	skillId: z.string(),
	/** Empty for one that is broken. */
	version: z.string(),
	/** Trusted for where it lies, which cannot be withdrawn. */
	isTrustedByPlace: z.boolean(),
	/** SHA-256 of all its files; trust is given to it. */
	digest: z.string(),
	files: z.array(skillFile),
	findings: z.array(skillFinding),
	/** Against the files as they were trusted last; null when they never were or are the same. */
	changes: z.array(skillFileChange).nullable(),
	needs: skillNeeds,
	network: z.object({
		declared: z.array(z.string()),
		granted: z.array(z.string())
	}),
	/** The raw `allowed-tools`. */
	allowedTools: z.string().nullable(),
	...toolFacts
});
export type SkillDetail = z.infer<typeof skillDetail>;

/** What `PUT /api/skills/:id` takes. */
export const skillPatch = z
	.strictObject({
		enabled: z.boolean().optional(),
		mode: z.enum(['on', 'off', 'auto']).optional(),
		/** `digest` is that of the files that were looked at. */
		trust: z.strictObject({ digest: z.string().regex(/^[0-9a-f]{64}$/), isTrusted: z.boolean() }).optional(),
		/** The declared domains that it may reach from now on. */
		network: z.array(z.string().min(1).max(253)).max(100).optional()
	})
	.refine((patch) => Object.values(patch).some((value) => value !== undefined), 'must have something to change');

export type SkillPatch = z.infer<typeof skillPatch>;

/** Variables to store for a skill; null removes one. Values are never sent back. */
export const secretsPatch = z.record(
	z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/),
	z.string().min(1).max(65_536).nullable()
);

/** What telling the model of every skill that is not off costs a turn. */
export const catalogSize = z.object({
	/** Roughly, if each were told in full. */
	tokens: z.number(),
	/** The most that is spent on it; over it, the skills that fit the question are told in full and the others by name. */
	budgetTokens: z.number()
});
export type CatalogSize = z.infer<typeof catalogSize>;

export const skillList = z.object({
	data: z.array(skillSummary),
	/** The same as `data`: what the OmniRoute document calls it (E2). */
	skills: z.array(skillSummary),
	total: z.number(),
	page: z.number(),
	limit: z.number(),
	totalPages: z.number(),
	/** The catalog that skills are installed from. */
	provider: z.enum(['skillsmp', 'skillssh', 'github']),
	/** Skills that the active catalog shows without a question; none are made up (E6). */
	popularDefaults: z.array(z.string()),
	/** Changes whenever the library does; the page compares it to know whether to render again. */
	revision: z.string(),
	catalog: catalogSize
});
export type SkillList = z.infer<typeof skillList>;

/** `POST /api/skills/score`: why a skill is or is not picked for a text (B7, B8). */
export const scoreRequest = z.strictObject({
	text: z.string().max(100_000),
	/** Scores as if this had been asked by this key. */
	apiKeyId: z.string().min(1).max(256).optional(),
	/** For the document's scorer: `openai`, `anthropic`, `google`. */
	provider: z.string().min(1).max(64).optional(),
	backgroundReason: z.string().max(10_000).optional(),
	limit: z.number().int().min(1).max(200).default(50)
});

export const skillScoreList = z.object({
	/** Best first, by the scorer that fills the catalog. */
	data: z.array(
		z.object({
			id: z.string(),
			name: z.string(),
			mode: z.enum(['on', 'off', 'auto']),
			/** The scorer that fills the catalog. */
			score: z.number(),
			signals: z.object({
				name: z.number(),
				nameTokens: z.number(),
				tags: z.number(),
				description: z.number()
			}),
			/** The document's scorer. */
			omniroute: z.object({
				score: z.number(),
				signals: z.record(z.enum(['name', 'nameTokens', 'tags', 'description', 'background', 'provider']), z.number()),
				/** Among the best `autoMaxSkills` of `auto` with at least `autoMinScore`, or `on`. */
				isPicked: z.boolean()
			})
		})
	),
	/** Skills that were scored. */
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
			/** Names the fix that can be applied; null where a person has to write. */
			fixId: z.string().nullable(),
			/** What this fix alone would change, as a unified diff; null without a fix and for a mere renaming. */
			diff: z.string().nullable()
		})
	),
	/** The SKILL.md with all fixes applied; null where there is none to apply. */
	fixed: z
		.object({
			before: z.string(),
			after: z.string(),
			diff: z.string()
		})
		.nullable(),
	/** SHA-256 of the SKILL.md that was looked at; empty where there is none that can be read. */
	digest: z.string(),
	/** After a fix: the name of the file beside it that has the old text. */
	keptAs: z.string().optional()
});
export type SkillDiagnosis = z.infer<typeof skillDiagnosis>;

/** `POST /api/skills/:id/diagnostics`: applies fixes to the file that was looked at; the old one is kept beside it. */
export const diagnosisFix = z.strictObject({
	digest: z.string().regex(/^[0-9a-f]{64}$/),
	/** All there are without it. */
	fixes: z.array(z.string().min(1).max(100)).min(1).max(100).optional()
});

export type DiagnosisFix = z.infer<typeof diagnosisFix>;

/** Changes whenever the library does. */
export const skillRevision = z.object({ revision: z.string() });
