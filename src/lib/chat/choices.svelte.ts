/** What answers in a conversation, and how long it thinks before: chosen by somebody, or as the settings say. */
import { isReasoningEffort, type ReasoningEffort } from '../shared/models.ts';
import type { SessionServices } from './session-services.ts';
import { readStored, writeStored } from './stored.ts';

export interface ChoiceHost {
	/** The conversation's. */
	readonly id: string;
	/** The server knows nothing of a new one. */
	readonly phase: 'new' | 'loading' | 'ready' | 'failed';
	/** Carries out one request, then reads the conversation again. */
	attempt: (work: () => Promise<unknown>) => Promise<boolean>;
}

interface Choice {
	model?: string | null;
	effort?: ReasoningEffort | null;
}

const MODEL_KEY = 'new-model';
const EFFORT_KEY = 'new-effort';

export class Choices {
	readonly #host: ChoiceHost;
	readonly #save: SessionServices['change'];
	/** Null: what the settings say. */
	model = $state<string | null>(null);
	effort = $state<ReasoningEffort | null>(null);

	/** A new conversation begins with what was chosen for the last new one. */
	constructor(host: ChoiceHost, save: SessionServices['change']) {
		this.#host = host;
		this.#save = save;
		this.model = readStored('local', MODEL_KEY);
		const effort = readStored('local', EFFORT_KEY);
		this.effort = isReasoningEffort(effort) ? effort : null;
	}

	/** For its next answers; null for what the settings say. False when the server did not take it: the session says why. */
	async pickModel(model: string | null): Promise<boolean> {
		this.model = model;
		return this.#keep(MODEL_KEY, model, { model });
	}

	async pickEffort(effort: ReasoningEffort | null): Promise<boolean> {
		this.effort = effort;
		return this.#keep(EFFORT_KEY, effort, { effort });
	}

	/** As the server has it. */
	show({ model, effort }: Choice): void {
		this.model = model ?? null;
		this.effort = effort ?? null;
	}

	/** What the first message of a new conversation says of it. */
	get props(): Choice {
		return {
			...(this.model === null ? {} : { model: this.model }),
			...(this.effort === null ? {} : { effort: this.effort })
		};
	}

	async #keep(key: string, value: string | null, patch: Choice): Promise<boolean> {
		if (this.#host.phase !== 'new') return this.#host.attempt(() => this.#save(this.#host.id, patch));
		writeStored('local', key, value);
		return true;
	}
}
