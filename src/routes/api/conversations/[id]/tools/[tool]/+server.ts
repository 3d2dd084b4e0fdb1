import { definedToolCode, keepTool, keptTool } from '$lib/shared/install.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'getDefinedTool',
	tag: 'Conversations',
	summary: 'Read the script of a tool that the agent defined',
	params: { ...OF_CONVERSATION, tool: 'Name of the tool.' },
	answer: definedToolCode.describe('The script.'),
	errors: ['not_found'],
	handler: async ({ app, params }) => ({ code: await app.defined.codeOf(params.id, params.tool) })
});

export const POST = endpoint({
	id: 'keepDefinedTool',
	tag: 'Conversations',
	summary: 'Keep a defined tool as a skill',
	description: 'Moves it into the library and pins it in the conversation. `digest` is that of its approval.',
	params: { ...OF_CONVERSATION, tool: 'Name of the tool.' },
	body: keepTool,
	answer: keptTool.describe('The skill.'),
	errors: ['conflict', 'not_found', 'storage_full'],
	handler: async ({ app, params, body }) => {
		const { digest } = await body();
		return app.defined.keep(params.id, { name: params.tool, digest });
	}
});
