import { skillsshInstall, installOutcome } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { choiceFor, requireProvider } from '$lib/server/install/sources/sources.ts';

export const POST = endpoint({
	id: 'installFromSkillsSh',
	tag: 'Install',
	summary: 'Install from skills.sh, if it is the chosen catalog',
	body: skillsshInstall,
	example: { name: 'pdf', source: 'anthropics/skills', skillId: 'pdf' },
	status: 201,
	answer: installOutcome.describe('The installed skill.'),
	errors: ['not_found', 'conflict'],
	handler: async ({ app, request, body }) => {
		const { source, skillId, apiKeyId } = await body();
		const { installer, settings } = app;
		requireProvider('skillssh', settings.current().skillsProvider);
		const made = await installer.install({ type: 'skillssh', source, skillId }, choiceFor(apiKeyId), request.signal);
		return made;
	}
});
