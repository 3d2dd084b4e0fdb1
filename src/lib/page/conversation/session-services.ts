/** What a session needs from the server besides its `Client`, and what its parts may do with it. */
import type { ReasoningEffort } from '../../shared/names.ts';
import { createClient, type Client } from '../server.ts';
import type { Draft } from '../composer/draft.svelte.ts';
import type { MessageEntry } from './message-entry.svelte.ts';

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
	/** Whether messages can be edited, retried or removed. */
	readonly isIdle: boolean;
	/** Makes one request, then reads the conversation again. Resolves to false on failure; see `actionError` of the session. */
	attempt: (work: () => Promise<unknown>) => Promise<boolean>;
	/** Like `attempt`, one at a time and never during a run; otherwise false. */
	change: (work: () => Promise<unknown>) => Promise<boolean>;
	/** Starts a run like `change` does. Without a new message if `question` is null. */
	startRun: (question: { text: string; files: string[] } | null, props: Record<string, unknown>) => Promise<boolean>;
}
