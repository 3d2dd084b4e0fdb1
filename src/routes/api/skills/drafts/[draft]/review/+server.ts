import { draftReview } from '$lib/shared/drafts.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'reviewSkillDraft',
	tag: 'Drafts',
	summary: 'Check a draft',
	description: 'Problems, the security check, what it needs, and what it changes in the skill there is. Runs nothing.',
	params: { draft: 'The draft’s id.' },
	answer: draftReview,
	errors: ['invalid_input'],
	handler: ({ app, params, request }) => app.drafts.review(params.draft, request.signal)
});
