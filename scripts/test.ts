/** `npm test`: the checks, then Vitest, then a build and Playwright; the last line is the true total of them all. */

import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runChecks } from './checks.ts';
import { root, runTool } from './run-tool.ts';
import { addTotals, countPlaywright, countVitest, CRASHED, totalsLine, type Totals } from './test-reports.ts';

const reports = join(root, 'test-results');

const totals = addTotals([await checks(), await unitTests(), ...(await browserTests())]);
console.log(totalsLine(totals));
if (totals.failed > 0) process.exitCode = 1;

async function checks(): Promise<Totals> {
	console.log('Checks');
	return countSteps(await runChecks());
}

async function unitTests(): Promise<Totals> {
	console.log('\nUnit and component tests');
	const report = join(reports, 'vitest.json');
	await clear(report);
	const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
	const { exitCode } = await runTool('vitest', args, { isShown: true });
	return count(report, (json) => countVitest(json, exitCode));
}

async function browserTests(): Promise<Totals[]> {
	console.log('\nEnd-to-end tests');
	// Once, here: otherwise each server that a test starts would find the build stale and make its own.
	const build = await runTool('vite', ['build']);
	const built = countSteps([{ isPassed: build.exitCode === 0 }]);
	console.log(`${build.exitCode === 0 ? '✓' : '✗'} build`);
	if (built.failed > 0) {
		console.log(build.output);
		return [built];
	}
	const report = join(reports, 'playwright.json');
	await clear(report);
	const { exitCode } = await runTool('@playwright/test:playwright', ['test'], { isShown: true });
	return [built, await count(report, (json) => countPlaywright(json, exitCode))];
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
