import { describe, expect, test } from 'vitest';
import {
	addTotals,
	countPlaywright,
	countVitest,
	requireAll,
	skippedNote,
	slowestNote,
	timedPlaywright,
	timedVitest,
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
	const tests = [...timedVitest(vitest), ...timedPlaywright(playwright)];
	expect(slowestNote(tests).split('\n').slice(0, 3)).toEqual([
		'Slowest:',
		'    7.0 s  p.spec.ts: a page',
		'    2.5 s  b.test.ts: b waits'
	]);
	expect(slowestNote(Array.from({ length: 30 }, () => tests[0]!)).split('\n')).toHaveLength(11);
});
