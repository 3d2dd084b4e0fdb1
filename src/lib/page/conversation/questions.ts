/** A user's message on its way: as the request that starts a run, and as shown in the list at once. */
import type { RunAgentInput } from '../../shared/api.ts';
import type { Message } from '../../shared/message.ts';
import type { Question } from '../composer/draft.svelte.ts';
import { newId, timestamp } from '../text/format.ts';

export function pathsOf(question: Question): string[] {
	return question.attachments.map(({ path }) => path);
}

/** New input for a run. */
export interface RunQuestion {
	text: string;
	/** Workspace paths. */
	files: string[];
}

/**
 * AG-UI input for a run; `props` for anything else than a message at the end. If it equals `unconfirmed`, that one is sent
 * again unchanged: the server may have it already and treats the same ids as the same run.
 */
export function runInput(
	threadId: string,
	question: RunQuestion | null,
	props: Record<string, unknown> | null,
	unconfirmed: RunAgentInput | null
): RunAgentInput {
	const create = (runId: string, id: string): RunAgentInput => ({
		threadId,
		runId,
		messages: question ? [messageOf(id, question)] : [],
		tools: [],
		context: [],
		forwardedProps: props ?? undefined
	});
	if (unconfirmed) {
		const same = create(unconfirmed.runId, unconfirmed.messages[0]?.id ?? newId());
		if (JSON.stringify(same) === JSON.stringify(unconfirmed)) return unconfirmed;
	}
	return create(newId(), newId());
}

function messageOf(id: string, { text, files }: RunQuestion): RunAgentInput['messages'][number] {
	return { id, role: 'user', content: text, metadata: files.length > 0 ? { files } : undefined };
}

/** The message as shown before the server has saved it. */
export function userMessageOf(input: RunAgentInput): Message {
	const [message] = input.messages;
	const files = message?.metadata?.files;
	return {
		id: message?.id ?? newId(),
		role: 'user',
		parentId: null,
		status: 'complete',
		parts: [{ type: 'text', id: `${message?.id}-text`, text: String(message?.content ?? '') }],
		files: Array.isArray(files) ? files.map(String) : [],
		runId: null,
		error: null,
		usage: null,
		limit: null,
		context: null,
		retry: null,
		createdAt: timestamp()
	};
}

export interface WatchOptions {
	/** Opens a stream of `change` events. */
	connect: () => EventSource;
	/** Something changed, or may have while disconnected. */
	onchange: (isDeleted: boolean) => void;
}

const RETRY_MS = 3_000;

/**
 * Reports changes from other tabs or the server. Listens only while the tab is visible, because all tabs share a few
 * connections per server. Returns a function that stops it.
 */
export function watchConversation({ connect, onchange }: WatchOptions): () => void {
	let source: EventSource | null = null;
	let timer: ReturnType<typeof setTimeout> | undefined;

	const close = (): void => {
		clearTimeout(timer);
		source?.close();
		source = null;
	};
	const open = (): void => {
		if (source) return;
		source = connect();
		source.addEventListener('change', (event: MessageEvent<string>) => {
			const { isDeleted } = JSON.parse(event.data) as { isDeleted: boolean };
			onchange(isDeleted);
		});
		source.onerror = () => {
			// After an error status the browser doesn't retry by itself.
			if (source?.readyState !== EventSource.CLOSED) return;
			close();
			timer = setTimeout(open, RETRY_MS);
		};
	};
	const follow = (): void => (document.visibilityState === 'visible' ? open() : close());

	document.addEventListener('visibilitychange', follow);
	follow();
	return () => {
		document.removeEventListener('visibilitychange', follow);
		close();
	};
}

/** Marks a chat as read once its tab is visible. */
export class ReadMark {
	readonly #markRead: () => Promise<unknown>;
	#isUnread = false;
	#isMarking = false;
	#isDisposed = false;

	/** If `markRead` rejects, it's called again the next time the conversation is read. */
	constructor(markRead: () => Promise<unknown>) {
		this.#markRead = markRead;
		document.addEventListener('visibilitychange', this.#look);
	}

	show(isUnread: boolean): void {
		this.#isUnread = isUnread;
		this.#look();
	}

	dispose(): void {
		this.#isDisposed = true;
		document.removeEventListener('visibilitychange', this.#look);
	}

	readonly #look = (): void => {
		if (!this.#isUnread || this.#isMarking || this.#isDisposed || document.visibilityState !== 'visible') return;
		this.#isMarking = true;
		this.#isUnread = false;
		void this.#mark();
	};

	async #mark(): Promise<void> {
		try {
			await this.#markRead();
		} catch {
			// It stays unread in the list; opening it again or the next change retries.
			this.#isUnread = true;
		} finally {
			this.#isMarking = false;
		}
	}
}
