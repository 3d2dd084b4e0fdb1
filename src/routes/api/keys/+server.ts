import { apiKeyList, apiKeyCreate, newApiKey } from '$lib/shared/settings.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listApiKeys',
	tag: 'API keys',
	summary: 'Keys of other programs, the newest first, revoked ones included',
	answer: apiKeyList.describe('Everything of them but themselves.'),
	handler: async ({ app }) => ({ data: await app.apiKeys.list() })
});

export const POST = endpoint({
	id: 'createApiKey',
	tag: 'API keys',
	summary: 'Makes a key for a program',
	description: 'The answer is the only place where the key is told: only its hash is kept.',
	body: apiKeyCreate,
	status: 201,
	answer: newApiKey.describe('The key.'),
	handler: async ({ app, body }) => {
		const made = await app.apiKeys.create(await body());
		return made;
	}
});
