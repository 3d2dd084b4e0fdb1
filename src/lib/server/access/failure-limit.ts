/** Counts wrong tokens, by client and in all: whoever sends too many is told to wait. The right one is let in at any time. */

export interface FailureLimit {
	/** Whole seconds until the client may try again; 0 when it may now. */
	waitSeconds(client: string): number;
	fail(client: string): void;
	/** Forgets what the client has done wrong. */
	succeed(client: string): void;
}

export interface FailureLimitOptions {
	perClient: number;
	/** Counted over all clients; as no more are taken, this bounds the memory as well. */
	inAll: number;
	windowMs: number;
	/** Milliseconds of a clock that is never set back. */
	now: () => number;
}

interface Failures {
	since: number;
	count: number;
}

export function createFailureLimit({ perClient, inAll, windowMs, now }: FailureLimitOptions): FailureLimit {
	const clients = new Map<string, Failures>();
	let all: Failures = { since: now(), count: 0 };

	const isOver = ({ since }: Failures): boolean => now() - since >= windowMs;
	const dropOld = (): void => {
		if (isOver(all)) all = { since: now(), count: 0 };
		for (const [client, failures] of clients) if (isOver(failures)) clients.delete(client);
	};
	const secondsLeft = ({ since }: Failures): number => Math.max(1, Math.ceil((since + windowMs - now()) / 1000));

	return {
		waitSeconds(client) {
			dropOld();
			const own = clients.get(client);
			if (own && own.count >= perClient) return secondsLeft(own);
			return all.count >= inAll ? secondsLeft(all) : 0;
		},
		fail(client) {
			dropOld();
			all.count++;
			const own = clients.get(client) ?? { since: now(), count: 0 };
			own.count++;
			clients.set(client, own);
		},
		succeed(client) {
			clients.delete(client);
		}
	};
}
