import { localServerList } from '$lib/shared/models.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'findLocalModelServers',
	tag: 'Models',
	summary: 'Find model servers on this computer',
	answer: localServerList.describe('Servers that answered, with their models.'),
	handler: async ({ app, request }) => ({ data: await app.models.findLocal(request.signal) })
});
