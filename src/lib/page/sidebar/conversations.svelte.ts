/** The chats of the sidebar: recent, archived and deleted ones, and the state of their replies. */
import type { ConversationSummary, DeletedConversation } from '../../shared/api.ts';
import { type ApiError, asApiError, type UploadOptions } from '../request.ts';
import { ConversationList } from './conversation-list.svelte.ts';
import type { ConversationPatch, Client } from '../server.ts';
import { cleanText } from '../text/clean-text.ts';
import { timestamp } from '../text/format.ts';
import { deleteEach, readPages } from '../ui/reading.svelte.ts';
import type { SessionListener } from '../conversation/session.svelte.ts';

/** Polling interval while a run goes on in a chat that isn't open here. */
const WATCH_MS = 4_000;

export interface ConversationsHost {
	/** Whether this chat is on the page. */
	isShown: (id: string) => boolean;
	/** A run ended in a chat that isn't on the page. */
	onended: (conversationId: string, runId: string) => void;
	/** A change here that other tabs show too. */
	onchange: () => void;
}

export type ConversationsClient = Pick<
	Client,
	| 'searchConversations'
	| 'changeConversation'
	| 'removeConversation'
	| 'restoreConversation'
	| 'listDeletedConversations'
	| 'deleteTrashedConversation'
	| 'conversationExportUrl'
	| 'importConversation'
	| 'startDraft'
>;

export class Conversations implements SessionListener {
	readonly client: ConversationsClient;
	readonly active: ConversationList;
	readonly archived: ConversationList;
	/** Restorable chats. */
	readonly deleted: ConversationList<DeletedConversation>;
	readonly #host: ConversationsHost;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** The archive is only read once it has been opened. */
	#showsArchive = false;
	#showsDeleted = false;

	constructor(client: ConversationsClient, host: ConversationsHost) {
		this.client = client;
		this.#host = host;
		this.active = new ConversationList((page, limit) => client.searchConversations({ page, limit }));
		this.archived = new ConversationList((page, limit) => client.searchConversations({ page, limit, archived: true }));
		this.deleted = new ConversationList((page, limit) => client.listDeletedConversations({ page, limit }));
	}

	// Getters, not $derived: a derived value ends with the page that created it.
	get list(): ConversationSummary[] {
		return this.active.list;
	}
	get error(): ApiError | null {
		return this.active.error;
	}
	/** Without the one on the page. */
	get unreadCount(): number {
		return this.list.filter(({ id, isUnread }) => isUnread && !this.#host.isShown(id)).length;
	}

	find(id: string): ConversationSummary | undefined {
		return this.active.find(id) ?? this.archived.find(id);
	}

	/** Never rejects: see `error`. */
	async refresh(): Promise<void> {
		const before = this.list;
		const [isNew] = await Promise.all([
			this.active.refresh(),
			this.#showsArchive && this.archived.refresh(),
			this.#showsDeleted && this.deleted.refresh()
		]);
		this.#watch();
		if (!isNew) return;
		for (const { id, activeRunId } of this.list) {
			const runId = before.find((one) => one.id === id)?.activeRunId ?? null;
			if (runId !== null && runId !== activeRunId && !this.#host.isShown(id)) this.#host.onended(id, runId);
		}
	}

	async openArchive(): Promise<void> {
		this.#showsArchive = true;
		await this.archived.refresh();
	}

	/** Returns a function that stops following. */
	openDeleted(): () => void {
		this.#showsDeleted = true;
		void this.deleted.refresh();
		return () => (this.#showsDeleted = false);
	}

	/** The end of the last reply has been read here. */
	seen(id: string): void {
		this.#change(id, { isUnread: false });
		this.#host.onchange();
	}

	/** Rejects with an `ApiError` and restores the old title. */
	rename(id: string, title: string): Promise<void> {
		return this.#patch(id, { title });
	}

	/** Rejects with an `ApiError` and undoes the change. */
	async pin(id: string, isPinned: boolean): Promise<void> {
		await this.#patch(id, { isPinned });
		// Only the server knows its new position.
		await this.refresh();
	}

	/** Rejects with an `ApiError` and undoes the change. */
	async archive(id: string, isArchived: boolean): Promise<void> {
		const from = isArchived ? this.active : this.archived;
		try {
			await from.takeOut(id, () => this.client.changeConversation(id, { isArchived }));
			this.#host.onchange();
		} catch (error) {
			throw asApiError(error);
		} finally {
			await this.refresh();
		}
	}

	/** Removes it from the list at once. Rejects with an `ApiError`; it's back in the list then. */
	async remove(id: string): Promise<void> {
		const list = this.archived.find(id) ? this.archived : this.active;
		try {
			await list.takeOut(id, () => this.client.removeConversation(id));
			this.#host.onchange();
		} catch (error) {
			await this.refresh();
			throw asApiError(error);
		}
	}

	/** Rejects with an `ApiError`. */
	restore(id: string): Promise<void> {
		return this.#takeFromTrash(id, () => this.client.restoreConversation(id));
	}

	/** Deletes a trashed chat for good. Rejects with an `ApiError`. */
	removeForGood(id: string): Promise<void> {
		return this.#takeFromTrash(id, () => this.client.deleteTrashedConversation(id));
	}

	/** Deletes all trashed chats for good. Rejects with what couldn't be deleted, once the others are. */
	async emptyTrash(say: (progress: string) => void): Promise<void> {
		try {
			const read = (page: number) => this.client.listDeletedConversations({ page, limit: 200 });
			const { items } = await readPages(read, Infinity);
			const all = items.map((chat) => ({ id: chat.id, title: cleanText(chat.title) || 'New chat' }));
			await deleteEach(all, (id) => this.client.deleteTrashedConversation(id), say);
		} finally {
			await this.refresh();
		}
	}

	async #takeFromTrash(id: string, work: () => Promise<unknown>): Promise<void> {
		try {
			await this.deleted.takeOut(id, work);
			this.#host.onchange();
		} catch (error) {
			throw asApiError(error);
		} finally {
			await this.refresh();
		}
	}

	/** Imports a file as a new chat. */
	async importFile(file: Blob, options: UploadOptions): Promise<ConversationSummary> {
		try {
			const conversation = await this.client.importConversation(file, options);
			this.#host.onchange();
			await this.refresh();
			return conversation;
		} catch (error) {
			throw asApiError(error);
		}
	}

	runStarted(id: string, runId: string, title: string): void {
		const now = timestamp();
		const known = this.find(id) ?? {
			id,
			title,
			createdAt: now,
			updatedAt: now,
			activeRunId: null,
			isPinned: false,
			isArchived: false,
			isUnread: false,
			isWaiting: false
		};
		const started = { ...known, title: known.title || title, updatedAt: now, activeRunId: runId, isWaiting: false };
		if (known.isArchived || known.isPinned) this.#change(id, started);
		else this.active.put(started);
		// The page may leave the chat before the run ends.
		this.#watch();
		this.#host.onchange();
	}

	runEnded(id: string): void {
		const runId = this.find(id)?.activeRunId ?? null;
		// Seen to its end, then left at once: no news.
		const wasShown = this.#host.isShown(id);
		this.#change(id, { activeRunId: null });
		this.#host.onchange();
		void this.refresh().then(() => {
			if (runId !== null && !wasShown && !this.#host.isShown(id)) this.#host.onended(id, runId);
		});
	}

	changed(): void {
		void this.refresh();
	}

	titled(id: string, title: string): void {
		this.#change(id, { title });
	}

	dispose(): void {
		clearTimeout(this.#timer);
		this.active.dispose();
		this.archived.dispose();
		this.deleted.dispose();
	}

	/** Applies the change at once, and undoes it if the server refuses. */
	async #patch(id: string, patch: ConversationPatch & Partial<ConversationSummary>): Promise<void> {
		const before = this.find(id);
		this.#change(id, patch);
		try {
			await this.client.changeConversation(id, patch);
			this.#host.onchange();
		} catch (error) {
			if (before) this.#change(id, before);
			throw asApiError(error);
		}
	}

	#change(id: string, change: Partial<ConversationSummary>): void {
		for (const list of [this.active, this.archived]) if (list.find(id)) list.change(id, change);
	}

	#watch(): void {
		clearTimeout(this.#timer);
		const isBusy = this.list.some(({ activeRunId }) => activeRunId !== null);
		if (isBusy) this.#timer = setTimeout(() => void this.refresh(), WATCH_MS);
	}
}
