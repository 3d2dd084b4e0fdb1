import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { marketplaceInstall } from '$lib/shared/install.ts';
import { choiceFor, marketplaceSource, requireProvider } from '$lib/server/install/sources/sources.ts';
import { api, readJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const asked = await readJson(request, marketplaceInstall);
	const { installer, settings } = locals.app;
	requireProvider('skillsmp', settings.current().skillsProvider);
	const made = await installer.install(marketplaceSource(asked), choiceFor(asked.apiKeyId), request.signal);
	return json(made, { status: 201 });
});
