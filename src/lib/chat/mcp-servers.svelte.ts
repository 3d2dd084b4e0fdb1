/** The MCP servers on the settings page: what they are, how they stand, and what is changed (FEATURES E36). */
import type { McpServer } from '../shared/mcp-servers.ts';
import { sameInput } from './mcp-form.ts';
import type { McpServerInput, McpServersClient } from './mcp-servers-client.ts';
import { Reading } from './reading.svelte.ts';
import { Task } from './task.svelte.ts';

/** How often one looks how they stand: while something is under way, and else. */
const SOON_MS = 1_000;
const LATER_MS = 5_000;

export class McpServers {
	readonly #client: McpServersClient;
	readonly list: Reading<McpServer[]>;
	readonly task = new Task();

	constructor(client: McpServersClient) {
		this.#client = client;
		this.list = new Reading(() => client.list());
	}

	/** Follows how they stand; returns the function that ends it. */
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

	/** Resolves to whether it was saved; else `task.error` says why. */
	save(name: string, input: McpServerInput): Promise<boolean> {
		return this.saveAll([{ name, input }]);
	}

	/** One after the other, until one is refused. */
	async saveAll(servers: { name: string; input: McpServerInput }[]): Promise<boolean> {
		const done = await this.task.run(async () => {
			for (const { name, input } of servers) this.#show(await this.#client.put(name, input));
			return true;
		});
		return done ?? false;
	}

	async setEnabled(server: McpServer, isEnabled: boolean): Promise<boolean> {
		return this.save(server.name, sameInput(server, { isEnabled }));
	}

	async reconnect(name: string): Promise<void> {
		await this.task.run(async () => this.#show(await this.#client.reconnect(name)));
	}

	/** Rejects with an `ApiError`. */
	async remove(name: string): Promise<void> {
		await this.#client.remove(name);
		this.list.set((this.list.value ?? []).filter((server) => server.name !== name));
	}

	#show(server: McpServer): void {
		const others = (this.list.value ?? []).filter(({ name }) => name !== server.name);
		this.list.set([...others, server].sort((a, b) => (a.name < b.name ? -1 : 1)));
	}
}
