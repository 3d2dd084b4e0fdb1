import { newSkill, skillDetail, skillList, skillQuery } from '$lib/shared/skills.ts';
import { pageQuery } from '$lib/shared/api.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { createSkill } from '$lib/server/skill-admin/skill-editor.ts';
import { describeSkill } from '$lib/server/skill-admin/skill-details.ts';

export const GET = endpoint({
	id: 'listSkills',
	tag: 'Skills',
	summary: 'List and search skills',
	description: 'Finds skills with every word of `q` in the name, description or tags.',
	scope: 'read',
	query: skillQuery.extend(pageQuery.shape),
	answer: skillList.describe('One page.'),
	handler: async ({ app, caller, query }) => {
		const { lister, settings, revisions } = app;
		const revision = revisions.current();
		const { page, limit, ...wanted } = query;
		const { data, total } = await lister.list(wanted, { page, limit }, caller.apiKeyId);
		const totalPages = Math.max(1, Math.ceil(total / limit));
		const provider = settings.current().skillsProvider;
		return {
			data,
			skills: data,
			total,
			page,
			limit,
			totalPages,
			provider,
			popularDefaults: [],
			revision,
			catalog: lister.catalog(revision)
		};
	}
});

export const POST = endpoint({
	id: 'createSkill',
	tag: 'Skills',
	summary: 'Create a skill from a template',
	description: 'It’s created in the first skill folder that can be written.',
	body: newSkill,
	example: { name: 'my-skill', description: 'Says hello. Use when somebody greets.', template: 'script' },
	status: 201,
	answer: skillDetail.describe('The new skill.'),
	errors: ['conflict'],
	handler: async ({ app, body }) => {
		const wanted = await body();
		await createSkill(app, wanted);
		return describeSkill(app, wanted.name);
	}
});
