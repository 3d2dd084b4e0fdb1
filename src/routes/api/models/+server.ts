import { modelList } from '$lib/shared/models.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listModels',
	tag: 'Models',
	summary: 'Models of the server that is set',
	description: 'A list of some minutes ago is answered with; `problem` says why there is none, or only an old one.',
	answer: modelList.describe('In the order of that server.'),
	handler: ({ app, request }) => app.models.list(request.signal)
});
