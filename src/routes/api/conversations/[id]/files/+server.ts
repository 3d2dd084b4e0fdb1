import { fileListQuery, workspaceFileList } from '$lib/shared/api.ts';
import { content, endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { checkConversationId } from '$lib/server/conversations/agui-input.ts';
import { refuseDeleted } from '$lib/server/conversations/conversations.ts';
import { downloadStream } from '$lib/server/http.ts';
import { withSeenAs } from '$lib/server/turns/attachments.ts';
import { requireOwnConversation } from '$lib/server/runs/conversation-changes.ts';

export const GET = endpoint({
	id: 'listFiles',
	tag: 'Files',
	summary: 'List files',
	scope: 'read',
	params: OF_CONVERSATION,
	query: fileListQuery,
	answer: [
		workspaceFileList.describe('All files, by path, with what they had in them earlier.'),
		content('application/zip', 'The files themselves.')
	],
	errors: ['invalid_input', 'too_large'],
	handler: async ({ app, caller, params, query, request }) => {
		const id = checkConversationId(params.id);
		await requireOwnConversation(app, caller.apiKeyId, id);
		await refuseDeleted(app, id);
		if (query.format === 'json') {
			const all = await app.workspaces.listVersions(id);
			const data = query.path === undefined ? all : all.filter(({ path }) => path === query.path);
			if (query.model === undefined) return { data };
			const model = app.models.current().offline ? null : app.models.modelFor({ id: query.model });
			const reading = { conversationId: id, model, cap: app.config.contextTokens, signal: request.signal };
			return { data: await withSeenAs(data, app.workspaces, reading) };
		}
		return downloadStream(app.log, await app.workspaces.archive(id), { name: 'files.zip', type: 'application/zip' });
	}
});
