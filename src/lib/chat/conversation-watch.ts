/** Hears of changes in a conversation that are made elsewhere: in another tab, or by the server itself. */

export interface WatchOptions {
	/** Opens the stream of `change` events. */
	connect: () => EventSource;
	/** Something has changed, or may have while nobody listened. */
	onchange: () => void;
}

const RETRY_MS = 3_000;

/**
 * Listens while the tab is visible: a browser has few connections for one server, and all its tabs share them. Returns the
 * function that ends it.
 */
export function watchConversation({ connect, onchange }: WatchOptions): () => void {
	let source: EventSource | null = null;
	let timer: ReturnType<typeof setTimeout> | undefined;

	const close = (): void => {
		clearTimeout(timer);
		source?.close();
		source = null;
	};
	const open = (): void => {
		if (source) return;
		source = connect();
		source.onopen = onchange;
		source.addEventListener('change', onchange);
		source.onerror = () => {
			// After an error status the browser does not try again by itself.
			if (source?.readyState !== EventSource.CLOSED) return;
			close();
			timer = setTimeout(open, RETRY_MS);
		};
	};
	const follow = (): void => (document.visibilityState === 'visible' ? open() : close());

	document.addEventListener('visibilitychange', follow);
	follow();
	return () => {
		document.removeEventListener('visibilitychange', follow);
		close();
	};
}
