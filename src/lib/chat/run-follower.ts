/** Follows a run's events over any number of connections: each event once, in order, delivered once per frame. */
import { isTerminal, type NumberedEvent, type RunEvent } from '../shared/events.ts';
import { createFrameQueue } from './frame-queue.ts';

export interface FollowOptions {
	/** Opens a stream of the events after `seq`. */
	connect: (after: number) => EventSource;
	/** The last event that is already known. */
	after: number;
	onevents: (events: NumberedEvent[]) => void;
	/** True while the connection is lost and being made again. */
	onreconnecting: (isReconnecting: boolean) => void;
	/** Asked between attempts: false when there is no such run any more. A rejection counts as "not known". */
	exists: () => Promise<boolean>;
	/** The run does not exist any more, or ended before what was shown of it; nothing follows. */
	onlost: () => void;
}

const FIRST_DELAY_MS = 400;
const MAX_DELAY_MS = 5_000;

/** Returns the function that ends it. After the terminal event it ends by itself. */
export function followRun(options: FollowOptions): () => void {
	const ended = new AbortController();
	const { signal } = ended;
	const queue = createFrameQueue(options.onevents);
	let cursor = options.after;
	let source: EventSource | undefined;
	let failures = 0;

	signal.addEventListener('abort', () => {
		source?.close();
		queue.clear();
	});

	const receive = (message: MessageEvent<string>): void => {
		const seq = Number(message.lastEventId);
		const event = JSON.parse(message.data) as RunEvent;
		if (seq <= cursor) {
			// A crash of the server took the last moment of what is shown here.
			if (isTerminal(event)) lose();
			return;
		}
		cursor = seq;
		queue.push({ seq, event });
		if (!isTerminal(event)) return;
		// Closed at once: a source that is left open would connect again and replay the whole run.
		source?.close();
		queue.flush();
		ended.abort();
	};

	const lose = (): void => {
		ended.abort();
		options.onlost();
	};

	const open = (): void => {
		source = options.connect(cursor);
		source.onopen = () => {
			failures = 0;
			options.onreconnecting(false);
		};
		source.onmessage = receive;
		source.onerror = () => void reconnect();
	};

	const reconnect = async (): Promise<void> => {
		source?.close();
		if (signal.aborted) return;
		failures++;
		options.onreconnecting(true);
		await untilWorthTrying(Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1)), signal);
		if (signal.aborted) return;
		// An EventSource does not tell a 404 from a lost connection.
		const exists = await options.exists().catch(() => true);
		if (signal.aborted) return;
		if (exists) return open();
		lose();
	};

	open();
	return () => ended.abort();
}

/** Resolves after the delay, or as soon as the network or the reader is back. */
function untilWorthTrying(delayMs: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const finished = new AbortController();
		const finish = (): void => {
			clearTimeout(timer);
			finished.abort();
			resolve();
		};
		const timer = setTimeout(finish, delayMs);
		window.addEventListener('online', finish, { signal: finished.signal });
		document.addEventListener('visibilitychange', finish, { signal: finished.signal });
		signal.addEventListener('abort', finish, { signal: finished.signal });
	});
}
