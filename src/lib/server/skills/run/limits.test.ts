import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../sandbox/sandbox.ts';
import { limitsOf, MAX_TIMEOUT_MS, timeoutOf } from './environment.ts';

test('D10: a skill may ask for less than the host gives, never for more, but for address space', () => {
	const asking = (metadata: Record<string, string>) => limitsOf({ metadata }, DEFAULT_LIMITS);
	expect(asking({})).toEqual(DEFAULT_LIMITS);
	expect(asking({ memory: '64mb', processes: '8', 'file-size': '1', 'open-files': '32', cpu: '5s' })).toEqual({
		...DEFAULT_LIMITS,
		memoryBytes: 64 * 1024 ** 2,
		processes: 8,
		fileBytes: 1024 ** 2,
		openFiles: 32,
		cpuSeconds: 5
	});
	expect(asking({ memory: '64 GB', processes: '100000' })).toEqual(DEFAULT_LIMITS);
	for (const nonsense of [
		'',
		'much',
		'-1',
		'1e9',
		'5 parsecs',
		'5 s later',
		'5s5',
		'1.',
		'1.5.5',
		'1.x',
		'0x10',
		'9'.repeat(40)
	])
		expect(asking({ memory: nonsense, cpu: nonsense })).toEqual(DEFAULT_LIMITS);
	expect(asking({ processes: '0' }).processes).toBe(1);
	// It takes no memory.
	expect(asking({ 'virtual-memory': '1tb' }).virtualBytes).toBe(1024 ** 4);
	expect(asking({ 'virtual-memory': '9000 tb' }).virtualBytes).toBe(4 * 1024 ** 4);
});

test('D10: the time limit is the call’s, else the skill’s, else the host’s; 300 s at most', () => {
	expect(timeoutOf({ metadata: {} }, undefined, 30_000)).toBe(30_000);
	expect(timeoutOf({ metadata: { timeout: '90' } }, undefined, 30_000)).toBe(90_000);
	expect(timeoutOf({ metadata: { timeout: '2m' } }, undefined, 30_000)).toBe(120_000);
	expect(timeoutOf({ metadata: { timeout: ' 1.25 m ' } }, undefined, 30_000)).toBe(75_000);
	expect(timeoutOf({ metadata: { timeout: '1ms' } }, undefined, 30_000)).toBe(100);
	expect(timeoutOf({ metadata: { timeout: '500ms' } }, undefined, 30_000)).toBe(500);
	expect(timeoutOf({ metadata: { timeout: '2m' } }, 1000, 30_000)).toBe(1000);
	expect(timeoutOf({ metadata: { timeout: '2h' } }, undefined, 30_000)).toBe(30_000);
	expect(timeoutOf({ metadata: {} }, 9_999_999, 30_000)).toBe(MAX_TIMEOUT_MS);
});
