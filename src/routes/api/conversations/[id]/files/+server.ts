import { workspaceFileList } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { checkConversationId } from '$lib/server/conversations/agui-input.ts';
import { refuseDeleted } from '$lib/server/conversations/conversations.ts';
import { requireOwnConversation } from '$lib/server/runs/conversation-changes.ts';

export const GET = endpoint({
	id: 'listFiles',
	tag: 'Files',
	summary: 'List files',
	scope: 'read',
	params: OF_CONVERSATION,
	answer: workspaceFileList.describe('All test cases.'),
	errors: ['invalid_input'],
	handler: async ({ app, caller, params }) => {
		const id = checkConversationId(params.id);
		await requireOwnConversation(app, caller.apiKeyId, id);
		await refuseDeleted(app, id);
		return { data: await app.workspaces.list(id) };
	}
});
