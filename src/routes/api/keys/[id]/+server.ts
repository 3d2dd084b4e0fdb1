import { apiKeyPatch, apiKey } from '$lib/shared/settings.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const PATCH = endpoint({
	id: 'renameApiKey',
	tag: 'API keys',
	summary: 'Renames a key',
	params: { id: 'Of a key.' },
	body: apiKeyPatch,
	answer: apiKey.describe('The key, without itself.'),
	handler: async ({ app, params, body }) => {
		const { name } = await body();
		return app.apiKeys.rename(params.id, name);
	}
});

/** Revokes it: it stays in the list, with what was made with it. */
export const DELETE = endpoint({
	id: 'revokeApiKey',
	tag: 'API keys',
	summary: 'Revokes a key; what was made with it stays',
	params: { id: 'Of a key.' },
	answer: apiKey.describe('The key, without itself.'),
	handler: ({ app, params }) => app.apiKeys.revoke(params.id)
});
