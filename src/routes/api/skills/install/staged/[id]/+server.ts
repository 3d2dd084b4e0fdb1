import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { installConfirm, type StagedInstall } from '$lib/shared/install.ts';
import { api, readJson } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	return json(locals.app.installer.staged(params.id) satisfies StagedInstall);
});

export const POST: RequestHandler = api(async ({ params, request, locals }) => {
	const choice = await readJson(request, installConfirm);
	return json(await locals.app.installer.confirm(params.id, choice), { status: 201 });
});

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	await locals.app.installer.discard(params.id);
	return new Response(null, { status: 204 });
});
