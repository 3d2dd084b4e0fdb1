/** Chooses for each call whether it runs in the server itself or in a sandbox (FEATURES D36). */
import type { BuiltinOutcome } from './builtin.ts';
import { SkillError } from '../skills/types.ts';

export type ExecutionMode = 'direct' | 'sandbox' | 'hybrid';

export interface HybridOptions {
	/** `hybrid`: what is trusted runs directly, all else in the sandbox. */
	mode?: ExecutionMode;
	/** Whether what ran into its time or out of memory directly is tried again in the sandbox; true. */
	autoUpgrade?: boolean;
	/** Longest that something may run directly; 5000. */
	maxDirectDurationMs?: number;
}

/** One call in its two ways. */
export interface HybridCall {
	/** Is it code of this server? */
	isTrusted: boolean;
	/** May it be begun a second time, after it was broken off? */
	isRepeatable: boolean;
	/** Does nothing more that can be seen once the signal has fired. */
	direct(signal: AbortSignal): Promise<BuiltinOutcome>;
	/** null where there is no sandbox for it. */
	sandboxed: ((signal: AbortSignal) => Promise<BuiltinOutcome>) | null;
}

export interface HybridExecutor {
	/** @throws whatever the chosen way throws; SkillError when there is no way */
	execute(call: HybridCall, signal: AbortSignal): Promise<BuiltinOutcome>;
}

export function createHybridExecutor({
	mode = 'hybrid',
	autoUpgrade = true,
	maxDirectDurationMs = 5000
}: HybridOptions = {}): HybridExecutor {
	return {
		async execute({ isTrusted, isRepeatable, direct, sandboxed }, signal) {
			signal.throwIfAborted();
			if (mode === 'sandbox' || (mode === 'hybrid' && !isTrusted)) {
				if (sandboxed) return sandboxed(signal);
				const hint = 'Install bubblewrap, or set SKILLS_SANDBOX to a backend that isolates files.';
				throw new SkillError('SkillDisabled', 'This may only run in a sandbox, and there is none.', hint);
			}
			const limit = AbortSignal.timeout(maxDirectDurationMs);
			const either = AbortSignal.any([signal, limit]);
			try {
				return await Promise.race([direct(either), rejectWhen(either)]);
			} catch (error) {
				const isTooMuch = (limit.aborted && !signal.aborted) || isMemoryError(error);
				if (isTooMuch && mode === 'hybrid' && autoUpgrade && isRepeatable && sandboxed) return sandboxed(signal);
				if (!limit.aborted || signal.aborted) throw error;
				throw new SkillError('ExecutionTimeout', `It was broken off after ${maxDirectDurationMs / 1000} s.`);
			}
		}
	};
}

function rejectWhen(signal: AbortSignal): Promise<never> {
	return new Promise((_, reject) => {
		const fail = () => reject(signal.reason as Error);
		if (signal.aborted) fail();
		else signal.addEventListener('abort', fail, { once: true });
	});
}

/** What Node says when it gets no memory for something. */
function isMemoryError(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	const { code } = error as NodeJS.ErrnoException;
	const isRefused = code === 'ENOMEM' || code === 'ERR_MEMORY_ALLOCATION_FAILED' || code === 'ERR_STRING_TOO_LONG';
	return isRefused || (error instanceof RangeError && /allocation failed|invalid array length/i.test(error.message));
}
