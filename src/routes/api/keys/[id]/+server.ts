import { apiKeyPatch, apiKey } from '$lib/shared/settings.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const PATCH = endpoint({
	id: 'renameApiKey',
	tag: 'API keys',
	summary: 'Rename an API key',
	params: { id: 'ID of the key.' },
	body: apiKeyPatch,
	example: { name: 'Editor' },
	answer: apiKey.describe('The key without its secret.'),
	handler: async ({ app, params, body }) => app.apiKeys.rename(params.id, (await body()).name)
});

/** Revoked keys stay in the list, and so does everything made with them. */
export const DELETE = endpoint({
	id: 'revokeApiKey',
	tag: 'API keys',
	summary: 'Delete an API key; its chats and files stay',
	params: { id: 'ID of the key.' },
	answer: apiKey.describe('The key without its secret.'),
	handler: ({ app, params }) => app.apiKeys.revoke(params.id)
});
