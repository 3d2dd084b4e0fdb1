/** Starts runs so that none is started twice: what perhaps has arrived keeps its ids when it is sent again. */
import type { RunAgentInput } from '../shared/api.ts';
import { asApiError } from './api-error.ts';
import type { Client } from './client.ts';
import { runInput, type RunQuestion } from './questions.ts';

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
