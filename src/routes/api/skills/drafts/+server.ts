import { draftList, draftStart, skillDraft } from '$lib/shared/drafts.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listSkillDrafts',
	tag: 'Drafts',
	summary: 'List drafts of skills, newest first',
	answer: draftList,
	handler: ({ app }) => app.drafts.list()
});

export const POST = endpoint({
	id: 'startSkillDraft',
	tag: 'Drafts',
	summary: 'Make a draft of a skill from a chat, or from a skill',
	description:
		'The draft is there at once. A model goes on with it, unless the app is in Demo mode: ask for the draft until `state` is `ready`. Nothing is placed in the library before it’s saved.',
	body: draftStart,
	example: { conversationId: 'conversation-1' },
	status: 201,
	answer: skillDraft.describe('The draft.'),
	errors: ['not_found', 'conflict'],
	handler: async ({ app, body }) => app.drafts.start(await body())
});
