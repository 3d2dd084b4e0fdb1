import { stageRequest, stagedInstall, uploadQuery } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import type { Fetch } from '$lib/server/install/catalog-installer.ts';
import { fetchFolder, fetchZip, readForm, readUpload } from '$lib/server/install/sources/upload.ts';

const FILE = { type: 'string', contentMediaType: 'application/octet-stream' };

export const POST = endpoint({
	id: 'stageInstall',
	tag: 'Install',
	summary: 'Fetch and check skills without installing',
	query: uploadQuery,
	body: stageRequest,
	example: { source: { type: 'github', repository: 'anthropics/skills' } },
	otherBodies: {
		'application/zip': { description: 'A zip file.', schema: FILE },
		'multipart/form-data': {
			description: 'The files of a folder, each named by its relative path.',
			schema: { type: 'object', properties: { files: { type: 'array', items: FILE } }, required: ['files'] }
		}
	},
	status: 201,
	answer: stagedInstall.describe('Files, scripts, security findings, and differences from the installed version.'),
	errors: ['not_found', 'conflict'],
	handler: async ({ app, request, query, body }) => {
		const { installer } = app;
		const { signal } = request;
		const type = request.headers.get('content-type') ?? '';
		if (/^application\/zip\b/i.test(type) || /^multipart\/form-data\b/i.test(type)) {
			const fetch: Fetch = /^multipart/i.test(type)
				? (into) => fetchFolder(readForm(request.body, type), into, signal)
				: (into) => fetchZip(readUpload(request.body), into, signal, query.file);
			return installer.stage(fetch, { signal });
		}
		const { source, apiKeyId } = await body();
		const options = { signal, apiKeyId };
		return installer.stage(source, options);
	}
});
