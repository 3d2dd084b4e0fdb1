/** What a session asks of the server besides its `Client`: the skills of its conversation, and to change what is said of it. */
import type { ReasoningEffort } from '../../shared/names.ts';
import { createClient, type Client } from '../server.ts';

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
