/** Fakes of what a session needs from the server besides its client. */
import type { ConversationSkill } from '../../src/lib/shared/api.ts';
import type { ConversationChange, SessionServices } from '../../src/lib/page/conversation/message-entry.svelte.ts';

export interface FakeServices extends SessionServices {
	/** Changes to chats, in order. */
	changes: ConversationChange[];
	/** Each fails one change; with none left they succeed. */
	changeFailures: Error[];
	/** The server's list of the chat's skills. */
	skillList: ConversationSkill[];
	/** `[name, state]` of each changed skill. */
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
