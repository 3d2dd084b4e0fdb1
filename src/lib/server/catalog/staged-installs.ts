/** What was fetched and waits for a yes: kept for an hour, twenty at a time, gone with the process (FEATURES E20). */
import { AppError } from '../../shared/errors.ts';
import type { StagedInstall } from '../../shared/install.ts';
import type { Inspection } from './inspection.ts';
import type { StagingFolder } from './staging-folder.ts';

const LIFETIME_MS = 60 * 60 * 1000;
const MAX_STAGED = 20;

export interface Staged {
	shown: StagedInstall;
	folder: StagingFolder;
	/** By the skill's `path`. */
	inspections: ReadonlyMap<string, Inspection>;
	/** When it is over, in milliseconds of a clock that is never set back. */
	until: number;
}

export interface StagedInstalls {
	/** The oldest makes room. */
	add(
		id: string,
		make: (times: Pick<StagedInstall, 'createdAt' | 'expiresAt'>) => Omit<Staged, 'until'>
	): Promise<StagedInstall>;
	/** @throws AppError `not_found`, also for one that has expired */
	get(id: string): Staged;
	/** Nobody else gets it from here on. @throws AppError `not_found` */
	take(id: string): Staged;
	/** What was taken and not used. */
	putBack(staged: Staged): void;
	/** Removes its folder, where it is still there. */
	drop(staged: Staged): Promise<void>;
	close(): Promise<void>;
}

export function createStagedInstalls(options: {
	/** Milliseconds since 1970. */
	now(): number;
	/** Milliseconds of that clock. */
	uptime(): number;
	remove(folder: StagingFolder): Promise<void>;
}): StagedInstalls {
	const { now, uptime, remove } = options;
	const kept = new Map<string, Staged>();
	let timer: NodeJS.Timeout | undefined;

	const isOver = ({ until }: Staged) => until <= uptime();
	const sweep = async () => {
		const over = [...kept.values()].filter(isOver);
		for (const { shown } of over) kept.delete(shown.id);
		await Promise.all(over.map(({ folder }) => remove(folder)));
	};
	const get = (id: string): Staged => {
		const staged = kept.get(id);
		if (!staged || isOver(staged)) {
			throw new AppError('not_found', 'There is no such staged installation, or its time is over.', {
				hint: 'Stage it again.'
			});
		}
		return staged;
	};
	return {
		async add(id, make) {
			await sweep();
			const createdAt = now();
			const { shown, ...rest } = make({
				createdAt: new Date(createdAt).toISOString(),
				expiresAt: new Date(createdAt + LIFETIME_MS).toISOString()
			});
			kept.set(id, { shown, ...rest, until: uptime() + LIFETIME_MS });
			const [oldest] = kept.values();
			if (oldest && kept.size > MAX_STAGED) {
				kept.delete(oldest.shown.id);
				await remove(oldest.folder);
			}
			clearTimeout(timer);
			timer = setTimeout(() => void sweep(), LIFETIME_MS + 1000).unref();
			return shown;
		},
		get,
		take(id) {
			const staged = get(id);
			kept.delete(id);
			return staged;
		},
		putBack: (staged) => void kept.set(staged.shown.id, staged),
		drop: ({ folder }) => remove(folder),
		async close() {
			clearTimeout(timer);
			const folders = [...kept.values()].map(({ folder }) => folder);
			kept.clear();
			await Promise.all(folders.map(remove));
		}
	};
}
