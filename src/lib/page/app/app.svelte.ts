/** Everything the pages share: the open conversation, the list of all, the skills, and what the server says of itself. */
import { createContext } from 'svelte';
import type { Health } from '../../shared/api.ts';
import { createSessionServices, type SessionServices } from '../conversation/session-services.ts';
import { ChatSession } from '../conversation/session.svelte.ts';
import { Account, type AccountClient } from '../models/account.svelte.ts';
import { ApiError, asApiError } from '../request.ts';
import { type Client, createClient, type FolderFile } from '../server.ts';
import { ConversationActions, shownTitle } from '../sidebar/conversation-actions.ts';
import { ConversationSearch, SidebarState } from '../sidebar/conversation-list.svelte.ts';
import { Conversations, type ConversationsClient } from '../sidebar/conversations.svelte.ts';
import { Library } from '../skills/library/library.svelte.ts';
import { newId } from '../text/format.ts';
import { readStored, writeStored } from '../ui/clipboard.ts';
import { Toasts } from '../ui/toasts.svelte.ts';
import { ThemeChoice } from './theme.svelte.ts';

const NEW_KEY = 'new-conversation';
/** The one that has just got its first message, until another page is shown: a reload may come before its address. */
const BEGUN_KEY = 'begun-conversation';
/** On it the tabs of one browser tell each other that something was changed. */
const CHANNEL = 'conversations';

export interface AppParts {
	conversations?: ConversationsClient;
	/** What each session asks of the server. */
	services?: SessionServices;
	/** Shows another page; by default as a link does. */
	go?: (path: string) => void | Promise<void>;
}

export class ChatApp {
	readonly #client: Client;
	readonly #services: SessionServices;
	readonly conversations: Conversations;
	readonly actions: ConversationActions;
	readonly search: ConversationSearch;
	readonly library: Library;
	readonly account: Account;
	readonly sidebar = new SidebarState();
	readonly theme = new ThemeChoice();
	readonly toasts = new Toasts();
	readonly go: (path: string) => void | Promise<void>;
	session = $state.raw<ChatSession | null>(null);
	/** Null until the server has answered. */
	health = $state.raw<Health | null>(null);
	/** The server has answered, or failed to. */
	hasAskedHealth = $state(false);
	/** The conversation on the page; `session` may be of another one, or of one that was on it before. */
	shownId = $state<string | null>(null);
	/** What lies over the page. */
	overlay = $state<'palette' | 'shortcuts' | 'deleted' | null>(null);
	/** Was dropped somewhere, and waits for the page that installs. */
	#dropped = $state.raw<readonly FolderFile[] | null>(null);
	#channel: BroadcastChannel | null = null;
	/** Runs that have ended, and nobody was told yet. */
	#ended: string[] = [];

	constructor(client: Client, accountClient: AccountClient = createClient(), parts: AppParts = {}) {
		this.#client = client;
		this.#services = this.#servicesOf(parts.services ?? createSessionServices());
		this.go = parts.go ?? ((path) => location.assign(path));
		this.account = new Account(accountClient, () => void this.refreshHealth());
		const conversationsClient = parts.conversations ?? createClient();
		this.conversations = new Conversations(conversationsClient, {
			isShown: (id) => this.shownId === id,
			onended: (id) => {
				this.#ended.push(id);
				void this.#tellEnded();
			},
			onchange: () => this.#channel?.postMessage(null)
		});
		this.actions = new ConversationActions(this);
		this.search = new ConversationSearch(conversationsClient);
		this.library = new Library(client);
	}

	/** Begins to follow the server; returns the function that ends it. */
	start(): () => void {
		const look = (): void => {
			if (document.visibilityState !== 'visible') return;
			void this.conversations.refresh().then(() => this.#tellEnded());
			void this.refreshHealth();
			void this.library.refresh();
		};
		document.addEventListener('visibilitychange', look);
		this.#channel = new BroadcastChannel(CHANNEL);
		this.#channel.onmessage = () => void this.conversations.refresh();
		const unwatchTheme = this.theme.watch();
		void this.conversations.refresh().then(() => this.#findNew());
		void this.refreshHealth();
		void this.library.refresh();
		return () => {
			document.removeEventListener('visibilitychange', look);
			unwatchTheme();
			this.#channel?.close();
			this.#channel = null;
			this.search.dispose();
			this.conversations.dispose();
			this.session?.dispose();
		};
	}

	/** Goes on to check a skill that was dropped. */
	install(files: readonly FolderFile[]): void {
		this.#dropped = files;
		void this.go('/skills/install');
	}

	takeDropped(): readonly FolderFile[] | null {
		const files = this.#dropped;
		this.#dropped = null;
		return files;
	}

	/** This conversation is on the page now, or none. */
	show(id: string | null): void {
		if (id === this.shownId) return;
		this.shownId = id;
		if (id === null) return;
		// What it has got meanwhile is seen now.
		if (this.session?.id === id) void this.session.refresh();
	}

	/** Opens a conversation that the server knows; the one that is open already stays as it is. */
	open(id: string): void {
		if (this.session?.id === id) return;
		writeStored('session', BEGUN_KEY, null);
		this.#switchTo(id);
		void this.session?.load();
	}

	/** Its address is being opened; where that is the page's own already, nobody else hears of it. */
	seek(id: string, messageId: string | undefined): void {
		if (messageId !== undefined && this.shownId === id && this.session?.id === id) {
			void this.session.history.seek(messageId);
		}
	}

	/** Opens the conversation that does not exist yet; over reloads it is the same until its first message is sent. */
	openNew(): void {
		if (this.session?.phase === 'new') return;
		const begun = this.session === null && wasReloadedAt('/') ? readStored('session', BEGUN_KEY) : null;
		if (begun !== null) return this.open(begun);
		writeStored('session', BEGUN_KEY, null);
		const stored = readStored('session', NEW_KEY);
		const id = stored === null || stored === this.session?.id ? newId() : stored;
		writeStored('session', NEW_KEY, id);
		this.#switchTo(id);
	}

	/** The new conversation has got its first message: the next new one is another. */
	begin(id: string): void {
		if (readStored('session', NEW_KEY) === id) writeStored('session', NEW_KEY, null);
		writeStored('session', BEGUN_KEY, id);
	}

	/** Forgets the open conversation if it is this one. */
	close(id: string): void {
		if (this.session?.id !== id) return;
		this.session.dispose();
		this.session = null;
	}

	titled(id: string, title: string): void {
		if (this.session?.id === id) this.session.title = title;
	}

	/** As the list has it, so that both say the same; one so old that the list does not show it knows its own. */
	titleOf({ id, title }: ChatSession): string {
		return this.conversations.find(id)?.title || title;
	}

	/** What the tab is called while this page is shown: with what waits for somebody. */
	pageTitle(name: string): string {
		const shown = this.session !== null && this.session.id === this.shownId ? this.session : null;
		return pageTitle(name, {
			isWaiting: shown?.isWaiting ?? false,
			isRunning: shown?.isRunning ?? false,
			unreadCount: this.conversations.unreadCount
		});
	}

	/** Some of the page's code did not come. However much is missing, it is said once: here, or in place of the page. */
	tellMissingPart(isSaid = false): void {
		const text = 'Part of the page didn’t load.';
		const said = this.toasts.list.find((toast) => toast.text === text);
		if (said && isSaid) this.toasts.close(said.id);
		if (said || isSaid) return;
		this.toasts.show({ text, isError: true, action: { label: 'Reload', run: () => location.reload() } });
	}

	async refreshHealth(): Promise<void> {
		const health = await this.#client.getHealth().catch((error: unknown) => asApiError(error));
		if (!(health instanceof ApiError)) this.health = health;
		this.hasAskedHealth = true;
	}

	/** The page before this one may have ended before it heard that its first message had arrived: then it is in the list. */
	#findNew(): void {
		const { session } = this;
		if (session?.phase === 'new' && !session.isSending && this.conversations.find(session.id)) void session.load();
	}

	/** Once each, and only when somebody can read it; what was seen in another tab meanwhile is no news. */
	async #tellEnded(): Promise<void> {
		if (document.visibilityState !== 'visible') return;
		const ended = this.#ended;
		this.#ended = [];
		for (const id of ended) {
			const conversation = this.conversations.find(id);
			if (!conversation?.isUnread || id === this.shownId) continue;
			const title = shownTitle(conversation);
			this.toasts.show({
				text: conversation.isWaiting ? `“${title}” needs your approval` : `“${title}” is ready`,
				action: { label: 'Open', run: () => this.go(`/c/${id}`) }
			});
		}
	}

	#switchTo(id: string): void {
		this.session?.dispose();
		this.session = new ChatSession(id, this.#client, this.conversations, this.#services);
	}

	/** A session lives on when another page is shown: then nobody has seen its answer. */
	#servicesOf(services: SessionServices): SessionServices {
		return {
			...services,
			change: async (id, change) => {
				if (change.isUnread === false && this.shownId !== id) throw new Error('the conversation is not shown');
				return services.change(id, change);
			}
		};
	}
}

/** Was the document that this page is in loaded anew by somebody, at this address? */
function wasReloadedAt(pathname: string): boolean {
	const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
	return entry?.type === 'reload' && new URL(entry.name).pathname === pathname;
}

// What a tab says of itself, most urgent first. Pure.

export interface TabState {
	/** A call of the open conversation waits for somebody. */
	isWaiting: boolean;
	/** Its answer is being written. */
	isRunning: boolean;
	/** Conversations with an answer that nobody has seen. */
	unreadCount: number;
}

/** `(!) `, `(2) `, `… `, or nothing: stands before the title. */
function titleMark({ isWaiting, isRunning, unreadCount }: TabState): string {
	if (isWaiting) return '(!) ';
	if (unreadCount > 0) return `(${unreadCount}) `;
	return isRunning ? '… ' : '';
}

/** `(2) Plans · openrouter-skills`; an empty name is left out. */
export function pageTitle(name: string, state: TabState): string {
	return `${titleMark(state)}${name === '' ? '' : `${name} · `}openrouter-skills`;
}

// How components reach the shared state without a module that keeps it.

export const [getApp, setApp] = createContext<ChatApp>();
