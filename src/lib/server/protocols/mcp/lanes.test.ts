import { expect, test } from 'vitest';
import { createLanes, TooManyCalls } from './lanes.ts';

const call = (lane: string | null, signal = new AbortController().signal) => ({ client: 'w', lane, signal });

test('D43: calls of one lane run one after the other, those of others beside them', async () => {
	const lanes = createLanes();
	const order: string[] = [];
	const { promise: first, resolve: endFirst } = Promise.withResolvers<void>();
	const task =
		(name: string, until: Promise<void> = Promise.resolve()) =>
		async () => {
			order.push(`${name} begins`);
			await until;
			order.push(`${name} ends`);
		};
	const one = lanes.run(call('skill'), task('one', first));
	const two = lanes.run(call('skill'), task('two'));
	await lanes.run(call('other'), task('other'));
	await lanes.run(call(null), task('reading'));
	endFirst();
	await Promise.all([one, two]);
	expect(order).toEqual([
		...['one begins', 'other begins', 'other ends', 'reading begins', 'reading ends'],
		...['one ends', 'two begins', 'two ends']
	]);
});

test('D43: a call that is cancelled while it waits does not run, and the next one still waits its turn', async () => {
	const lanes = createLanes();
	const { promise: first, resolve: endFirst } = Promise.withResolvers<void>();
	const cancelled = new AbortController();
	const order: string[] = [];
	const one = lanes.run(call('skill'), () => first.then(() => void order.push('one')));
	const two = lanes.run(call('skill', cancelled.signal), async () => void order.push('two'));
	const three = lanes.run(call('skill'), async () => void order.push('three'));
	cancelled.abort(new Error('cancelled'));
	await expect(two).rejects.toThrow('cancelled');
	endFirst();
	await Promise.all([one, three]);
	expect(order).toEqual(['one', 'three']);
});

test('D43: a failure lets the next one run, and more than 64 are refused', async () => {
	const lanes = createLanes();
	const failed = lanes.run(call('skill'), () => Promise.reject(new Error('failed')));
	await expect(failed).rejects.toThrow('failed');
	const { promise: held, resolve: release } = Promise.withResolvers<void>();
	const calls = Array.from({ length: 64 }, () => lanes.run(call('skill'), () => held));
	await expect(lanes.run(call(null), async () => undefined)).rejects.toBeInstanceOf(TooManyCalls);
	release();
	await Promise.all(calls);
	expect(await lanes.run(call('skill'), async () => 'free')).toBe('free');
});
