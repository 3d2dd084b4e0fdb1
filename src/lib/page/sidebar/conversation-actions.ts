/** Actions on chats, for menus, the palette and the keyboard, and their toasts. */
import { markHidden } from '../../shared/characters.ts';
import type { ConversationSummary } from '../../shared/api.ts';
import type { Attachment } from '../composer/chat-attachment.svelte.ts';
import type { MessageEntry } from '../conversation/message-entry.svelte.ts';
import type { ChatSession } from '../conversation/session.svelte.ts';
import { fileName } from '../files/files.ts';
import { asApiError } from '../request.ts';
import { cleanText } from '../text/clean-text.ts';
import { copyText } from '../ui/clipboard.ts';
import type { Conversations, ConversationsClient } from './conversations.svelte.ts';
import type { Toasts } from '../ui/toasts.svelte.ts';

export interface ActionsHost {
	readonly conversations: Conversations;
	readonly toasts: Toasts;
	go: (path: string) => void | Promise<void>;
	/** Id of the chat on the page, if any. */
	readonly shownId: string | null;
	/** Forgets this chat if it's open. */
	close: (id: string) => void;
	/** Called when the open chat got another title. */
	titled: (id: string, title: string) => void;
}

export function shownTitle({ title }: Pick<ConversationSummary, 'title'>): string {
	return cleanText(title) || 'New chat';
}

export class ConversationActions {
	readonly #host: ActionsHost;
	/** Notices that offer to undo a deletion, by chat. */
	readonly #undo = new Map<string, string>();

	constructor(host: ActionsHost) {
		this.#host = host;
	}

	/** Rejects with a sentence to show beside the field. */
	async rename(id: string, title: string): Promise<void> {
		await this.#host.conversations.rename(id, title);
		this.#host.titled(id, title);
	}

	async togglePin({ id, isPinned }: ConversationSummary): Promise<void> {
		await this.#attempt(() => this.#host.conversations.pin(id, !isPinned));
	}

	async toggleArchive(conversation: ConversationSummary): Promise<void> {
		const { conversations, toasts } = this.#host;
		const { id, isArchived } = conversation;
		const isDone = await this.#attempt(() => conversations.archive(id, !isArchived));
		if (!isDone || isArchived) return;
		const undo = (): Promise<unknown> => this.#attempt(() => conversations.archive(id, false));
		toasts.show({
			text: `Archived “${shownTitle(conversation)}”`,
			action: { label: 'Undo', run: async () => void (await undo()) }
		});
	}

	/** Without confirmation; the server keeps it for 30 days. */
	async remove(conversation: ConversationSummary): Promise<void> {
		const { conversations } = this.#host;
		const { id } = conversation;
		const wasShown = this.#host.shownId === id;
		const removal = this.#attempt(() => conversations.remove(id));
		if (wasShown) await this.#host.go('/');
		if (!(await removal)) return;
		this.#host.close(id);
		const restore = async (): Promise<void> => {
			if ((await this.restore(id)) && wasShown) await this.#host.go(`/c/${id}`);
		};
		this.#undo.set(id, this.#offerUndo(`Deleted “${shownTitle(conversation)}”`, restore));
	}

	/** Resolves to false on failure, which a toast explains. */
	async restore(id: string): Promise<boolean> {
		const isRestored = await this.#attempt(() => this.#host.conversations.restore(id));
		if (isRestored) this.settled(id);
		return isRestored;
	}

	/** Restored or gone for good: nothing to undo. */
	settled(id: string): void {
		this.#host.toasts.close(this.#undo.get(id) ?? '');
		this.#undo.delete(id);
	}

	/** Deletes a workspace file without confirmation; the server keeps it for an hour. */
	async removeFile({ id, client, draft, files }: ChatSession, path: string): Promise<void> {
		const isDeleted = await this.#attempt(() => client.deleteFile(id, path));
		if (isDeleted) files.deleted = [...files.deleted, path];
		await files.refresh();
		if (!isDeleted) return;
		const attached = draft.attachments.find((attachment) => attachment.path === path);
		if (attached) draft.remove(attached);
		const restore = async (): Promise<void> => {
			if ((await this.#attempt(() => client.restoreFile(id, path))) && attached) draft.putBack(attached);
			await files.refresh();
		};
		this.#offerUndo(`Deleted “${markHidden(fileName(path))}”`, restore);
	}

	/** Deletes a message and everything after it without confirmation; the server keeps them for an hour. */
	async removeMessage(session: ChatSession, entry: MessageEntry): Promise<void> {
		const isLast = session.entries.at(-1) === entry || session.compared.some((each) => each.entry === entry);
		if (!(await session.history.remove(entry))) return;
		const what = entry.message.role === 'user' ? 'message' : 'answer';
		const restore = async (): Promise<void> => {
			if (!(await session.history.restore(entry))) offer();
		};
		const offer = () => this.#offerUndo(`Deleted ${what}${isLast ? '' : ' and everything after it'}`, restore);
		offer();
	}

	/** Called when an attachment was removed from the message. */
	detached({ draft }: ChatSession, attachment: Attachment): void {
		this.#offerUndo(`Removed “${markHidden(fileName(attachment.path))}” from your message`, () =>
			draft.putBack(attachment)
		);
	}

	#offerUndo(text: string, run: () => void | Promise<void>): string {
		return this.#host.toasts.show({ text, action: { label: 'Undo', run } });
	}

	/** Opens the imported chat. */
	async importFile(file: File): Promise<void> {
		const { conversations, toasts } = this.#host;
		const notice = toasts.show({ text: `Importing ${cleanText(file.name)}…` });
		await this.#attempt(async () => {
			const options = { onprogress: () => {}, signal: new AbortController().signal };
			const conversation = await conversations.importFile(file, options);
			toasts.show({ text: `Imported “${shownTitle(conversation)}”` });
			await this.#host.go(`/c/${conversation.id}`);
		});
		toasts.close(notice);
	}

	/** Makes a draft of what happened in the chat, and opens it; a failure is a toast. */
	saveAsSkill(id: string): Promise<void> {
		return this.#draft({ conversationId: id });
	}

	/** The same for a draft of a skill. */
	improveSkill(skill: string): Promise<void> {
		return this.#draft({ skill });
	}

	async #draft(from: Parameters<ConversationsClient['startDraft']>[0]): Promise<void> {
		await this.#attempt(async () => {
			const { id } = await this.#host.conversations.client.startDraft(from);
			await this.#host.go(`/skills/drafts/${id}`);
		});
	}

	/** Download address. */
	exportUrl(id: string, format: 'json' | 'markdown'): string {
		return this.#host.conversations.client.conversationExportUrl(id, format);
	}

	async copyMarkdown(id: string): Promise<void> {
		const { toasts } = this.#host;
		await this.#attempt(async () => {
			const response = await fetch(this.exportUrl(id, 'markdown'));
			if (!response.ok) throw new Error(`${response.status}`);
			const isCopied = await copyText(await response.text());
			toasts.show(
				isCopied ? { text: 'Copied as Markdown' } : { text: 'Couldn’t copy: the browser blocked it.', isError: true }
			);
		});
	}

	/** Resolves to false on failure, which a toast explains. */
	async #attempt(work: () => Promise<unknown>): Promise<boolean> {
		try {
			await work();
			return true;
		} catch (error) {
			const { message, hint } = asApiError(error);
			this.#host.toasts.show({ text: hint ? `${message} ${hint}` : message, isError: true });
			return false;
		}
	}
}
