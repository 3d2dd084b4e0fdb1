import { draftWish, skillDraft } from '$lib/shared/drafts.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'improveSkillDraft',
	tag: 'Drafts',
	summary: 'Let the model improve a draft',
	description:
		'By a person’s wish, and, for a draft of a skill, by its failed runs and what its evals missed. Ask for the draft until `state` is `ready`.',
	params: { draft: 'The draft’s id.' },
	body: draftWish,
	example: { revision: 1, wish: 'Answer in one sentence.' },
	status: 202,
	answer: skillDraft,
	errors: ['conflict'],
	handler: async ({ app, params, body }) => app.drafts.improve(params.draft, await body())
});
