import { fileQuery, putFileQuery, workspaceFile } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION, content } from '$lib/server/endpoint.ts';
import { checkConversationId } from '$lib/server/conversations/agui-input.ts';
import { putInto, refuseDeleted } from '$lib/server/conversations/conversations.ts';
import { requireOwnConversation } from '$lib/server/runs/conversation-changes.ts';
import { AppError } from '$lib/shared/errors.ts';
import { keepCopy } from '$lib/server/turns/attachments.ts';
import { fileResponse } from '$lib/server/conversations/file-headers.ts';

const OF_FILE = { ...OF_CONVERSATION, path: 'Path inside the workspace. Slashes need no escaping.' };
const BYTES = { type: 'string', contentMediaType: 'application/octet-stream' };

export const PUT = endpoint({
	id: 'putFile',
	tag: 'Files',
	summary: 'Write a file',
	scope: 'execute',
	params: OF_FILE,
	query: putFileQuery,
	otherBodies: { 'application/octet-stream': { description: 'The file, of any type.', schema: BYTES } },
	status: 201,
	answer: workspaceFile.describe('The written file.'),
	errors: ['conflict'],
	handler: async ({ app, caller, params, query, request }) => {
		const id = checkConversationId(params.id);
		// Kit drops the body of a request without a content type; saving an empty file instead would lose data silently.
		if (request.body === null && Number(request.headers.get('content-length') ?? 0) > 0)
			throw new AppError('unsupported_media_type', 'Send the file with a content-type header.');
		return putInto(app, { id, apiKeyId: caller.apiKeyId }, () =>
			query.as === 'copy'
				? keepCopy(app.workspaces, { conversationId: id, path: params.path }, request.body)
				: app.workspaces.write(id, params.path, request.body)
		);
	}
});

export const GET = endpoint({
	id: 'getFile',
	tag: 'Files',
	summary: 'Read a file',
	scope: 'read',
	params: OF_FILE,
	query: fileQuery,
	answer: content('application/octet-stream', 'The file, or the part of it that `Range` asks for.'),
	errors: ['invalid_input'],
	handler: async ({ app, caller, params, query, request }) => {
		const id = checkConversationId(params.id);
		await requireOwnConversation(app, caller.apiKeyId, id);
		await refuseDeleted(app, id);
		const { version, view = null } = query;
		const opened = await app.workspaces.read(id, params.path, version);
		return fileResponse(opened, { path: params.path, view, range: request.headers.get('range') });
	}
});

export const DELETE = endpoint({
	id: 'deleteFile',
	tag: 'Files',
	summary: 'Delete a file; it can be restored for an hour',
	scope: 'execute',
	params: OF_FILE,
	answer: null,
	errors: ['invalid_input'],
	handler: async ({ app, caller, params }) => {
		const id = checkConversationId(params.id);
		await requireOwnConversation(app, caller.apiKeyId, id);
		await refuseDeleted(app, id);
		await app.workspaces.remove(id, params.path);
	}
});

export const POST = endpoint({
	id: 'restoreFile',
	tag: 'Files',
	summary: 'Restore a deleted file, with its versions',
	scope: 'execute',
	params: OF_FILE,
	answer: workspaceFile.describe('The restored file.'),
	errors: ['invalid_input', 'conflict'],
	handler: async ({ app, caller, params }) => {
		const id = checkConversationId(params.id);
		await requireOwnConversation(app, caller.apiKeyId, id);
		await refuseDeleted(app, id);
		return app.workspaces.restore(id, params.path);
	}
});
