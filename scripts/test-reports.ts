/** Counts tests in the JSON reports of Vitest and Playwright, and says which failed and which were slow. */

import { stripVTControlCharacters } from 'node:util';

export interface Totals {
	passed: number;
	failed: number;
	skipped: number;
}

interface VitestReport {
	numPassedTests: number;
	numFailedTests: number;
	numPendingTests: number;
	numTodoTests: number;
	/** One a file. A file that could not be loaded has failed with no test in it. */
	testResults: VitestFile[];
}

interface VitestFile {
	status: string;
	name: string;
	message?: string;
	assertionResults: { status: string; fullName: string; duration?: number | null; failureMessages?: string[] }[];
}

interface PlaywrightReport {
	stats: { expected: number; unexpected: number; flaky: number; skipped: number };
	/** What went wrong outside the tests, loading a file for example. */
	errors: unknown[];
}

/** `exitCode` is the runner's: when it is not 0 and no failed test explains it, the run itself counts as one failure. */
export function countVitest(report: unknown, exitCode: number | null): Totals {
	const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = report as VitestReport;
	const brokenFiles = testResults.filter(isBroken);
	return explain(exitCode, {
		passed: numPassedTests,
		failed: numFailedTests + brokenFiles.length,
		skipped: numPendingTests + numTodoTests
	});
}

/** A flaky test (one that passed only when repeated) has failed. */
export function countPlaywright(report: unknown, exitCode: number | null): Totals {
	const { stats, errors } = report as PlaywrightReport;
	return explain(exitCode, {
		passed: stats.expected,
		failed: stats.unexpected + stats.flaky + errors.length,
		skipped: stats.skipped
	});
}

export interface TestResult {
	title: string;
	/** Absolute, or from the folder of the tests. */
	file: string;
	ms: number;
	/** The first line of what went wrong; none of a test that passed. */
	failure?: string;
}

export function vitestResults(report: unknown): TestResult[] {
	return (report as VitestReport).testResults.flatMap((file) => [
		...file.assertionResults.map(({ status, fullName, duration, failureMessages }) => ({
			title: fullName,
			file: file.name,
			ms: duration ?? 0,
			...(status === 'failed' && { failure: firstLine(failureMessages?.[0]) })
		})),
		...(isBroken(file) ? [{ title: 'the file', file: file.name, ms: 0, failure: firstLine(file.message) }] : [])
	]);
}

function isBroken({ status, assertionResults }: VitestFile): boolean {
	return status === 'failed' && !assertionResults.some((assertion) => assertion.status === 'failed');
}

/** A test that passed only when it was repeated has failed, too. */
export function playwrightResults(report: unknown): TestResult[] {
	const resultsIn = (suite: PlaywrightSuite): TestResult[] => [
		...(suite.specs ?? []).map(({ title, file, tests }) => {
			const results = tests.flatMap((test) => test.results);
			const isFailed = tests.some(({ status }) => status === 'unexpected' || status === 'flaky');
			return {
				title,
				file,
				ms: results.reduce((total, { duration }) => total + duration, 0),
				...(isFailed && { failure: firstLine(results.find(({ error }) => error)?.error?.message) })
			};
		}),
		...(suite.suites ?? []).flatMap(resultsIn)
	];
	return ((report as { suites?: PlaywrightSuite[] }).suites ?? []).flatMap(resultsIn);
}

interface PlaywrightSuite {
	specs?: {
		title: string;
		file: string;
		tests: { status?: string; results: { duration: number; error?: { message?: string } }[] }[];
	}[];
	suites?: PlaywrightSuite[];
}

function firstLine(message = 'it gave no reason'): string {
	return stripVTControlCharacters(message).trim().split('\n', 1)[0] as string;
}

/** Which tests failed and why, two lines each, so that a long log need not be searched; empty when none did. */
export function failedNote(tests: readonly TestResult[]): string {
	const failed = tests.flatMap(({ title, file, failure }) =>
		failure === undefined ? [] : [`  ${fileName(file)}: ${title}\n    ${failure}`]
	);
	return failed.length === 0 ? '' : ['Failed:', ...failed].join('\n');
}

/** The ten that took longest, a line each. */
export function slowestNote(tests: readonly TestResult[]): string {
	const slowest = tests.toSorted((a, b) => b.ms - a.ms).slice(0, 10);
	const lines = slowest.map(({ title, file, ms }) => {
		return `  ${(ms / 1000).toFixed(1).padStart(5)} s  ${fileName(file)}: ${title}`;
	});
	return ['Slowest:', ...lines].join('\n');
}

function fileName(path: string): string {
	return path.split(/[\\/]/).at(-1) as string;
}

/** A runner that left no report has crashed. */
export const CRASHED: Totals = { passed: 0, failed: 1, skipped: 0 };

export function addTotals(all: Totals[]): Totals {
	const sum = (key: keyof Totals): number => all.reduce((total, each) => total + each[key], 0);
	return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

/** The closing line: `12 passed, 0 failed`, with `, 3 skipped` when there are any. */
export function totalsLine({ passed, failed, skipped }: Totals): string {
	return `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;
}

/** Where nothing may be left out (`REQUIRE_ALL=1`), a test that was skipped has failed. */
export function requireAll({ passed, failed, skipped }: Totals): Totals {
	return { passed, failed: failed + skipped, skipped: 0 };
}

/** What comes before the closing line: why tests were skipped, and the one command that makes them run; empty when none was. */
export function skippedNote(skipped: number, missingPackages: readonly string[]): string {
	if (skipped === 0) return '';
	if (missingPackages.length === 0) return 'Skipped tests are for other systems or other users.';
	const packages = missingPackages.join(' ');
	return [
		`Skipped: tests that need ${missingPackages.join(', ')}. On Debian and Ubuntu, this makes them run:`,
		`  sudo apt-get install --no-install-recommends ${packages}`
	].join('\n');
}

function explain(exitCode: number | null, totals: Totals): Totals {
	const hasRunNone = totals.passed + totals.failed === 0;
	const isUnexplained = exitCode !== 0 && totals.failed === 0;
	return hasRunNone || isUnexplained ? { ...totals, failed: totals.failed + 1 } : totals;
}
