import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { stageRequest, type StagedInstall } from '$lib/shared/install.ts';
import type { Fetch } from '$lib/server/install/catalog-installer.ts';
import { fetchFolder, fetchZip, readForm, readUpload } from '$lib/server/install/sources/upload.ts';
import { api, readJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const { installer } = locals.app;
	const { signal, body } = request;
	const type = request.headers.get('content-type') ?? '';
	if (/^application\/zip\b/i.test(type) || /^multipart\/form-data\b/i.test(type)) {
		const fetch: Fetch = /^multipart/i.test(type)
			? (into) => fetchFolder(readForm(body, type), into, signal)
			: (into) => fetchZip(readUpload(body), into, signal);
		return json((await installer.stage(fetch, { signal })) satisfies StagedInstall, { status: 201 });
	}
	const { source, apiKeyId } = await readJson(request, stageRequest);
	const options = { signal, ...(apiKeyId === undefined ? {} : { apiKeyId }) };
	return json((await installer.stage(source, options)) satisfies StagedInstall, { status: 201 });
});
