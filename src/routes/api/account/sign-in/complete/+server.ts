import { signInComplete } from '$lib/shared/models.ts';
import { settings } from '$lib/shared/settings.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'completeSignIn',
	tag: 'Models',
	summary: 'Stores the key that signing in has given',
	body: signInComplete,
	answer: settings.describe('The settings in effect; the key is not shown.'),
	errors: ['conflict'],
	handler: async ({ app, request, body }) => {
		const answer = await body();
		return app.models.completeSignIn(answer, request.signal);
	}
});
