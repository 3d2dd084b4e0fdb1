/** The MCP server over HTTP, stdio and a local socket. Protocol 2026-07-28 has no sessions, 2025 ones do (E15). */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
	type AuthInfo,
	CLIENT_INFO_META_KEY,
	type CompleteRequest,
	type CompleteResult,
	createMcpHandler,
	type GetPromptResult,
	isInputRequiredResult,
	isLegacyRequest,
	type ListPromptsResult,
	ProtocolError,
	ProtocolErrorCode,
	Server,
	type ServerContext,
	type Transport
} from '@modelcontextprotocol/server';
import { serveStdio, type StdioServerHandle } from '@modelcontextprotocol/server/stdio';
import { API_SCOPES } from '../../../shared/names.ts';
import { createQuestions, readConsent } from './consent.ts';
import { createTurns } from '../../skills/turns.ts';
import { createSessions, readMessages, rpcError, type SessionsOptions } from './sessions.ts';
import {
	type CallerView,
	listTools,
	type McpContext,
	type McpParts,
	type McpPeer,
	ownToolOf,
	pageOf,
	requireScope,
	viewFor
} from './definitions.ts';
import { isObject } from '../../../shared/json.ts';
import { type Skill as SkillEntry, skillEntry } from '@modelcontextprotocol/server/ext/skills';
import { z } from 'zod';
import { withoutHiddenIn } from '../../../shared/characters.ts';
import { lackOf, unloadable } from '../../skills/needs/siblings.ts';
import { renderCatalog, renderLoadedSkill } from '../../skills/prompt.ts';
import type { Skill } from '../../skills/types.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { callTool, reportProgress } from './call-tool.ts';
import {
	findNamed,
	listResources,
	listTemplates,
	parseSkillUri,
	readResource,
	readSkillBytes,
	skillUri,
	URI_TEMPLATE
} from './resources.ts';

/** Concurrent calls per client, across its sessions. */
const MAX_CALLS = 64;

export interface Mcp {
	/** Handles an authorized request to `/mcp`. Never throws. */
	handle(request: Request, caller: Asker): Promise<Response>;
	/** Serves a local client (stdio or socket) with full rights: it runs as the same user. */
	serve(transport: Transport, onClosed: () => void): StdioServerHandle;
	/** Ends all sessions and their calls. */
	close(): Promise<void>;
}

export type McpOptions = Partial<Omit<SessionsOptions, 'createServer'>>;

const LOCAL: Asker = { apiKeyId: null, scopes: API_SCOPES };
const SWEEP_MS = 60_000;
/** Changes within this time cause one notification. */
const DEBOUNCE_MS = 50;

export function createMcp(parts: McpParts, options: McpOptions = {}): Mcp {
	const { maxSessions = 500, idleMs = 30 * 60_000, graceMs = 10_000, now = () => performance.now() } = options;
	const context: McpContext = { ...parts, turns: createTurns({ perCaller: MAX_CALLS }), questions: createQuestions() };
	const local = new Set<Server>();
	const handles = new Set<StdioServerHandle>();
	const closing = new AbortController();
	const sessions = createSessions({
		createServer: (id, caller) => {
			const sessionId = label('session', id);
			const peerOf = (handled: ServerContext) => ({ caller: callerOf(handled.http?.authInfo) ?? caller, sessionId });
			return createMcpServer(context, { peerOf, first: { caller, sessionId }, isModern: false });
		},
		maxSessions,
		idleMs,
		graceMs,
		now
	});
	const modern = createMcpHandler(
		({ authInfo }) => {
			const caller = callerOf(authInfo) ?? { apiKeyId: null, scopes: [] };
			const peerOf = (handled: ServerContext) => ({ caller, sessionId: label('client', clientName(handled)) });
			return createMcpServer(context, { peerOf, first: { caller, sessionId: '' }, isModern: true });
		},
		{ legacy: 'reject', maxSubscriptions: maxSessions }
	);
	const note = (error: Error) =>
		parts.log.info({ error: error.message.slice(0, 300) }, 'couldn’t notify an MCP client of a change');
	const sweeper = setInterval(() => void sessions.sweep(), SWEEP_MS).unref();
	void notifyChanges(parts, closing.signal, async () => {
		modern.notify.toolsChanged();
		modern.notify.resourcesChanged();
		modern.notify.promptsChanged();
		for (const server of [...sessions.servers(), ...local]) await notify(server).catch(note);
	}).catch(note);

	return {
		async handle(request, caller) {
			try {
				const authInfo = authInfoOf(caller);
				if (request.method !== 'POST') return await sessions.handle(request, undefined, caller, authInfo);
				const read = await readMessages(request);
				if (read instanceof Response) return read;
				const { body } = read;
				return (await isLegacyRequest(request, body))
					? await sessions.handle(request, body, caller, authInfo)
					: await modern.fetch(request, { parsedBody: body, authInfo });
			} catch (error) {
				parts.log.error({ error: String(error) }, 'MCP request failed');
				return rpcError(503, -32_603, 'The request couldn’t be answered. Try again in a moment.');
			}
		},
		serve(transport, onClosed) {
			const sessionId = label('local', randomUUID());
			const peer = { caller: LOCAL, sessionId };
			const handle = serveStdio(
				({ era }) => {
					const server = createMcpServer(context, { peerOf: () => peer, first: peer, isModern: era === 'modern' });
					local.add(server);
					server.onclose = () => void local.delete(server);
					return server;
				},
				{ transport, maxSubscriptions: 16 }
			);
			handles.add(handle);
			const closed = transport.onclose;
			transport.onclose = () => {
				closed?.();
				handles.delete(handle);
				onClosed();
			};
			return handle;
		},
		async close() {
			closing.abort();
			clearInterval(sweeper);
			await Promise.all([sessions.close(), modern.close(), ...[...handles].map((handle) => handle.close())]);
		}
	};
}

/** Calls `onChange` after each change of the library or of its settings. */
async function notifyChanges(
	{ revisions }: McpParts,
	signal: AbortSignal,
	onChange: () => Promise<void>
): Promise<void> {
	let isFirst = true;
	for await (const _revision of revisions.follow(signal)) {
		if (!isFirst) await onChange();
		isFirst = false;
		await delay(DEBOUNCE_MS, undefined, { ref: false });
	}
}

async function notify(server: Server): Promise<void> {
	if (!server.transport) return;
	await server.sendToolListChanged();
	await server.sendResourceListChanged();
	await server.sendPromptListChanged();
}

/** For records and workspace names. Hashed, because a session’s id is secret. */
function label(kind: string, id: string): string {
	return `mcp-${kind}-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;
}

/** Without sessions, calls from the same program share a workspace. */
function clientName({ mcpReq }: ServerContext): string {
	const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
	const info = envelope[CLIENT_INFO_META_KEY];
	return isObject(info) && typeof info.name === 'string' ? info.name : '';
}

function authInfoOf(caller: Asker): AuthInfo {
	return { token: '', clientId: caller.apiKeyId ?? '', scopes: [...caller.scopes], extra: { caller } };
}

function callerOf(authInfo: AuthInfo | undefined): Asker | null {
	return (authInfo?.extra?.caller as Asker | undefined) ?? null;
}

// One server per session of a 2025 client, one per request of a 2026 client.

const EXTENSION = 'io.modelcontextprotocol/skills';
/** Size of the skill catalog in the instructions, which many clients send with every request to their model. */
const CATALOG_TOKENS = 2000;
const GUIDANCE =
	'This server has skills: folders of instructions, scripts and tools. Call load_skill before using one for the first time, then use_skill or its own tools as the instructions say. skills_list names all of them.';

interface ServerFor {
	/** Who sent this request. */
	peerOf(context: ServerContext): McpPeer;
	/** For the instructions, which are sent once. */
	first: McpPeer;
	/** Adds cache hints to results, as 2026-07-28 requires. */
	isModern: boolean;
}

function createMcpServer(context: McpContext, { peerOf, first, isModern }: ServerFor): Server {
	const { library } = viewFor(context, first.caller);
	const catalog = renderCatalog(library.skills, { budgetTokens: CATALOG_TOKENS });
	const server = new SkillsServer(
		{ name: 'openrouter-skills', title: 'Skills', version: '1.0.0' },
		{
			capabilities: {
				tools: { listChanged: true },
				resources: { listChanged: true },
				prompts: { listChanged: true },
				completions: {},
				extensions: { [EXTENSION]: {} }
			},
			instructions: [GUIDANCE, catalog].filter(Boolean).join('\n\n')
		}
	);
	const viewOfReader = (handled: ServerContext): CallerView => {
		const { caller } = peerOf(handled);
		requireScope(caller, 'read');
		return viewFor(context, caller);
	};
	const cacheHints = isModern ? { ttlMs: 0, cacheScope: 'private' as const } : {};

	server.setRequestHandler('tools/list', ({ params }, handled) =>
		listTools(viewOfReader(handled), peerOf(handled).caller, params?.cursor)
	);
	server.setRequestHandler('tools/call', async ({ params }, handled) => {
		const progress = reportProgress(handled);
		const { signal } = handled.mcpReq;
		const consent = readConsent(server, handled);
		const call = { peer: peerOf(handled), consent, signal, onEvent: progress.onEvent };
		const result = await callTool(context, params, call);
		await progress.flush();
		if (isInputRequiredResult(result)) return result;
		return server.projectCallToolResult(result, ownToolOf(params.name)?.outputSchema);
	});
	server.setRequestHandler('resources/list', ({ params }, handled) =>
		listResources(viewOfReader(handled), params?.cursor)
	);
	server.setRequestHandler('resources/templates/list', (_request, handled) => {
		viewOfReader(handled);
		return listTemplates();
	});
	server.setRequestHandler('resources/read', ({ params }, handled) => readResource(viewOfReader(handled), params.uri));
	server.setRequestHandler('prompts/list', ({ params }, handled) => listPrompts(viewOfReader(handled), params?.cursor));
	server.setRequestHandler('prompts/get', ({ params }, handled) =>
		getPrompt(viewOfReader(handled), params.name, params.arguments)
	);
	server.setRequestHandler('completion/complete', ({ params }, handled) => complete(viewOfReader(handled), params));
	server.setRequestHandler(
		'skills/list',
		{ params: z.looseObject({ cursor: z.string().optional() }).optional() },
		async (params, handled) => ({ ...(await listSkillEntries(viewOfReader(handled), params?.cursor)), ...cacheHints })
	);
	server.setRequestHandler('skills/get', { params: z.looseObject({ uri: z.string() }) }, async ({ uri }, handled) => ({
		...(await getSkillEntry(viewOfReader(handled), uri)),
		...cacheHints
	}));
	return server;
}

/** Removes invisible characters from results, and reports invalid params as such rather than as an internal error. */
class SkillsServer extends Server {
	protected override _wrapHandler(...[method, handler]: Wrapping): Wrapping[1] {
		const wrapped = super._wrapHandler(method, handler);
		return async (request, handled) => {
			try {
				// A model reads every result.
				return withoutHiddenIn(await wrapped(request, handled));
			} catch (error) {
				if (!(error instanceof Error) || error instanceof ProtocolError) throw error;
				const message = `The parameters of ${method} aren’t valid: ${error.message.slice(0, 300)}`;
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
			}
		};
	}
}

type Wrapping = Parameters<Server['_wrapHandler']>;

// `skills/list` and `skills/get`: the extension io.modelcontextprotocol/skills (E15).

/** Small, because each entry has the digest of every file, so listing a page reads them all. */
const SKILLS_PAGE = 20;
/** The files of a larger skill aren't listed. */
const MAX_BYTES = 16 * 1024 * 1024;

async function listSkillEntries(
	{ library }: CallerView,
	cursor: string | undefined
): Promise<{ skills: SkillEntry[]; nextCursor?: string }> {
	const { page, ...more } = pageOf(library.skills, ({ name }) => name, { cursor, size: SKILLS_PAGE });
	const skills: SkillEntry[] = [];
	for (const skill of page) skills.push(await entryOf(skill));
	return { skills, ...more };
}

/** @throws ProtocolError if the skill isn't found */
async function getSkillEntry({ library }: CallerView, uri: string): Promise<{ skill: SkillEntry }> {
	const named = parseSkillUri(uri);
	const skill = named?.path === 'SKILL.md' ? findNamed(library, named.skill) : null;
	if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Skill not found: ${uri.slice(0, 200)}.`);
	return { skill: await entryOf(skill) };
}

/** Lists the skill's files, or `dynamic` if the standard’s rules or our limits don't allow it. */
async function entryOf(skill: Skill): Promise<SkillEntry> {
	const { name, description } = skill;
	const dynamic = {
		uri: skillUri(name, 'SKILL.md'),
		frontmatter: { name, description },
		resources: 'dynamic' as const
	};
	// A partial list would look complete.
	if (skill.hasMoreFiles) return dynamic;
	try {
		const files: Record<string, Uint8Array> = {};
		let total = 0;
		for (const path of skill.files) {
			const bytes = await readSkillBytes(skill.dir, path);
			if (bytes === null || (total += bytes.length) > MAX_BYTES) return dynamic;
			files[path] = bytes;
		}
		return await skillEntry(name, files);
	} catch {
		// A folder that breaks the standard's rules, or changes at this moment.
		return dynamic;
	}
}

// Skills as prompts, which a person picks from a menu (E15).

const PROMPTS_PAGE = 100;

function listPrompts({ library }: CallerView, cursor: string | undefined): ListPromptsResult {
	const { page, ...more } = pageOf(library.skills, ({ name }) => name, { cursor, size: PROMPTS_PAGE });
	const prompts = page.map(({ name, description }) => ({
		name,
		description,
		arguments: [{ name: 'arguments', description: 'What to do with the skill, in your own words.', required: false }]
	}));
	return { prompts, ...more };
}

/** The instructions as `load_skill` returns them; runs nothing. @throws ProtocolError if the skill isn't found */
function getPrompt({ library, off }: CallerView, name: string, args: Record<string, string> = {}): GetPromptResult {
	const skill = findNamed(library, name);
	if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Skill not found: “${name.slice(0, 100)}”.`);
	const task = args.arguments?.trim() ?? '';
	const lack = lackOf(unloadable(skill, { skills: library.skills, off }));
	const text = [renderLoadedSkill(skill), lack, task].filter(Boolean).join('\n\n');
	return { description: skill.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
}

const MAX_VALUES = 100;

/** Completes a skill's name or a file's path; nothing for free text. */
function complete({ library }: CallerView, { ref, argument, context }: CompleteRequest['params']): CompleteResult {
	const isFile = ref.type === 'ref/resource' && ref.uri === URI_TEMPLATE;
	if (!isFile) return toResult([]);
	const isPath = argument.name === 'path';
	const files = isPath ? (findNamed(library, context?.arguments?.skill ?? '')?.files ?? []) : [];
	const values = argument.name === 'skill' ? library.skills.map(({ name }) => name) : files;
	return toResult(values.filter((value) => value.startsWith(argument.value)));
}

function toResult(values: readonly string[]): CompleteResult {
	const shown = values.slice(0, MAX_VALUES);
	return { completion: { values: shown, total: values.length, hasMore: values.length > shown.length } };
}
