/** What a session asks of the server besides its `Client`: the skills of its conversation, and to change what is said of it. */
import type { ReasoningEffort } from '../../shared/names.ts';
import { request } from '../request.ts';
import { createSkillsClient, type SkillsClient } from '../server.ts';

export interface ConversationChange {
	/** Somebody has seen the end of its last answer. */
	isUnread?: false;
	model?: string | null;
	effort?: ReasoningEffort | null;
}

export interface SessionServices {
	skills: Pick<SkillsClient, 'listSkills' | 'setSkill'>;
	/** Rejects with an `ApiError`. */
	change: (conversationId: string, change: ConversationChange) => Promise<unknown>;
}

export function createSessionServices(): SessionServices {
	return {
		skills: createSkillsClient(),
		change: (id, change) => request(`/api/conversations/${encodeURIComponent(id)}`, 'PATCH', change)
	};
}
