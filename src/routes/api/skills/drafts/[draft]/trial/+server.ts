import { AppError } from '$lib/shared/errors.ts';
import { draftTrial } from '$lib/shared/drafts.ts';
import { evalRun } from '$lib/shared/try-out.ts';
import { endpoint } from '$lib/server/endpoint.ts';

const params = { draft: 'The draft’s id.' };
const noTrial = () => new AppError('not_found', 'This draft hasn’t been tried since the server started.');

export const GET = endpoint({
	id: 'getDraftTrial',
	tag: 'Drafts',
	summary: 'See how a trial of a draft goes',
	params,
	answer: evalRun,
	handler: ({ app, params: { draft } }) => {
		const run = app.drafts.trial(draft);
		if (!run) throw noTrial();
		return run;
	}
});

export const POST = endpoint({
	id: 'tryDraft',
	tag: 'Drafts',
	summary: 'Try a draft',
	description:
		'Answers one prompt with it, or runs its evals beside the skill that it changes, else with and without it. This runs the draft’s scripts, in the sandbox. Ask for the trial until `state` is no longer `running`.',
	params,
	body: draftTrial,
	example: { revision: 1, prompt: 'Count the words of “one two”' },
	status: 202,
	answer: evalRun,
	errors: ['conflict'],
	handler: async ({ app, params: { draft }, body }) => app.drafts.try(draft, await body())
});

export const DELETE = endpoint({
	id: 'stopDraftTrial',
	tag: 'Drafts',
	summary: 'Stop a trial of a draft',
	params,
	answer: evalRun,
	handler: async ({ app, params: { draft } }) => {
		const run = await app.drafts.stopTrial(draft);
		if (!run) throw noTrial();
		return run;
	}
});
