import { skillCase, skillCaseCreate, skillCaseList } from '$lib/shared/try-out.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listCases',
	tag: 'Cases and evals',
	summary: 'Runs by hand that were kept',
	params: OF_SKILL,
	answer: skillCaseList.describe('All of them.'),
	errors: ['invalid_input'],
	handler: async ({ app, params }) => ({ data: await app.cases.list(params.id) })
});

export const POST = endpoint({
	id: 'createCase',
	tag: 'Cases and evals',
	summary: 'Keeps a run by hand',
	params: OF_SKILL,
	body: skillCaseCreate,
	status: 201,
	answer: skillCase.describe('The case.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => app.cases.create(params.id, await body())
});
