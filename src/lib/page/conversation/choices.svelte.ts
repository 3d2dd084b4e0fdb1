/** The messages that wait for the end of a run (F14). They are the server's: every tab shows the same ones. */
import type { QueuedMessage } from '../../shared/api.ts';
import { isReasoningEffort, type ReasoningEffort } from '../../shared/names.ts';
import type { SkillSummary } from '../../shared/skills.ts';
import { KIND_ORDER, kindOf } from '../skills/skill-words.ts';
import { newId, timestamp } from '../text/format.ts';
import { readStored, writeStored } from '../ui/clipboard.ts';
import type { SessionHost, SessionServices } from './session-services.ts';

/** A skill that brings an example. */
export type SkillExample = SkillSummary & { example: NonNullable<SkillSummary['example']> };

export class MessageQueue {
	readonly #host: SessionHost;
	/** First the one that is sent next. */
	items = $state.raw<QueuedMessage[]>([]);
	/** The one that is being edited. */
	editedId = $state<string | null>(null);
	/** Not answered: it may have arrived, so it keeps its id when it is sent again. */
	#unconfirmed: QueuedMessage | null = null;
	/** The last message is on its way; what is done with one waits for that, as it may be the same. */
	#adding: Promise<unknown> = Promise.resolve();

	constructor(host: SessionHost) {
		this.#host = host;
	}

	/** True when the server has taken the message. `isUrgent`: it is to be sent as `sendNow` does. */
	async add(text: string, files: string[], isUrgent = false): Promise<boolean> {
		const message = this.#messageOf(text, files);
		this.#unconfirmed = message;
		this.#host.draft.sendingAs(message.id);
		this.items = [...this.items, message];
		let isWaiting = false;
		const adding = this.#host.attempt(async () => {
			const { runId } = await this.#host.client.enqueue(this.#host.id, { id: message.id, text, files });
			isWaiting = runId === null;
		});
		this.#adding = adding;
		const isTaken = await adding;
		if (isTaken) this.#unconfirmed = null;
		else this.#drop(message.id);
		// Whatever becomes of this, the message is in the queue, for everybody to see.
		if (isUrgent && isWaiting) await this.sendNow(message.id);
		return isTaken;
	}

	/** Begins to edit the last one; false where none waits. */
	editLast(): boolean {
		const last = this.items.at(-1);
		if (last) this.editedId = last.id;
		return last !== undefined;
	}

	edit(id: string, text: string): Promise<boolean> {
		return this.#host.attempt(async () => {
			await this.#adding;
			await this.#host.client.editQueued(this.#host.id, id, text);
			this.items = this.items.map((message) => (message.id === id ? { ...message, text } : message));
		});
	}

	remove(id: string): Promise<boolean> {
		return this.#host.attempt(async () => {
			await this.#adding;
			await this.#host.client.removeQueued(this.#host.id, id);
			this.#drop(id);
		});
	}

	/** Sends it as soon as the step that is under way is over. */
	sendNow(id: string): Promise<boolean> {
		return this.#host.attempt(async () => {
			await this.#adding;
			await this.#host.client.sendQueued(this.#host.id, id);
		});
	}

	#drop(id: string): void {
		this.items = this.items.filter((message) => message.id !== id);
	}

	#messageOf(text: string, files: string[]): QueuedMessage {
		const last = this.#unconfirmed;
		const isSame = last?.text === text && JSON.stringify(last.files) === JSON.stringify(files);
		return isSame ? last : { id: newId(), text, files, createdAt: timestamp() };
	}
}

// What answers in a conversation, and how long it thinks before: chosen by somebody, or as the settings say.

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

// First things to ask: the examples that skills bring. Pure.

/** Of skills that run without a question, at most `count`. */
export function examplesFrom(skills: readonly SkillSummary[], count: number): SkillExample[] {
	return skills
		.filter(
			({ status, mode, trust }) => status === 'ready' && mode !== 'off' && (trust === 'trusted' || trust === 'builtin')
		)
		.flatMap((skill) => (skill.example ? [{ ...skill, example: skill.example }] : []))
		.map((skill) => ({ skill, place: KIND_ORDER.indexOf(kindOf(skill.name, skill.description)) }))
		.toSorted((one, other) => one.place - other.place)
		.slice(0, count)
		.map(({ skill }) => skill);
}
