/**
 * `npm test`: the checks, then Vitest, a build and crashes beside the sandboxes, Playwright, the pages in a second browser,
 * docs/protocols.md; the last line is the total of them all. It installs nothing: what a machine lacks is skipped, and said.
 */

import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { BALANCERS, lacksBalancer } from '../tests/support/balancer.ts';
import { findSecondChromium } from '../tests/support/chromium.ts';
import { lacksPgbouncer } from '../tests/support/pgbouncer.ts';
import { lacksPostgres } from '../tests/support/postgres.ts';
import { missingPackages } from '../tests/support/sandbox-packages.ts';
import { buildAnew } from './build.ts';
import { CHECKS, runChecks } from './checks.ts';
import { clearReports, writeResults } from './protocols/results.ts';
import { root, runTool } from './run-tool.ts';
import {
	addTotals,
	countPlaywright,
	countVitest,
	CRASHED,
	failedNote,
	playwrightResults,
	requireAll,
	skippedNote,
	slowestNote,
	totalsLine,
	vitestResults,
	type TestResult,
	type Totals
} from './test-reports.ts';

const reports = join(root, 'test-results');
/** Where browsers differ most: whether the page works at all, and what they do with what is hostile. */
const PAGES = ['smoke', 'shell', 'diagram', 'hostile-content', 'hostile-surfaces'];
/** null where CHROMIUM_PATH has decided for one. */
const secondBrowser = process.env.CHROMIUM_PATH ? null : { path: await findSecondChromium() };

const results: TestResult[] = [];

await clearReports(root);
const tested = addTotals([await checks(), await unitTests(), ...(await sandboxAndBuiltTests())]);
const totals = addTotals([tested, ...(tested.failed === 0 ? [await protocolsPage()] : [])]);
console.log(`\n${slowestNote(results)}`);
const missing = [
	...missingPackages(),
	...(lacksPostgres() ? ['postgresql'] : []),
	...BALANCERS.filter(lacksBalancer),
	...(lacksPgbouncer() ? ['pgbouncer'] : []),
	...(secondBrowser?.path === null ? ['chromium'] : [])
];
const note = skippedNote(totals.skipped, missing);
if (note) console.log(`\n${note}`);
if (!existsSync(join(root, '.ci/programs/node_modules'))) {
	console.log('\nSkipped: tests with programs such as Codex. They run after npm install --prefix .ci/programs.');
}
const failed = failedNote(results);
if (failed) console.log(`\n${failed}`);
const counted = process.env.REQUIRE_ALL === '1' ? requireAll(totals) : totals;
console.log(totalsLine(counted));
if (counted.failed > 0) process.exitCode = 1;

async function checks(): Promise<Totals> {
	console.log('Checks');
	// The architecture test is among the unit tests.
	return countSteps(await runChecks(CHECKS.filter(({ name }) => name !== 'architecture')));
}

async function unitTests(): Promise<Totals> {
	console.log('\nUnit and component tests');
	return vitest('vitest', ['node', 'browser']);
}

async function sandboxTests(): Promise<Totals> {
	console.log('\nSandboxes');
	return vitest('sandbox', ['sandbox']);
}

async function vitest(name: string, projects: string[], env: Record<string, string> = {}): Promise<Totals> {
	const report = join(reports, `${name}.json`);
	await clear(report);
	const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
	// Most tests wait for processes and disks: Vitest's one worker less than there are cores leaves a small machine idle.
	const args = [
		'run',
		`--maxWorkers=${availableParallelism() + 2}`,
		...projects.map((project) => `--project=${project}`),
		...reporters
	];
	const { exitCode } = await runTool('vitest', args, { isShown: true, env });
	return count(report, (json) => {
		results.push(...vitestResults(json));
		return countVitest(json, exitCode);
	});
}

/** Sandboxes and crashes are mostly waited for: beside each other they take half the time. */
async function sandboxAndBuiltTests(): Promise<Totals[]> {
	const sandboxes = sandboxTests();
	const isBuilt = await build();
	const built = countSteps([{ isPassed: isBuilt }]);
	if (!isBuilt) return [await sandboxes, built];
	const crashes = await crashTests();
	return [await sandboxes, built, crashes, await browserTests(), await secondBrowserTests()];
}

/** Once, here: otherwise each server that a test starts would find the build stale and make its own. */
async function build(): Promise<boolean> {
	const failure = await buildAnew().catch((error: Error) => error);
	console.log(`${failure ? '✗' : '✓'} build`);
	if (failure) console.log(failure.message);
	return !failure;
}

async function crashTests(): Promise<Totals> {
	console.log('\nCrash tests');
	return vitest('crash', ['crash']);
}

async function browserTests(): Promise<Totals> {
	console.log('\nEnd-to-end tests');
	return playwright([]);
}

/** Browsers differ in what they refuse and report: what one does not show, another of the same day does. */
async function secondBrowserTests(): Promise<Totals> {
	if (secondBrowser === null) return { passed: 0, failed: 0, skipped: 0 };
	const { path } = secondBrowser;
	if (path === null) return { passed: 0, failed: 0, skipped: 1 };
	console.log(`\nPages in a second browser: ${path}`);
	const env = { CHROMIUM_PATH: path };
	const specs = PAGES.map((name) => `tests/e2e/${name}.spec.ts`);
	const output = `--output=${join(reports, 'second-browser')}`;
	// How fast a page is there, and whether it moves, one browser has shown.
	const rest = '--grep-invert=PERF:';
	return playwright([...specs, output, rest], env);
}

async function playwright(args: string[], env: Record<string, string> = {}): Promise<Totals> {
	const report = join(reports, 'playwright.json');
	await clear(report);
	const { exitCode } = await runTool('@playwright/test:playwright', ['test', ...args], { isShown: true, env });
	return count(report, (json) => {
		results.push(...playwrightResults(json));
		return countPlaywright(json, exitCode);
	});
}

/** Says what the run has shown: a page that said something else is written, and has failed until that is committed. */
async function protocolsPage(): Promise<Totals> {
	const wasStale = await writeResults(root);
	console.log(`${wasStale ? '✗ docs/protocols.md was stale; it is written, commit it' : '✓ docs/protocols.md'}`);
	return countSteps([{ isPassed: !wasStale }]);
}

function countSteps(steps: { isPassed: boolean }[]): Totals {
	const passed = steps.filter(({ isPassed }) => isPassed).length;
	return { passed, failed: steps.length - passed, skipped: 0 };
}

/** An old report must not stand in for a runner that crashes before it writes one. */
async function clear(report: string): Promise<void> {
	await mkdir(reports, { recursive: true });
	await rm(report, { force: true });
}

async function count(report: string, countReport: (json: unknown) => Totals): Promise<Totals> {
	try {
		return countReport(JSON.parse(await readFile(report, 'utf8')));
	} catch (error) {
		console.log(`No report of the run: ${String(error)}`);
		return CRASHED;
	}
}
