import type { RequestHandler } from './$types';
import { executionExportQuery } from '$lib/shared/try-out.ts';
import { api, downloadStream, readQuery } from '$lib/server/http.ts';
import { exportExecutions, toFilter } from '$lib/server/skill-admin/executions.ts';

const TYPES = { csv: 'text/csv; charset=utf-8; header=present', json: 'application/json' };

export const GET: RequestHandler = api(async ({ url, locals }) => {
	const { format, ...query } = readQuery(url, executionExportQuery);
	const rows = exportExecutions(locals.app.store.skillExecutions, toFilter(query), format);
	return downloadStream(rows, { name: `executions.${format}`, type: TYPES[format] });
});
