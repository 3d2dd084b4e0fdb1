import { localServerList } from '$lib/shared/models.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'findLocalModelServers',
	tag: 'Models',
	summary: 'Servers for models on this machine, at their usual ports',
	answer: localServerList.describe('Those that answer, with their models.'),
	handler: async ({ app, request }) => ({ data: await app.models.findLocal(request.signal) })
});
