/** Tells pages when the library of skills has changed, or what somebody decided about one (FEATURES A33, E3). */
import type { SkillRegistry } from '../skills/registry.ts';

export interface SkillRevisions {
	/** Differs whenever the list would. */
	current(): string;
	/** Somebody has changed a mode, a pin, or whom they trust. */
	note(): void;
	/** SSE frames: the revision at once, then each newer one; a slow reader sees only the newest. */
	follow(signal: AbortSignal): AsyncGenerator<string>;
}

export function createSkillRevisions(registry: Pick<SkillRegistry, 'snapshot' | 'onChange'>): SkillRevisions {
	let decisions = 0;
	const listeners = new Set<() => void>();
	const current = () => `${registry.snapshot().revision}.${decisions}`;
	return {
		current,
		note() {
			decisions += 1;
			for (const listener of listeners) listener();
		},
		async *follow(signal) {
			let sent = '';
			let wake = () => {};
			const onChange = () => wake();
			const stop = registry.onChange(onChange);
			listeners.add(onChange);
			signal.addEventListener('abort', onChange);
			try {
				while (!signal.aborted) {
					const revision = current();
					if (revision !== sent) {
						sent = revision;
						yield `data: ${JSON.stringify({ revision })}\n\n`;
						continue;
					}
					await new Promise<void>((resolve) => (wake = resolve));
				}
			} finally {
				stop();
				listeners.delete(onChange);
				signal.removeEventListener('abort', onChange);
			}
		}
	};
}
