/** The evals of a skill: prompts, past runs, and a running one. */
import type { EvalRun, SkillEvals } from '../../../shared/try-out.ts';
import { asApiError, type ApiError } from '../../request.ts';
import type { Client } from '../../server.ts';
import { Task } from '../../ui/reading.svelte.ts';

export type EvalClient = Pick<Client, 'getEvals' | 'startEvals' | 'getEvalRun' | 'cancelEvals'>;

/** While a run is going on. */
const REFRESH_MS = 1500;

export class Evals {
	readonly task = new Task();
	readonly #client: EvalClient;
	readonly #skillId: string;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#isOver = false;
	cases = $state.raw<SkillEvals['cases']>([]);
	problem = $state<string | null>(null);
	/** Newest first. */
	runs = $state.raw<EvalRun[]>([]);
	isLoaded = $state(false);
	error = $state.raw<ApiError | null>(null);
	#shown = $state<string | null>(null);
	/** The chosen run; the newest by default. */
	readonly run = $derived(this.runs.find(({ id }) => id === this.#shown) ?? this.runs[0] ?? null);
	readonly isRunning = $derived(this.runs.some(({ state }) => state === 'running'));

	constructor(client: EvalClient, skillId: string) {
		this.#client = client;
		this.#skillId = skillId;
	}

	/** Never rejects: a failure sets `error`. */
	async load(): Promise<void> {
		try {
			const { cases, problem, runs } = await this.#client.getEvals(this.#skillId);
			Object.assign(this, { cases, problem, runs, error: null, isLoaded: true });
			this.#follow();
		} catch (error) {
			this.error = asApiError(error);
		}
	}

	show(id: string): void {
		this.#shown = id;
	}

	async start(rounds: number): Promise<void> {
		const started = await this.task.run(() => this.#client.startEvals(this.#skillId, rounds));
		if (!started) return;
		this.#put(started);
		this.#shown = started.id;
		this.#follow();
	}

	async cancel(id: string): Promise<void> {
		await this.task.run(() => this.#client.cancelEvals(this.#skillId, id));
		await this.#read(id);
	}

	dispose(): void {
		this.#isOver = true;
		clearTimeout(this.#timer);
	}

	#put(run: EvalRun): void {
		const isKnown = this.runs.some(({ id }) => id === run.id);
		this.runs = isKnown ? this.runs.map((each) => (each.id === run.id ? run : each)) : [run, ...this.runs];
	}

	#follow(): void {
		clearTimeout(this.#timer);
		const running = this.runs.find(({ state }) => state === 'running');
		if (running && !this.#isOver) this.#timer = setTimeout(() => void this.#read(running.id), REFRESH_MS);
	}

	async #read(id: string): Promise<void> {
		try {
			this.#put(await this.#client.getEvalRun(this.#skillId, id));
			this.error = null;
		} catch (error) {
			this.error = asApiError(error);
		}
		this.#follow();
	}
}
