import { modelList } from '$lib/shared/models.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listModels',
	tag: 'Models',
	summary: 'List models',
	description: 'The list may be a few minutes old. `problem` says why it’s missing or old.',
	answer: modelList.describe('Models in the server’s order.'),
	handler: ({ app, request }) => app.models.list(request.signal)
});
