/** The files of one conversation as its page has them, and what the panel beside it shows (FEATURES F5). */
import { getContext, setContext } from 'svelte';
import type { ListedFile } from '../../shared/api.ts';
import { type ApiError, asApiError } from '../request.ts';
import type { Client } from '../server.ts';
import { createSingleRead } from '../ui/reading.svelte.ts';

export class ConversationFiles {
	readonly #conversationId: string;
	readonly #client: Pick<Client, 'listFiles'>;
	/** The newest first. */
	list = $state.raw<readonly ListedFile[]>([]);
	/** Why the list could not be read the last time. */
	error = $state.raw<ApiError | null>(null);
	isOpen = $state(false);
	/** Path of the file that is shown; null for the list of all. */
	path = $state<string | null>(null);

	constructor(conversationId: string, client: Pick<Client, 'listFiles'>) {
		this.#conversationId = conversationId;
		this.#client = client;
	}

	/** Never rejects: see `error`. What was there stays. */
	readonly refresh = createSingleRead(async () => {
		try {
			const files = await this.#client.listFiles(this.#conversationId);
			this.list = files.toSorted((one, other) => (one.modifiedAt > other.modifiedAt ? -1 : 1));
			this.error = null;
		} catch (error) {
			this.error = asApiError(error);
		}
	});

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

// How a file in an answer reaches the panel, which is not everywhere where answers are.

const PANEL = Symbol('files panel');

/** Call while a component is made. `files` are those of the conversation that is shown by then. */
export function setFilesPanel(files: () => ConversationFiles): void {
	setContext(PANEL, files);
}

/** Null where there is no panel. */
export function getFilesPanel(): (() => ConversationFiles) | null {
	return getContext<(() => ConversationFiles) | undefined>(PANEL) ?? null;
}

// A file of the conversation on its way into the next message, by mouse.

const DRAGGED = 'application/x-conversation-file';

/** Makes an element one that takes this file with it. */
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

/** Makes an element one that takes them: `onover` says when one is held above it. */
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
		element.addEventListener('dragover', over);
		element.addEventListener('dragleave', leave);
		element.addEventListener('drop', drop);
		return () => {
			element.removeEventListener('dragover', over);
			element.removeEventListener('dragleave', leave);
			element.removeEventListener('drop', drop);
		};
	};
}

/** Null for what comes from another conversation. */
function draggedPath(data: DataTransfer | null, conversationId: string): string | null {
	try {
		const dragged = JSON.parse(data?.getData(DRAGGED) ?? '') as { conversationId?: unknown; path?: unknown } | null;
		return dragged?.conversationId === conversationId && typeof dragged.path === 'string' ? dragged.path : null;
	} catch {
		return null;
	}
}
