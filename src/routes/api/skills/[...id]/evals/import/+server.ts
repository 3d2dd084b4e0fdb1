import { evalImport } from '$lib/shared/try-out.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { importedFile, MAX_RESULT_BYTES } from '$lib/server/evals/imports.ts';
import { readAnyJson } from '$lib/server/http.ts';
import { readUpload } from '$lib/server/install/sources/upload.ts';

export const POST = endpoint({
	id: 'importEvals',
	tag: 'Cases and evals',
	summary: 'Import results of evals',
	description:
		'What skill-creator wrote: a `grading.json` or `benchmark.json` (5 MB), or a zip of its workspace (50 MB). Nothing is asked.',
	params: OF_SKILL,
	body: importedFile,
	example: { expectations: [{ text: 'The answer names Ada.', passed: true, evidence: 'It says “Hello, Ada!”' }] },
	otherBodies: {
		'application/zip': {
			description: 'Folders such as `eval-1/with_skill/run-1/grading.json`.',
			schema: { type: 'string', contentMediaType: 'application/octet-stream' }
		}
	},
	status: 201,
	answer: evalImport.describe('The runs, and what couldn’t be used.'),
	handler: async ({ app, params, request }) => {
		if (/^application\/zip\b/i.test(request.headers.get('content-type') ?? '')) {
			return app.evals.importRuns(params.id, { zip: readUpload(request.body), signal: request.signal });
		}
		const json = await readAnyJson(request, { maxBytes: MAX_RESULT_BYTES, problem: 'The file isn’t valid JSON.' });
		return app.evals.importRuns(params.id, { json });
	}
});
