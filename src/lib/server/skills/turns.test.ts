import { describe, expect, test } from 'vitest';
import { createTurns, TooManyCalls, type Turns } from './turns.ts';

const call = (lane: string | null, signal = new AbortController().signal) => ({ caller: 'w', lane, signal });

test('D43: calls of one lane run one after the other, those of others beside them', async () => {
	const turns = createTurns({ perCaller: 64 });
	const order: string[] = [];
	const { promise: first, resolve: endFirst } = Promise.withResolvers<void>();
	const task =
		(name: string, until: Promise<void> = Promise.resolve()) =>
		async () => {
			order.push(`${name} begins`);
			await until;
			order.push(`${name} ends`);
		};
	const one = turns.run(call('skill'), task('one', first));
	const two = turns.run(call('skill'), task('two'));
	await turns.run(call('other'), task('other'));
	await turns.run(call(null), task('reading'));
	endFirst();
	await Promise.all([one, two]);
	expect(order).toEqual([
		...['one begins', 'other begins', 'other ends', 'reading begins', 'reading ends'],
		...['one ends', 'two begins', 'two ends']
	]);
});

test('D43: a call that is cancelled while it waits does not run, and the next one still waits its turn', async () => {
	const turns = createTurns({ perCaller: 64 });
	const { promise: first, resolve: endFirst } = Promise.withResolvers<void>();
	const cancelled = new AbortController();
	const order: string[] = [];
	const one = turns.run(call('skill'), () => first.then(() => void order.push('one')));
	const two = turns.run(call('skill', cancelled.signal), async () => void order.push('two'));
	const three = turns.run(call('skill'), async () => void order.push('three'));
	cancelled.abort(new Error('cancelled'));
	await expect(two).rejects.toThrow('cancelled');
	endFirst();
	await Promise.all([one, three]);
	expect(order).toEqual(['one', 'three']);
});

test('D43: a failure lets the next one run, and more than 64 are refused', async () => {
	const turns = createTurns({ perCaller: 64 });
	const failed = turns.run(call('skill'), () => Promise.reject(new Error('failed')));
	await expect(failed).rejects.toThrow('failed');
	const { promise: held, resolve: release } = Promise.withResolvers<void>();
	const calls = Array.from({ length: 64 }, () => turns.run(call('skill'), () => held));
	await expect(turns.run(call(null), async () => undefined)).rejects.toBeInstanceOf(TooManyCalls);
	release();
	await Promise.all(calls);
	expect(await turns.run(call('skill'), async () => 'free')).toBe('free');
});

describe('D43: what runs at once, of all callers', () => {
	/** Tasks that end when told to. */
	function tasks(turns: Turns) {
		const begun: string[] = [];
		const ends = new Map<string, () => void>();
		return {
			begun,
			run: (caller: string, name: string, signal?: AbortSignal) =>
				turns.run({ caller, lane: null, signal }, async () => {
					begun.push(name);
					await new Promise<void>((resolve) => ends.set(name, resolve));
				}),
			async end(name: string) {
				await settled();
				ends.get(name)?.();
				await settled();
			}
		};
	}
	/** The effects of a step take a few turns of the microtask queue. */
	const settled = () => new Promise((resolve) => setImmediate(resolve));

	test('is bounded, and callers take turns, however much one of them has waiting', async () => {
		const turns = createTurns({ atOnce: 1 });
		const { begun, run, end } = tasks(turns);
		const all = [...['a1', 'a2', 'a3'].map((name) => run('a', name)), run('b', 'b1'), run('c', 'c1'), run('b', 'b2')];
		await settled();
		for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) {
			expect(begun.at(-1)).toBe(name);
			await end(name);
		}
		await Promise.all(all);
		expect(turns.state).toEqual({ running: 0, waiting: 0, longestWaitMs: 0 });
	});

	test('says how many run and wait, and for how long', async () => {
		let time = 0;
		const turns = createTurns({ atOnce: 2, now: () => time });
		const { run, end } = tasks(turns);
		const all = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3')];
		time = 100;
		all.push(run('b', 'b1'));
		time = 150;
		expect(turns.state).toEqual({ running: 2, waiting: 2, longestWaitMs: 150 });
		await end('a1');
		expect(turns.state).toEqual({ running: 2, waiting: 1, longestWaitMs: 50 });
		for (const name of ['a2', 'a3', 'b1']) await end(name);
		await Promise.all(all);
	});

	test('leaves out what was cancelled while it waited, which never begins', async () => {
		const turns = createTurns({ atOnce: 1 });
		const { begun, run, end } = tasks(turns);
		const leaving = new AbortController();
		const first = run('a', 'first');
		const second = run('a', 'second', leaving.signal);
		const third = run('a', 'third');
		leaving.abort(new Error('left'));
		await expect(second).rejects.toThrow('left');
		expect(turns.state.waiting).toBe(1);
		await end('first');
		await end('third');
		await Promise.all([first, third]);
		expect(begun).toEqual(['first', 'third']);
	});

	test('goes on after a failure, and one caller has a bound of its own', async () => {
		const turns = createTurns({ atOnce: 1, perCaller: 2 });
		await expect(turns.run(call(null), () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
		const { run, end } = tasks(turns);
		const all = [run('a', 'a1'), run('a', 'a2')];
		await expect(run('a', 'a3')).rejects.toBeInstanceOf(TooManyCalls);
		all.push(run('b', 'b1'));
		for (const name of ['a1', 'a2', 'b1']) await end(name);
		await Promise.all(all);
	});
});
