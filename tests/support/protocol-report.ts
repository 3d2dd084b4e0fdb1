/** Results of the protocol tests, for the tables in docs/protocols.md (see scripts/protocols/results.ts). */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A table row by column name. */
export type ReportRow = Record<string, string>;

/** Writes `test-results/protocols/<area>.json`. */
export async function report(
	area: 'clients' | 'programs' | 'mcp-conformance',
	rows: readonly ReportRow[]
): Promise<void> {
	const folder = join(root, 'test-results/protocols');
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, `${area}.json`), `${JSON.stringify(rows, null, '\t')}\n`);
}

/** Adds the installed version to each package name: `openai responses` becomes `openai 6.49.0 responses`. */
export function withVersions(client: string): string {
	const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
		devDependencies: ReportRow;
	};
	return client.replaceAll(/\S+/g, (word) => (devDependencies[word] ? `${word} ${devDependencies[word]}` : word));
}
