/** What the parts of a session share: entries of messages, server calls, and the session itself as they see it. */
import type { NumberedEvent } from '../../shared/events.ts';
import { foldEvent, type Message } from '../../shared/message.ts';
import type { ReasoningEffort } from '../../shared/names.ts';
import { createClient, type Client } from '../server.ts';
import type { Draft } from '../composer/draft.svelte.ts';

/** What events say about the conversation besides its message. */
interface Received {
	/** Null if unchanged. */
	title: string | null;
	/** The model loaded a skill. */
	hasLoaded: boolean;
	/** A script created or changed files. */
	hasFiles: boolean;
}

export class MessageEntry {
	/** The message's first id. The message itself gets the server's id later. */
	readonly key: string;
	message: Message;

	constructor(message: Message) {
		this.key = message.id;
		this.message = $state.raw(message);
	}
}

/** Applies events to the entry's message in one update. */
export function receiveEvents(entry: MessageEntry, events: readonly NumberedEvent[]): Received {
	const received: Received = { title: null, hasLoaded: false, hasFiles: false };
	let { message } = entry;
	for (const { event } of events) {
		message = foldEvent(message, event);
		if (event.type !== 'CUSTOM') continue;
		if (event.name === 'run.title') received.title = event.value.title;
		if (event.name === 'skill.loaded') received.hasLoaded = true;
		if ((event.name === 'skill.finished' || event.name === 'tool.files') && event.value.files.length > 0)
			received.hasFiles = true;
	}
	entry.message = message;
	return received;
}

export interface ConversationChange {
	/** The end of the last reply has been read. */
	isUnread?: false;
	model?: string | null;
	effort?: ReasoningEffort | null;
}

export interface SessionServices {
	skills: Pick<Client, 'listConversationSkills' | 'setConversationSkill'>;
	/** Rejects with an `ApiError`. */
	change: (conversationId: string, change: ConversationChange) => Promise<unknown>;
}

export function createSessionServices(): SessionServices {
	const client = createClient();
	return { skills: client, change: client.changeConversation };
}

export interface SessionHost {
	readonly id: string;
	readonly client: Client;
	readonly draft: Pick<Draft, 'sendingAs'>;
	entries: MessageEntry[];
	readonly compared: readonly { entry: MessageEntry; model: string }[];
	/** Whether messages can be edited, retried or removed. */
	readonly isIdle: boolean;
	/** Makes one request, then reads the conversation again. Resolves to false on failure; see `actionError` of the session. */
	attempt: (work: () => Promise<unknown>) => Promise<boolean>;
	/** Like `attempt`, one at a time and not while this answer, or any, is being written; otherwise false. */
	change: (work: () => Promise<unknown>, entry?: MessageEntry) => Promise<boolean>;
	/** Starts a run like `change` does. Without a new message if `question` is null. */
	startRun: (
		question: { text: string; files: string[] } | null,
		props: Record<string, unknown>,
		entry?: MessageEntry
	) => Promise<boolean>;
}
