/** Installing skills: where they come from, what somebody looks at before they are placed, and what is kept of them (FEATURES E4–E9, E20–E28). */
import { z } from 'zod';
import { toolFacts, skillDiagnostic, skillFile, skillFileChange, skillFinding } from './skills.ts';
import { INSTALL_PROVIDERS } from './names.ts';
import { inPlainWords } from './plain-issues.ts';

/** The identity of who installs: an API key's skills are seen by that key alone, `system`’s by everybody (A41). */
const apiKeyId = z.string().min(1).max(256);
/** One segment of `owner/repository`, as GitHub allows it. */
const repository = z
	.string()
	.regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/, 'must be owner/repository');
const text = (max: number) => z.string().min(1).max(max);

/** A source that the server fetches by itself; uploads come as the body of a request. */
export const installSource = z.discriminatedUnion('type', [
	z.strictObject({
		type: z.literal('github'),
		/** `owner/repository`, or the address of a repository, a folder or a SKILL.md on github.com. */
		repository: text(2048),
		/** Branch, tag or commit; the default branch without it. */
		ref: text(256).optional(),
		/** A folder of the repository. */
		path: text(1024).optional()
	}),
	z.strictObject({ type: z.literal('skillssh'), source: repository, skillId: text(200) }),
	/** `sourceUrl` is an address on github.com. */
	z.strictObject({ type: z.literal('skillsmp'), sourceUrl: text(2048), name: text(200).optional() }),
	/** A site with `/.well-known/agent-skills/index.json`; all its skills, or the one of this name. */
	z.strictObject({ type: z.literal('well-known'), url: text(2048), name: text(200).optional() }),
	/** The text of a SKILL.md. */
	z.strictObject({ type: z.literal('inline'), text: text(2 * 1024 * 1024) })
]);
export type InstallSource = z.infer<typeof installSource>;

/** What is known of where a skill came from. */
export const skillOrigin = z.object({
	provider: z.enum(INSTALL_PROVIDERS),
	/** How to fetch it again; null for what was uploaded. */
	source: installSource.nullable(),
	/** A page for people; null where there is none. */
	url: z.string().nullable(),
	/** Of a repository: the commit that was fetched. */
	commit: z.string().nullable(),
	/** The skill's folder inside its source, with `/`; empty for the top. */
	path: z.string(),
	/** What the source itself calls the state of this folder (a git tree's SHA-1, a digest); null where it says none. */
	revision: z.string().nullable()
});
export type SkillOrigin = z.infer<typeof skillOrigin>;

export const stagedSkill = z.object({
	/** The skill's folder inside its source; names it when it is confirmed. Empty for the top. */
	path: z.string(),
	name: z.string(),
	/** null for one that is broken. */
	version: z.string().nullable(),
	description: z.string(),
	/** `broken` cannot be installed; `diagnostics` says why. */
	status: z.enum(['ready', 'broken']),
	diagnostics: z.array(skillDiagnostic),
	origin: skillOrigin,
	/** SHA-256 of all its files. */
	digest: z.string(),
	files: z.array(skillFile),
	scripts: z.array(z.string()),
	tools: z.array(z.string()),
	...toolFacts,
	findings: z.array(skillFinding),
	/** The installed skill of the same name and owner: of the same version, else the one in use. */
	installed: z
		.object({
			skillId: z.string(),
			version: z.string(),
			isSameVersion: z.boolean(),
			isSameOrigin: z.boolean()
		})
		.nullable(),
	/** Against `installed`; null where there is none, or the files are the same. */
	changes: z.array(skillFileChange).nullable(),
	/** What others say of it (E25); null where nobody was asked or answered. */
	audit: z
		.array(
			z.object({
				by: z.string(),
				risk: z.string()
			})
		)
		.nullable()
});
export type StagedSkill = z.infer<typeof stagedSkill>;

/** What was fetched and checked, and waits for somebody to say yes. */
export const stagedInstall = z.object({
	id: z.string(),
	/** ISO 8601. */
	createdAt: z.string(),
	/** Until then it can be confirmed. ISO 8601. */
	expiresAt: z.string(),
	skills: z.array(stagedSkill),
	/** What was left out or seems odd, in sentences. */
	notes: z.array(z.string())
});
export type StagedInstall = z.infer<typeof stagedInstall>;

/** `POST /api/skills/install/staged/:id`. */
export const installConfirm = z.strictObject({
	/** Which of the staged skills, by their `path`; all that are ready without it. */
	paths: z.array(z.string().max(1024)).min(1).max(100).optional(),
	/** What becomes of one whose name and version are installed already: 409, left out, replaced, or named `name-2`. */
	conflict: z.enum(['fail', 'skip', 'overwrite', 'rename']).default('fail'),
	/** Whose it is; `system` is everybody’s. */
	apiKeyId: apiKeyId.default('system'),
	/** Usable at once; otherwise it lands switched off. */
	enabled: z.boolean().default(false)
});
export type InstallConfirm = z.infer<typeof installConfirm>;

/** The body of the OmniRoute document's `POST /api/skills/install` (E5): a tool of a native handler. */
export const customSkill = z.strictObject({
	name: text(100),
	version: z.string().regex(/^\d+\.\d+\.\d+$/, 'must be MAJOR.MINOR.PATCH'),
	description: text(500),
	schema: z.strictObject({
		input: z.record(z.string(), z.unknown()),
		output: z.record(z.string(), z.unknown()).optional()
	}),
	/** Name of a handler that the operator has registered. */
	handlerCode: text(50_000),
	apiKeyId: apiKeyId.default('system'),
	/** `true`: an installed skill of this name and version is replaced, not refused with 409. */
	replace: z.boolean().optional()
});
export type CustomSkill = z.infer<typeof customSkill>;

/** `POST /api/skills/install` with a source: fetched, checked and placed in one go. */
export const installRequest = z.strictObject({
	source: installSource,
	...installConfirm.shape
});

/** `POST /api/skills/install`: whichever of both it is, what is wrong is told of that one. */
export const installBody = z.record(z.string(), z.unknown()).transform((body, context) => {
	const parsed = ('source' in body ? installRequest : customSkill).safeParse(body, { error: inPlainWords });
	if (parsed.success) return parsed.data;
	for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message });
	return z.NEVER;
});

/** `POST /api/skills/install/staged` with JSON. */
export const stageRequest = z.strictObject({ source: installSource, apiKeyId: apiKeyId.optional() });

/** `POST /api/skills/marketplace/install` (E7): the text alone where it is given, which asks nobody, else the whole folder at `sourceUrl`. */
export const marketplaceInstall = z
	.strictObject({
		name: text(100),
		description: z.string().max(2000).optional(),
		skillMdContent: text(2 * 1024 * 1024).optional(),
		version: text(64).optional(),
		sourceUrl: text(2048).optional(),
		apiKeyId: apiKeyId.default('system')
	})
	.refine(
		({ skillMdContent, sourceUrl }) => skillMdContent !== undefined || sourceUrl !== undefined,
		'must have a sourceUrl or the skillMdContent'
	);

/** `POST /api/skills/skillssh/install` (E9). */
export const skillsshInstall = z.strictObject({
	name: text(100),
	description: z.string().max(2000).optional(),
	source: repository,
	skillId: text(200),
	version: text(64).optional(),
	apiKeyId: apiKeyId.default('system')
});

/** A skill of a catalog, whichever it is (E23, E26). */
export const catalogSkill = z.object({
	/** Unique in its catalog. */
	id: z.string(),
	name: z.string(),
	description: z.string(),
	provider: z.enum(['skillsmp', 'skillssh']),
	author: z.string().nullable(),
	/** Installs or stars, as the catalog counts them. */
	popularity: z
		.object({
			count: z.number(),
			unit: z.enum(['installs', 'stars'])
		})
		.nullable(),
	/** A page for people. */
	url: z.string().nullable(),
	/** What to install it by; null for one that cannot be fetched. */
	source: installSource.nullable()
});
export type CatalogSkill = z.infer<typeof catalogSkill>;

export const catalogPage = z.object({
	skills: z.array(catalogSkill),
	total: z.number(),
	page: z.number(),
	limit: z.number()
});
export type CatalogPage = z.infer<typeof catalogPage>;

/** An installed skill, as it is recorded (E28, E29). */
export const installedSkill = z.object({
	/** Of this installation: the same name and version installed anew has another. */
	id: z.string(),
	/** `source/name`. */
	skillId: z.string(),
	name: z.string(),
	version: z.string(),
	/** `system`, or the API key whose it is. */
	owner: z.string(),
	/** `active`: in the library; `kept`: replaced, can be brought back; `trashed`: removed, can be restored. */
	state: z.enum(['active', 'kept', 'trashed']),
	origin: skillOrigin,
	/** SHA-256 of all its files. */
	digest: z.string(),
	files: z.array(
		z.object({
			path: z.string(),
			bytes: z.number(),
			sha256: z.string()
		})
	),
	/** ISO 8601. */
	installedAt: z.string()
});
export type InstalledSkill = z.infer<typeof installedSkill>;

/** `GET /api/skills/:id/versions`: the newest installation first. */
export const skillVersions = z.object({
	/** The version that the bare name means now; null while all are switched off. */
	current: z.string().nullable(),
	/** The version that somebody chose; null for the newest that is enabled. */
	pinned: z.string().nullable(),
	versions: z.array(
		z.object({
			version: z.string(),
			/** The library's id of this version; null for one that is only kept. */
			id: z.string().nullable(),
			mode: z.enum(['on', 'off', 'auto']),
			/** null for one that lies in a folder of its own and was not installed here. */
			installation: installedSkill.nullable()
		})
	)
});
export type SkillVersions = z.infer<typeof skillVersions>;

/** `PUT /api/skills/:id/versions`: use this version or kept installation from now on; null: the newest that is enabled. */
export const versionSwitch = z.strictObject({
	use: z.union([z.strictObject({ version: text(64) }), z.strictObject({ installationId: text(64) })]).nullable()
});
export type VersionSwitch = z.infer<typeof versionSwitch>;

/** `GET /api/skills/outdated`. */
export const outdatedSkill = z.object({
	skillId: z.string(),
	name: z.string(),
	version: z.string(),
	/** `unknown`: the source did not answer, or cannot be asked. */
	state: z.enum(['current', 'outdated', 'unknown']),
	/** Why it is unknown, or what there is. */
	message: z.string()
});
export type OutdatedSkill = z.infer<typeof outdatedSkill>;

/** Something that was removed and can be restored (E4). */
export const trashedSkill = z.object({
	id: z.string(),
	skillId: z.string(),
	name: z.string(),
	version: z.string().nullable(),
	/** Where it lay. */
	path: z.string(),
	/** ISO 8601. */
	removedAt: z.string(),
	/** It is kept until then. ISO 8601. */
	expiresAt: z.string()
});
export type TrashedSkill = z.infer<typeof trashedSkill>;

export const outdatedSkillList = z.object({ data: z.array(outdatedSkill) });
export const trashedSkillList = z.object({ data: z.array(trashedSkill) });
export const restoredSkill = trashedSkill.pick({ skillId: true, name: true, version: true });

/** What came of an installation. */
export const installOutcome = z.object({
	installed: z.array(installedSkill),
	/** `name@version` of what was left out: it is installed already, with these files or by wish. */
	skipped: z.array(z.string())
});
export type InstallOutcome = z.infer<typeof installOutcome>;
