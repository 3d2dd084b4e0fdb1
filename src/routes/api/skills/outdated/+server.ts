import { outdatedSkillList } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listOutdated',
	tag: 'Versions',
	summary: 'Which installed skills have changed where they came from',
	answer: outdatedSkillList.describe('All that can be asked.'),
	errors: ['unavailable'],
	handler: async ({ app, request }) => ({ data: await app.installer.outdated(request.signal) })
});
