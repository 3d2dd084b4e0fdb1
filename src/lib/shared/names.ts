/** Names of skills, files, tools, models and scopes, without schemas, so that the page can check input while typing. */

/** Sources of installed skills; `custom` is made from a schema and a handler’s name (E5). */
export const INSTALL_PROVIDERS = [
	'github',
	'skillssh',
	'skillsmp',
	'well-known',
	'zip',
	'folder',
	'draft',
	'inline',
	'custom'
] as const;

export type InstallProvider = (typeof INSTALL_PROVIDERS)[number];

/** Built-in skills (D27–D31). */
export const BUILTIN_NAMES = [
	'file_read',
	'file_write',
	'http_request',
	'web_search',
	'eval_code',
	'execute_command',
	'browser'
] as const;

/** Resolves aliases: OmniRoute’s prefix, and a version after `@`. */
export function builtinNameOf(name: string): string | null {
	const bare = name.replace(/@\d+\.\d+\.\d+$/, '').replace(/^omniroute_/, '');
	return BUILTIN_NAMES.find((known) => known === bare) ?? null;
}

/** With them, the agent looks for skills in the catalogs and asks for one. */
export const SKILL_REQUEST_TOOLS = ['search_skill_catalogs', 'request_skill'] as const;

/** Makes a draft of a skill from the chat. */
export const DRAFT_TOOL = 'save_as_skill';

/** Tools of a conversation that is open in an editor (ACP), for the files and the terminal there. */
export const EDITOR_TOOLS = ['editor_list', 'editor_read', 'editor_write', 'editor_edit', 'editor_run'] as const;

export function isEditorTool(name: string): boolean {
	return EDITOR_TOOLS.some((known) => known === name);
}

/** Whether the name is reserved for built-in skills, MCP tools and tools that bring skills. */
export function isServerTool(name: string): boolean {
	const others: readonly string[] = [...SKILL_REQUEST_TOOLS, DRAFT_TOOL, 'look_at_file'];
	return name.startsWith('mcp__') || builtinNameOf(name) !== null || isEditorTool(name) || others.includes(name);
}

/** Whether an approval is for a built-in skill or a tool of the editor: each names itself as its script, unlike other skills of that name. */
export function isBuiltinCall({ skill, script }: { skill: string; script: string }): boolean {
	return skill === script && (builtinNameOf(skill) !== null || isEditorTool(skill));
}

/** Maximum size of an editable file. */
export const MAX_SKILL_FILE_BYTES = 2 * 1024 * 1024;

export const SKILL_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const MAX_SKILL_NAME = 64;
export const MAX_SKILL_DESCRIPTION = 1024;

/** A path part valid on every system. */
const PART = '(?!\\.{1,2}(?:/|$))[^/\\\\<>:"|?*\\u0000-\\u001f\\u007f]*[^/\\\\<>:"|?*\\u0000-\\u001f\\u007f. ]';
export const SKILL_FILE_PATH = new RegExp(`^${PART}(?:/${PART}){0,7}$`);
export const MAX_SKILL_FILE_PATH = 512;

/** Where a text of a skill names the file with this path: as such, behind `./` or a placeholder, not in another folder. */
export function namingsOf(path: string): RegExp {
	const escaped = path.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
	return new RegExp(
		`(?<![\\p{L}\\p{N}_.@+-]|(?<![$\\p{L}\\p{N}_])[\\p{L}\\p{N}_@+-]+/)${escaped}(?![\\p{L}\\p{N}_/@+-]|\\.[\\p{L}\\p{N}])`,
		'gu'
	);
}

export const SKILL_TEMPLATES = ['instructions', 'script', 'tools'] as const;
export type SkillTemplate = (typeof SKILL_TEMPLATES)[number];
/** What the script or tool of a new skill is given. */
export const SCRIPT_INPUTS = ['text', 'number', 'file', 'nothing'] as const;
export type ScriptInput = (typeof SCRIPT_INPUTS)[number];
/** Of `metadata.example`. */
export const MAX_SKILL_EXAMPLE = 500;

/** Reserved path parts below `/api/skills` and `/skills`; a test compares them with the routes. */
const ADDRESS_WORDS = new Set(
	`. .. cases check diagnostics drafts edit edits evals events executions export file health import improve install marketplace new outdated packages reload
	review rollback run save score scores secrets skillssh staged stop trash trial update updates versions`.split(/\s+/)
);

/** A skill’s id for URLs: puts `~` before reserved parts. Idempotent. */
export function toSkillId(id: string): string {
	return id
		.split('/')
		.map((part) => (ADDRESS_WORDS.has(part) ? `~${part}` : part))
		.join('/');
}

/** Undoes `toSkillId`. */
export function fromSkillId(id: string): string {
	const plain = (part: string) => (part.startsWith('~') && ADDRESS_WORDS.has(part.slice(1)) ? part.slice(1) : part);
	return id.split('/').map(plain).join('/');
}

/** The name in `source/name@version`, also where a broken skill has `~:` for `@`. */
export function nameInSkillId(id: string): string {
	return fromSkillId(id)
		.replace(/^.*\//, '')
		.replace(/(@|(?<!~)~:)[^@]*$/, '');
}

/** `reasoning.effort` of the Responses API, from least to most. */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Letters, digits and signs without spaces, for headers and model ids. */
export const PRINTABLE = /^[!-~]+$/;
export const MAX_MODEL_ID = 256;
export const MAX_API_KEY = 512;

export const BUILT_IN_MODEL = 'offline';

export function isReasoningEffort(value: unknown): value is ReasoningEffort {
	return REASONING_EFFORTS.some((effort) => effort === value);
}

/** The trimmed text if it is a valid model id, else null. */
export function asModelId(text: string): string | null {
	const id = text.trim();
	return PRINTABLE.test(id) && id.length <= MAX_MODEL_ID ? id : null;
}

/** The trimmed text if it could be a key, else null. */
export function asApiKey(text: string): string | null {
	const key = text.trim();
	return PRINTABLE.test(key) && key.length <= MAX_API_KEY ? key : null;
}

/** OpenRouter or a compatible server (`https://…/api/v1`), which has `/key`, `/credits` and sign-in. */
export function isOpenRouter(baseUrl: string): boolean {
	return /\/api\/v1\/?$/.test(new URL(baseUrl).pathname);
}

/** Whether an item is a call of a tool that the model's server runs itself. */
export function isServerCall(type: unknown): boolean {
	return typeof type === 'string' && /^(openrouter:.+|web_search_call|image_generation_call)$/.test(type);
}

/** What OpenRouter can do for the model: its server tools `web_search`, `web_fetch` and `datetime`. */
export const WEB_TOOLS = ['search', 'fetch', 'date'] as const;
export type WebTool = (typeof WEB_TOOLS)[number];

/** The source of a chat’s own tools begins so, which no folder’s label can. */
export const CHAT_SOURCE = 'chat.';

/** The source of a draft that is tried begins so, then its id; no folder’s label can be one. */
export const DRAFT_SOURCE = 'draft.';

/** The source of a skill with unsaved text begins so, then the skill’s own. */
export const UNSAVED_SOURCE = 'unsaved.';

/** Records of earlier versions name drafts and unsaved text alike. */
export const OLD_TRIAL_SOURCE = `${DRAFT_SOURCE}trial`;

/** Whether a skill (`source/name`) is a tool that was defined in a chat. */
export function isOfChat(skillId: string): boolean {
	return skillId.startsWith(CHAT_SOURCE);
}

/** Whether a skill’s page, editor and Run tab may exist: not of a chat’s tools, of a draft that is tried, or of unsaved text. */
export function isInLibrary(skillId: string): boolean {
	return ![CHAT_SOURCE, DRAFT_SOURCE, UNSAVED_SOURCE].some((source) => skillId.startsWith(source));
}

/** Sessions of evals start with it. */
export const EVAL_SESSION = 'eval-';

export const isEval = (sessionId: string | null | undefined): boolean => sessionId?.startsWith(EVAL_SESSION) ?? false;

/** Sessions of test cases start with it. */
export const CASE_SESSION = 'case-';

/** A test of a skill is no use of it. */
export const isTest = (sessionId: string | null | undefined): boolean =>
	isEval(sessionId) || (sessionId?.startsWith(CASE_SESSION) ?? false);

/** The skill whose text ran, saved or not; null if it’s in no library. */
export function librarySkillOf(skillId: string): string | null {
	const id = skillId.startsWith(UNSAVED_SOURCE) ? skillId.slice(UNSAVED_SOURCE.length) : skillId;
	return isInLibrary(id) ? id : null;
}

/** MCP servers are `mcp/server` in executions and approvals, which can’t be a skill’s name. */
const SUBJECT = 'mcp/';

export function mcpSubject(server: string): string {
	return `${SUBJECT}${server}`;
}

/** The server of `mcp/server`; null for other names. */
export function mcpServerOf(subject: string): string | null {
	return subject.startsWith(SUBJECT) ? subject.slice(SUBJECT.length) : null;
}

/** Splits `mcp__server__tool`; null for other names. */
export function mcpToolOf(name: string): { server: string; tool: string } | null {
	const [, server, tool] = /^mcp__([a-z0-9_-]+?)__(.+)$/s.exec(name) ?? [];
	return server === undefined || tool === undefined ? null : { server, tool };
}

/** Scopes of API keys: read; change skills; run skills and the agent; approve its own runs. */
export const API_SCOPES = ['read', 'write', 'execute', 'approve'] as const;

export type ApiScope = (typeof API_SCOPES)[number];

/** Where the service worker leaves what another app has shared, for the page. */
export const SHARED_CACHE = 'shared';
