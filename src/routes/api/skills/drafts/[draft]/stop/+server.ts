import { skillDraft } from '$lib/shared/drafts.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'stopSkillDraft',
	tag: 'Drafts',
	summary: 'Stop the model that writes a draft',
	description: 'What was made by rules stays.',
	params: { draft: 'The draft’s id.' },
	answer: skillDraft,
	handler: ({ app, params }) => app.drafts.stop(params.draft)
});
