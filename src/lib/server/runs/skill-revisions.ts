/** Tells a page when the library of skills has changed. */
import type { SkillRegistry } from '../skills/registry.ts';

/** SSE frames: the revision at once, then each newer one; a slow reader sees only the newest. */
export async function* followRevisions(registry: SkillRegistry, signal: AbortSignal): AsyncGenerator<string> {
	let sent = '';
	let wake = () => {};
	const stop = registry.onChange(() => wake());
	const onAbort = () => wake();
	signal.addEventListener('abort', onAbort);
	try {
		while (!signal.aborted) {
			const { revision } = registry.snapshot();
			if (revision !== sent) {
				sent = revision;
				yield `data: ${JSON.stringify({ revision })}\n\n`;
				continue;
			}
			await new Promise<void>((resolve) => (wake = resolve));
		}
	} finally {
		stop();
		signal.removeEventListener('abort', onAbort);
	}
}
