/** `npm run protocols`: the tests that docs/protocols.md has its tables from, then the tables. `npm test` does the same with all tests. */
import { clearReports, writeResults } from './protocols/results.ts';
import { root, runTool } from './run-tool.ts';

const SUITES: [string, string[]][] = [
	['vitest', ['run', '--project=node', 'tests/protocols/mcp-conformance.test.ts', 'tests/protocols/a2a-tck.test.ts']],
	['@playwright/test:playwright', ['test', 'clients.spec.ts', 'programs.spec.ts']]
];

await clearReports(root);
for (const [tool, args] of SUITES) {
	const { exitCode } = await runTool(tool, args, { isShown: true });
	if (exitCode !== 0) process.exit(1);
}
console.log(`docs/protocols.md ${(await writeResults(root)) ? 'is written' : 'was right already'}`);
