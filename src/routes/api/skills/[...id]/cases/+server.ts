import { skillCase, skillCaseCreate, skillCaseList } from '$lib/shared/try-out.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listCases',
	tag: 'Cases and evals',
	summary: 'List test cases',
	params: OF_SKILL,
	answer: skillCaseList.describe('All test cases.'),
	errors: ['invalid_input'],
	handler: async ({ app, params }) => ({ data: await app.cases.list(params.id) })
});

export const POST = endpoint({
	id: 'createCase',
	tag: 'Cases and evals',
	summary: 'Create a test case',
	params: OF_SKILL,
	body: skillCaseCreate,
	example: { title: 'Four words', script: 'scripts/count.mjs', args: ['the quick brown fox'] },
	status: 201,
	answer: skillCase.describe('The test case.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => app.cases.create(params.id, await body())
});
