import { expect, test } from 'vitest';
import { inputOf } from './messages.ts';

const none = async () => null;
const callOf = (id: string | null, name = 'f') => ({ id, function: { name, arguments: '{}' } });
const result = (id: string | null, content: string) => ({ role: 'tool' as const, tool_call_id: id, content });

test('F12: hundreds of thousands of calls are matched with their results, in any order', async () => {
	const ids = Array.from({ length: 300_000 }, (_, index) => `call_${index}`);
	const { items } = await inputOf(
		[
			{ role: 'assistant', tool_calls: ids.map((id) => callOf(id)) },
			...ids.toReversed().map((id) => result(id, id)),
			{ role: 'user', content: 'And?' }
		],
		none
	);
	const outputs = items.filter(({ type }) => type === 'function_call_output');
	expect(outputs).toHaveLength(ids.length);
	expect(outputs.every(({ call_id, output }) => call_id === output)).toBe(true);
});

test('F12: results without an id, and calls with the same one, are matched in their order; what is left has no result', async () => {
	const { items } = await inputOf(
		[
			{ role: 'assistant', tool_calls: [callOf('a', 'one'), callOf('b', 'two'), callOf('a', 'three'), callOf('c')] },
			result('b', 'of b'),
			result(null, 'of the first a'),
			result('a', 'of the second a'),
			{ role: 'user', content: 'And?' }
		],
		none
	);
	const outputs = items.filter(({ type }) => type === 'function_call_output');
	expect(outputs.map(({ call_id, output }) => [call_id, output])).toEqual([
		['b', 'of b'],
		['a', 'of the first a'],
		['a', 'of the second a'],
		['c', expect.stringContaining('No result')]
	]);
	await expect(
		inputOf([{ role: 'assistant', tool_calls: [callOf('a')] }, result('a', 'x'), result('a', 'x')], none)
	).rejects.toMatchObject({ status: 400 });
});
