/** Everything the pages share: the open conversation, the list of all, the skills, and what the server says of itself. */
import type { Health } from '../shared/api.ts';
import { ApiError, asApiError } from './api-error.ts';
import type { Client } from './client.ts';
import { Conversations } from './conversations.svelte.ts';
import { newId } from './ids.ts';
import { Library } from './library.svelte.ts';
import { ChatSession } from './session.svelte.ts';
import { SidebarState } from './sidebar.svelte.ts';
import { readStored, writeStored } from './stored.ts';
import { Toasts } from './toasts.svelte.ts';

const NEW_KEY = 'new-conversation';

export class ChatApp {
	readonly #client: Client;
	readonly conversations: Conversations;
	readonly library: Library;
	readonly sidebar = new SidebarState();
	readonly toasts = new Toasts();
	session = $state.raw<ChatSession | null>(null);
	/** Null until the server has answered. */
	health = $state.raw<Health | null>(null);

	constructor(client: Client) {
		this.#client = client;
		this.conversations = new Conversations(client);
		this.library = new Library(client);
	}

	/** Begins to follow the server; returns the function that ends it. */
	start(): () => void {
		const look = (): void => {
			if (document.visibilityState !== 'visible') return;
			void this.conversations.refresh();
			void this.refreshHealth();
			void this.library.refresh();
			void this.session?.refresh();
		};
		document.addEventListener('visibilitychange', look);
		void this.conversations.refresh();
		void this.refreshHealth();
		void this.library.refresh();
		return () => {
			document.removeEventListener('visibilitychange', look);
			this.conversations.dispose();
			this.session?.dispose();
		};
	}

	/** Opens a conversation that the server knows; the one that is open already stays as it is. */
	open(id: string): void {
		if (this.session?.id === id) return;
		this.#switchTo(id);
		void this.session?.load();
	}

	/** Opens the conversation that does not exist yet; over reloads it is the same until its first message is sent. */
	openNew(): void {
		if (this.session?.phase === 'new') return;
		const stored = readStored('session', NEW_KEY);
		const id = stored === null || stored === this.session?.id ? newId() : stored;
		writeStored('session', NEW_KEY, id);
		this.#switchTo(id);
	}

	/** The new conversation has got its first message: the next new one is another. */
	forgetNew(id: string): void {
		if (readStored('session', NEW_KEY) === id) writeStored('session', NEW_KEY, null);
	}

	/** Forgets the open conversation if it is this one. */
	close(id: string): void {
		if (this.session?.id !== id) return;
		this.session.dispose();
		this.session = null;
	}

	async refreshHealth(): Promise<void> {
		const health = await this.#client.getHealth().catch((error: unknown) => asApiError(error));
		if (!(health instanceof ApiError)) this.health = health;
	}

	#switchTo(id: string): void {
		this.session?.dispose();
		this.session = new ChatSession(id, this.#client, this.conversations);
	}
}
