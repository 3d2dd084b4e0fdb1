import { executionQuery, skillExecutionList, adHocExecution, adHocResult } from '$lib/shared/try-out.ts';
import { pageQuery } from '$lib/shared/api.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { whileConnected } from '$lib/server/http.ts';
import { allowedIn, requireEnabled, runAdHoc } from '$lib/server/skill-admin/ad-hoc.ts';
import { toFilter } from '$lib/server/skill-admin/executions.ts';

export const GET = endpoint({
	id: 'listExecutions',
	tag: 'Executions',
	summary: 'Lists what ran, the newest first',
	scope: 'read',
	query: executionQuery.extend(pageQuery.shape),
	answer: skillExecutionList.describe('A page of them.'),
	handler: async ({ app, caller, query }) => {
		const { page, limit, ...asked } = query;
		const filter = toFilter({ ...asked, apiKeyId: caller.apiKeyId ?? asked.apiKeyId });
		const found = await app.store.skillExecutions.list(filter, { page, limit });
		const totalPages = Math.max(1, Math.ceil(found.total / limit));
		return { ...found, page, limit, totalPages };
	}
});

const APPROVE =
	'What somebody would be asked about in a chat is refused with 403 and `details: {error, digest}`. Whoever manages the ' +
	'server allows it this once by sending the same body with `approve`: that digest. A key runs it only with the scope ' +
	'`approve`, and nobody what is not trusted.';

export const POST = endpoint({
	id: 'execute',
	tag: 'Executions',
	summary: 'Runs a script, a tool or a built-in skill, without a model',
	description: `With an \`input\` alone the one tool or the one script of the skill is meant. ${APPROVE}`,
	scope: 'execute',
	body: adHocExecution,
	status: 201,
	answer: adHocResult.describe('What it did, and its record.'),
	errors: ['not_found', 'conflict'],
	handler: async (event) => {
		const { app, caller, body } = event;
		requireEnabled(app.adHoc);
		const { approve, ...wanted } = await body();
		const { apiKeyId } = caller;
		const asked = apiKeyId === null ? wanted : { ...wanted, apiKeyId };
		const allow = allowedIn(approve, caller);
		// Who has gone neither waits for a turn nor needs the script.
		return whileConnected(event, (signal) => runAdHoc(app.adHoc, asked, signal, { allow }));
	}
});
