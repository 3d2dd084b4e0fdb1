/** Follows a run's events over any number of connections: each once, in order, delivered once per frame. */
import type { RunAgentInput } from '../../shared/api.ts';
import { isTerminal, type NumberedEvent, placeOfEvent, type RunEvent } from '../../shared/events.ts';
import { ApiError, asApiError } from '../request.ts';
import type { Client } from '../server.ts';
import { runInput, type RunQuestion } from './questions.ts';

export interface LiveRunOptions {
	runId: string;
	/** `seq` of the last known event. */
	after: number;
	/** In which that event counts; default 1. */
	epoch?: number;
	onevents: (events: NumberedEvent[]) => void;
	/** After the last event; `isLost`: the run no longer exists, or ended before the events shown here. */
	onend: (isLost: boolean) => void;
}

interface FollowedRun extends LiveRunOptions {
	queue: FrameQueue<NumberedEvent>;
}

interface FollowOptions {
	runs: readonly FollowedRun[];
	/** Opens a stream of the events that these runs lack. */
	connect: (runs: readonly FollowedRun[]) => EventSource;
	/** True while the connection is lost. */
	onreconnecting: (isReconnecting: boolean) => void;
	/** Called between attempts: false if the run no longer exists. A rejection counts as unknown. */
	exists: (runId: string) => Promise<boolean>;
	onend: (run: FollowedRun, isLost: boolean) => void;
}

const FIRST_DELAY_MS = 400;
const MAX_DELAY_MS = 5_000;

/** Follows runs over one connection, until all have ended. Returns a function that stops following. */
function followRuns(options: FollowOptions): () => void {
	const ended = new AbortController();
	const { signal } = ended;
	let { runs } = options;
	let source: EventSource | undefined;
	let failures = 0;

	signal.addEventListener('abort', () => source?.close());

	const end = (run: FollowedRun, isLost: boolean): void => {
		runs = runs.filter((other) => other !== run);
		// Close at once: an open EventSource would reconnect and replay the whole run.
		if (runs.length === 0) ended.abort();
		if (isLost) run.queue.clear();
		else run.queue.flush();
		options.onend(run, isLost);
	};

	const receive = (run: FollowedRun, message: MessageEvent<string>): void => {
		if (signal.aborted || !runs.includes(run)) return;
		const { seq, epoch } = placeOfEvent(message.lastEventId);
		const event = JSON.parse(message.data) as RunEvent;
		if (seq <= run.after) {
			// The server crashed and lost the latest events shown here; another one may have others in their place.
			if (isTerminal(event) || epoch > (run.epoch ?? 1)) end(run, true);
			return;
		}
		run.after = seq;
		run.epoch = epoch;
		run.queue.push({ seq, event });
		if (isTerminal(event)) end(run, false);
	};

	const open = (): void => {
		source = options.connect(runs);
		source.onopen = () => {
			failures = 0;
			options.onreconnecting(false);
		};
		const [first, ...beside] = runs;
		source.onmessage = (message) => first && receive(first, message);
		for (const run of beside) {
			source.addEventListener(run.runId, (message: MessageEvent<string>) => receive(run, message));
		}
		source.onerror = () => void reconnect();
	};

	const reconnect = async (): Promise<void> => {
		source?.close();
		if (signal.aborted) return;
		failures++;
		options.onreconnecting(true);
		await untilWorthTrying(Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1)), signal);
		if (signal.aborted) return;
		for (const run of runs) {
			// EventSource can't tell a 404 from a lost connection.
			const exists = await options.exists(run.runId).catch(() => true);
			if (signal.aborted) return;
			if (!exists) end(run, true);
		}
		if (!signal.aborted) open();
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

/** The active run of a chat, or the runs that write answers side by side. */
export class LiveRun {
	readonly #client: Client;
	ids = $state.raw<readonly string[]>([]);
	/** Whether a run was followed since the page opened. */
	hasBegun = $state(false);
	isReconnecting = $state(false);
	#stopping = $state.raw<readonly string[]>([]);
	#runs: readonly FollowedRun[] = [];
	#unfollow: (() => void) | null = null;

	constructor(client: Client) {
		this.#client = client;
	}

	/** Null between runs. */
	get id(): string | null {
		return this.ids[0] ?? null;
	}

	/** Whether all of them, or this one, are being stopped. */
	isStopping(...runIds: string[]): boolean {
		return (runIds.length === 0 ? this.ids : runIds).every((id) => this.#stopping.includes(id));
	}

	/** Follows these runs instead of any other. Those it follows already go on where they are. */
	follow(runs: readonly LiveRunOptions[]): void {
		this.#unfollow?.();
		const known = this.#runs;
		const next = runs.map(
			(run) => known.find(({ runId }) => runId === run.runId) ?? { ...run, queue: createFrameQueue(run.onevents) }
		);
		for (const run of known) if (!next.includes(run)) run.queue.clear();
		this.#show(next);
		this.hasBegun = true;
		this.#unfollow = followRuns({
			runs: next,
			connect: ([first, ...beside]) =>
				this.#client.runEvents(first?.runId ?? '', { seq: first?.after ?? 0, epoch: first?.epoch }, beside),
			onreconnecting: (isReconnecting) => (this.isReconnecting = isReconnecting),
			exists: (runId) => this.#exists(runId),
			onend: (run, isLost) => {
				this.#show(this.#runs.filter((other) => other !== run));
				run.onend(isLost);
			}
		});
	}

	/** Stops these runs. The last event of each tells when it has ended. Rejects with an `ApiError`. */
	async stop(runIds = this.ids): Promise<void> {
		const asked = runIds.filter((id) => !this.#stopping.includes(id));
		this.#stopping = [...this.#stopping, ...asked];
		try {
			await Promise.all(asked.map((id) => this.#client.stopRun(id)));
		} catch (error) {
			this.#stopping = this.#stopping.filter((id) => !asked.includes(id));
			throw error;
		}
	}

	/** Stops following; the runs continue. */
	leave(): void {
		this.#unfollow?.();
		for (const { queue } of this.#runs) queue.clear();
		this.#show([]);
	}

	#show(runs: readonly FollowedRun[]): void {
		this.#runs = runs;
		this.ids = runs.map(({ runId }) => runId);
		this.#stopping = this.#stopping.filter((id) => this.ids.includes(id));
		if (runs.length > 0) return;
		this.#unfollow = null;
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
