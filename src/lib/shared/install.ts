/** REST contracts of installing skills: sources, review, versions and trash (E4–E9, E20–E28). Times are ISO 8601. */
import { z } from 'zod';
import {
	fileChanges,
	toolFacts,
	skillDiagnostic,
	skillFile,
	skillFileChange,
	skillFinding,
	skillNeeds
} from './skills.ts';
import { INSTALL_PROVIDERS } from './names.ts';
import { inPlainWords } from './plain-issues.ts';

/** The owner: an API key’s skills are visible to that key only, `system`’s to everyone (A41). */
const apiKeyId = z.string().min(1).max(256);
const repository = z
	.string()
	.regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/, 'must be owner/repository');
const text = (max: number) => z.string().min(1).max(max);

/** A source the server fetches itself; uploads are request bodies. */
export const installSource = z.discriminatedUnion('type', [
	z.strictObject({
		type: z.literal('github'),
		/** `owner/repository`, or the address of a repository, a folder or a SKILL.md on github.com. */
		repository: text(2048),
		/** Branch, tag or commit. Default: the default branch. */
		ref: text(256).optional(),
		path: text(1024).optional()
	}),
	z.strictObject({ type: z.literal('skillssh'), source: repository, skillId: text(200) }),
	/** `sourceUrl` is an address on github.com. */
	z.strictObject({ type: z.literal('skillsmp'), sourceUrl: text(2048), name: text(200).optional() }),
	/** A site with `/.well-known/agent-skills/index.json`: all skills, or the one named. */
	z.strictObject({ type: z.literal('well-known'), url: text(2048), name: text(200).optional() }),
	z.strictObject({ type: z.literal('inline'), text: text(2 * 1024 * 1024) })
]);
export type InstallSource = z.infer<typeof installSource>;

export const skillOrigin = z.object({
	provider: z.enum(INSTALL_PROVIDERS),
	/** How to fetch it again; null for uploads. */
	source: installSource.nullable(),
	url: z.string().nullable(),
	/** Name of the uploaded zip file, where it was told. */
	file: z.string().optional(),
	/** The fetched commit of a repository. */
	commit: z.string().nullable(),
	/** The skill's folder inside its source, with `/`; empty for the top. */
	path: z.string(),
	/** The source’s own revision of this folder (SHA-1 of a git tree, or a digest); null without one. */
	revision: z.string().nullable(),
	/** Of one saved from a draft: the id of the installation that it was made from. */
	base: z.string().optional()
});
export type SkillOrigin = z.infer<typeof skillOrigin>;

export const stagedSkill = z.object({
	/** The skill’s folder inside its source, used to confirm it. Empty for the top. */
	path: z.string(),
	name: z.string(),
	/** null if broken. */
	version: z.string().nullable(),
	description: z.string(),
	/** `broken` can’t be installed; see `diagnostics`. */
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
	/** Installed skill of the same name and owner: the same version, else the one in use. */
	installed: z
		.object({
			skillId: z.string(),
			version: z.string(),
			isSameVersion: z.boolean(),
			isSameOrigin: z.boolean(),
			/** SHA-256 of all its files as they are now. */
			digest: z.string(),
			/** Its files aren’t what was installed any more. */
			isEdited: z.boolean()
		})
		.nullable(),
	/** Compared with the files of `installed` as they are now; null without one, or if equal. */
	changes: z.array(skillFileChange).nullable(),
	/** Security audits (E25); null without any. */
	audit: z.array(z.object({ by: z.string(), risk: z.string() })).nullable(),
	/** null if broken. */
	needs: skillNeeds.nullable()
});
export type StagedSkill = z.infer<typeof stagedSkill>;

/** The query of an upload to `POST /api/skills/install/staged`. */
export const uploadQuery = z.object({
	file: z.string().max(255).optional().describe('Name of the zip file, shown at review.')
});

/** Fetched and checked skills waiting for confirmation. */
export const stagedInstall = z.object({
	id: z.string(),
	createdAt: z.string(),
	expiresAt: z.string(),
	skills: z.array(stagedSkill),
	/** Sentences about skipped files and warnings. */
	notes: z.array(z.string())
});
export type StagedInstall = z.infer<typeof stagedInstall>;

/** `POST /api/skills/install/staged/:id`. */
export const installConfirm = z.strictObject({
	/** Staged skills by `path`. Default: all that are ready. */
	paths: z.array(z.string().max(1024)).min(1).max(100).optional(),
	/** If name and version are already installed: fail with 409, skip, replace, or rename to `name-2`. */
	conflict: z.enum(['fail', 'skip', 'overwrite', 'rename']).default('fail'),
	/** By `path`, the `installed.digest` that was looked at: if the files to be replaced are others now, that’s a 409. */
	compared: z.record(z.string().max(1024), z.string().max(64)).optional(),
	/** Owner; `system` for everyone. */
	apiKeyId: apiKeyId.default('system'),
	/** Usable at once; otherwise off. */
	enabled: z.boolean().default(false)
});
export type InstallConfirm = z.infer<typeof installConfirm>;

/** OmniRoute’s `POST /api/skills/install` (E5): a tool of a native handler. */
export const customSkill = z.strictObject({
	name: text(100),
	version: z.string().regex(/^\d+\.\d+\.\d+$/, 'must be MAJOR.MINOR.PATCH'),
	description: text(500),
	schema: z.strictObject({
		input: z.record(z.string(), z.unknown()),
		output: z.record(z.string(), z.unknown()).optional()
	}),
	handlerCode: text(50_000),
	apiKeyId: apiKeyId.default('system'),
	/** `true`: replaces an installed skill of this name and version instead of failing with 409. */
	replace: z.boolean().optional()
});
export type CustomSkill = z.infer<typeof customSkill>;

/** `POST /api/skills/install` with a source: fetches, checks and installs in one step. */
export const installRequest = z.strictObject({ source: installSource, ...installConfirm.shape });

/** `POST /api/skills/install`: either form, with the errors of that form. */
export const installBody = z.record(z.string(), z.unknown()).transform((body, context) => {
	const parsed = ('source' in body ? installRequest : customSkill).safeParse(body, { error: inPlainWords });
	if (parsed.success) return parsed.data;
	for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message });
	return z.NEVER;
});

/** `POST /api/skills/install/staged` with JSON. */
export const stageRequest = z.strictObject({ source: installSource, apiKeyId: apiKeyId.optional() });

/** `POST /api/skills/marketplace/install` (E7): the given text without any download, else the folder at `sourceUrl`. */
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

export const catalogSkill = z.object({
	/** Unique in its catalog. */
	id: z.string(),
	name: z.string(),
	description: z.string(),
	provider: z.enum(['skillsmp', 'skillssh']),
	author: z.string().nullable(),
	popularity: z.object({ count: z.number(), unit: z.enum(['installs', 'stars']) }).nullable(),
	url: z.string().nullable(),
	/** For installation; null if it can’t be fetched. */
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

/** The record of an installation (E28, E29). */
export const installedSkill = z.object({
	/** New for every installation, also of the same name and version. */
	id: z.string(),
	/** `source/name`. */
	skillId: z.string(),
	name: z.string(),
	version: z.string(),
	/** `system`, or an API key. */
	owner: z.string(),
	/** `active`: in the library; `kept`: replaced, for rollback; `trashed`: removed, can be restored. */
	state: z.enum(['active', 'kept', 'trashed']),
	origin: skillOrigin,
	/** SHA-256 of all its files. */
	digest: z.string(),
	files: z.array(z.object({ path: z.string(), bytes: z.number(), sha256: z.string() })),
	installedAt: z.string()
});
export type InstalledSkill = z.infer<typeof installedSkill>;

/** `GET /api/skills/:id/versions`, newest installation first. */
export const skillVersions = z.object({
	/** The version the bare name means; null while all are off. */
	current: z.string().nullable(),
	/** The chosen version; null for the newest enabled one. */
	pinned: z.string().nullable(),
	versions: z.array(
		z.object({
			version: z.string(),
			/** Its SKILL.md says so; otherwise 1.0.0 may be filled in. Absent of those that are only kept. */
			statesVersion: z.boolean().optional(),
			/** Its id in the library; null if only kept. */
			id: z.string().nullable(),
			mode: z.enum(['on', 'off', 'auto']),
			/** null if it wasn’t installed here. */
			installation: installedSkill.nullable(),
			/** Its files aren’t what was installed any more. */
			isEdited: z.boolean(),
			/** What is wrong with its SKILL.md, so that chats can’t use it. */
			problem: z.string().optional(),
			/** Lines that were added and removed beside the one it was made from, or the one installed before. */
			lines: fileChanges.shape.lines.optional()
		})
	)
});
export type SkillVersions = z.infer<typeof skillVersions>;

/**
 * `PUT /api/skills/:id/versions`: the version or installation to use; null for the newest enabled one. A version is
 * pinned, an installation only if a newer version would be used instead.
 */
export const versionSwitch = z.strictObject({
	use: z.union([z.strictObject({ version: text(64) }), z.strictObject({ installationId: text(64) })]).nullable()
});
export type VersionSwitch = z.infer<typeof versionSwitch>;

/** `GET /api/skills/outdated`. */
export const outdatedSkill = z.object({
	skillId: z.string(),
	name: z.string(),
	version: z.string(),
	/** `uploaded`: it has no source, newer copies are uploaded, too. `unknown`: its source didn’t answer. */
	state: z.enum(['current', 'outdated', 'uploaded', 'unknown']),
	message: z.string()
});
export type OutdatedSkill = z.infer<typeof outdatedSkill>;

/** A removed skill that can be restored (E4). */
export const trashedSkill = z.object({
	id: z.string(),
	skillId: z.string(),
	name: z.string(),
	version: z.string().nullable(),
	path: z.string(),
	removedAt: z.string(),
	expiresAt: z.string()
});
export type TrashedSkill = z.infer<typeof trashedSkill>;

export const outdatedSkillList = z.object({ data: z.array(outdatedSkill) });
export const trashedSkillList = z.object({ data: z.array(trashedSkill) });
export const restoredSkill = trashedSkill.pick({ skillId: true, name: true, version: true });

export const installOutcome = z.object({
	installed: z.array(installedSkill),
	/** `name@version` of skills already installed. */
	skipped: z.array(z.string()),
	/** With a bucket: why other servers don’t have them yet. */
	hint: z.string().optional()
});
export type InstallOutcome = z.infer<typeof installOutcome>;

/** A tool that the agent has defined in a chat (D25). */
export const definedTool = z.object({
	name: z.string(),
	/** Name of the skill that it is, or would be kept as. */
	skill: z.string(),
	/** SHA-256 of its files. */
	digest: z.string(),
	/** It is that skill, for every chat. */
	isKept: z.boolean()
});
export type DefinedTool = z.infer<typeof definedTool>;

export const definedTools = z.object({ data: z.array(definedTool) });

/** `POST /api/conversations/:id/tools/:tool`. */
export const keepTool = z.strictObject({
	/** Of the files that were approved. */
	digest: z.string().min(1).max(64)
});

export const definedToolCode = z.object({
	/** The whole script. */
	code: z.string()
});

export const keptTool = z.object({
	/** Name of the skill that it is now. */
	skill: z.string()
});
