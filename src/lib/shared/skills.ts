/** Skills as the REST API has them: requests (schemas) and answers (types). Unknown keys in a request are refused. */
import { z } from 'zod';

export interface SkillDiagnostic {
	severity: 'error' | 'warning';
	field: string;
	message: string;
	/** The file that it is about, from the skill's folder; the SKILL.md without it. */
	file?: string;
	/** From 1. */
	line?: number;
	fix?: string;
}

export interface SkillSummary {
	/** Of every call: the name, `source/name@version` for one that is shadowed, `source/folder` for one that is broken; see `toSkillId`. */
	id: string;
	name: string;
	description: string;
	/** `ready` can be used; `broken` cannot, and `diagnostics` says why. */
	status: 'ready' | 'broken';
	path: string;
	scripts: string[];
	tools: string[];
	diagnostics: SkillDiagnostic[];
	/** May its scripts run without being asked about? */
	trust: TrustState;
	mode: 'on' | 'off' | 'auto';
	/** null for one that is broken. */
	version: string | null;
	/** Label of the folder that it lies in; `builtin` for those of this server. */
	source: string;
	/** Where it was installed from; `local` for what lies in a folder of skills, `builtin` for those of this server. */
	provider: SkillProvider;
	/** Whose it is; `system` is everybody’s (A41). */
	owner: string;
	usage: SkillUsage;
}

/** Where an installed skill came from; `custom` is made from a schema and the name of a handler (E5). */
export const INSTALL_PROVIDERS = [
	'github',
	'skillssh',
	'skillsmp',
	'well-known',
	'zip',
	'folder',
	'inline',
	'custom'
] as const;

export type InstallProvider = (typeof INSTALL_PROVIDERS)[number];

export type SkillProvider = InstallProvider | 'local' | 'builtin';

/** Executions of all its versions so far. */
export interface SkillUsage {
	executions: number;
	/** Those that ended in an error or a time-out. */
	failures: number;
	/** ISO 8601; null before the first. */
	lastUsedAt: string | null;
}

/** The query of `GET /api/skills` (E2). */
export const skillQuery = z.object({
	q: z.string().max(1000).optional(),
	mode: z.enum(['on', 'off', 'auto']).optional(),
	/** A provider, or the label of a folder. */
	source: z.string().max(256).optional(),
	status: z.enum(['ready', 'broken']).optional(),
	/** Only what this key sees: its own and the system's. */
	apiKeyId: z.string().min(1).max(256).optional()
});

export type SkillQuery = z.infer<typeof skillQuery>;

/**
 * `builtin`: part of this server; `trusted`: in a folder that the operator filled, or its files were looked at and trusted;
 * `changed`: they were, and are others now; `untrusted`: nobody has said so (FEATURES E30, F4).
 */
export type TrustState = 'builtin' | 'trusted' | 'changed' | 'untrusted';

/** Everything of one skill that somebody needs to decide about it. */
export interface SkillDetail extends SkillSummary {
	/** `source/name`: names it in executions, secrets and grants. */
	skillId: string;
	/** Empty for one that is broken. */
	version: string;
	/** Trusted for where it lies, which cannot be withdrawn. */
	isTrustedByPlace: boolean;
	/** SHA-256 of all its files; trust is given to it. */
	digest: string;
	files: SkillFile[];
	findings: SkillFinding[];
	/** Against the files as they were trusted last; null when they never were or are the same. */
	changes: SkillFileChange[] | null;
	needs: SkillNeeds;
	network: { declared: string[]; granted: string[] };
	/** The raw `allowed-tools`. */
	allowedTools: string | null;
	/** Of each tool, the JSON Schema of its input. */
	inputSchemas: Record<string, Record<string, unknown>>;
}

export interface SkillFile {
	/** Relative to the skill's folder, with `/`. */
	path: string;
	bytes: number;
	/** null for what is no text or too long to be shown. */
	text: string | null;
}

/** Something that a static look at the files found; a hint for people, never a proof. */
export interface SkillFinding {
	severity: 'danger' | 'warning' | 'info';
	/** e.g. `pipe-to-shell`, `credential-path`, `obfuscation`, `invisible-characters`, `prompt-injection`. */
	kind: string;
	message: string;
	file: string;
	/** From 1. */
	line: number;
	/** The line, cut, with invisible characters shown as escapes. */
	excerpt: string;
}

export interface SkillFileChange {
	path: string;
	kind: 'added' | 'removed' | 'changed';
	/** Unified diff; null for what is no text. */
	diff: string | null;
}

/** What a skill needs to run, declared or found, and whether it is there (FEATURES F3). */
export interface SkillNeeds {
	binaries: { name: string; isDeclared: boolean; isFound: boolean }[];
	pythonModules: { name: string; isDeclared: boolean; isFound: boolean }[];
	/** `isOptional`: declared as one that it runs without. `isSet`: stored for this skill, or offered by the operator. `problem`: why a stored value cannot be used. */
	variables: {
		name: string;
		isDeclared: boolean;
		isOptional: boolean;
		isSet: boolean;
		setBy: 'secret' | 'operator' | null;
		problem?: string;
	}[];
}

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
	.refine((patch) => Object.values(patch).some((value) => value !== undefined), 'must name something to change');

export type SkillPatch = z.infer<typeof skillPatch>;

/** Variables to store for a skill; null removes one. Values are never sent back. */
export const secretsPatch = z.record(
	z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/),
	z.string().min(1).max(65_536).nullable()
);

export interface SkillList {
	data: SkillSummary[];
	/** The same as `data`: what the OmniRoute document calls it (E2). */
	skills: SkillSummary[];
	total: number;
	page: number;
	limit: number;
	totalPages: number;
	/** The catalog that skills are installed from. */
	provider: 'skillsmp' | 'skillssh' | 'github';
	/** Skills that the active catalog shows without a question; none are made up (E6). */
	popularDefaults: string[];
	/** Changes whenever the library does; the page compares it to know whether to render again. */
	revision: string;
	catalog: CatalogSize;
}

/** What telling the model of every skill that is not off costs a turn. */
export interface CatalogSize {
	/** Roughly, if each were told in full. */
	tokens: number;
	/** The most that is spent on it; over it, the skills that fit the question are told in full and the others by name. */
	budgetTokens: number;
}

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

export interface SkillScoreList {
	/** Best first, by the scorer that fills the catalog. */
	data: {
		id: string;
		name: string;
		mode: 'on' | 'off' | 'auto';
		/** The scorer that fills the catalog. */
		score: number;
		signals: { name: number; nameTokens: number; tags: number; description: number };
		/** The document's scorer. */
		omniroute: {
			score: number;
			signals: Record<'name' | 'nameTokens' | 'tags' | 'description' | 'background' | 'provider', number>;
			/** Among the best `autoMaxSkills` of `auto` with at least `autoMinScore`, or `on`. */
			isPicked: boolean;
		};
	}[];
	/** Skills that were scored. */
	total: number;
	autoMaxSkills: number;
	autoMinScore: number;
}

/** `GET /api/skills/:id/diagnostics` (F1). */
export interface SkillDiagnosis {
	id: string;
	name: string;
	status: 'ready' | 'broken';
	/** Absolute path of the SKILL.md. */
	path: string;
	issues: (SkillDiagnostic & {
		/** Names the fix that can be applied; null where a person has to write. */
		fixId: string | null;
		/** What this fix alone would change, as a unified diff; null without a fix and for a mere renaming. */
		diff: string | null;
	})[];
	/** The SKILL.md with all fixes applied; null where there is none to apply. */
	fixed: { before: string; after: string; diff: string } | null;
	/** SHA-256 of the SKILL.md that was looked at; empty where there is none that can be read. */
	digest: string;
	/** After a fix: the name of the file beside it that has the old text. */
	keptAs?: string;
}

/** `POST /api/skills/:id/diagnostics`: applies fixes to the file that was looked at; the old one is kept beside it. */
export const diagnosisFix = z.strictObject({
	digest: z.string().regex(/^[0-9a-f]{64}$/),
	/** All there are without it. */
	fixes: z.array(z.string().min(1).max(100)).min(1).max(100).optional()
});

export type DiagnosisFix = z.infer<typeof diagnosisFix>;

/** Names of the skills that this server brings itself (FEATURES D27–D31). */
export const BUILTIN_NAMES = [
	'file_read',
	'file_write',
	'http_request',
	'web_search',
	'eval_code',
	'execute_command',
	'browser'
] as const;

/** Other names by which models know them: with OmniRoute's prefix, and with a version behind `@`. */
export function builtinNameOf(name: string): string | null {
	const bare = name.replace(/@\d+\.\d+\.\d+$/, '').replace(/^omniroute_/, '');
	return BUILTIN_NAMES.find((known) => known === bare) ?? null;
}

/** Is it a name that tools of this server may have: of a built-in skill, or of an MCP server's tool? No skill's tool has it. */
export function isServerTool(name: string): boolean {
	return name.startsWith('mcp__') || builtinNameOf(name) !== null;
}

/** Is it a built-in skill that asks for consent? It names itself as its script, which no other skill of that name does. */
export function isBuiltinCall({ skill, script }: { skill: string; script: string }): boolean {
	return skill === script && builtinNameOf(skill) !== null;
}

// What names of skills and of their files may be; without a schema, so that a page can tell while somebody types.

/** Of one file that is written; longer ones are no text that anybody edits. */
export const MAX_SKILL_FILE_BYTES = 2 * 1024 * 1024;

/** What the standard allows as a name, in full. */
export const SKILL_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const MAX_SKILL_NAME = 64;
export const MAX_SKILL_DESCRIPTION = 1024;

/** One part of a path means the same on every system: no dots alone, no characters that one of them refuses. */
const PART = '(?!\\.{1,2}(?:/|$))[^/\\\\<>:"|?*\\u0000-\\u001f\\u007f]*[^/\\\\<>:"|?*\\u0000-\\u001f\\u007f. ]';
export const SKILL_FILE_PATH = new RegExp(`^${PART}(?:/${PART}){0,7}$`);
export const MAX_SKILL_FILE_PATH = 512;

/** A SKILL.md alone; with a program that it runs; with a tool that the model calls. */
export const SKILL_TEMPLATES = ['instructions', 'script', 'tools'] as const;
export type SkillTemplate = (typeof SKILL_TEMPLATES)[number];

/** Words of the addresses below `/api/skills` and `/skills`, and dots that an address swallows: a test compares them with the routes. */
const ADDRESS_WORDS = new Set([
	'.',
	'..',
	'cases',
	'check',
	'diagnostics',
	'edit',
	'evals',
	'events',
	'executions',
	'export',
	'file',
	'install',
	'marketplace',
	'new',
	'outdated',
	'reload',
	'rollback',
	'run',
	'score',
	'scores',
	'secrets',
	'skillssh',
	'staged',
	'trash',
	'update',
	'updates',
	'versions'
]);

/**
 * The id of a skill, such that an address made of it leads to the skill and nowhere else: `~` stands before each part that
 * is a word of addresses. What is one already stays as it is.
 */
export function toSkillId(id: string): string {
	return id
		.split('/')
		.map((part) => (ADDRESS_WORDS.has(part) ? `~${part}` : part))
		.join('/');
}

/** What was given as an id, without the signs that `toSkillId` adds. */
export function fromSkillId(id: string): string {
	const plain = (part: string) => (part.startsWith('~') && ADDRESS_WORDS.has(part.slice(1)) ? part.slice(1) : part);
	return id.split('/').map(plain).join('/');
}
