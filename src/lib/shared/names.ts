/** What things are called: skills and their files, tools, models, scopes of keys; without a schema, so that the page can tell while somebody types. */

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

// What names of skills and of their files may be.

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

// Models, their keys and how long they think.

/** How long a model thinks before it answers: `reasoning.effort` of the Responses API, from least to most. */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Letters, digits and signs without spaces: what a header can carry, and a model be called. */
export const PRINTABLE = /^[!-~]+$/;
export const MAX_MODEL_ID = 256;
export const MAX_API_KEY = 512;

/** Id of Demo mode, wherever an answer says what gave it. */
export const BUILT_IN_MODEL = 'offline';

export function isReasoningEffort(value: unknown): value is ReasoningEffort {
	return REASONING_EFFORTS.some((effort) => effort === value);
}

/** `text` trimmed, if a model could be called so; else null. */
export function asModelId(text: string): string | null {
	const id = text.trim();
	return PRINTABLE.test(id) && id.length <= MAX_MODEL_ID ? id : null;
}

/** `text` trimmed, if it could be a key; else null. */
export function asApiKey(text: string): string | null {
	const key = text.trim();
	return PRINTABLE.test(key) && key.length <= MAX_API_KEY ? key : null;
}

/** OpenRouter's address, and what is built like it: `https://…/api/v1`. There is `/key`, `/credits`, and a sign-in. */
export function isOpenRouter(baseUrl: string): boolean {
	return /\/api\/v1\/?$/.test(new URL(baseUrl).pathname);
}

// Tools of MCP servers.

/** What executions and questions call a server’s tools by: `mcp/server`. No skill has such a name. */
const SUBJECT = 'mcp/';

export function mcpSubject(server: string): string {
	return `${SUBJECT}${server}`;
}

/** The server of `mcp/server`; null for any other name. */
export function mcpServerOf(subject: string): string | null {
	return subject.startsWith(SUBJECT) ? subject.slice(SUBJECT.length) : null;
}

/** `mcp__server__tool` in its two parts; null for any other name. */
export function mcpToolOf(name: string): { server: string; tool: string } | null {
	const [, server, tool] = /^mcp__([a-z0-9_-]+?)__(.+)$/s.exec(name) ?? [];
	return server === undefined || tool === undefined ? null : { server, tool };
}

// Keys of other programs.

/**
 * What a key may do: look; switch skills; run skills and ask the agent; allow its own runs what somebody would be asked
 * about.
 */
export const API_SCOPES = ['read', 'write', 'execute', 'approve'] as const;

export type ApiScope = (typeof API_SCOPES)[number];
