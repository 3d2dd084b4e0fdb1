import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { caseStart, type CaseRun } from '$lib/shared/try-out.ts';
import { api, readJson } from '$lib/server/http.ts';
import { allowedIn } from '$lib/server/skill-admin/ad-hoc.ts';

export const POST: RequestHandler = api(async ({ params, request, locals }) => {
	const { approve } = await readJson(request, caseStart);
	const how = { allow: allowedIn(approve, locals.caller), signal: request.signal };
	return json((await locals.app.cases.run(params.id, params.case, how)) satisfies CaseRun);
});
