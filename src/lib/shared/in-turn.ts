/** Runs work one after another, whatever becomes of the work before it. */
export function createLine() {
	let last: Promise<unknown> = Promise.resolve();
	return <Result>(work: () => Promise<Result>): Promise<Result> => {
		const done = last.then(work);
		last = done.catch(() => undefined);
		return done;
	};
}
