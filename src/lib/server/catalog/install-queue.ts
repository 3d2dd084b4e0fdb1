/** Changes of disk and database one after the other: of two at once, neither would know what it replaces. */

export interface InstallQueue {
	/** Runs when all before it have ended, however they ended. */
	run<T>(change: () => Promise<T>): Promise<T>;
	/** Resolves when nothing is left to be done. */
	idle(): Promise<void>;
}

export function createInstallQueue(): InstallQueue {
	let last: Promise<unknown> = Promise.resolve();
	return {
		run(change) {
			const done = last.then(change);
			last = done.catch(() => undefined);
			return done;
		},
		async idle() {
			await last;
		}
	};
}
