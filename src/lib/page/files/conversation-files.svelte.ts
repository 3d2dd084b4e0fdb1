/** The workspace files of a chat, the files panel, and dragging files into a message (F5). */
import { getContext, setContext } from 'svelte';
import type { ListedFile } from '../../shared/api.ts';
import { type ApiError, asApiError } from '../request.ts';
import type { Client } from '../server.ts';
import { createSingleRead } from '../ui/reading.svelte.ts';

export class ConversationFiles {
	readonly #conversationId: string;
	readonly #client: Pick<Client, 'listFiles' | 'restoreFile'>;
	readonly #isReadable: () => boolean;
	/** Newest first. */
	list = $state.raw<readonly ListedFile[]>([]);
	/** Error of the last read. */
	error = $state.raw<ApiError | null>(null);
	/** Paths of files that were deleted here and aren't back. */
	deleted = $state.raw<readonly string[]>([]);
	isOpen = $state(false);
	/** Path of the open file; null for the list. */
	path = $state<string | null>(null);

	/** `isReadable`: false while the chat is deleted, which leaves the list as it is. */
	constructor(
		conversationId: string,
		client: Pick<Client, 'listFiles' | 'restoreFile'>,
		isReadable: () => boolean = () => true
	) {
		this.#conversationId = conversationId;
		this.#client = client;
		this.#isReadable = isReadable;
	}

	/** Never rejects: a failure sets `error`, and the list stays. */
	readonly refresh = createSingleRead(async () => {
		if (!this.#isReadable()) return;
		try {
			const files = await this.#client.listFiles(this.#conversationId);
			this.list = files.toSorted((one, other) => (one.modifiedAt > other.modifiedAt ? -1 : 1));
			this.deleted = this.deleted.filter((path) => !this.find(path));
			this.error = null;
		} catch (error) {
			this.error = asApiError(error);
		}
	});

	/** Of a file that the panel deleted. Returns why it failed. */
	async restore(path: string): Promise<ApiError | null> {
		const error = await this.#client.restoreFile(this.#conversationId, path).then(() => null, asApiError);
		await this.refresh();
		return error;
	}

	find(path: string | null): ListedFile | undefined {
		return this.list.find((file) => file.path === path);
	}

	open(path: string | null = null): void {
		this.path = path;
		this.isOpen = true;
		void this.refresh();
	}

	close(): void {
		this.isOpen = false;
	}
}

/** Key of the context. */
export const PANEL = Symbol('files panel');

/** Makes the panel available to files in replies. Call it during component initialisation. */
export function setFilesPanel(files: () => ConversationFiles): void {
	setContext(PANEL, files);
}

/** Null without a panel. */
export function getFilesPanel(): (() => ConversationFiles) | null {
	return getContext<(() => ConversationFiles) | undefined>(PANEL) ?? null;
}

const DRAGGED = 'application/x-conversation-file';

/** For `{@attach}`: makes an element drag this file. */
export function draggable(conversationId: string, path: string) {
	return (element: HTMLElement): (() => void) => {
		const start = (event: DragEvent): void => {
			event.dataTransfer?.setData(DRAGGED, JSON.stringify({ conversationId, path }));
			event.dataTransfer?.setData('text/plain', path);
		};
		element.draggable = true;
		element.addEventListener('dragstart', start);
		return () => element.removeEventListener('dragstart', start);
	};
}

/** For `{@attach}`: accepts dragged files; `onover` tells when one is above the element. */
export function takesDragged(
	conversationId: string,
	{ onover, ondrop }: { onover: (isOver: boolean) => void; ondrop: (path: string) => void }
) {
	return (element: HTMLElement): (() => void) => {
		const isFile = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes(DRAGGED) ?? false;
		const over = (event: DragEvent): void => {
			if (!isFile(event)) return;
			event.preventDefault();
			onover(true);
		};
		const leave = (event: DragEvent): void => {
			if (!(event.relatedTarget instanceof Node && element.contains(event.relatedTarget))) onover(false);
		};
		const drop = (event: DragEvent): void => {
			onover(false);
			if (!isFile(event)) return;
			event.preventDefault();
			const path = draggedPath(event.dataTransfer, conversationId);
			if (path !== null) ondrop(path);
		};
		const listening = new AbortController();
		const { signal } = listening;
		element.addEventListener('dragover', over, { signal });
		element.addEventListener('dragleave', leave, { signal });
		element.addEventListener('drop', drop, { signal });
		return () => listening.abort();
	};
}

/** Null if the file belongs to another chat. */
function draggedPath(data: DataTransfer | null, conversationId: string): string | null {
	try {
		const dragged = JSON.parse(data?.getData(DRAGGED) ?? '') as { conversationId?: unknown; path?: unknown } | null;
		return dragged?.conversationId === conversationId && typeof dragged.path === 'string' ? dragged.path : null;
	} catch {
		return null;
	}
}
