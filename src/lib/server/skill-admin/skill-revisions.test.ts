import { expect, test } from 'vitest';
import type { SkillSnapshot } from '../skills/registry/registry.ts';
import { createSkillRevisions } from './skill-counts.ts';

/** As much of a registry as it needs. */
function registry() {
	const listeners = new Set<(snapshot: SkillSnapshot) => void>();
	let revision = 'a';
	const snapshot = (): SkillSnapshot => ({ skills: [], shadowed: [], broken: [], revision });
	return {
		listeners,
		snapshot,
		onChange: (listener: (snapshot: SkillSnapshot) => void) => {
			listeners.add(listener);
			return () => void listeners.delete(listener);
		},
		change(to: string) {
			revision = to;
			for (const listener of listeners) listener(snapshot());
		}
	};
}

test('E3: whoever follows is told of a change of the library and of a decision, the newest only, and leaves nothing behind', async () => {
	const source = registry();
	const revisions = createSkillRevisions(source);
	const stop = new AbortController();
	const frames = revisions.follow(stop.signal);
	const next = async () => (await frames.next()).value as string | undefined;
	const first = revisions.current();
	expect(await next()).toBe(`data: {"revision":"${first}"}\n\n`);
	const waiting = next();
	revisions.note();
	expect(await waiting).toContain(revisions.current());
	expect(revisions.current()).not.toBe(first);
	source.change('b');
	source.change('c');
	expect(await next()).toContain('"c.');
	const last = next();
	stop.abort();
	expect(await last).toBeUndefined();
	expect(source.listeners.size).toBe(0);
});
