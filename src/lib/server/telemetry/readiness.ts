/** Whether this process should be given requests: it isn’t stopping, and what it depends on answers. */
import { AppError } from '../../shared/errors.ts';

export interface Readiness {
	/** null if it should; otherwise why not, as a sentence. Never rejects. */
	reason(): Promise<string | null>;
	/**
	 * From now on it shouldn’t. Resolves after `delayMs`, in which a load balancer notices and everybody is served; a later
	 * call with 0 ends that.
	 */
	stop(delayMs: number): Promise<void>;
}

/** A load balancer asks every few seconds and gives up soon after. */
const PATIENCE_MS = 2_000;

/** `checks` are what it depends on, by the words for them: each resolves if that answers. */
export function createReadiness(
	checks: Record<string, () => Promise<unknown>>,
	{ patienceMs = PATIENCE_MS } = {}
): Readiness {
	let isStopping = false;
	const delay = Promise.withResolvers<void>();
	/** Anybody may ask, as often as they like: what doesn't answer is asked once at a time. */
	const asked = new Map<string, Promise<string | null>>();
	const check = async (what: string, ask: () => Promise<unknown>): Promise<string | null> => {
		const late = Promise.withResolvers<string>();
		const timer = setTimeout(() => late.resolve(`${what} didn’t answer within ${patienceMs} ms.`), patienceMs);
		const answer =
			asked.get(what) ??
			ask()
				.then(
					() => null,
					// Others in the network are told no more than that.
					(error: unknown) => `${what} doesn’t answer${error instanceof AppError ? `: ${error.message}` : '.'}`
				)
				.finally(() => asked.delete(what));
		asked.set(what, answer);
		return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
	};
	return {
		async stop(delayMs) {
			isStopping = true;
			const timer = setTimeout(delay.resolve, delayMs);
			if (delayMs === 0) delay.resolve();
			await delay.promise;
			clearTimeout(timer);
		},
		async reason() {
			if (isStopping) return 'The server is stopping.';
			const reasons = await Promise.all(Object.entries(checks).map(([what, ask]) => check(what, ask)));
			// It may have been told to stop meanwhile.
			return isStopping ? 'The server is stopping.' : (reasons.find((reason) => reason !== null) ?? null);
		}
	};
}
