import { runOffer } from '$lib/shared/api.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { readRunOffer } from '$lib/server/conversations/conversation-skills.ts';

export const GET = endpoint({
	id: 'getRunOffer',
	tag: 'Chat',
	summary: 'Why a run offered the skills that it did, and which it loaded and ran',
	params: { id: 'Of a run.' },
	answer: runOffer.describe('What it offered, or null where it kept nothing of that; what it loaded and ran.'),
	handler: ({ app, params, request }) => readRunOffer(app.runner, params.id, request.signal)
});
