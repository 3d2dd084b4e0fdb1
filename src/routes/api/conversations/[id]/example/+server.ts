import { exampleFiles, exampleRequest } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { checkConversationId } from '$lib/server/conversations/agui-input.ts';
import { putInto } from '$lib/server/conversations/conversations.ts';
import { copyExample } from '$lib/server/skill-admin/skill-details.ts';

export const POST = endpoint({
	id: 'putExample',
	tag: 'Files',
	summary: 'Copy the files of a skill’s example',
	description: 'They’re ready to send with the example’s message. Existing files stay.',
	params: OF_CONVERSATION,
	body: exampleRequest,
	example: { skill: 'count-words' },
	answer: exampleFiles.describe('The message and its files.'),
	errors: ['invalid_input', 'not_found', 'too_large', 'storage_full'],
	handler: async ({ app, params, body }) => {
		const id = checkConversationId(params.id);
		const { skill } = await body();
		return putInto(app, { id, apiKeyId: null }, () => copyExample(app, skill, id));
	}
});
