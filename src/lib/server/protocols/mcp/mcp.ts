/** The MCP server over HTTP, stdio and a local socket. Protocol 2026-07-28 has no sessions, 2025 ones do (E15). */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
	type AuthInfo,
	CLIENT_INFO_META_KEY,
	createMcpHandler,
	isLegacyRequest,
	type LoggingLevel,
	ProtocolError,
	ProtocolErrorCode,
	Server,
	type ServerContext,
	type Transport
} from '@modelcontextprotocol/server';
import { serveStdio, type StdioServerHandle } from '@modelcontextprotocol/server/stdio';
import { API_SCOPES } from '../../../shared/names.ts';
import type { ConnectedProgram } from '../../../shared/settings.ts';
import { createQuestions } from './consent.ts';
import { createTurns } from '../../skills/turns.ts';
import { createSessions, readMessages, rpcError, type SessionsOptions } from './sessions.ts';
import {
	type CallerView,
	listTools,
	type McpContext,
	type McpParts,
	type McpPeer,
	requireScope,
	viewFor
} from './definitions.ts';
import { asObject } from '../../../shared/json.ts';
import { withoutHiddenIn } from '../../../shared/characters.ts';
import { renderCatalog } from '../../skills/prompt.ts';
import type { Asker } from '../../turns/toolbox.ts';
import {
	complete,
	getPrompt,
	listPrompts,
	createResourceWatch,
	filesIn,
	listResources,
	listTemplates,
	readResource,
	serveSkills,
	SKILLS_EXTENSION
} from './resources.ts';
import { answerCall, canBeTask, serveTasks, TaskCreated, TASKS_EXTENSION, toLegacy } from './serve-tasks.ts';
import { levelIn, reportCall } from './call-reports.ts';
import { createListening, listeningResponse, listeningTransport, taskAddress } from './listening.ts';
import { createTasks, type McpTasks, type TaskEntry } from './tasks.ts';

/** Concurrent calls per client, across its sessions. */
const MAX_CALLS = 64;
const MAX_PROGRAM_NAME = 100;

export interface Mcp {
	/** Handles an authorized request to `/mcp`. Never throws. */
	handle(request: Request, caller: Asker): Promise<Response>;
	/** Serves a local client (stdio or socket) with full rights: it runs as the same user. */
	serve(transport: Transport, onClosed: () => void): StdioServerHandle;
	/** The one that connected by HTTP last; null without one since the start. */
	latest(): ConnectedProgram | null;
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
	const tasks = createTasks(now, (task) => {
		modern.notify.resourceUpdated(taskAddress(task.id));
		for (const server of [...sessions.servers(), ...local]) notifyTask(server, task).catch(note);
	});
	const local = new Set<SkillsServer>();
	const handles = new Set<StdioServerHandle>();
	let latest: ConnectedProgram | null = null;
	const connected = (name: string): void => {
		if (name !== '') latest = { name: name.slice(0, MAX_PROGRAM_NAME), connectedAt: new Date().toISOString() };
	};
	const closing = new AbortController();
	const sessions = createSessions({
		createServer: (id, caller) => {
			const sessionId = label('session', id);
			const peerOf = (handled: ServerContext) => ({ caller: callerOf(handled.http?.authInfo) ?? caller, sessionId });
			return createMcpServer(context, tasks, { peerOf, first: { caller, sessionId }, isModern: false });
		},
		onStream(server, until) {
			server.stream = until;
			until.addEventListener('abort', () => {
				if (server.stream === until) server.stream = null;
			});
			for (const task of tasks.list(server.owner)) task.offerQuestion();
		},
		maxSessions,
		idleMs,
		graceMs,
		now
	});
	const modern = createMcpHandler(
		({ authInfo }) => {
			const caller = callerOf(authInfo) ?? { apiKeyId: null, scopes: [] };
			const peerOf = ({ mcpReq }: ServerContext) => ({
				caller,
				sessionId: label('client', clientName(mcpReq.envelope))
			});
			return createMcpServer(context, tasks, { peerOf, first: { caller, sessionId: '' }, isModern: true });
		},
		{ legacy: 'reject', maxSubscriptions: maxSessions }
	);
	const note = (error: Error) =>
		parts.log.info({ error: error.message.slice(0, 300) }, 'couldn’t notify an MCP client of a change');
	const sweeper = setInterval(() => {
		tasks.sweep();
		void sessions.sweep();
	}, SWEEP_MS).unref();
	const { registry } = parts.skills;
	let library = registry.snapshot();
	let folders = new Set<string>();
	const tellFiles = async (): Promise<void> => {
		const [changed, before] = [folders, library];
		folders = new Set();
		library = registry.snapshot();
		const files = filesIn(changed, before, library);
		for (const uri of files) modern.notify.resourceUpdated(uri);
		for (const server of [...sessions.servers(), ...local]) await notifyFiles(server, changed, files).catch(note);
	};
	let timer: NodeJS.Timeout | undefined;
	const stopFiles = registry.onFiles((changed) => {
		for (const folder of changed) folders.add(folder);
		timer ??= setTimeout(() => {
			timer = undefined;
			void tellFiles();
		}, DEBOUNCE_MS).unref();
	});
	void notifyChanges(parts, closing.signal, async () => {
		modern.notify.toolsChanged();
		modern.notify.resourcesChanged();
		modern.notify.promptsChanged();
		for (const server of [...sessions.servers(), ...local]) await notify(server).catch(note);
		// A skill that was switched off is gone, for those who follow its files.
		await tellFiles();
	}).catch(note);

	return {
		async handle(request, caller) {
			let id: unknown;
			try {
				const authInfo = authInfoOf(caller);
				if (request.method !== 'POST') return await sessions.handle(request, undefined, caller, authInfo);
				const read = await readMessages(request);
				if (read instanceof Response) return read;
				const { body } = read;
				id = asObject(body).id;
				const { _meta, clientInfo } = asObject(asObject(body).params);
				if (await isLegacyRequest(request, body)) {
					const response = await sessions.handle(request, body, caller, authInfo);
					if (response.ok && asObject(body).method === 'initialize') connected(nameIn(clientInfo));
					return response;
				}
				const name = clientName(_meta);
				connected(name);
				const owner = ownerOf({ caller, sessionId: label('client', name) });
				const listening = createListening((taskId) => tasks.find(owner, taskId));
				const response = await modern.fetch(request, { parsedBody: listening.incoming(body), authInfo });
				return asObject(body).method === 'subscriptions/listen' ? listeningResponse(response, listening) : response;
			} catch (error) {
				if (error instanceof ProtocolError) return rpcError(400, error.code, error.message, { id, data: error.data });
				parts.log.error({ error: String(error) }, 'MCP request failed');
				return rpcError(503, -32_603, 'The request couldn’t be answered. Try again in a moment.');
			}
		},
		serve(transport, onClosed) {
			const sessionId = label('local', randomUUID());
			const peer = { caller: LOCAL, sessionId };
			const listening = createListening((taskId) => tasks.find(ownerOf(peer), taskId));
			const handle = serveStdio(
				({ era }) => {
					const isModern = era === 'modern';
					const server = createMcpServer(context, tasks, { peerOf: () => peer, first: peer, isModern });
					server.stream = closing.signal;
					local.add(server);
					const onServerClosed = server.onclose;
					server.onclose = () => {
						onServerClosed?.();
						local.delete(server);
					};
					return server;
				},
				{ transport: listeningTransport(transport, listening), maxSubscriptions: 16 }
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
		latest: () => latest,
		async close() {
			closing.abort();
			clearInterval(sweeper);
			clearTimeout(timer);
			stopFiles();
			tasks.close();
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

/** `files`: addresses of all files in `folders`. */
async function notifyFiles(
	server: SkillsServer,
	folders: ReadonlySet<string>,
	files: readonly string[]
): Promise<void> {
	if (!server.transport) return;
	for (const uri of server.watch ? server.watch(folders) : files) await server.sendResourceUpdated({ uri });
}

/** The first version with tasks. */
const FIRST_WITH_TASKS = '2025-11-25';

/** Tells the task's owner of its new status. A modern client is told if it listens for it. */
async function notifyTask(server: SkillsServer, task: TaskEntry): Promise<void> {
	if (!server.transport || server.owner !== task.owner) return;
	const version = server.getNegotiatedProtocolVersion() ?? '';
	if (version > FIRST_WITH_TASKS) await server.sendResourceUpdated({ uri: taskAddress(task.id) });
	if (version !== FIRST_WITH_TASKS) return;
	await server.notification({ method: 'notifications/tasks/status', params: withoutHiddenIn(toLegacy(task)) });
}

/** For records and workspace names. Hashed, because a session’s id is secret. */
function label(kind: string, id: string): string {
	return `mcp-${kind}-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;
}

/** Without sessions, calls from the same program share a workspace. `envelope`: what each request says of its client. */
function clientName(envelope: unknown): string {
	return nameIn(asObject(envelope)[CLIENT_INFO_META_KEY]);
}

function nameIn(clientInfo: unknown): string {
	const { name } = asObject(clientInfo);
	return typeof name === 'string' ? name : '';
}

function authInfoOf(caller: Asker): AuthInfo {
	return { token: '', clientId: caller.apiKeyId ?? '', scopes: [...caller.scopes], extra: { caller } };
}

function callerOf(authInfo: AuthInfo | undefined): Asker | null {
	return (authInfo?.extra?.caller as Asker | undefined) ?? null;
}

// One server per session of a 2025 client, one per request of a 2026 client.

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

function createMcpServer(context: McpContext, tasks: McpTasks, { peerOf, first, isModern }: ServerFor): SkillsServer {
	const { library } = viewFor(context, first.caller);
	const catalog = renderCatalog(library.skills, { budgetTokens: CATALOG_TOKENS });
	const server = new SkillsServer(
		{ name: 'openrouter-skills', title: 'Skills', version: '1.0.0' },
		{
			capabilities: {
				tools: { listChanged: true },
				resources: { listChanged: true, subscribe: true },
				prompts: { listChanged: true },
				completions: {},
				logging: {},
				...(isModern ? {} : { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
				extensions: { [SKILLS_EXTENSION]: {}, ...(isModern ? { [TASKS_EXTENSION]: {} } : {}) }
			},
			instructions: [GUIDANCE, catalog].filter(Boolean).join('\n\n')
		}
	);
	server.owner = ownerOf(first);
	const viewOfReader = (handled: ServerContext): CallerView => {
		const { caller } = peerOf(handled);
		requireScope(caller, 'read');
		return viewFor(context, caller);
	};

	server.setRequestHandler('tools/list', ({ params }, handled) => {
		const { tools, ...more } = listTools(viewOfReader(handled), peerOf(handled).caller, params?.cursor);
		if (isModern) return { tools, ...more };
		const execution = { taskSupport: 'optional' as const };
		return { tools: tools.map((tool) => (canBeTask(tool.name) ? { ...tool, execution } : tool)), ...more };
	});
	server.setRequestHandler('tools/call', ({ params }, handled) => {
		const peer = peerOf(handled);
		const reports = reportCall(server, handled, { isModern, logLevel: server.logLevel });
		return answerCall(context, server, { params, handled, peer, tasks, owner: ownerOf(peer), reports, isModern });
	});
	serveTasks(server, tasks, { ownerOf: (handled) => ownerOf(peerOf(handled)), isModern });
	if (!isModern) serveSession(server, viewOfReader);
	// A key's tasks stay for its other sessions.
	if (!isModern && first.caller.apiKeyId === null) server.onclose = () => tasks.leave(ownerOf(first));
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
	serveSkills(server, viewOfReader, isModern);
	return server;
}

/** Whose tasks a caller's are: its key's, else of the session (2025), the client's name (2026) or the connection (stdio). */
function ownerOf({ caller: { apiKeyId }, sessionId }: McpPeer): string {
	return apiKeyId === null ? `session ${sessionId}` : `key ${apiKeyId}`;
}

/** What only clients with a session have: a level for log messages, and files that they follow. */
function serveSession(server: SkillsServer, viewOf: (handled: ServerContext) => CallerView): void {
	const watch = createResourceWatch();
	let view: (() => CallerView) | null = null;
	server.setRequestHandler('logging/setLevel', ({ params }) => {
		server.logLevel = levelIn(params.level);
		return {};
	});
	server.setRequestHandler('resources/subscribe', ({ params }, handled) => {
		watch.subscribe(viewOf(handled), params.uri);
		view = () => viewOf(handled);
		return {};
	});
	server.setRequestHandler('resources/unsubscribe', ({ params }) => {
		watch.unsubscribe(params.uri);
		return {};
	});
	server.watch = (folders) => (view ? watch.changed(view(), folders) : []);
}

/** Removes invisible characters from results, and reports invalid params as such rather than as an internal error. */
class SkillsServer extends Server {
	/** Whose tasks this client is told of. */
	owner = '';
	/** While this client takes messages that answer no request: aborts when it no longer does. */
	stream: AbortSignal | null = null;
	/** As a client of 2025-11-25 chose it. */
	logLevel: LoggingLevel | null = null;
	/** Of a client of 2025-11-25: the addresses that it follows and that have changed. Others listen, which the SDK keeps. */
	watch: ((folders: ReadonlySet<string>) => string[]) | null = null;

	protected override _wrapHandler(...[method, handler]: Wrapping): Wrapping[1] {
		const wrapped = super._wrapHandler(method, handler);
		return async (request, handled) => {
			try {
				// A model reads every result.
				return withoutHiddenIn(await wrapped(request, handled));
			} catch (error) {
				if (error instanceof TaskCreated) return error.result;
				if (!(error instanceof Error) || error instanceof ProtocolError) throw error;
				const message = `The parameters of ${method} aren’t valid: ${error.message.slice(0, 300)}`;
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
			}
		};
	}
}

type Wrapping = Parameters<Server['_wrapHandler']>;
