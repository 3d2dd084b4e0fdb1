import { draftChange, skillDraft } from '$lib/shared/drafts.ts';
import { endpoint } from '$lib/server/endpoint.ts';

const params = { draft: 'The draft’s id.' };

export const GET = endpoint({
	id: 'getSkillDraft',
	tag: 'Drafts',
	summary: 'Get a draft with its files',
	params,
	answer: skillDraft,
	handler: ({ app, params: { draft } }) => app.drafts.get(draft)
});

export const PUT = endpoint({
	id: 'changeSkillDraft',
	tag: 'Drafts',
	summary: 'Change files of a draft, or undo the last change',
	params,
	body: draftChange,
	example: { revision: 1, files: [{ path: 'scripts/run.sh', text: 'echo hello\n' }] },
	answer: skillDraft.describe('The changed draft.'),
	errors: ['conflict'],
	handler: async ({ app, params: { draft }, body }) => app.drafts.change(draft, await body())
});

export const DELETE = endpoint({
	id: 'deleteSkillDraft',
	tag: 'Drafts',
	summary: 'Discard a draft',
	params,
	answer: null,
	handler: ({ app, params: { draft } }) => app.drafts.remove(draft)
});
