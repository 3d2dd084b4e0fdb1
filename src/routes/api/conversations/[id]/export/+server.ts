import type { RequestHandler } from './$types';
import { conversationExportQuery } from '$lib/shared/api.ts';
import { exportConversation } from '$lib/server/conversations/export.ts';
import { api, downloadStream, readQuery } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, url, locals }) => {
	const { format } = readQuery(url, conversationExportQuery);
	const { pieces, ...file } = await exportConversation(locals.app, params.id, format);
	return downloadStream(pieces, file);
});
