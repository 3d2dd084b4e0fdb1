import { describe, expect, test } from 'vitest';
import type { BuiltinOutcome } from './builtin.ts';
import { createHybridExecutor, type HybridCall } from './hybrid.ts';
import { SkillError } from '../skills/types.ts';

const outcome = (sandbox: string): BuiltinOutcome => ({ ok: true, value: null, sandbox });
const { signal } = new AbortController();

function trusted(more: Partial<HybridCall> = {}): HybridCall {
	return {
		isTrusted: true,
		isRepeatable: true,
		direct: async () => outcome('direct'),
		sandboxed: async () => outcome('bubblewrap'),
		...more
	};
}

const never = () => new Promise<BuiltinOutcome>(() => undefined);
const outOfMemory = async () => {
	throw new RangeError('Array buffer allocation failed');
};

describe('D36: where a call runs', () => {
	test.each([
		['hybrid', true, 'direct'],
		['hybrid', false, 'bubblewrap'],
		['direct', false, 'direct'],
		['sandbox', true, 'bubblewrap']
	] as const)('mode %s, trusted %s: %s', async (mode, isTrusted, expected) => {
		const { sandbox } = await createHybridExecutor({ mode }).execute(trusted({ isTrusted }), signal);
		expect(sandbox).toBe(expected);
	});
	test('what is to run in a sandbox is refused where there is none, never run directly', async () => {
		const executor = createHybridExecutor();
		await expect(executor.execute(trusted({ isTrusted: false, sandboxed: null }), signal)).rejects.toMatchObject({
			type: 'SkillDisabled'
		});
	});
});

describe('D36: what did not work directly', () => {
	test('is tried in the sandbox after its time, and the direct way is told to stop', async () => {
		let stopped: AbortSignal | undefined;
		const direct = (given: AbortSignal) => {
			stopped = given;
			return never();
		};
		const executor = createHybridExecutor({ maxDirectDurationMs: 20 });
		expect(await executor.execute(trusted({ direct }), signal)).toMatchObject({ sandbox: 'bubblewrap' });
		expect(stopped?.aborted).toBe(true);
	});
	test('is tried in the sandbox when memory ran out', async () => {
		expect(await createHybridExecutor().execute(trusted({ direct: outOfMemory }), signal)).toMatchObject({
			sandbox: 'bubblewrap'
		});
	});
	test.each([
		['without autoUpgrade', { autoUpgrade: false }, {}],
		['in mode direct', { mode: 'direct' }, {}],
		['when it may not be begun twice', {}, { isRepeatable: false }],
		['where there is no sandbox', {}, { sandboxed: null }]
	] as const)('is not tried again %s', async (_, options, more) => {
		const executor = createHybridExecutor({ maxDirectDurationMs: 20, ...options });
		await expect(executor.execute(trusted({ direct: never, ...more }), signal)).rejects.toMatchObject({
			type: 'ExecutionTimeout'
		});
		await expect(executor.execute(trusted({ direct: outOfMemory, ...more }), signal)).rejects.toThrow('allocation');
	});
	test('is not tried again for any other failure, nor when the call was stopped', async () => {
		const direct = async () => {
			throw new SkillError('FileNotFound', 'There is none.');
		};
		await expect(createHybridExecutor().execute(trusted({ direct }), signal)).rejects.toThrow('There is none.');
		const stop = new AbortController();
		const stopped = createHybridExecutor().execute(trusted({ direct: never }), stop.signal);
		stop.abort();
		await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
	});
});
