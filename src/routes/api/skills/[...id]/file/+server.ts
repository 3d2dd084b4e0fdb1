import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { skillFileQuery, skillFileWrite, type SkillFileText } from '$lib/shared/skill-files.ts';
import { api, readJson, readQuery } from '$lib/server/http.ts';
import { readSkillFile, removeSkillFile, writeSkillFile } from '$lib/server/skill-admin/skill-editor.ts';

export const GET: RequestHandler = api(async ({ params, url, locals }) => {
	const { path } = readQuery(url, skillFileQuery);
	return json((await readSkillFile(locals.app, params.id, path)) satisfies SkillFileText);
});

export const PUT: RequestHandler = api(async ({ params, request, locals }) => {
	const wanted = await readJson(request, skillFileWrite);
	return json((await writeSkillFile(locals.app, params.id, wanted)) satisfies SkillFileText);
});

export const DELETE: RequestHandler = api(async ({ params, url, locals }) => {
	await removeSkillFile(locals.app, params.id, readQuery(url, skillFileQuery).path);
	return new Response(null, { status: 204 });
});
