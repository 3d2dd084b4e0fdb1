/** The record of executions as a page shows it: one page of a filtered list, read anew while something runs. */
import type { SkillExecutionList } from '../shared/try-out.ts';
import { asApiError, type ApiError } from './api-error.ts';
import type { Client } from './client.ts';
import { EVERY_EXECUTION, type ExecutionQuery } from './execution-query.ts';

export type ExecutionClient = Pick<Client, 'listExecutions' | 'endExecution'>;

const PAGE_SIZE = 25;
/** While something runs, and while nothing does: something may begin. */
const REFRESH_MS = 1500;
const IDLE_MS = 10_000;

export class Executions {
	readonly #client: ExecutionClient;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** Only the answer to the newest question is shown. */
	#asked = 0;
	query = $state.raw<ExecutionQuery>(EVERY_EXECUTION);
	page = $state(1);
	list = $state.raw<SkillExecutionList | null>(null);
	error = $state.raw<ApiError | null>(null);
	isLoading = $state(false);

	constructor(client: ExecutionClient) {
		this.#client = client;
	}

	show(query: ExecutionQuery, page = 1): Promise<void> {
		this.query = query;
		this.page = page;
		return this.read();
	}

	async read(): Promise<void> {
		clearTimeout(this.#timer);
		const asked = ++this.#asked;
		this.isLoading = true;
		try {
			const list = await this.#client.listExecutions({ ...this.query, page: this.page, limit: PAGE_SIZE });
			if (asked !== this.#asked) return;
			this.list = list;
			this.error = null;
			const isUnderWay = list.data.some(({ status }) => status === 'running' || status === 'pending');
			this.#timer = setTimeout(() => this.#look(), isUnderWay ? REFRESH_MS : IDLE_MS);
		} catch (error) {
			if (asked === this.#asked) this.error = asApiError(error);
		} finally {
			if (asked === this.#asked) this.isLoading = false;
		}
	}

	/** What nobody sees is not asked for. */
	#look(): void {
		if (document.visibilityState === 'visible') void this.read();
		else this.#timer = setTimeout(() => this.#look(), IDLE_MS);
	}

	async end(id: string): Promise<void> {
		try {
			await this.#client.endExecution(id);
		} catch (error) {
			this.error = asApiError(error);
		}
		await this.read();
	}

	dispose(): void {
		clearTimeout(this.#timer);
		this.#asked += 1;
	}
}
