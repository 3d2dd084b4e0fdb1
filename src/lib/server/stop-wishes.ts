/** Work of one of several servers that another is asked to stop: evals, responses in the background (decision 018). */
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../shared/errors.ts';
import { onceForAll } from '../shared/in-turn.ts';
import { createOutageLog, type Log } from './log.ts';
import type { Replica } from './replica.ts';

interface Work {
	/** Leaves the wish in the database. False if it isn't running. */
	wantStop(id: string): Promise<boolean>;
	/** What this server start is asked to stop. */
	stopsWanted(bootId: string): Promise<readonly string[]>;
	isRunning(id: string): Promise<boolean>;
	/** Whether this server has work that somebody could want to stop. */
	hasWork(): boolean;
	/** Stops it here. Does nothing if it isn't running here. */
	stop(id: string): void;
}

export interface StopWishes {
	/** Asks the server that does it, and waits for its end. @throws AppError `unavailable` */
	stop(id: string): Promise<void>;
	close(): void;
}

/** A word may be missed. */
const LOOK_EVERY_MS = 1_000;
const WAIT_MS = 30_000;
const ASK_EVERY_MS = 50;
const LOOKING = 'Couldn’t look for what another server wants to stop';

export function createStopWishes({ replica, log }: { replica: Replica; log: Log }, work: Work): StopWishes {
	if (!replica.isShared) return { stop: async () => undefined, close: () => undefined };
	const outages = createOutageLog(log);
	const look = onceForAll(async () => {
		if (!work.hasWork()) return;
		try {
			for (const id of await work.stopsWanted(replica.id)) work.stop(id);
			outages.worked(LOOKING);
		} catch (error) {
			outages.failed(LOOKING, error);
		}
	});
	replica.hear('stops', () => void look());
	const timer = setInterval(() => void look(), LOOK_EVERY_MS);
	timer.unref();
	return {
		async stop(id) {
			if (!(await work.wantStop(id))) return;
			replica.tell('stops', [id]);
			const until = performance.now() + WAIT_MS;
			while (await work.isRunning(id)) {
				if (performance.now() > until) {
					throw new AppError('unavailable', 'The server that does this hasn’t stopped it yet. Try again.');
				}
				await delay(ASK_EVERY_MS);
			}
		},
		close: () => clearInterval(timer)
	};
}
