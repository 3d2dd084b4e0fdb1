import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { executionExportQuery, executionQuery, type SkillExecution } from '../../shared/try-out.ts';
import { downloadStream, readQuery } from '../http.ts';
import { createLog } from '../log.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { exportExecutions, toFilter } from './executions.ts';

const log = createLog(() => undefined);
const folder = emptyFolder();
let store: Store;
beforeEach(async () => {
	store = await openSqliteStore(join(folder, 'app.sqlite'));
});
afterEach(async () => {
	await store.close();
});

const timeOf = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

async function add(id: string, { argv = [] as string[], output = 'out', second = 0, skill = 'demo' } = {}) {
	await store.skillExecutions.start(
		{
			...{ id, skillId: `local/${skill}`, skill, version: '1.0.0', script: 'x.sh', argv, digest: 'd' },
			...{ sandbox: 'process', limits: { timeoutMs: 1 }, caller: { apiKeyId: 'key-1' } }
		},
		timeOf(second)
	);
	await store.skillExecutions.finish(
		id,
		{ status: 'success', exitCode: -1, durationMs: 5, stdoutBytes: 3, stderrBytes: 0, output, files: [], refused: [] },
		timeOf(second)
	);
}

async function textOf(format: 'csv' | 'json', filter = {}): Promise<string> {
	let text = '';
	for await (const piece of exportExecutions(store.skillExecutions, filter, format)) text += piece;
	return text;
}

/** Cells of a CSV file, parsed strictly by RFC 4180. */
function cellsOf(csv: string): string[][] {
	const rows: string[][] = [];
	let rest = csv;
	const row: string[] = [];
	while (rest !== '') {
		const match = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(rest);
		if (!match) throw new Error(`no CSV: ${rest.slice(0, 40)}`);
		row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
		if (match[3] !== ',') rows.push(row.splice(0));
		rest = rest.slice(match[0].length);
	}
	return rows;
}

test.each([
	['status', 'gone'],
	['since', 'yesterday'],
	['until', '2026-02-30T00:00:00Z'],
	['skill', 'x'.repeat(257)],
	['format', 'xml']
])('E10, E29: the query field “%s” that is not right is named', (field, value) => {
	const url = new URL(`http://localhost/?${new URLSearchParams({ [field]: value })}`);
	expect(() => readQuery(url, executionExportQuery)).toThrow(
		expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(`^${field} must `) })
	);
});

test('E10: times are compared as the moments that they are, and what is empty asks for nothing', async () => {
	for (const second of [10, 20, 30]) await add(`e${second}`, { second });
	const ids = async (query: string) => {
		const filter = toFilter(readQuery(new URL(`http://localhost/?${query}`), executionQuery));
		return (await store.skillExecutions.list(filter, { page: 1, limit: 9 })).data.map(({ id }) => id);
	};
	expect(await ids('since=2026-01-01T02:00:20%2B02:00&until=2026-01-01T00:00:30Z')).toEqual(['e20']);
	expect(await ids('since=&status=&skill=')).toEqual(['e30', 'e20', 'e10']);
	expect(await ids('status=error&status=success')).toEqual([]);
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1'])(
	'SECURITY E29: an output that a spreadsheet would take for a formula is text: %j',
	async (output) => {
		await add('e1', { output });
		const [head = [], row = []] = cellsOf(await textOf('csv'));
		expect(row[head.indexOf('output')]).toBe(`'${output}`);
		// Numbers stay numbers.
		expect(row[head.indexOf('exitCode')]).toBe('-1');
		expect(JSON.parse(await textOf('json'))).toMatchObject([{ output }]);
	}
);

test('E29: quotes, commas, line ends and what is no Latin come back as they were', async () => {
	const output = 'a "b", c\r\nd\ne\u2028 ← 日本 \u0000';
	await add('e1', { output, argv: ['one, "two"', '=3'] });
	const [head = [], row = [], ...more] = cellsOf(await textOf('csv'));
	expect(row).toHaveLength(head.length);
	expect(row[head.indexOf('output')]).toBe(output);
	expect(JSON.parse(row[head.indexOf('argv')] ?? '')).toEqual(['one, "two"', '=3']);
	expect(row[head.indexOf('tool')]).toBe('');
	expect(more).toEqual([]);
});

test('E29: no executions are a file without rows', async () => {
	expect(JSON.parse(await textOf('json'))).toEqual([]);
	expect(cellsOf(await textOf('csv'))).toHaveLength(1);
});

test('E29: every row is there once, newest first, however many share a time; the columns are all there are', async () => {
	const added = Array.from({ length: 210 }, (_, index) =>
		add(`e${String(index).padStart(3, '0')}`, { second: Math.floor(index / 205), skill: index % 9 ? 'a' : 'b' })
	);
	await Promise.all(added);
	const rows = JSON.parse(await textOf('json')) as SkillExecution[];
	expect(new Set(rows.map(({ id }) => id)).size).toBe(210);
	expect(rows.map(({ createdAt }) => createdAt)).toEqual(
		rows
			.map(({ createdAt }) => createdAt)
			.sort()
			.reverse()
	);
	const [head = [], ...lines] = cellsOf(await textOf('csv'));
	expect(lines).toHaveLength(210);
	expect([...head].sort()).toEqual(Object.keys(rows[0] ?? {}).sort());
	expect(cellsOf(await textOf('csv', { skill: 'local/b' }))).toHaveLength(25);
});

test('E29: no more is read from the table than whoever downloads it takes', async () => {
	await add('e1');
	let slices = 0;
	const executions: Pick<Store['skillExecutions'], 'after'> = {
		// A table that never ends.
		async after(filter, _last, limit) {
			slices += 1;
			return Array<SkillExecution[]>(limit)
				.fill(await store.skillExecutions.after(filter, null, 1))
				.flat();
		}
	};
	const response = downloadStream(log, exportExecutions(executions, {}, 'csv'), { name: 'x.csv', type: 'text/csv' });
	expect(response.headers.get('content-disposition')).toBe('attachment; filename="x.csv"');
	const reader = response.body?.getReader();
	await reader?.read();
	await reader?.read();
	expect(slices).toBe(1);
	await reader?.cancel();
	expect(slices).toBe(1);
});

test('E29: a table that cannot be read on breaks the file off, where an end would look like all of it', async () => {
	await add('e1');
	const executions = { after: () => Promise.reject(new Error('disk I/O error')) };
	const response = downloadStream(log, exportExecutions(executions, {}, 'json'), {
		name: 'x.json',
		type: 'text/plain'
	});
	await expect(response.text()).rejects.toThrow('disk I/O error');
});
