/** What a session asks of the server besides its `Client`: the skills of its conversation, and to change what is said of it. */
import type { ReasoningEffort } from '../../shared/names.ts';
import { createClient, type Client } from '../server.ts';
import type { Draft } from '../composer/draft.svelte.ts';
import type { MessageEntry } from './message-entry.svelte.ts';

export interface ConversationChange {
	/** Somebody has seen the end of its last answer. */
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

// What the parts of a session may do with the whole.

export interface SessionHost {
	/** The conversation's. */
	readonly id: string;
	readonly client: Client;
	readonly draft: Pick<Draft, 'sendingAs'>;
	entries: MessageEntry[];
	/** May messages be asked otherwise, answered anew, left out? */
	readonly isIdle: boolean;
	/** Carries out one request, then reads the conversation again. False when it failed: the session's `actionError` says why. */
	attempt: (work: () => Promise<unknown>) => Promise<boolean>;
	/** As `attempt`, one at a time and never while an answer is being written; otherwise false. */
	change: (work: () => Promise<unknown>) => Promise<boolean>;
	/** Starts a run as `change` does. `text` null: without a message of its own. */
	startRun: (question: { text: string; files: string[] } | null, props: Record<string, unknown>) => Promise<boolean>;
}
