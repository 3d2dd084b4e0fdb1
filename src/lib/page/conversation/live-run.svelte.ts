/** Follows a run's events over any number of connections: each event once, in order, delivered once per frame. */
import type { RunAgentInput } from '../../shared/api.ts';
import { isTerminal, type NumberedEvent, type RunEvent } from '../../shared/events.ts';
import { ApiError, asApiError } from '../request.ts';
import type { Client } from '../server.ts';
import { runInput, type RunQuestion } from './questions.ts';

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
function followRun(options: FollowOptions): () => void {
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

// The run of a conversation that is under way, as the page follows it.

export interface LiveRunOptions {
	runId: string;
	/** The last event that is already known. */
	after: number;
	onevents: (events: NumberedEvent[]) => void;
	/** After the last events; `isLost`: there is no such run any more. */
	onend: (isLost: boolean) => void;
}

export class LiveRun {
	readonly #client: Client;
	/** Null while none is under way. */
	id = $state<string | null>(null);
	/** Has one been followed since the page was opened? */
	hasBegun = $state(false);
	isStopping = $state(false);
	isReconnecting = $state(false);
	#unfollow: (() => void) | null = null;

	constructor(client: Client) {
		this.#client = client;
	}

	/** Follows this run, and no other any more. */
	follow({ runId, after, onevents, onend }: LiveRunOptions): void {
		this.leave();
		this.id = runId;
		this.hasBegun = true;
		const end = (isLost: boolean): void => {
			this.#reset();
			onend(isLost);
		};
		this.#unfollow = followRun({
			connect: (seq) => this.#client.runEvents(runId, seq),
			after,
			onevents: (events) => {
				onevents(events);
				const last = events.at(-1);
				if (last && isTerminal(last.event)) end(false);
			},
			onreconnecting: (isReconnecting) => (this.isReconnecting = isReconnecting),
			exists: () => this.#exists(runId),
			onlost: () => end(true)
		});
	}

	/** Its own last event tells when it has ended. Rejects with an `ApiError`. */
	async stop(): Promise<void> {
		if (this.id === null || this.isStopping) return;
		this.isStopping = true;
		try {
			await this.#client.stopRun(this.id);
		} catch (error) {
			this.isStopping = false;
			throw error;
		}
	}

	/** Follows no more; the run goes on. */
	leave(): void {
		this.#unfollow?.();
		this.#reset();
	}

	#reset(): void {
		this.#unfollow = null;
		this.id = null;
		this.isStopping = false;
		this.isReconnecting = false;
	}

	async #exists(runId: string): Promise<boolean> {
		try {
			await this.#client.getRun(runId);
			return true;
		} catch (error) {
			if (error instanceof ApiError && error.code === 'not_found') return false;
			throw error;
		}
	}
}

// Collects what arrives and hands it over once per animation frame, so that a flood of events renders once.

export interface FrameQueue<Item> {
	push: (item: Item) => void;
	/** Hands over what has collected, now. */
	flush: () => void;
	/** Drops what has collected. */
	clear: () => void;
}

/** A hidden tab gets no animation frames; its title and announcements still have to follow. */
const HIDDEN_DELAY_MS = 250;

function createFrameQueue<Item>(deliver: (items: Item[]) => void): FrameQueue<Item> {
	let items: Item[] = [];
	let frame = 0;
	let timer: ReturnType<typeof setTimeout> | undefined;

	const cancel = (): void => {
		cancelAnimationFrame(frame);
		clearTimeout(timer);
		frame = 0;
		timer = undefined;
	};
	const flush = (): void => {
		cancel();
		if (items.length === 0) return;
		const collected = items;
		items = [];
		deliver(collected);
	};
	return {
		push(item) {
			items.push(item);
			if (frame !== 0) return;
			// Whichever comes first: a tab that is hidden after the request never gets its frame.
			frame = requestAnimationFrame(flush);
			timer = setTimeout(flush, HIDDEN_DELAY_MS);
		},
		flush,
		clear() {
			cancel();
			items = [];
		}
	};
}

// Starts runs so that none is started twice: what perhaps has arrived keeps its ids when it is sent again.

export class RunStarter {
	readonly #client: Client;
	/** Sent, but not answered. */
	#unconfirmed: RunAgentInput | null = null;

	constructor(client: Client) {
		this.#client = client;
	}

	inputOf(threadId: string, question: RunQuestion | null, props: Record<string, unknown>): RunAgentInput {
		return runInput(threadId, question, Object.keys(props).length === 0 ? null : props, this.#unconfirmed);
	}

	/** Resolves to the run's id; rejects as the request does. */
	async start(input: RunAgentInput): Promise<string> {
		try {
			const { runId } = await this.#client.startRun(input);
			this.#unconfirmed = null;
			return runId;
		} catch (error) {
			this.#unconfirmed = asApiError(error).code === 'unreachable' ? input : null;
			throw error;
		}
	}
}
