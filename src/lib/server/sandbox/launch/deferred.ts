/** Replaces `Promise.withResolvers`, which the oldest supported Node lacks. */

export function createDeferred<Value>() {
	let resolve: (value: Value) => void = () => undefined;
	const promise = new Promise<Value>((settle) => (resolve = settle));
	return { promise, resolve };
}
