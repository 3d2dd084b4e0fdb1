import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { skillCaseCreate, type SkillCase } from '$lib/shared/try-out.ts';
import { api, readJson } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	return json({ data: (await locals.app.cases.list(params.id)) satisfies SkillCase[] });
});

export const POST: RequestHandler = api(async ({ params, request, locals }) => {
	const entry = await readJson(request, skillCaseCreate);
	return json((await locals.app.cases.create(params.id, entry)) satisfies SkillCase, { status: 201 });
});
