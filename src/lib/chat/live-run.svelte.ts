/** The run of a conversation that is under way, as the page follows it. */
import { isTerminal, type NumberedEvent } from '../shared/events.ts';
import { ApiError } from './api-error.ts';
import type { Client } from './client.ts';
import { followRun } from './run-follower.ts';

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
