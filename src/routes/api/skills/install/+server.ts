import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { installBody } from '$lib/shared/install.ts';
import { api, readJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const asked = await readJson(request, installBody);
	const { installer } = locals.app;
	if ('source' in asked) {
		const { source, ...choice } = asked;
		return json(await installer.install(source, choice, request.signal), { status: 201 });
	}
	const made = await installer.installCustom(asked);
	const { id, name, version } = made;
	return json({ id, name, version, installed: [made], skipped: [] }, { status: 201 });
});
