import { describe, expect, test } from 'vitest';
import {
	addTotals,
	countPlaywright,
	countVitest,
	failedNote,
	requireAll,
	skippedNote,
	slowestNote,
	playwrightResults,
	vitestResults,
	totalsLine
} from './test-reports.ts';

const vitest = (counts: object = {}): object => ({
	numPassedTests: 3,
	numFailedTests: 0,
	numPendingTests: 0,
	numTodoTests: 0,
	testResults: [],
	...counts
});

const playwright = (stats: object = {}, errors: unknown[] = []): object => ({
	stats: { expected: 2, unexpected: 0, flaky: 0, skipped: 0, ...stats },
	errors
});

describe('countVitest', () => {
	test('counts passed, failed and skipped tests', () => {
		const report = vitest({ numFailedTests: 1, numPendingTests: 1, numTodoTests: 1 });
		expect(countVitest(report, 1)).toEqual({ passed: 3, failed: 1, skipped: 2 });
	});

	test('counts a file that could not be loaded as one failure', () => {
		expect(countVitest(vitest({ testResults: [{ status: 'failed', assertionResults: [] }] }), 1).failed).toBe(1);
	});

	test('counts a run that failed without a failed test as one failure', () => {
		expect(countVitest(vitest(), 1).failed).toBe(1);
		expect(countVitest(vitest(), null).failed).toBe(1);
	});

	test('counts a run of no test as one failure', () => {
		expect(countVitest(vitest({ numPassedTests: 0 }), 0).failed).toBe(1);
	});
});

describe('countPlaywright', () => {
	test('counts passed, failed and skipped tests, and errors outside tests as failures', () => {
		expect(countPlaywright(playwright(), 0)).toEqual({ passed: 2, failed: 0, skipped: 0 });
		expect(countPlaywright(playwright({ unexpected: 1, skipped: 4 }, ['load']), 1)).toEqual({
			passed: 2,
			failed: 2,
			skipped: 4
		});
	});

	test('counts a flaky test as failed', () => {
		expect(countPlaywright(playwright({ flaky: 1 }), 0).failed).toBe(1);
	});
});

test('what was skipped is said with the one command that makes it run, and can be made a failure', () => {
	expect(skippedNote(0, ['podman'])).toBe('');
	expect(skippedNote(3, [])).toContain('other systems');
	const lines = skippedNote(3, ['bubblewrap', 'chromium']).split('\n');
	expect(lines).toHaveLength(2);
	expect(lines[1]?.trim()).toBe('sudo apt-get install --no-install-recommends bubblewrap chromium');
	expect(requireAll({ passed: 5, failed: 1, skipped: 3 })).toEqual({ passed: 5, failed: 4, skipped: 0 });
});

test('the closing line names skipped tests only when there are some', () => {
	const totals = addTotals([
		{ passed: 5, failed: 0, skipped: 0 },
		{ passed: 7, failed: 1, skipped: 0 }
	]);
	expect(totalsLine(totals)).toBe('12 passed, 1 failed');
	expect(totalsLine({ ...totals, skipped: 2 })).toBe('12 passed, 1 failed, 2 skipped');
});

test('the slowest ten are said with their seconds, whatever ran them', () => {
	const vitest = {
		testResults: [
			{
				name: '/a/b.test.ts',
				assertionResults: [
					{ fullName: 'b waits', duration: 2500 },
					{ fullName: 'b is skipped', duration: null }
				]
			}
		]
	};
	const spec = { title: 'a page', file: 'p.spec.ts', tests: [{ results: [{ duration: 4000 }, { duration: 3000 }] }] };
	const playwright = { suites: [{ suites: [{ specs: [spec] }] }] };
	const tests = [...vitestResults(vitest), ...playwrightResults(playwright)];
	expect(slowestNote(tests).split('\n').slice(0, 3)).toEqual([
		'Slowest:',
		'    7.0 s  p.spec.ts: a page',
		'    2.5 s  b.test.ts: b waits'
	]);
	expect(slowestNote(Array.from({ length: 30 }, () => tests[0]!)).split('\n')).toHaveLength(11);
});

test('which tests failed is said at the end, each with the first line of its reason', () => {
	const assertionResults = [
		{ status: 'passed', fullName: 'a works' },
		{ status: 'failed', fullName: 'b works', failureMessages: ['\u001b[31mError: no b\u001b[39m\n    at b.ts:1'] }
	];
	const report = vitest({
		testResults: [
			{ status: 'failed', name: '/project/b.test.ts', assertionResults },
			{ status: 'failed', name: '/project/c.test.ts', message: 'SyntaxError: no c', assertionResults: [] }
		]
	});
	const spec = (title: string, status: string, ...results: object[]): object => ({
		title,
		file: 'p.spec.ts',
		tests: [{ status, results }]
	});
	const failed = { duration: 1, error: { message: 'Error: not seen\n\ncall log' } };
	const specs = [
		spec('well', 'expected', { duration: 1 }),
		spec('late', 'flaky', failed, { duration: 1 }),
		spec('cut off', 'unexpected', { duration: 1 })
	];
	const tests = [...vitestResults(report), ...playwrightResults({ suites: [{ specs }] })];
	expect(failedNote(tests).split('\n')).toEqual([
		'Failed:',
		'  b.test.ts: b works',
		'    Error: no b',
		'  c.test.ts: the file',
		'    SyntaxError: no c',
		'  p.spec.ts: late',
		'    Error: not seen',
		'  p.spec.ts: cut off',
		'    it gave no reason'
	]);
	expect(failedNote(tests.slice(0, 1))).toBe('');
});
