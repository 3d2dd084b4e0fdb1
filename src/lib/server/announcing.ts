/** What one of several servers keeps in memory, and another changes: its table is told, and read again (decision 018). */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from './log.ts';
import type { Replica } from './replica.ts';
import type { Store } from './store/store.ts';

/** Writes of what servers keep in memory, or pages show until they hear of a change. */
const WRITES = {
	settings: ['set'],
	secrets: ['put', 'remove'],
	mcpServers: ['put', 'remove'],
	skillSettings: ['set', 'remove'],
	skillPins: ['set'],
	skillInstalls: ['add', 'move', 'remove'],
	trustedSkills: ['put', 'remove'],
	networkGrants: ['replace'],
	skillPackages: ['put', 'remove'],
	skillExecutions: ['finish', 'endUnfinished']
} as const satisfies { [Name in keyof Store]?: readonly (keyof Store[Name])[] };

/** A table, or the folders of skills. */
export type Kept = keyof typeof WRITES | 'skills';

/** The store, which tells other servers what it has changed. */
export function announcing(store: Store, replica: Replica): Store {
	if (!replica.isShared) return store;
	const told = Object.entries(WRITES).map(([name, writes]) => {
		const aggregate = store[name as keyof typeof WRITES] as Record<string, (...values: unknown[]) => Promise<unknown>>;
		const wrapped = writes.map((write) => [
			write,
			async (...values: unknown[]) => {
				const result = await aggregate[write]?.(...values);
				replica.tell('table', [name]);
				return result;
			}
		]);
		return [name, { ...aggregate, ...Object.fromEntries(wrapped) }];
	});
	return { ...store, ...Object.fromEntries(told) };
}

/** Many changes in a row are read at once. */
const QUIET_MS = 50;

/** Calls back after another server has changed one of these, one call at a time, and after words may have been missed. */
export function onOthersChange(
	{ replica, log }: { replica: Replica; log: Log },
	kept: readonly Kept[],
	readAgain: () => Promise<unknown> | void
): void {
	let isDue = false;
	let reading: Promise<void> = Promise.resolve();
	replica.hear('table', (names) => {
		const isNews = names.length === 0 || names.some((name) => (kept as readonly string[]).includes(name));
		if (!isNews || isDue) return;
		isDue = true;
		reading = reading.then(async () => {
			await delay(QUIET_MS, undefined, { ref: false });
			isDue = false;
			try {
				await readAgain();
			} catch (error) {
				// Without its connection, this server is closing, or reads all of it when it's back.
				if (!replica.mayJudge()) return;
				log.error({ kept, error: String(error) }, 'couldn’t read what another server has changed');
			}
		});
	});
}
