import { conversationFile, MAX_FILE_BYTES } from '$lib/shared/message-schema.ts';
import { conversationSummary } from '$lib/shared/api.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { importConversation } from '$lib/server/conversations/conversation-file.ts';
import { readAnyJson } from '$lib/server/http.ts';

export const POST = endpoint({
	id: 'importConversation',
	tag: 'Conversations',
	summary: 'Import a conversation',
	description: 'Up to 20 MB. Messages get new IDs, and nothing runs.',
	body: conversationFile,
	status: 201,
	answer: conversationSummary.describe('The new conversation.'),
	handler: async ({ app, request }) => {
		const problem = 'This isn’t an exported chat. Choose a file that was exported as JSON.';
		const body = await readAnyJson(request, { maxBytes: MAX_FILE_BYTES, problem });
		return importConversation(app.store, body);
	}
});
