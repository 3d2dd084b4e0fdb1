/** The agent for editors, over the Agent Client Protocol: a session is a conversation, a prompt is a message (F12). */
import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, normalize } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type {
	AgentConnection,
	AgentContext,
	ClientCapabilities,
	McpServer,
	RequestError
} from '@agentclientprotocol/sdk';
import { conversationId } from '../../../shared/api.ts';
import { AppError } from '../../../shared/errors.ts';
import type { Log } from '../../log.ts';
import type { SkillsProvider } from '../../skills/provider.ts';
import { viewOf } from '../../skills/registry/visibility.ts';
import type { StoredSkillModes } from '../../trust/skill-modes.ts';
import type { BuiltinTools } from '../../turns/toolbox.ts';
import { EditorSession, type SessionParts, type SessionServers } from './session.ts';

export interface AcpParts extends Omit<SessionParts, 'skills'> {
	skills: Pick<SkillsProvider, 'registry'>;
	modes: Pick<StoredSkillModes, 'modeOf' | 'pinOf'>;
	/** Yields after changes of the library. */
	revisions: { follow(signal: AbortSignal): AsyncGenerator<unknown> };
	/** Connects to the MCP servers of an editor. */
	connectServers(servers: readonly { name: string; target: ServerTarget }[]): SessionServers;
	/** To the trash. */
	removeConversation(id: string): Promise<void>;
	isEnabled(): boolean;
	log: Log;
}

type ServerTarget =
	| { type: 'stdio'; command: string; args: readonly string[]; env: Readonly<Record<string, string>>; cwd: string }
	| { type: 'http'; url: string; headers: Readonly<Record<string, string>> };

export interface Acp {
	/** Serves a local editor with full rights: it runs as the same user. Calls back once everything of it has ended. */
	serve(input: Readable, output: Writable, onClosed: () => void): void;
	/** The tools of the editor that has this conversation open and waits for its answer. */
	tools(conversationId: string | undefined): BuiltinTools[];
	/** Ends all sessions. */
	close(): Promise<void>;
}

const MAX_SESSIONS = 64;
const MAX_SERVERS = 32;
const PAGE = 50;
/** A prompt with its files in base64. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export function createAcp(parts: AcpParts): Acp {
	const { log } = parts;
	const connections = new Set<{ close(): Promise<void> }>();
	/** Sessions of all editors, by conversation; the last one that opened it counts. */
	const open = new Map<string, EditorSession>();
	const note = (error: unknown) =>
		log.error({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, 'ACP failed');

	async function connect(input: Readable, output: Writable, isOver: AbortSignal): Promise<void> {
		const sdk = await import('@agentclientprotocol/sdk');
		const version = await versionHere();
		const own = new Map<string, EditorSession>();
		const state: { capabilities: ClientCapabilities } = { capabilities: {} };
		const sessionOf = (id: string): EditorSession => {
			const session = own.get(id);
			if (session) return session;
			throw sdk.RequestError.sessionNotFound(id);
		};
		/** Errors for people become errors of the protocol. */
		const answered = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
			try {
				return await work();
			} catch (error) {
				if (error instanceof sdk.RequestError) throw error;
				throw toRequestError(error, sdk.RequestError, note);
			}
		};
		const start = async (id: string, client: AgentContext, given: Opened): Promise<EditorSession> => {
			const project = await projectOf(id, given);
			if (own.size >= MAX_SESSIONS && !own.has(id))
				throw new AppError('conflict', `At most ${MAX_SESSIONS} sessions can be open. Close one first.`);
			await own.get(id)?.close();
			const { usable, refused } = readServers(given.mcpServers ?? [], project.cwd);
			const servers = usable.length === 0 ? null : parts.connectServers(usable);
			const options = { client, capabilities: state.capabilities, project, servers, refused, log: note };
			const session = new EditorSession({ ...parts, skills: () => usableSkills(parts) }, options);
			own.set(id, session);
			open.set(id, session);
			await session.open();
			return session;
		};
		const end = async (session: EditorSession): Promise<void> => {
			const { id } = session;
			await session.close();
			own.delete(id);
			// Another editor may have opened it since.
			if (open.get(id) !== session) return;
			open.delete(id);
			const isEmpty = (await parts.store.messages.ids(id, 'all')).length === 0;
			if (isEmpty && (await parts.workspaces.list(id)).length === 0) await parts.store.conversations.remove(id);
		};
		const facts = async (session: EditorSession) => {
			// After the answer, so that the editor knows the session.
			setImmediate(() => void session.tellCommands().catch(note));
			return { modes: session.modes(), configOptions: await session.configOptions() };
		};
		const reopen = (client: AgentContext, given: Opened & { sessionId: string }): Promise<EditorSession> =>
			answered(async () => {
				const { sessionId: id } = given;
				const isKnown = conversationId.safeParse(id).success && (await parts.store.conversations.get(id)) !== null;
				if (!isKnown) throw sdk.RequestError.sessionNotFound(id);
				return start(id, client, given);
			});

		const app = sdk
			.agent({ name: 'openrouter-skills' })
			.onRequest('initialize', ({ params }) => {
				state.capabilities = params.clientCapabilities ?? {};
				return {
					protocolVersion: sdk.PROTOCOL_VERSION,
					agentInfo: { name: 'openrouter-skills', title: 'openrouter-skills', version },
					authMethods: [],
					agentCapabilities: {
						loadSession: true,
						promptCapabilities: { image: true, audio: false, embeddedContext: true },
						mcpCapabilities: { http: true, sse: false },
						sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} }
					}
				};
			})
			.onRequest('authenticate', () => ({}))
			.onRequest('session/new', ({ params, client }) =>
				answered(async () => {
					const sessionId = randomUUID();
					await projectOf(sessionId, params);
					const createdAt = new Date().toISOString();
					// Without a title, it isn't listed before its first message.
					await parts.store.conversations.create({ id: sessionId, title: '', createdAt });
					return { sessionId, ...(await facts(await start(sessionId, client, params))) };
				})
			)
			.onRequest('session/load', async ({ params, client }) => {
				const session = await reopen(client, params);
				return answered(async () => {
					await session.replay();
					return facts(session);
				});
			})
			.onRequest('session/resume', async ({ params, client }) => {
				const session = await reopen(client, params);
				return answered(() => facts(session));
			})
			.onRequest('session/list', ({ params }) =>
				answered(async () => {
					const page = readCursor(params.cursor);
					const query = { page, limit: PAGE, ...(params.cwd ? { folder: normalize(params.cwd) } : {}) };
					const found = await parts.store.conversations.listInFolder(query);
					const sessions = found.map(({ id, folder, title, updatedAt }) => ({
						...{ sessionId: id, cwd: folder, title, updatedAt }
					}));
					return { sessions, nextCursor: found.length === PAGE ? String(page + 1) : null };
				})
			)
			.onRequest('session/close', ({ params }) =>
				answered(async () => {
					await end(sessionOf(params.sessionId));
					return {};
				})
			)
			.onRequest('session/delete', ({ params }) =>
				answered(async () => {
					const session = own.get(params.sessionId);
					if (session) await end(session);
					if (await parts.store.conversations.get(params.sessionId)) await parts.removeConversation(params.sessionId);
					return {};
				})
			)
			.onRequest('session/set_mode', ({ params }) =>
				answered(async () => {
					await sessionOf(params.sessionId).setMode(params.modeId);
					return {};
				})
			)
			.onRequest('session/set_config_option', ({ params }) =>
				answered(async () => {
					const session = sessionOf(params.sessionId);
					await session.setOption(params.configId, params.value);
					return { configOptions: await session.configOptions() };
				})
			)
			.onRequest('session/prompt', ({ params, signal }) =>
				answered(async () => ({ stopReason: await sessionOf(params.sessionId).prompt(params.prompt, signal) }))
			)
			.onNotification('session/cancel', async ({ params }) => {
				await own.get(params.sessionId)?.cancel();
			});

		const stream = sdk.ndJsonStream(
			Writable.toWeb(output) as WritableStream<Uint8Array>,
			Readable.toWeb(input) as unknown as ReadableStream<Uint8Array>,
			{ maxMessageBytes: MAX_MESSAGE_BYTES }
		);
		const connection: AgentConnection = app.connect(stream);
		isOver.addEventListener('abort', () => connection.close(), { once: true });
		void followLibrary(parts.revisions, connection.signal, () => own.values()).catch(note);
		await connection.closed;
		await Promise.all([...own.values()].map((session) => end(session).catch(note)));
	}

	return {
		serve(input, output, onClosed) {
			const over = new AbortController();
			// An editor that has left closes its end.
			output.on('error', () => over.abort());
			const done = connect(input, output, over.signal).catch(note);
			const connection = {
				async close() {
					over.abort();
					await done;
				}
			};
			connections.add(connection);
			void done.finally(() => {
				connections.delete(connection);
				onClosed();
			});
		},
		tools: (id) => (id === undefined ? [] : (open.get(id)?.tools() ?? [])),
		async close() {
			await Promise.all([...connections].map((connection) => connection.close()));
		}
	};
}

interface Opened {
	cwd: string;
	additionalDirectories?: string[];
	mcpServers?: McpServer[];
}

/** @throws AppError invalid_input */
async function projectOf(sessionId: string, { cwd, additionalDirectories = [] }: Opened) {
	const folders = [
		...new Set([cwd, ...additionalDirectories].map((folder) => normalize(folder).replace(/(?<=[^/\\:])[/\\]+$/, '')))
	];
	for (const folder of folders) {
		const isFolder =
			isAbsolute(folder) && !folder.includes('\0') && (await stat(folder).catch(() => null))?.isDirectory();
		if (!isFolder)
			throw new AppError(
				'invalid_input',
				`cwd must be the absolute path of a folder, but it’s “${folder.slice(0, 300)}”.`
			);
	}
	return { sessionId, cwd: folders[0] ?? cwd, roots: folders };
}

function readServers(servers: readonly McpServer[], cwd: string) {
	const usable: { name: string; target: ServerTarget }[] = [];
	const refused: string[] = [];
	for (const server of servers) {
		const { name } = server;
		if (usable.length === MAX_SERVERS) refused.push(`${name}: only ${MAX_SERVERS} servers are used.`);
		else if (!('type' in server)) {
			const { command, args, env } = server;
			usable.push({ name, target: { type: 'stdio', command, args, env: recordOf(env), cwd } });
		} else if (server.type === 'http' && /^https?:/.test(URL.parse(server.url)?.protocol ?? ''))
			usable.push({ name, target: { type: 'http', url: server.url, headers: recordOf(server.headers) } });
		else
			refused.push(
				`${name}: ${server.type === 'sse' ? 'it uses SSE, which is no longer supported.' : 'its address isn’t valid.'}`
			);
	}
	return { usable, refused };
}

function recordOf(entries: readonly { name: string; value: string }[]): Record<string, string> {
	return Object.fromEntries(entries.map(({ name, value }) => [name, value]));
}

function usableSkills({ skills, modes, isEnabled }: Pick<AcpParts, 'skills' | 'modes' | 'isEnabled'>) {
	if (!isEnabled()) return [];
	const { modeOf, pinOf } = modes;
	return viewOf(skills.registry.snapshot(), { modeOf, pinOf, owner: undefined }).library.skills;
}

/** Tells each session its commands again when skills have changed. */
async function followLibrary(
	revisions: AcpParts['revisions'],
	signal: AbortSignal,
	sessions: () => Iterable<EditorSession>
): Promise<void> {
	let isFirst = true;
	for await (const _ of revisions.follow(signal)) {
		if (!isFirst) for (const session of sessions()) await session.tellCommands();
		isFirst = false;
	}
}

/** @throws AppError invalid_input */
function readCursor(cursor: string | null | undefined): number {
	if (cursor === null || cursor === undefined) return 1;
	if (/^[1-9]\d{0,5}$/.test(cursor)) return Number(cursor);
	throw new AppError('invalid_input', 'cursor must be the nextCursor of an earlier answer.');
}

/** Logs an unexpected error and hides its message. */
function toRequestError(error: unknown, Refusal: typeof RequestError, note: (error: unknown) => void): RequestError {
	if (!(error instanceof AppError)) {
		note(error);
		return new Refusal(-32_603, 'Something went wrong on the server. See its log for details.');
	}
	const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
	switch (error.code) {
		case 'not_found':
			return new Refusal(-32_002, message);
		case 'invalid_input':
		case 'too_large':
			return new Refusal(-32_602, message);
		case 'conflict':
			return new Refusal(-32_600, message);
		default:
			return new Refusal(-32_603, message, error.details);
	}
}

/** Of the package around this program. */
async function versionHere(): Promise<string> {
	try {
		return (JSON.parse(await readFile('package.json', 'utf8')) as { version: string }).version;
	} catch {
		return '0.0.0';
	}
}
