import { pageQuery } from '$lib/shared/api.ts';
import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { adHocExecution, executionQuery, type SkillExecutionList } from '$lib/shared/try-out.ts';
import { api, readJson, readQuery, whileConnected } from '$lib/server/http.ts';
import { allowedIn, requireEnabled, runAdHoc } from '$lib/server/skill-admin/ad-hoc.ts';
import { toFilter } from '$lib/server/skill-admin/executions.ts';

export const GET: RequestHandler = api(async ({ url, locals }) => {
	const { page, limit } = readQuery(url, pageQuery);
	const { apiKeyId } = locals.caller;
	const filter = toFilter({ ...readQuery(url, executionQuery), ...(apiKeyId === null ? {} : { apiKeyId }) });
	const found = await locals.app.store.skillExecutions.list(filter, { page, limit });
	const totalPages = Math.max(1, Math.ceil(found.total / limit));
	return json({ ...found, page, limit, totalPages } satisfies SkillExecutionList);
});

export const POST: RequestHandler = api(async (event) => {
	const { request, locals } = event;
	requireEnabled(locals.app.adHoc);
	const { approve, ...wanted } = await readJson(request, adHocExecution);
	const { apiKeyId } = locals.caller;
	const asked = apiKeyId === null ? wanted : { ...wanted, apiKeyId };
	const allow = allowedIn(approve, locals.caller);
	// Who has gone neither waits for a turn nor needs the script.
	const ran = await whileConnected(event, (signal) => runAdHoc(locals.app.adHoc, asked, signal, { allow }));
	return json(ran, { status: 201 });
});
