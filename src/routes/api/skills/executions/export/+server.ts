import { executionExportQuery } from '$lib/shared/try-out.ts';
import { endpoint, content } from '$lib/server/endpoint.ts';
import { downloadStream } from '$lib/server/http.ts';
import { exportExecutions, toFilter } from '$lib/server/skill-admin/executions.ts';

const TYPES = { csv: 'text/csv; charset=utf-8; header=present', json: 'application/json' };

export const GET = endpoint({
	id: 'exportExecutions',
	tag: 'Runs',
	summary: 'Download runs',
	query: executionExportQuery,
	answer: [
		content('application/json', 'A JSON array.'),
		content('text/csv', "CSV. Cells that a spreadsheet would run start with `'`.")
	],
	handler: ({ app, query }) => {
		const { format, ...asked } = query;
		const rows = exportExecutions(app.store.skillExecutions, toFilter(asked), format);
		return downloadStream(app.log, rows, { name: `executions.${format}`, type: TYPES[format] });
	}
});
