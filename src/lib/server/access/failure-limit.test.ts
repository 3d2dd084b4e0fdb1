import { beforeEach, describe, expect, test } from 'vitest';
import { createFailureLimit } from './login.ts';

describe('E19: wrong tokens', () => {
	let time: number;
	let limit: ReturnType<typeof createFailureLimit>;
	beforeEach(() => {
		time = 1_000_000;
		limit = createFailureLimit({ perClient: 3, inAll: 5, windowMs: 60_000, now: () => time });
	});

	test('make their client wait until a minute after the first of them, and no other', () => {
		for (let round = 0; round < 3; round++) {
			expect(limit.waitSeconds('a')).toBe(0);
			limit.fail('a');
			time += 10_000;
		}
		expect(limit.waitSeconds('a')).toBe(30);
		expect(limit.waitSeconds('b')).toBe(0);
		time += 29_999;
		expect(limit.waitSeconds('a')).toBe(1);
		time += 1;
		expect(limit.waitSeconds('a')).toBe(0);
	});

	test('of many clients make all of them wait', () => {
		for (const client of ['a', 'b', 'c', 'd', 'e']) limit.fail(client);
		expect(limit.waitSeconds('never-seen')).toBe(60);
		time += 60_000;
		expect(limit.waitSeconds('never-seen')).toBe(0);
	});

	test('are forgotten when the right one comes', () => {
		limit.fail('a');
		limit.fail('a');
		limit.succeed('a');
		limit.fail('a');
		limit.fail('a');
		expect(limit.waitSeconds('a')).toBe(0);
	});
});
