import { marketplaceInstall, installOutcome } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { choiceFor, marketplaceSource, requireProvider } from '$lib/server/install/sources/sources.ts';

export const POST = endpoint({
	id: 'installFromMarketplace',
	tag: 'Install',
	summary: 'Install from SkillsMP, if it is the chosen catalog',
	body: marketplaceInstall,
	example: { name: 'pdf', sourceUrl: 'https://github.com/anthropics/skills/tree/main/skills/pdf' },
	status: 201,
	answer: installOutcome.describe('The installed skill.'),
	errors: ['not_found', 'conflict'],
	handler: async ({ app, request, body }) => {
		const asked = await body();
		const { installer, settings } = app;
		requireProvider('skillsmp', settings.current().skillsProvider);
		const made = await installer.install(marketplaceSource(asked), choiceFor(asked.apiKeyId), request.signal);
		return made;
	}
});
