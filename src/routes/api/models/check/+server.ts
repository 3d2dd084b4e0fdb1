import { keyCheck, keyStatus } from '$lib/shared/models.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'checkModelKey',
	tag: 'Models',
	summary: 'Check an API key and its credit',
	description: 'Nothing is saved. Fields left out use the saved ones; a saved key is only sent to its own host.',
	body: keyCheck,
	answer: keyStatus.describe('The result. If the key doesn’t work, `message` says why.'),
	handler: async ({ app, request, body }) => {
		const check = await body();
		return app.models.check(check, request.signal);
	}
});
