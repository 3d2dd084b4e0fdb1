import { evalExportQuery } from '$lib/shared/try-out.ts';
import { content, endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { exportRun, skillNameOf, gradingZip } from '$lib/server/evals/exports.ts';
import { downloadStream } from '$lib/server/http.ts';

const FILES = {
	json: ['json', 'application/json'],
	csv: ['csv', 'text/csv; charset=utf-8; header=present'],
	junit: ['junit.xml', 'application/xml'],
	benchmark: ['benchmark.json', 'application/json'],
	grading: ['grading.zip', 'application/zip']
} as const;

export const GET = endpoint({
	id: 'exportEvals',
	tag: 'Cases and evals',
	summary: 'Download a run of evals',
	params: { ...OF_SKILL, run: 'ID of the run.' },
	query: evalExportQuery,
	answer: [
		content('application/json', 'The run, or `benchmark.json`.'),
		content('text/csv', "CSV. Cells that a spreadsheet would run start with `'`."),
		content('application/xml', 'JUnit, of the tested skill alone.'),
		content('application/zip', 'A `grading.json` for each answer.')
	],
	errors: ['invalid_input'],
	handler: async ({ app, params, query: { format } }) => {
		const run = await app.evals.get(params.id, params.run);
		const pieces = format === 'grading' ? gradingZip(run) : piecesOf(exportRun(run, format));
		const [ending, type] = FILES[format];
		return downloadStream(app.log, pieces, { name: `${skillNameOf(run)}-evals.${ending}`, type });
	}
});

async function* piecesOf(text: string): AsyncGenerator<string> {
	yield* [text];
}
