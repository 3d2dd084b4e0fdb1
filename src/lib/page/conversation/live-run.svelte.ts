/** Follows a run's events over any number of connections: each once, in order, delivered once per frame. */
import type { RunAgentInput } from '../../shared/api.ts';
import { isTerminal, type NumberedEvent, type RunEvent } from '../../shared/events.ts';
import { ApiError, asApiError } from '../request.ts';
import type { Client } from '../server.ts';
import { runInput, type RunQuestion } from './questions.ts';

export interface FollowOptions {
	/** Opens a stream of the events after `seq`. */
	connect: (after: number) => EventSource;
	/** `seq` of the last known event. */
	after: number;
	onevents: (events: NumberedEvent[]) => void;
	/** True while the connection is lost. */
	onreconnecting: (isReconnecting: boolean) => void;
	/** Called between attempts: false if the run no longer exists. A rejection counts as unknown. */
	exists: () => Promise<boolean>;
	/** The run no longer exists, or ended before the events shown here. */
	onlost: () => void;
}

const FIRST_DELAY_MS = 400;
const MAX_DELAY_MS = 5_000;

/** Returns a function that stops following. Ends by itself after the terminal event. */
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
			// The server crashed and lost the latest events shown here.
			if (isTerminal(event)) lose();
			return;
		}
		cursor = seq;
		queue.push({ seq, event });
		if (!isTerminal(event)) return;
		// Close at once: an open EventSource would reconnect and replay the whole run.
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
		// EventSource can't tell a 404 from a lost connection.
		const exists = await options.exists().catch(() => true);
		if (signal.aborted) return;
		if (exists) return open();
		lose();
	};

	open();
	return () => ended.abort();
}

/** Resolves after the delay, or as soon as the network or the tab is back. */
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

export interface LiveRunOptions {
	runId: string;
	/** `seq` of the last known event. */
	after: number;
	onevents: (events: NumberedEvent[]) => void;
	/** After the last event; `isLost`: the run no longer exists. */
	onend: (isLost: boolean) => void;
}

/** The active run of a chat. */
export class LiveRun {
	readonly #client: Client;
	/** Null between runs. */
	id = $state<string | null>(null);
	/** Whether a run was followed since the page opened. */
	hasBegun = $state(false);
	isStopping = $state(false);
	isReconnecting = $state(false);
	#unfollow: (() => void) | null = null;

	constructor(client: Client) {
		this.#client = client;
	}

	/** Follows this run instead of any other. */
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

	/** The run's last event tells when it has ended. Rejects with an `ApiError`. */
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

	/** Stops following; the run continues. */
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

export interface FrameQueue<Item> {
	push: (item: Item) => void;
	/** Delivers what has been collected now. */
	flush: () => void;
	/** Drops what has been collected. */
	clear: () => void;
}

/** A hidden tab gets no animation frames, but its title and announcements must still update. */
const HIDDEN_DELAY_MS = 250;

/** Collects items and delivers them once per animation frame, so that many events render once. */
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
			// Whichever comes first: a tab hidden after the request never gets its frame.
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

/** Starts each run only once: a request that may have arrived keeps its ids when sent again. */
export class RunStarter {
	readonly #client: Client;
	/** Sent without an answer. */
	#unconfirmed: RunAgentInput | null = null;

	constructor(client: Client) {
		this.#client = client;
	}

	inputOf(threadId: string, question: RunQuestion | null, props: Record<string, unknown>): RunAgentInput {
		return runInput(threadId, question, Object.keys(props).length === 0 ? null : props, this.#unconfirmed);
	}

	/** Resolves to the run's id; rejects like the request. */
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
