import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { CaseRun } from '$lib/shared/try-out.ts';
import { api } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ params, request, locals }) => {
	return json((await locals.app.cases.run(params.id, params.case, request.signal)) satisfies CaseRun);
});
