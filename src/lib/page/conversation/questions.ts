/** A user's message on its way: as the request that starts a run, and as the message that the list shows at once. */
import type { RunAgentInput } from '../../shared/api.ts';
import type { Message } from '../../shared/message.ts';
import type { Question } from '../composer/draft.svelte.ts';
import { newId, timestamp } from '../text/format.ts';

export function pathsOf(question: Question): string[] {
	return question.attachments.map(({ path }) => path);
}

/** What a run is asked, where it is asked something new. */
export interface RunQuestion {
	text: string;
	/** Workspace paths. */
	files: string[];
}

/**
 * AG-UI's input for a run; `props` say what it does when it does not answer a message at the end of what is shown. When it
 * says the same as `unconfirmed`, that one is sent again as it was: the server may have it already, and takes the same ids
 * for the same run.
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

/** The message as the list shows it before the server has stored it. */
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

// Hears of changes in a conversation that are made elsewhere: in another tab, or by the server itself.

export interface WatchOptions {
	/** Opens the stream of `change` events. */
	connect: () => EventSource;
	/** Something has changed, or may have while nobody listened. */
	onchange: (isDeleted: boolean) => void;
}

const RETRY_MS = 3_000;

/**
 * Listens while the tab is visible: a browser has few connections for one server, and all its tabs share them. Returns the
 * function that ends it.
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
			// After an error status the browser does not try again by itself.
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

// Tells the server that somebody has seen the end of an answer: not before the page is looked at.

export class ReadMark {
	readonly #markRead: () => Promise<unknown>;
	#isUnread = false;
	#isMarking = false;
	#isDisposed = false;

	/** A rejection of `markRead` changes nothing: it is tried again the next time that the conversation is read. */
	constructor(markRead: () => Promise<unknown>) {
		this.#markRead = markRead;
		document.addEventListener('visibilitychange', this.#look);
	}

	/** Takes over what the server says of the conversation that is shown. */
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
			// It stays unread in the list; whoever opens it again, or the next change in it, tries once more.
			this.#isUnread = true;
		} finally {
			this.#isMarking = false;
		}
	}
}
