import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { skillsshInstall } from '$lib/shared/install.ts';
import { choiceFor, requireProvider } from '$lib/server/install/sources/sources.ts';
import { api, readJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const { source, skillId, apiKeyId } = await readJson(request, skillsshInstall);
	const { installer, settings } = locals.app;
	requireProvider('skillssh', settings.current().skillsProvider);
	const made = await installer.install({ type: 'skillssh', source, skillId }, choiceFor(apiKeyId), request.signal);
	return json(made, { status: 201 });
});
