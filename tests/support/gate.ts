/** Something a test opens when it's ready, instead of sleeping. */
export interface Gate {
	readonly opened: Promise<void>;
	open(): void;
}

export function gate(): Gate {
	const { promise, resolve } = Promise.withResolvers<void>();
	return { opened: promise, open: resolve };
}
