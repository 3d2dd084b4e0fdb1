import { runOffer } from '$lib/shared/api.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { readRunOffer } from '$lib/server/conversations/conversation-skills.ts';

export const GET = endpoint({
	id: 'getRunOffer',
	tag: 'Answers',
	summary: 'Explain which skills an answer was offered, loaded and ran',
	params: { id: '`runId` of the answer.' },
	answer: runOffer.describe('What it was offered (null if unknown), loaded and ran.'),
	handler: ({ app, params, request }) => readRunOffer(app.runner, params.id, request.signal)
});
