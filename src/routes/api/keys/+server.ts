import { apiKeyList, apiKeyCreate, newApiKey } from '$lib/shared/settings.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listApiKeys',
	tag: 'API keys',
	summary: 'List API keys, newest first',
	answer: apiKeyList.describe(
		'Keys without their secret, deleted ones included, and the program that connected over MCP last.'
	),
	handler: async ({ app }) => ({ data: await app.apiKeys.list(), latestProgram: app.mcp.latest() })
});

export const POST = endpoint({
	id: 'createApiKey',
	tag: 'API keys',
	summary: 'Create an API key',
	description: 'The key is only in this answer. The server keeps a hash.',
	body: apiKeyCreate,
	example: { name: 'Editor', scopes: ['read', 'execute'] },
	status: 201,
	answer: newApiKey.describe('The new key.'),
	handler: async ({ app, body }) => app.apiKeys.create(await body())
});
