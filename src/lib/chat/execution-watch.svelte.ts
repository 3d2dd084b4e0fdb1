/** One execution as a page shows it: read anew while it runs, with the step that it was in a conversation. */
import type { SkillExecution } from '../shared/try-out.ts';
import { asApiError, type ApiError } from './api-error.ts';
import type { Client } from './client.ts';
import { isUnderWay } from './execution-facts.ts';
import { ExecutionReplay } from './execution-replay.svelte.ts';
import { request } from './request.ts';

interface ExecutionWatchClient extends Pick<Client, 'runEvents' | 'endExecution'> {
	/** Throws `not_found`. */
	getExecution: (id: string) => Promise<SkillExecution>;
}

export function getExecution(id: string): Promise<SkillExecution> {
	return request(`/api/skills/executions/${encodeURIComponent(id)}`);
}

/** While it runs. */
const REFRESH_MS = 1500;

export class ExecutionWatch {
	readonly #client: ExecutionWatchClient;
	readonly #id: string;
	readonly replay: ExecutionReplay;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#isOver = false;
	value = $state.raw<SkillExecution | null>(null);
	error = $state.raw<ApiError | null>(null);

	constructor(client: ExecutionWatchClient, id: string) {
		this.#client = client;
		this.#id = id;
		this.replay = new ExecutionReplay(client);
	}

	/** Never rejects: a failure is in `error`. */
	async read(): Promise<void> {
		clearTimeout(this.#timer);
		try {
			const value = await this.#client.getExecution(this.#id);
			if (this.#isOver) return;
			const isFirst = this.value === null;
			this.value = value;
			this.error = null;
			const { runId, toolCallId } = value;
			if (isFirst && runId !== null && toolCallId !== null) this.replay.open({ runId, toolCallId });
			if (isUnderWay(value)) this.#timer = setTimeout(() => void this.read(), REFRESH_MS);
		} catch (error) {
			this.error = asApiError(error);
		}
	}

	async end(): Promise<void> {
		try {
			await this.#client.endExecution(this.#id);
			await this.read();
		} catch (error) {
			this.error = asApiError(error);
		}
	}

	dispose(): void {
		this.#isOver = true;
		clearTimeout(this.#timer);
		this.replay.close();
	}
}
