/** The form of an MCP server and its conversion, and the list of servers. */
import {
	type McpRegistryAnswer,
	type McpRegistryEntry,
	type McpRegistryWay,
	type McpServer,
	mcpServerPut
} from '../../shared/mcp-servers.ts';
import type { McpServerInput, Client } from '../server.ts';
import { Reading, Task } from '../ui/reading.svelte.ts';

/** An environment variable or a header. */
export interface TypedValue {
	name: string;
	value: string;
	/** A stored value; an empty text keeps it. */
	isStored: boolean;
	/** What it is; known of servers from the registry, which also need it. */
	about?: string;
}

export interface McpForm {
	name: string;
	type: 'stdio' | 'http';
	command: string;
	/** One per line. */
	args: string;
	cwd: string;
	url: string;
	values: TypedValue[];
	asksFirst: boolean;
}

export const EMPTY_FORM: McpForm = {
	name: '',
	type: 'stdio',
	command: '',
	args: '',
	cwd: '',
	url: '',
	asksFirst: true,
	values: []
};

export function formOf({ name, transport, approval }: McpServer): McpForm {
	const stored = (names: string[]) => names.map((each) => ({ name: each, value: '', isStored: true }));
	const form = { ...EMPTY_FORM, name, type: transport.type, asksFirst: approval === 'ask' };
	if (transport.type === 'http') return { ...form, url: transport.url, values: stored(transport.headers) };
	const { command, args, cwd = '', env } = transport;
	return { ...form, command, args: args.join('\n'), cwd, values: stored(env) };
}

/** Of a server of the registry, with empty fields for what it needs. */
export function formOfWay({ name, title }: McpRegistryEntry, way: McpRegistryWay): McpForm {
	const empty = (needed: { name: string; about: string }[]) =>
		needed.map((each) => ({ ...each, value: '', isStored: false }));
	// A title may have no letter that a name may have.
	const word = wordOf(title ?? '') || wordOf(name.split('/').at(-1) ?? '');
	const form = { ...EMPTY_FORM, name: word, type: way.type };
	return way.type === 'http'
		? { ...form, url: way.url, values: empty(way.headers) }
		: { ...form, command: way.command, args: way.args.join('\n'), values: empty(way.env) };
}

/** Trims everything except arguments and values. */
export function inputOf(form: McpForm, isEnabled: boolean): McpServerInput {
	const values = Object.fromEntries(
		form.values
			.filter(({ name }) => name.trim() !== '')
			.map(({ name, value, isStored }) => [name.trim(), isStored && value === '' ? null : value])
	);
	const approval = form.asksFirst ? 'ask' : 'auto';
	if (form.type === 'http') {
		return { transport: { type: 'http', url: form.url.trim(), headers: values }, isEnabled, approval };
	}
	const args = form.args.split('\n').filter((line) => line !== '');
	const cwd = form.cwd.trim();
	return {
		transport: { type: 'stdio', command: form.command.trim(), args, env: values, cwd: cwd || undefined },
		isEnabled,
		approval
	};
}

/** Keeps all stored values, and arguments that the form can't have: with line breaks, or empty. */
export function sameInput(server: McpServer, change: { isEnabled: boolean }): McpServerInput {
	const { transport } = server;
	const same = inputOf(formOf(server), change.isEnabled);
	if (transport.type === 'http' || same.transport.type === 'http') return same;
	return { ...same, transport: { ...same.transport, args: transport.args } };
}

/**
 * Reads `{"mcpServers": {"name": {"command" | "url", …}}}`, the inner object alone, or VS Code's `servers`.
 * @throws Error with a sentence for people
 */
export function readPasted(json: string): { name: string; input: McpServerInput }[] {
	const whole = parse(json);
	const servers = recordOf(whole?.mcpServers) ?? recordOf(whole?.servers) ?? whole;
	const entries = Object.entries(servers ?? {});
	if (entries.length === 0)
		throw new Error(
			'This isn’t an MCP configuration. It looks like {"mcpServers": {"files": {"command": "npx", "args": []}}}.'
		);
	return entries.map(([given, about]) => {
		const { command, args, env, cwd, url, serverUrl, headers, disabled } = recordOf(about) ?? {};
		const address = url ?? serverUrl;
		const transport =
			command !== undefined
				? { type: 'stdio', command, args, env, cwd }
				: address !== undefined
					? { type: 'http', url: address, headers }
					: null;
		if (!transport) throw new Error(`“${given}” needs a “command” or a “url”.`);
		const input = { transport: withoutUndefined(transport), isEnabled: disabled !== true };
		const checked = mcpServerPut.safeParse(input);
		if (!checked.success) {
			const issue = checked.error.issues[0];
			throw new Error(`${given}: ${issue?.path.slice(1).join('.') ?? ''} ${issue?.message ?? ''}`);
		}
		return { name: nameOf(given), input: checked.data };
	});
}

/** Empty if nothing of it can be in a name. */
function wordOf(given: string): string {
	return given
		.toLowerCase()
		.replaceAll(/[^a-z0-9_-]+/g, '-')
		.replaceAll(/^-+|-+$/g, '')
		.slice(0, 32);
}

function nameOf(given: string): string {
	const name = wordOf(given);
	if (name === '') throw new Error(`“${given}” isn’t a valid name. Use letters, digits, - and _.`);
	return name;
}

function parse(json: string): Record<string, unknown> | null {
	try {
		return recordOf(JSON.parse(json));
	} catch {
		// The user can see what they pasted.
		return null;
	}
}

function recordOf(value: unknown): Record<string, unknown> | null {
	return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

function withoutUndefined(values: Record<string, unknown>): Record<string, unknown> {
	return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Polling interval while a server connects, and otherwise. */
const SOON_MS = 1_000;
const LATER_MS = 5_000;

export type McpServersClient = Pick<
	Client,
	| 'listMcpServers'
	| 'putMcpServer'
	| 'removeMcpServer'
	| 'reconnectMcpServer'
	| 'startMcpSignIn'
	| 'endMcpSignIn'
	| 'searchMcpRegistry'
>;

/** The MCP servers in the settings, their state, and changes (E36). */
export class McpServers {
	readonly #client: McpServersClient;
	readonly list: Reading<McpServer[]>;
	readonly task = new Task();
	/** Apart from changes: a slow registry holds up no server. */
	readonly searching = new Task();
	/** That a sign-in is forgotten here, but still counts at its server. */
	notRevoked = $state.raw<string | null>(null);
	/** What a search found; null before one. */
	found = $state.raw<McpRegistryAnswer | null>(null);

	constructor(client: McpServersClient) {
		this.#client = client;
		this.list = new Reading(() => client.listMcpServers());
	}

	/** Polls the state; returns a function that stops it. */
	watch(): () => void {
		let timer: ReturnType<typeof setTimeout> | undefined;
		let isOver = false;
		const look = async (): Promise<void> => {
			if (document.visibilityState === 'visible') await this.list.load();
			if (isOver) return;
			const isSoon = this.list.value?.some(({ status }) => status.state === 'connecting') ?? false;
			timer = setTimeout(look, isSoon ? SOON_MS : LATER_MS);
		};
		void look();
		return () => {
			isOver = true;
			clearTimeout(timer);
		};
	}

	/** Resolves to false on failure; see `task.error`. */
	save(name: string, input: McpServerInput): Promise<boolean> {
		return this.saveAll([{ name, input }]);
	}

	/** One by one, until one fails. */
	async saveAll(servers: { name: string; input: McpServerInput }[]): Promise<boolean> {
		const done = await this.task.run(async () => {
			for (const { name, input } of servers) this.#show(await this.#client.putMcpServer(name, input));
			return true;
		});
		return done ?? false;
	}

	async setEnabled(server: McpServer, isEnabled: boolean): Promise<boolean> {
		return this.save(server.name, sameInput(server, { isEnabled }));
	}

	async reconnect(name: string): Promise<void> {
		await this.task.run(async () => this.#show(await this.#client.reconnectMcpServer(name)));
	}

	/** The page to open; null on failure. It leads back to `/settings/mcp/NAME`. */
	async signInUrl(name: string): Promise<string | null> {
		const started = await this.task.run(() =>
			this.#client.startMcpSignIn(name, `${location.origin}/settings/mcp/${name}`)
		);
		return started?.url ?? null;
	}

	async search(query: string): Promise<void> {
		const found = await this.searching.run(() => this.#client.searchMcpRegistry(query));
		// What an earlier search found would look like the answer.
		this.found = found ?? null;
	}

	async signOut(name: string): Promise<void> {
		this.notRevoked = null;
		await this.task.run(async () => {
			const { notRevoked, ...server } = await this.#client.endMcpSignIn(name);
			this.notRevoked = notRevoked;
			this.#show(server);
		});
	}

	/** Rejects with an `ApiError`. */
	async remove(name: string): Promise<void> {
		({ notRevoked: this.notRevoked } = await this.#client.removeMcpServer(name));
		this.list.set((this.list.value ?? []).filter((server) => server.name !== name));
	}

	#show(server: McpServer): void {
		const others = (this.list.value ?? []).filter(({ name }) => name !== server.name);
		this.list.set([...others, server].sort((a, b) => (a.name < b.name ? -1 : 1)));
	}
}
