import { signInStart, signInStarted } from '$lib/shared/models.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { ownOrigin } from '$lib/server/access/door.ts';

export const POST = endpoint({
	id: 'startSignIn',
	tag: 'Models',
	summary: 'Start signing in to OpenRouter (OAuth PKCE)',
	body: signInStart,
	answer: signInStarted.describe('The address to open. OpenRouter returns to `returnTo` with `code` and `state`.'),
	errors: ['conflict'],
	handler: async ({ app, request, body }) => {
		const { returnTo } = await body();
		const { models, config } = app;
		return models.startSignIn(returnTo, ownOrigin(request.headers, config));
	}
});
