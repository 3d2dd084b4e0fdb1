/** The part of the server's API about the skills of one conversation, and why a run offered them (FEATURES F7, F2). */
import type { ConversationSkillList, RunOffer } from '../shared/api.ts';
import { request } from './request.ts';

/** Every call resolves to the answer or throws an `ApiError`; when the signal fires, its reason. */
export interface SkillsClient {
	listSkills: (conversationId: string, signal: AbortSignal) => Promise<ConversationSkillList>;
	setSkill: (
		conversationId: string,
		name: string,
		state: 'pinned' | 'loaded' | 'unloaded',
		signal: AbortSignal
	) => Promise<ConversationSkillList>;
	getOffer: (runId: string, signal: AbortSignal) => Promise<RunOffer>;
}

export function createSkillsClient(): SkillsClient {
	const skills = (id: string): string => `/api/conversations/${encodeURIComponent(id)}/skills`;
	return {
		listSkills: (id, signal) => request(skills(id), 'GET', undefined, signal),
		setSkill: (id, name, state, signal) =>
			request(`${skills(id)}/${encodeURIComponent(name)}`, 'PUT', { state }, signal),
		getOffer: (runId, signal) => request(`/api/runs/${encodeURIComponent(runId)}/offer`, 'GET', undefined, signal)
	};
}
