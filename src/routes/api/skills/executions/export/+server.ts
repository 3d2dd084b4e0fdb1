import { executionExportQuery } from '$lib/shared/try-out.ts';
import { endpoint, content } from '$lib/server/endpoint.ts';
import { downloadStream } from '$lib/server/http.ts';
import { exportExecutions, toFilter } from '$lib/server/skill-admin/executions.ts';

const TYPES = { csv: 'text/csv; charset=utf-8; header=present', json: 'application/json' };

export const GET = endpoint({
	id: 'exportExecutions',
	tag: 'Executions',
	summary: 'Downloads what ran, of any number',
	query: executionExportQuery,
	answer: [
		content('application/json', 'An array.'),
		content('text/csv', "RFC 4180; cells that a spreadsheet would run begin with `'`.")
	],
	handler: ({ app, query }) => {
		const { format, ...asked } = query;
		const rows = exportExecutions(app.store.skillExecutions, toFilter(asked), format);
		return downloadStream(rows, { name: `executions.${format}`, type: TYPES[format] });
	}
});
