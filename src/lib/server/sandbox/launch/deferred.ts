/** Replaces `Promise.withResolvers`, which the oldest supported Node lacks. */
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
