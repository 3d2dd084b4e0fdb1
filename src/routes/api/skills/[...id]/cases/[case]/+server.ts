import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';

export const DELETE = endpoint({
	id: 'deleteCase',
	tag: 'Cases and evals',
	summary: 'Delete a test case',
	params: { ...OF_SKILL, case: 'ID of the test case.' },
	answer: null,
	errors: ['invalid_input'],
	handler: ({ app, params }) => app.cases.remove(params.id, params.case)
});
