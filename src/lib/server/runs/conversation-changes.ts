/** Tells open pages that something in a conversation is not as it was: a run began or ended, a message waits (F14). */

export interface ConversationChanges {
	announce(conversationId: string): void;
	/** Yields once for all that has changed since the last time it was asked; ends with the signal. */
	follow(conversationId: string, signal: AbortSignal): AsyncGenerator<void>;
}

export function createConversationChanges(): ConversationChanges {
	const followers = new Map<string, Set<() => void>>();
	return {
		announce(conversationId) {
			for (const wake of followers.get(conversationId) ?? []) wake();
		},
		async *follow(conversationId, signal) {
			const of = followers.get(conversationId) ?? new Set();
			followers.set(conversationId, of);
			let hasChanged = false;
			let resume: (() => void) | undefined;
			const wake = () => {
				hasChanged = true;
				resume?.();
			};
			const onAbort = () => resume?.();
			of.add(wake);
			signal.addEventListener('abort', onAbort, { once: true });
			try {
				while (!signal.aborted) {
					if (!hasChanged) await new Promise<void>((resolve) => (resume = resolve));
					if (signal.aborted) return;
					hasChanged = false;
					yield;
				}
			} finally {
				signal.removeEventListener('abort', onAbort);
				of.delete(wake);
				if (of.size === 0) followers.delete(conversationId);
			}
		}
	};
}
