/** What the protocol tests have seen, for the tables of docs/protocols.md: one file an area, where somebody asks for it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One line of a table, by the names of its columns. */
export type ReportRow = Record<string, string>;

/** Writes `<PROTOCOLS_REPORT_DIR>/<area>.json`; nothing while that variable is not set. */
export async function report(area: string, rows: readonly ReportRow[]): Promise<void> {
	const folder = process.env.PROTOCOLS_REPORT_DIR;
	if (!folder) return;
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, `${area}.json`), `${JSON.stringify(rows, null, '\t')}\n`);
}
