import { caseStart, caseRun } from '$lib/shared/try-out.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { allowedIn } from '$lib/server/skill-admin/ad-hoc.ts';

export const POST = endpoint({
	id: 'runCase',
	tag: 'Cases and evals',
	summary: 'Run a test case and check the result',
	params: { ...OF_SKILL, case: 'ID of the test case.' },
	body: caseStart,
	answer: caseRun.describe('Which checks passed and which failed.'),
	errors: ['invalid_input', 'conflict'],
	handler: async ({ app, caller, params, request, body }) => {
		const { approve } = await body();
		const how = { allow: allowedIn(approve, caller), signal: request.signal };
		return app.cases.run(params.id, params.case, how);
	}
});
