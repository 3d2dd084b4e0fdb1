/** What a session asks of the server besides its client, played in the page. */
import type { ConversationSkill } from '../../src/lib/shared/api.ts';
import type { ConversationChange, SessionServices } from '../../src/lib/page/conversation/message-entry.svelte.ts';

export interface FakeServices extends SessionServices {
	/** What was changed of conversations, in order. */
	changes: ConversationChange[];
	/** Each takes the next change; without one it succeeds. */
	changeFailures: Error[];
	/** What the server says of the conversation's skills. */
	skillList: ConversationSkill[];
	/** `[name, state]` of each skill that was changed. */
	skillChanges: [name: string, state: string][];
}

export function createFakeServices(): FakeServices {
	const services: FakeServices = {
		changes: [],
		changeFailures: [],
		skillList: [],
		skillChanges: [],
		skills: {
			listConversationSkills: async () => ({ data: services.skillList, tokens: 0 }),
			setConversationSkill: async (_id, name, state) => {
				services.skillChanges.push([name, state]);
				return { data: services.skillList, tokens: 0 };
			}
		},
		change: async (_id, change) => {
			services.changes.push(change);
			const failure = services.changeFailures.shift();
			if (failure) throw failure;
		}
	};
	return services;
}
