/** A promise that is settled from outside; `Promise.withResolvers` is newer than the oldest Node that the library runs on. */
export interface Deferred<Value> {
	readonly promise: Promise<Value>;
	resolve(value: Value): void;
}

export function createDeferred<Value>(): Deferred<Value> {
	let resolve: (value: Value) => void = () => undefined;
	const promise = new Promise<Value>((settle) => {
		resolve = settle;
	});
	return { promise, resolve };
}
