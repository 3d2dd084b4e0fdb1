/** The tools of the MCP server and who may call them (E15). */
import { ProtocolError, ProtocolErrorCode, type Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { ApiScope } from '../../../shared/names.ts';
import type { SkillSession } from '../../skills/call/session.ts';
import { LOAD_SKILL, READ_SKILL_FILE, USE_SKILL } from '../../skills/call/tools.ts';
import { BUILT_IN_TOOLS } from '../../skills/read/tool-names.ts';
import type { SkillSnapshot } from '../../skills/registry/registry.ts';
import { ownerOf, viewOf } from '../../skills/registry/visibility.ts';
import type { Skill, ToolDefinition } from '../../skills/types.ts';
import type { Log } from '../../log.ts';
import type { AdHocParts } from '../../skill-admin/ad-hoc.ts';
import type { SkillDetailParts } from '../../skill-admin/skill-details.ts';
import type { Packages } from '../../packages/packages.ts';
import type { ApprovalPolicy } from '../../trust/approval-policy.ts';
import type { SkillLister } from '../../skill-admin/skill-list.ts';
import type { StoredSkillModes } from '../../trust/skill-modes.ts';
import type { SkillRevisions } from '../../skill-admin/skill-counts.ts';
import type { Asker } from '../../turns/toolbox.ts';
import type { SkillsProvider } from '../../skills/provider.ts';
import type { Store } from '../../store/store.ts';
import type { Questions } from './consent.ts';
import type { Turns } from '../../skills/turns.ts';

const PAGE = 200;
const id = z.string().min(1).max(256);

/** Compatible with OmniRoute’s tools, plus our own fields. */
export const skillsListInput = z.strictObject({
	query: z.string().max(1000).optional().describe('Words to find in the name, description or tags'),
	name: z.string().max(256).optional().describe('Same as query'),
	enabled: z.boolean().optional().describe('true: only skills that are on or offered; false: only skills that are off'),
	apiKeyId: id.optional().describe('Skills that this key can see; a key always sees its own'),
	page: z.number().int().min(1).default(1),
	limit: z.number().int().min(1).max(100).default(50)
});

export const skillsEnableInput = z.strictObject({
	skillId: id.describe('ID or name of the skill, from skills_list'),
	enabled: z.boolean().default(true).describe('false turns it off'),
	apiKeyId: id.optional()
});

export const skillsExecuteInput = z.strictObject({
	skillName: id.describe('Name of the skill'),
	script: z.string().min(1).max(1024).optional().describe('Script to run, e.g. scripts/run.py'),
	args: z
		.union([z.array(z.union([z.string(), z.number(), z.boolean()])).max(1000), z.record(z.string(), z.unknown())])
		.optional()
		.describe('Arguments of the script'),
	tool: z.string().min(1).max(256).optional().describe('Tool to run instead of a script'),
	input: z.record(z.string(), z.unknown()).optional().describe('Input of the tool'),
	apiKeyId: id.optional(),
	sessionId: id.optional().describe('Keeps the files of callers without a key apart')
});

export const skillsExecutionsInput = z.strictObject({
	limit: z.number().int().min(1).max(100).default(50),
	page: z.number().int().min(1).default(1),
	skill: id.optional(),
	status: z.enum(['pending', 'running', 'success', 'error', 'timeout']).optional(),
	apiKeyId: id.optional()
});

/** In outline only: the fields are those of the REST API. */
const answer = (properties: Record<string, unknown>): Tool['outputSchema'] => ({
	type: 'object',
	properties,
	required: Object.keys(properties)
});
const list = { type: 'array', items: { type: 'object' } };

type OwnTool = Tool & { scope: ApiScope };

const OWN: readonly OwnTool[] = [
	{
		name: 'skills_list',
		title: 'List skills',
		description: 'List the skills of this server with their mode, trust, scripts and tools.',
		inputSchema: inputOf(skillsListInput),
		outputSchema: answer({ skills: list, total: { type: 'integer' }, page: { type: 'integer' } }),
		annotations: { readOnlyHint: true, openWorldHint: false },
		scope: 'read'
	},
	{
		name: 'skills_enable',
		title: 'Turn a skill on or off',
		description: 'Turn a skill on or off for everyone who uses this server. This doesn’t make it trusted.',
		inputSchema: inputOf(skillsEnableInput),
		outputSchema: answer({ skillId: { type: 'string' }, enabled: { type: 'boolean' }, mode: { type: 'string' } }),
		annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
		scope: 'write'
	},
	{
		name: 'skills_execute',
		title: 'Run a skill',
		description: 'Run a script or tool of a skill, or a built-in skill. The result includes its record.',
		inputSchema: inputOf(skillsExecuteInput),
		outputSchema: answer({ execution: { type: 'object' }, result: { type: 'object' } }),
		annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
		scope: 'execute'
	},
	{
		name: 'skills_executions',
		title: 'Recent runs',
		description: 'The latest runs, newest first: status, exit code, duration and errors.',
		inputSchema: inputOf(skillsExecutionsInput),
		outputSchema: answer({ executions: list, total: { type: 'integer' }, page: { type: 'integer' } }),
		annotations: { readOnlyHint: true, openWorldHint: false },
		scope: 'read'
	}
];

const OMNIROUTE = 'omniroute_';

/** One of the server’s own tools, by its name or alias; undefined for others. */
export function ownToolOf(name: string): OwnTool | undefined {
	const plain = name.startsWith(OMNIROUTE) ? name.slice(OMNIROUTE.length) : name;
	return OWN.find((tool) => tool.name === plain);
}

/** Tools this caller may call. Aliases work but aren't listed. */
export function listTools(
	{ session }: CallerView,
	caller: Asker,
	cursor: string | undefined
): { tools: Tool[]; nextCursor?: string } {
	const own = OWN.filter(({ scope }) => hasScope(caller, scope)).map(({ scope: _scope, ...tool }) => tool);
	const dialect = [LOAD_SKILL.name, READ_SKILL_FILE.name, USE_SKILL.name];
	const offered = session.tools().filter(({ name }) => !BUILT_IN_TOOLS.has(name) || dialect.includes(name));
	const ofSkills = offered
		.map(toTool)
		.filter(({ annotations }) => hasScope(caller, annotations?.readOnlyHint ? 'read' : 'execute'));
	const keyOf = ({ name }: Tool) => `${ownToolOf(name) ? 0 : BUILT_IN_TOOLS.has(name) ? 1 : 2} ${name}`;
	const tools = [...own, ...ofSkills].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
	const { page, ...more } = pageOf(tools, keyOf, { cursor, size: PAGE });
	return { tools: page, ...more };
}

function toTool({ name, description, parameters }: ToolDefinition): Tool {
	const isReading = name === LOAD_SKILL.name || name === READ_SKILL_FILE.name;
	return {
		name,
		description,
		inputSchema: parameters as Tool['inputSchema'],
		annotations: isReading
			? { readOnlyHint: true, openWorldHint: false }
			: { readOnlyHint: false, destructiveHint: true, openWorldHint: true }
	};
}

function inputOf(schema: z.ZodType): Tool['inputSchema'] {
	return z.toJSONSchema(schema, { io: 'input' }) as Tool['inputSchema'];
}

/** The library as one caller sees it (A41, B6, D17). */
export interface CallerView {
	library: SkillSnapshot;
	/** Skills that are turned off. */
	off: readonly Skill[];
	/** Every enabled skill counts as loaded, so its tools can be called. */
	session: SkillSession;
}

/** Created per request, so tool names depend only on the library, not on earlier calls. */
export function viewFor({ skills, modes }: Pick<McpParts, 'skills' | 'modes'>, caller: Asker): CallerView {
	const snapshot = skills.registry.snapshot();
	const { modeOf, pinOf } = modes;
	const visibility = { owner: ownerOf(caller.apiKeyId ?? undefined), modeOf, pinOf };
	const { library, off } = viewOf(snapshot, visibility);
	const loaded = library.skills.filter(({ tools }) => tools.length > 0).map(({ name }) => name);
	return { library, off, session: skills.createSession({ snapshot, dialect: 'full', loaded, ...visibility }) };
}

export function hasScope({ scopes }: Asker, scope: ApiScope): boolean {
	return scopes.includes(scope);
}

export function lackOf(scope: ApiScope): string {
	return `This API key can’t do this: it lacks the scope “${scope}”. Create a key with this scope on the Connect page.`;
}

/** @throws ProtocolError naming the missing scope */
export function requireScope(caller: Asker, scope: ApiScope): void {
	if (!hasScope(caller, scope)) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, lackOf(scope));
}

/**
 * One page of `items`, which are sorted by `keyOf`. The cursor is the last key seen, so deleted entries don't matter.
 * @throws ProtocolError for an invalid cursor
 */
export function pageOf<Item>(
	items: readonly Item[],
	keyOf: (item: Item) => string,
	{ cursor, size }: { cursor?: string | undefined; size: number }
): { page: Item[]; nextCursor?: string } {
	const after = cursor === undefined ? null : readCursor(cursor);
	const left = after === null ? items : items.filter((item) => keyOf(item) > after);
	const page = left.slice(0, size);
	const last = page.at(-1);
	if (last === undefined || left.length <= size) return { page };
	return { page, nextCursor: Buffer.from(keyOf(last)).toString('base64url') };
}

function readCursor(cursor: string): string {
	const text = Buffer.from(cursor, 'base64url');
	if (cursor.length <= 4096 && text.toString('base64url') === cursor) return text.toString();
	throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'This cursor isn’t from this server.');
}

// Types shared by the MCP server's files (E15).

export interface McpParts {
	skills: Pick<SkillsProvider, 'registry' | 'createSession'>;
	modes: StoredSkillModes;
	approvals: ApprovalPolicy;
	network: Pick<SkillDetailParts['network'], 'granted' | 'grant'>;
	packages: Pick<Packages, 'lookUp' | 'install' | 'settled' | 'stateOf'>;
	adHoc: AdHocParts;
	lister: Pick<SkillLister, 'list'>;
	store: Pick<Store, 'skillExecutions'>;
	revisions: SkillRevisions;
	log: Log;
}

/** Who sent a request, and in which session. */
export interface McpPeer {
	caller: Asker;
	/** Names the executions and, for a caller without a key, the workspace. */
	sessionId: string;
}

/** The parts, plus state shared by all connections. */
export interface McpContext extends McpParts {
	/** Per client: runs one script of a skill at a time, and limits running and waiting calls. */
	turns: Turns;
	questions: Questions;
}

/** Sessions of one key share its workspace, but don't wait for each other. */
export function clientOf({ apiKeyId }: Pick<Asker, 'apiKeyId'>, sessionId: string): string {
	return `${apiKeyId ?? ''} ${sessionId}`;
}
