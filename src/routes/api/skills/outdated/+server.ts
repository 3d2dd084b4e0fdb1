import { outdatedSkillList } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listOutdated',
	tag: 'Versions',
	summary: 'Check installed skills for updates',
	answer: outdatedSkillList.describe('Installed skills, each current, outdated or unknown.'),
	errors: ['unavailable'],
	handler: async ({ app, request }) => ({ data: await app.installer.outdated(request.signal) })
});
