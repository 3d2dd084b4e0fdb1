import { signInComplete } from '$lib/shared/models.ts';
import { settings } from '$lib/shared/settings.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'completeSignIn',
	tag: 'Models',
	summary: 'Save the key from signing in',
	body: signInComplete,
	answer: settings.describe('The settings in effect.'),
	errors: ['conflict'],
	handler: async ({ app, request, body }) => app.models.completeSignIn(await body(), request.signal)
});
