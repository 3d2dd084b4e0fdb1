/** How much a model takes at once, as far as anybody says. */
import type { Model } from '../agent/model.ts';

/** Where neither the model's server nor the operator says how much it takes. */
const DEFAULT_TOKENS = 128_000;

export interface ContextLimit {
	tokens: number;
	/** False when the model's server did not answer in time. */
	isKnown: boolean;
	/** True where neither the server nor the operator says anything. */
	isGuess: boolean;
}

/** `cap`: the operator's, however many the model takes; `patienceMs`: null waits for the server's word as long as the signal lets it. */
export async function contextLimitOf(
	model: Model,
	{ cap, signal, patienceMs }: { cap: number | null; signal: AbortSignal; patienceMs: number | null }
): Promise<ContextLimit> {
	const asked = model.contextTokens?.();
	const told = await inTime(asked, signal, patienceMs);
	const tokens = Math.min(told ?? cap ?? DEFAULT_TOKENS, cap ?? Infinity);
	return { tokens, isKnown: told !== undefined || !asked, isGuess: (told ?? cap ?? null) === null };
}

/** The value, or undefined as soon as the signal fires or the time is over. */
async function inTime<Value>(
	value: Promise<Value> | undefined,
	signal: AbortSignal,
	timeoutMs: number | null
): Promise<Value | undefined> {
	if (!value || signal.aborted) return undefined;
	const { promise, resolve } = Promise.withResolvers<undefined>();
	const onAbort = () => resolve(undefined);
	const timer = timeoutMs === null ? undefined : setTimeout(onAbort, timeoutMs);
	signal.addEventListener('abort', onAbort, { once: true });
	try {
		return await Promise.race([value, promise]);
	} finally {
		clearTimeout(timer);
		signal.removeEventListener('abort', onAbort);
	}
}
