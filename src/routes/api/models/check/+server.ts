import { keyCheck, keyStatus } from '$lib/shared/models.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'checkModelKey',
	tag: 'Models',
	summary: 'Whether a key works, and what is left of it',
	description:
		'Nothing is stored. What is left out is what the server has; a stored key goes to no other host than its own.',
	body: keyCheck,
	answer: keyStatus.describe('Also for a key that does not work: `message` says why.'),
	handler: async ({ app, request, body }) => {
		const check = await body();
		return app.models.check(check, request.signal);
	}
});
