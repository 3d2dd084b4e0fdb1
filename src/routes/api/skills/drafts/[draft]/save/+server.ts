import { draftSave, skillDraft } from '$lib/shared/drafts.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'saveSkillDraft',
	tag: 'Drafts',
	summary: 'Place a draft in the library',
	description:
		'A new skill goes into the first skill folder that can be written. A draft of a skill changes that skill.',
	params: { draft: 'The draft’s id.' },
	body: draftSave,
	answer: skillDraft.describe('The saved draft; `savedAs` is its skill.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => {
		const saved = await app.drafts.save(params.draft, (await body()).revision);
		app.revisions.note();
		return saved;
	}
});
