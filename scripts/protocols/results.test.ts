import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { clearReports, renderResults, withResults, writeResults } from './results.ts';

const CLIENTS = [{ Client: 'one 1.0.0', Words: '5 words' }];
const CONFORMANCE = [
	{ Scenario: 'ping', Result: 'passed', Why: '' },
	{ Scenario: 'images', Result: 'does not apply', Why: 'No tool gives a | b.' }
];

const NEXT = [
	{ Scenario: 'ping', Result: 'passed', Why: '' },
	{ Scenario: 'tasks', Result: 'passed in part', Why: 'Nothing asks.' }
];

const SUITE = '@modelcontextprotocol/conformance';
const TCK = [{ Requirement: 'CORE-GET-001', Result: 'passed', Why: '' }];
const RESULTS = {
	clients: CLIENTS,
	conformance: [
		{ suite: `${SUITE} 1.2.3`, rows: CONFORMANCE },
		{ suite: `${SUITE} 2.0.0-alpha.1`, rows: NEXT }
	],
	tck: TCK
};
const DEPENDENCIES = { [SUITE]: '1.2.3', 'mcp-conformance-next': `npm:${SUITE}@2.0.0-alpha.1` };

let root: string;
beforeEach(async () => {
	root = await mkdtemp(join(tmpdir(), 'protocols-'));
	await mkdir(join(root, 'docs'));
	await writeFile(join(root, 'package.json'), JSON.stringify({ devDependencies: DEPENDENCIES }));
	await writeFile(join(root, 'docs/protocols.md'), '# Page\n<!-- results -->\nold\n<!-- /results -->\nThe end.\n');
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function putReports(): Promise<void> {
	const folder = join(root, 'test-results/protocols');
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, 'clients.json'), JSON.stringify(CLIENTS));
	await writeFile(join(folder, 'mcp-conformance.json'), JSON.stringify(CONFORMANCE));
	await writeFile(join(folder, 'a2a-tck.json'), JSON.stringify(TCK));
	await writeFile(join(folder, 'mcp-conformance-next.json'), JSON.stringify(NEXT));
}

test('the tables of a run come between the marks, and the same run changes nothing more', async () => {
	await putReports();
	expect(await writeResults(root)).toBe(true);
	const page = await readFile(join(root, 'docs/protocols.md'), 'utf8');
	expect(page).toBe(`# Page\n<!-- results -->\n${renderResults(RESULTS)}\n<!-- /results -->\nThe end.\n`);
	expect(page).toContain('| Client | Words |\n| --- | --- |\n| one 1.0.0 | 5 words |\n');
	expect(page).toContain(`Of 2 scenarios of ${SUITE} 1.2.3, 1 passed, and 1 do not apply.`);
	expect(page).toContain(
		`Of 2 scenarios of ${SUITE} 2.0.0-alpha.1, 1 passed, 1 passed but for checks that do not apply, and 0 do not apply.`
	);
	expect(page).toContain('| images | does not apply | No tool gives a \\| b. |\n');
	expect(page).toContain(
		'Of 1 requirements of the A2A TCK 1.0.0, as our tests have them, 1 passed, and 0 do not apply.'
	);
	expect(await writeResults(root)).toBe(false);
});

test('programs have a place of their own, which a machine without them leaves as it is', async () => {
	await putReports();
	const path = join(root, 'docs/protocols.md');
	await writeFile(path, '<!-- programs -->\nold\n<!-- /programs -->\n<!-- results -->\n<!-- /results -->');
	await writeResults(root);
	expect(await readFile(path, 'utf8')).toContain('<!-- programs -->\nold\n<!-- /programs -->');
	const rows = [{ Program: 'codex 1', Way: 'MCP' }];
	await writeFile(join(root, 'test-results/protocols/programs.json'), JSON.stringify(rows));
	expect(await writeResults(root)).toBe(true);
	expect(await readFile(path, 'utf8')).toContain(
		'<!-- programs -->\n| Program | Way |\n| --- | --- |\n| codex 1 | MCP |\n<!-- /programs -->'
	);
});

test('without a report of this run nothing is written', async () => {
	await putReports();
	await clearReports(root);
	const before = await readFile(join(root, 'docs/protocols.md'), 'utf8');
	await expect(writeResults(root)).rejects.toThrow('clients.json');
	expect(await readFile(join(root, 'docs/protocols.md'), 'utf8')).toBe(before);
});

test.each(['none', '<!-- /results --> <!-- results -->', '<!-- results --><!-- results --><!-- /results -->'])(
	'a page with the marks as in “%s” is refused',
	(page) => {
		expect(() => withResults(page, 'results', 'new')).toThrow('once, in this order');
	}
);
