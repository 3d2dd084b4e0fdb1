import { skillRevision } from '$lib/shared/skills.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'reloadSkills',
	tag: 'Skills',
	summary: 'Reload all skill folders',
	answer: skillRevision.describe('The revision.'),
	handler: async ({ app }) => {
		await app.skills.registry.reload();
		return { revision: app.revisions.current() };
	}
});
