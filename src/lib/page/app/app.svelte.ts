/** State shared by all pages: the open chat, the chat list, the skills and the server's health. */
import { cleanText } from '../text/clean-text.ts';
import { createContext } from 'svelte';
import type { Health } from '../../shared/api.ts';
import type { SkillSummary } from '../../shared/skills.ts';
import { ChatSession } from '../conversation/session.svelte.ts';
import { Account, type AccountClient } from '../models/account.svelte.ts';
import { ApiError, asApiError } from '../request.ts';
import { type Client, createClient, type FolderFile } from '../server.ts';
import { ConversationActions, shownTitle } from '../sidebar/conversation-actions.ts';
import { ConversationSearch, SidebarState } from '../sidebar/conversation-list.svelte.ts';
import { Conversations, type ConversationsClient } from '../sidebar/conversations.svelte.ts';
import { Library } from '../skills/library/library.svelte.ts';
import { deletedWords, skillPage } from '../skills/skill-words.ts';
import { newId } from '../text/format.ts';
import { readStored, writeStored } from '../ui/clipboard.ts';
import { Toasts } from '../ui/toasts.svelte.ts';
import { ThemeChoice } from './theme.svelte.ts';
import { createSessionServices, type SessionServices } from '../conversation/message-entry.svelte.ts';

const NEW_KEY = 'new-conversation';
/** Ids of new chats whose drafts wait until another new one has begun; the last is the next. */
const ASIDE_KEY = 'drafts-aside';
/** The chat that just got its first message, until another page is shown: a reload may come before its address. */
const BEGUN_KEY = 'begun-conversation';
const MOST_ASIDE = 5;
/** Tells the other tabs about changes. */
const CHANNEL = 'conversations';

export interface AppParts {
	conversations?: ConversationsClient;
	/** Server calls of each session. */
	services?: SessionServices;
	/** Navigates; by default like a link. */
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
	health = $state.raw<Health | null>(null);
	/** Answered or failed. */
	hasAskedHealth = $state(false);
	/** The chat on the page. `session` may belong to a previous one. */
	shownId = $state<string | null>(null);
	overlay = $state<'palette' | 'shortcuts' | null>(null);
	/** Dropped somewhere, waiting for the install page. */
	#dropped = $state.raw<readonly FolderFile[] | null>(null);
	#channel: BroadcastChannel | null = null;
	/** Finished runs not announced yet. */
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

	/** Starts following the server; returns a function that stops it. */
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
		void this.account.recheck();
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

	/** Opens the install page with a dropped skill. */
	install(files: readonly FolderFile[]): void {
		this.#dropped = files;
		void this.go('/skills/install');
	}

	takeDropped(): readonly FolderFile[] | null {
		const files = this.#dropped;
		this.#dropped = null;
		return files;
	}

	/** No question before: a toast takes it back. Rejects if it can't be deleted. */
	async removeSkill({ id, name }: Pick<SkillSummary, 'id' | 'name'>): Promise<void> {
		const { toasts, library } = this;
		const removed = await this.#client.removeSkill(id);
		await library.refresh();
		const undo = async (): Promise<void> => {
			try {
				await this.#client.restoreSkill(removed.id);
				await library.refresh();
			} catch (error) {
				toasts.show({ text: asApiError(error).message, isError: true });
			}
		};
		toasts.show({ text: deletedWords(name), about: skillPage(id), action: { label: 'Undo', run: undo } });
	}

	/** Said in a toast that takes it back. Rejects if it can't be changed. */
	async setSkillMode(skill: Pick<SkillSummary, 'id' | 'name' | 'mode'>, mode: SkillSummary['mode']): Promise<void> {
		const { id, name, mode: before } = skill;
		await this.#client.changeSkill(id, { mode });
		await this.library.refresh();
		const undo = (): Promise<void> =>
			this.setSkillMode({ id, name, mode }, before).catch((error: unknown) => {
				this.toasts.show({ text: asApiError(error).message, isError: true });
			});
		const words = mode === 'off' ? 'Turned off' : 'Turned on';
		const text = `${words} “${cleanText(name)}”`;
		this.toasts.show({ text, about: skillPage(id), action: { label: 'Undo', run: undo } });
	}

	/** Sets the chat on the page. */
	show(id: string | null): void {
		if (id === this.shownId) return;
		this.shownId = id;
		if (id === null) return;
		// Whatever arrived meanwhile is seen now.
		if (this.session?.id === id) void this.session.refresh();
	}

	/** Opens a saved chat, unless it's open already. */
	open(id: string): void {
		if (this.session?.id === id) return;
		writeStored('session', BEGUN_KEY, null);
		this.#switchTo(id);
		void this.session?.load();
	}

	/** Jumps to a message when the chat is already on the page, where no navigation happens. */
	seek(id: string, messageId: string | undefined): void {
		if (messageId !== undefined && this.shownId === id && this.session?.id === id) {
			void this.session.history.seek(messageId);
		}
	}

	/** Opens a new chat; it keeps its id over reloads until its first message is sent. What was filled in before and left as it was is gone. */
	openNew(): void {
		if (this.session?.phase === 'new') return this.session.dropGiven();
		const isReload = this.session === null && wasReloadedAt('/');
		const begun = isReload ? readStored('session', BEGUN_KEY) : null;
		if (begun !== null) return this.open(begun);
		writeStored('session', BEGUN_KEY, null);
		const stored = readStored('session', NEW_KEY);
		const id = stored === null || stored === this.session?.id ? newId() : stored;
		this.#switchToNew(id);
		if (!isReload) this.session?.dropGiven();
	}

	/** Opens another new chat; the draft of this one waits for the next, or comes back by the notice. */
	setDraftAside(): void {
		const { id } = this.session ?? {};
		if (id === undefined) return;
		writeStored('session', ASIDE_KEY, [...this.#aside, id].slice(-MOST_ASIDE).join(' '));
		this.#switchToNew(newId());
		this.toasts.show({
			text: 'Your draft is kept for your next new chat',
			action: { label: 'Restore', run: () => this.#bringBack(id) }
		});
	}

	get #aside(): string[] {
		return (readStored('session', ASIDE_KEY) ?? '').split(' ').filter(Boolean);
	}

	#bringBack(id: string): void | Promise<void> {
		writeStored('session', ASIDE_KEY, this.#aside.filter((each) => each !== id).join(' ') || null);
		this.#switchToNew(id);
		return this.go('/');
	}

	#switchToNew(id: string): void {
		writeStored('session', NEW_KEY, id);
		this.#switchTo(id);
	}

	/** Called when the new chat gets its first message: its address follows, and the next new chat needs another id. */
	begin(id: string): void {
		// A short answer may end before the page is at the address.
		this.shownId ??= id;
		if (readStored('session', NEW_KEY) === id) {
			writeStored('session', NEW_KEY, this.#aside.at(-1) ?? null);
			writeStored('session', ASIDE_KEY, this.#aside.slice(0, -1).join(' ') || null);
		}
		writeStored('session', BEGUN_KEY, id);
	}

	close(id: string): void {
		if (this.session?.id !== id) return;
		this.session.dispose();
		this.session = null;
	}

	titled(id: string, title: string): void {
		if (this.session?.id === id) this.session.title = title;
	}

	/** The title in the list, so that both agree; chats too old for the list know their own. */
	titleOf({ id, title }: ChatSession): string {
		return this.conversations.find(id)?.title || title;
	}

	pageTitle(name: string): string {
		const shown = this.session !== null && this.session.id === this.shownId ? this.session : null;
		return pageTitle(name, {
			isWaiting: shown !== null && (shown.isWaiting || shown.isAsked),
			isRunning: shown?.isRunning ?? false,
			unreadCount: this.conversations.unreadCount
		});
	}

	/** Reports that some of the page's code didn't load, once: here or, if `isSaid`, in place of the page. */
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

	/** A page may be reloaded before it hears that its first message arrived. The chat is in the list then. */
	#findNew(): void {
		const { session } = this;
		if (session?.phase === 'new' && !session.isSending && this.conversations.find(session.id)) void session.load();
	}

	/** Announces each finished run once, and only while the tab is visible. What another tab has seen isn't news. */
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

	/** A session outlives its page; its answer counts as read only while it's shown. */
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

/** Was this document reloaded at this address? */
function wasReloadedAt(pathname: string): boolean {
	const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
	return entry?.type === 'reload' && new URL(entry.name).pathname === pathname;
}

/** What the tab title shows, most urgent first. */
export interface TabState {
	/** A call in the open chat waits for approval. */
	isWaiting: boolean;
	/** A reply is being written. */
	isRunning: boolean;
	unreadCount: number;
}

/** `(!) `, `(2) `, `… ` or nothing. */
function titleMark(state: TabState | undefined): string {
	if (!state) return '';
	const { isWaiting, isRunning, unreadCount } = state;
	if (isWaiting) return '(!) ';
	if (unreadCount > 0) return `(${unreadCount}) `;
	return isRunning ? '… ' : '';
}

/** `(2) Plans · OpenRouter Skills`; an empty name is omitted. Without a state, for pages outside the app. */
export function pageTitle(name: string, state?: TabState): string {
	return `${titleMark(state)}${name === '' ? '' : `${name} · `}OpenRouter Skills`;
}

export const [getApp, setApp] = createContext<ChatApp>();
