/** The app’s MCP servers: stored, kept connected and offered to the agent (E36). */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../../shared/errors.ts';
import { createLine, type Exclusively } from '../../shared/in-turn.ts';
import {
	type McpServer,
	mcpServerName,
	type McpServerPut,
	type McpServerStatus,
	type McpTransport,
	type McpTransportPut
} from '../../shared/mcp-servers.ts';
import type { StoredMcpServer } from '../store/access.ts';
import type { Store } from '../store/store.ts';
import type { Vault } from '../trust/vault.ts';
import { type Connection, createConnection } from './connection.ts';
import { openServer, ServerError, type Target } from './open-server.ts';
import { freeName } from './listing.ts';
import { createSignIns, type SignInAnswer } from './sign-in.ts';
import { createMcpTools, type McpTools, type McpToolsOptions, type ServerTools } from './mcp-tools.ts';

export interface McpServersOptions extends Pick<
	McpToolsOptions,
	'isEnabled' | 'recorder' | 'maxOutputBytes' | 'timeoutMs'
> {
	store: Pick<Store, 'mcpServers' | 'approvals'>;
	vault: Vault;
	/** Each program has its own folder in it. */
	dataDir: string;
	/** Default: this server is alone. */
	exclusively?: Exclusively;
	/** Wait in milliseconds after a number of consecutive failures. */
	delayMs?: (failures: number) => number;
	/** How long an authorization server may take to revoke a sign-in. */
	revokeMs?: number;
}

export interface McpServers {
	/** Sorted by name. */
	list(): McpServer[];
	/** @throws AppError not_found */
	get(name: string): McpServer;
	/** Creates or replaces a server. @throws AppError invalid_input */
	put(name: string, server: McpServerPut): Promise<McpServer>;
	/** Signs out of it, too. @throws AppError not_found */
	remove(name: string): Promise<{ notRevoked: string | null }>;
	/** Connects again. @throws AppError not_found; conflict if it is off */
	reconnect(name: string): McpServer;
	/** The page to open, which leads back to `returnTo`, an address of `origin`. @throws AppError not_found, conflict, invalid_input, unavailable */
	startSignIn(name: string, returnTo: string, origin: string): Promise<{ url: string }>;
	/** Connects again with what the sign-in gave. @throws AppError not_found, conflict, unavailable */
	completeSignIn(name: string, answer: SignInAnswer): Promise<McpServer>;
	/** Forgets it, connects again without, and has it revoked. @throws AppError not_found */
	signOut(name: string): Promise<McpServer & { notRevoked: string | null }>;
	/** Connects anew where another of several servers has changed something. */
	readAgain(): Promise<void>;
	/** The tools of a conversation, without waiting for servers. */
	tools(offer: { only?: readonly string[] | undefined }): McpTools;
	/** Connects to servers that a client brings for its session; they aren't stored, and each call asks. */
	connect(servers: readonly { name: string; target: Target }[]): SessionServers;
	close(): Promise<void>;
}

export interface SessionServers {
	tools(): McpTools;
	/** Names of servers that can't be used, with the reason, once each has been tried or `patienceMs` have passed. */
	problems(patienceMs: number): Promise<string[]>;
	/** Never rejects. */
	close(): Promise<void>;
}

const MAX_SERVERS = 50;
const OFF: McpServerStatus = { state: 'off', software: null, tools: [], error: null, note: null };

interface Entry {
	stored: StoredMcpServer;
	/** null if unreadable. */
	values: Values | null;
	/** null while off. */
	connection: Connection | null;
	signIn: McpServer['signIn'];
	/** What it was placed with: other servers may have changed it. */
	mark: string;
}

/** Starts to connect the stored servers, without waiting for them. */
export async function openMcpServers(options: McpServersOptions): Promise<McpServers> {
	const { store, vault, dataDir, delayMs } = options;
	const secrets = createServerValues(vault);
	const signIns = createSignIns(vault, idOf, options);
	const entries = new Map<string, Entry>();
	const ending = new Set<Promise<unknown>>();
	/** Of servers that aren't stored. */
	const names = new Set<string>();
	/** Changes run one at a time. */
	const inTurn = createLine();

	const markOf = async (stored: StoredMcpServer, values: Values | null) =>
		JSON.stringify([stored, values, await signIns.idOf(stored.name)]);
	const place = async (stored: StoredMcpServer, values: Values | null) => {
		const mark = await markOf(stored, values);
		drop(stored.name);
		const { name, isEnabled, transport } = stored;
		const entry: Entry = { stored, values, connection: null, signIn: 'none', mark };
		const open: Parameters<typeof createConnection>[0]['open'] = async (events, signal) => {
			if (values === null) throw new ServerError(UNREADABLE);
			const access = transport.type === 'http' ? await signIns.access(name, transport.url) : null;
			const target = targetOf(transport, values, join(dataDir, 'mcp', name));
			try {
				const opened = await openServer(
					access && target.type === 'http' ? { ...target, access } : target,
					events,
					signal
				);
				entry.signIn = access ? 'done' : 'none';
				return opened;
			} catch (error) {
				const isWanted = transport.type === 'http' && error instanceof ServerError && error.isRefused;
				entry.signIn = isWanted ? 'wanted' : access ? 'done' : 'none';
				throw error;
			}
		};
		entries.set(name, entry);
		if (isEnabled) entry.connection = createConnection({ name, open, delayMs });
	};
	const drop = (name: string) => {
		const connection = entries.get(name)?.connection;
		entries.delete(name);
		if (!connection) return;
		void finish(connection.close());
	};
	/** Closing waits for it. */
	const finish = <Result>(work: Promise<Result>): Promise<Result> => {
		const ended = work.finally(() => ending.delete(ended));
		ending.add(ended);
		return ended;
	};
	const entryOf = (name: string): Entry => {
		const entry = entries.get(name);
		if (!entry) throw new AppError('not_found', `No MCP server named “${name}”.`);
		return entry;
	};
	const placeAgain = async (name: string): Promise<McpServer> => {
		const { stored, values } = entryOf(name);
		await place(stored, values);
		return toServer(entryOf(name));
	};
	const serverTools = (): ServerTools[] =>
		sorted(entries).flatMap(({ stored, values, connection }) => {
			if (!connection) return [];
			const { name, approval, transport } = stored;
			const digest = hash('sha256', JSON.stringify(transport));
			return [{ name, approval, digest, values: Object.values(values ?? {}), connection }];
		});

	for (const stored of await store.mcpServers.list()) await place(stored, await secrets.read(stored.name));
	return {
		list: () => sorted(entries).map(toServer),
		get: (name) => toServer(entryOf(name)),
		put: (name, { transport, isEnabled, approval }) =>
			inTurn(async () => {
				const checked = mcpServerName.safeParse(name);
				if (!checked.success) {
					throw new AppError('invalid_input', 'name must be at most 32 characters: a–z, 0–9, - and _.');
				}
				const before = entries.get(name);
				if (!before && entries.size >= MAX_SERVERS) {
					throw new AppError('conflict', `You’ve reached the limit of ${MAX_SERVERS} MCP servers. Remove one first.`);
				}
				const isSamePlace = before !== undefined && placeOf(before.stored.transport) === placeOf(transport);
				const values = mergeValues(valuesOf(transport), isSamePlace ? before.values : null);
				const now = new Date().toISOString();
				const stored = { name, transport: withoutSecrets(transport), isEnabled, approval, updatedAt: now };
				await secrets.write(name, values, now);
				if (!isSamePlace) void finish((await signIns.remove(name)).revoked);
				await store.mcpServers.put(stored);
				await place(stored, values);
				return toServer(entryOf(name));
			}),
		async remove(name) {
			const { revoked } = await inTurn(async () => {
				entryOf(name);
				await store.mcpServers.remove(name);
				await secrets.remove(name);
				drop(name);
				return signIns.remove(name);
			});
			return { notRevoked: await finish(revoked) };
		},
		reconnect(name) {
			const entry = entryOf(name);
			if (!entry.connection) throw new AppError('conflict', `The MCP server “${name}” is off.`);
			entry.connection.reconnect();
			return toServer(entry);
		},
		async startSignIn(name, returnTo, origin) {
			const { transport } = entryOf(name).stored;
			if (transport.type !== 'http') throw new AppError('conflict', `“${name}” is a program, which has no sign-in.`);
			const back = new URL(returnTo);
			if (back.origin !== origin || back.username !== '' || back.password !== '') {
				throw new AppError('invalid_input', `returnTo must be an address of this server, ${origin}.`);
			}
			return { url: await signIns.start(name, transport.url, back.href) };
		},
		async completeSignIn(name, answer) {
			const { transport } = entryOf(name).stored;
			if (transport.type !== 'http') throw new AppError('not_found', `“${name}” is a program.`);
			// Not in turn: a server that dawdles holds up nobody else.
			await signIns.complete(name, transport.url, answer);
			return inTurn(() => placeAgain(name));
		},
		async signOut(name) {
			const { server, revoked } = await inTurn(async () => {
				entryOf(name);
				const removed = await signIns.remove(name);
				return { ...removed, server: await placeAgain(name) };
			});
			return { ...server, notRevoked: await finish(revoked) };
		},
		readAgain: () =>
			inTurn(async () => {
				const all = await store.mcpServers.list();
				const names = new Set(all.map(({ name }) => name));
				for (const name of [...entries.keys()]) if (!names.has(name)) drop(name);
				for (const stored of all) {
					const values = await secrets.read(stored.name);
					if (entries.get(stored.name)?.mark !== (await markOf(stored, values))) await place(stored, values);
				}
			}),
		tools: ({ only }) => createMcpTools({ ...options, approvals: store.approvals, servers: serverTools, only }),
		connect(servers) {
			const session = servers.map(({ name: given, target }) => {
				const name = freeName(given, (taken) => entries.has(taken) || names.has(taken));
				names.add(name);
				const connection = createConnection({
					name,
					open: (events, signal) => openServer(target, events, signal),
					delayMs
				});
				const values = Object.values(target.type === 'http' ? target.headers : target.env);
				const digest = hash('sha256', JSON.stringify(target));
				return { name, approval: 'ask' as const, digest, values, connection };
			});
			const tried = Promise.all(session.map(({ connection }) => connection.settled()));
			return {
				tools: () => createMcpTools({ ...options, approvals: store.approvals, servers: () => session }),
				async problems(patienceMs) {
					await Promise.race([tried, wait(patienceMs, undefined, { ref: false })]);
					const lost = session.filter(({ connection }) => connection.state() !== 'connected');
					return lost.map(({ name, connection }) => `${name}: ${connection.error() ?? 'it hasn’t answered yet.'}`);
				},
				async close() {
					for (const { name } of session) names.delete(name);
					await Promise.all(session.map(({ connection }) => connection.close()));
				}
			};
		},
		async close() {
			await inTurn(async () => undefined);
			for (const name of [...entries.keys()]) drop(name);
			await Promise.all(ending);
		}
	};
}

const UNREADABLE = 'Its saved values can’t be read, because SECRETS_KEY or secrets.key changed. Enter them again.';

function sorted(entries: ReadonlyMap<string, Entry>): Entry[] {
	return [...entries.values()].sort((a, b) => (a.stored.name < b.stored.name ? -1 : 1));
}

function toServer({ stored, connection, signIn }: Entry): McpServer {
	if (!connection) return { ...stored, signIn, status: OFF };
	const { tools, note } = connection.listing();
	return {
		...stored,
		signIn,
		status: {
			state: connection.state(),
			software: connection.software(),
			tools: tools.map(({ name, shown, description }) => ({ name, tool: shown, description })),
			error: connection.state() === 'connected' ? null : connection.error(),
			note
		}
	};
}

function withoutSecrets(transport: McpTransportPut): McpTransport {
	if (transport.type === 'http') {
		return { type: 'http', url: transport.url, headers: Object.keys(transport.headers) };
	}
	const { command, args, env, cwd } = transport;
	return { type: 'stdio', command, args, env: Object.keys(env), cwd };
}

function targetOf(transport: McpTransport, values: Values, folder: string): Target {
	if (transport.type === 'http') return { type: 'http', url: transport.url, headers: values };
	const { command, args, cwd = folder } = transport;
	return { type: 'stdio', command, args, env: values, cwd };
}

// Secrets of MCP servers in the vault: environment variables or headers (E36, F3).

/** One JSON entry for all values, because header names aren’t valid variable names. */
const VALUES = 'VALUES';
const MAX_BYTES = 60_000;

export type Values = Readonly<Record<string, string>>;

function createServerValues(vault: Vault) {
	return {
		/** null if encrypted with another key. */
		async read(server: string): Promise<Values | null> {
			const stored = (await vault.valuesOf(idOf(server)))[VALUES];
			if (stored !== undefined) return JSON.parse(stored) as Values;
			return (await vault.list(idOf(server))).some(({ name }) => name === VALUES) ? null : {};
		},
		async write(server: string, values: Values, now: string) {
			if (Object.keys(values).length === 0) await vault.remove(idOf(server), VALUES);
			else await vault.set(idOf(server), VALUES, JSON.stringify(values), now);
		},
		remove: (server: string) => vault.remove(idOf(server), VALUES)
	};
}

/** Ids of skills contain a slash, so no skill gets these values. */
function idOf(server: string): string {
	return `mcp-server:${server}`;
}

function valuesOf(transport: McpTransportPut): Record<string, string | null> {
	return transport.type === 'stdio' ? transport.env : transport.headers;
}

/** Stored values are reused only for the same destination. */
function placeOf(transport: McpTransport | McpTransportPut): string {
	return transport.type === 'http' ? new URL(transport.url).origin : `program ${transport.command}`;
}

/** Replaces null by the stored value. @throws AppError invalid_input, without values in its message */
function mergeValues(given: Record<string, string | null>, kept: Values | null): Values {
	const entries = Object.entries(given).map(([name, value]) => {
		const whole = value ?? (kept && Object.hasOwn(kept, name) ? kept[name] : undefined);
		if (whole === undefined) {
			const details = { field: name };
			throw new AppError('invalid_input', `${name} needs a value: none is saved for this server.`, { details });
		}
		return [name, whole];
	});
	const values = Object.fromEntries(entries) as Values;
	if (Buffer.byteLength(JSON.stringify(values)) > MAX_BYTES) {
		throw new AppError('invalid_input', 'transport is too long: its values may total 60 KB.');
	}
	return values;
}
