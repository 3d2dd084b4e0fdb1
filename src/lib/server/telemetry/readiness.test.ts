import { expect, test, vi } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import { createReadiness } from './readiness.ts';

test('F14: a server is ready while all that it depends on answers', async () => {
	let problem: Error | null = null;
	const ask = () => (problem ? Promise.reject(problem) : Promise.resolve());
	const readiness = createReadiness({ 'The database': ask, 'The disk': async () => undefined });
	expect(await readiness.reason()).toBeNull();
	problem = new AppError('unavailable', 'Try again.');
	expect(await readiness.reason()).toBe('The database doesn’t answer: Try again.');
	problem = new Error('password authentication failed for user "app"');
	expect(await readiness.reason()).toBe('The database doesn’t answer.');
	problem = null;
	expect(await readiness.reason()).toBeNull();
});

test('F14: a database that hangs is one that doesn’t answer', async () => {
	vi.useFakeTimers();
	try {
		const asked = createReadiness({ 'The database': () => new Promise(() => undefined) }).reason();
		await vi.advanceTimersByTimeAsync(2_000);
		expect(await asked).toBe('The database didn’t answer within 2000 ms.');
	} finally {
		vi.useRealTimers();
	}
});

test('F14: however many ask, what doesn’t answer is asked once at a time', async () => {
	vi.useFakeTimers();
	try {
		const answers: PromiseWithResolvers<void>[] = [];
		const readiness = createReadiness({
			'The database': () => {
				const answer = Promise.withResolvers<void>();
				answers.push(answer);
				return answer.promise;
			}
		});
		const many = () => Promise.all(Array.from({ length: 100 }, () => readiness.reason()));
		const first = many();
		await vi.advanceTimersByTimeAsync(2_000);
		expect(new Set(await first)).toEqual(new Set(['The database didn’t answer within 2000 ms.']));
		const second = many();
		expect(answers).toHaveLength(1);
		answers[0]?.resolve();
		expect(new Set(await second)).toEqual(new Set([null]));
		const third = readiness.reason();
		expect(answers).toHaveLength(2);
		answers[1]?.resolve();
		expect(await third).toBeNull();
	} finally {
		vi.useRealTimers();
	}
});

test('F14: a server that is told to stop isn’t ready at once, also while it is asked, and waits so that others notice', async () => {
	vi.useFakeTimers();
	try {
		const answered = Promise.withResolvers<void>();
		const readiness = createReadiness({ 'The database': () => answered.promise });
		const asked = readiness.reason();
		let isOver = false;
		const stopping = readiness.stop(5_000).then(() => (isOver = true));
		answered.resolve();
		expect(await asked).toBe('The server is stopping.');
		await vi.advanceTimersByTimeAsync(4_999);
		expect(isOver).toBe(false);
		await vi.advanceTimersByTimeAsync(1);
		await stopping;

		// Whoever is impatient doesn’t wait, nor does who waits already.
		const other = createReadiness({});
		const patient = other.stop(5_000);
		await other.stop(0);
		await patient;
		expect(await other.reason()).toBe('The server is stopping.');
		expect(vi.getTimerCount()).toBe(0);
	} finally {
		vi.useRealTimers();
	}
});
