import { definedTools } from '$lib/shared/install.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listDefinedTools',
	tag: 'Conversations',
	summary: 'List the tools that the agent defined',
	description: 'Those that live in the conversation, and those that were kept as skills.',
	params: OF_CONVERSATION,
	answer: definedTools.describe('The tools.'),
	handler: async ({ app, params }) => ({ data: await app.defined.list(params.id) })
});
