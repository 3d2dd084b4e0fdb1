/** Messages queued for the end of a run (F14), stored on the server so all tabs show the same; model choice and examples. */
import { isObject, parseJson } from '../../shared/json.ts';
import type { ChatChoices, QueuedMessage } from '../../shared/api.ts';
import type { ModelRouting, Preset } from '../../shared/models.ts';
import { isReasoningEffort, type ReasoningEffort, WEB_TOOLS, type WebTool } from '../../shared/names.ts';
import type { SkillSummary } from '../../shared/skills.ts';
import { KIND_ORDER, kindOf } from '../skills/skill-words.ts';
import { newId, timestamp } from '../text/format.ts';
import { readStored, writeStored } from '../ui/clipboard.ts';
import type { SessionHost, SessionServices } from './message-entry.svelte.ts';

export type SkillExample = SkillSummary & { example: NonNullable<SkillSummary['example']> };

export class MessageQueue {
	readonly #host: SessionHost;
	/** In sending order. */
	items = $state.raw<QueuedMessage[]>([]);
	editedId = $state<string | null>(null);
	/** Sent without an answer: it may have arrived, so it keeps its id when sent again. */
	#unconfirmed: QueuedMessage | null = null;
	/** Other actions wait for the message being added, which they may be about. */
	#adding: Promise<unknown> = Promise.resolve();

	constructor(host: SessionHost) {
		this.#host = host;
	}

	/** Resolves to true once the server has the message. `isUrgent`: like `sendNow`. */
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
		// The message is in the queue either way.
		if (isUrgent && isWaiting) await this.sendNow(message.id);
		return isTaken;
	}

	/** Starts editing the last message; false if there is none. */
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

	/** Sends it as soon as the current step ends. */
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

/** What `Choices` needs from its session. */
export interface ChoiceHost {
	readonly id: string;
	/** `new`: not saved on the server. */
	readonly phase: 'new' | 'loading' | 'ready' | 'failed';
	/** Makes one request after those under way, then reads the conversation again; the next message waits for it. */
	inOrder: (work: () => Promise<unknown>) => Promise<boolean>;
}

const MODEL_KEY = 'new-model';
const EFFORT_KEY = 'new-effort';
const WEB_KEY = 'new-web';
/** With the id of the new chat, so that the next one starts without. */
const CHOICES_KEY = 'new-choices';

/** What a chat has chosen: model, effort, routing, web tools, instructions and approval. */
export class Choices {
	readonly #host: ChoiceHost;
	readonly #save: SessionServices['change'];
	/** Null: the default in the settings. */
	model = $state<string | null>(null);
	effort = $state<ReasoningEffort | null>(null);
	/** Null: as in the settings. */
	routing = $state.raw<ModelRouting | null>(null);
	/** For this chat only; empty for none. */
	instructions = $state('');
	/** What the model may do on the web. */
	web = $state.raw<readonly WebTool[] | null>(null);
	/** `ask`: every script needs approval. */
	approval = $state<'ask' | null>(null);
	/** Models that answer the next message side by side; empty to ask one. */
	compared = $state.raw<readonly string[]>([]);
	/** Id of the preset it was started with. */
	preset = $state<string | null>(null);

	/** A new chat starts with the choices made for the previous new one. */
	constructor(host: ChoiceHost, save: SessionServices['change']) {
		this.#host = host;
		this.#save = save;
		this.model = readStored('local', MODEL_KEY);
		const effort = readStored('local', EFFORT_KEY);
		this.effort = isReasoningEffort(effort) ? effort : null;
		const web = readStored('local', WEB_KEY)?.split(' ');
		this.web = web ? WEB_TOOLS.filter((tool) => web.includes(tool)) : null;
		const stored = parseJson(readStored('session', CHOICES_KEY) ?? '');
		if (isObject(stored) && stored.id === host.id) this.show(stored);
	}

	/** For the next replies; null for the default. Resolves to false if saving failed; see `actionError` of the session. */
	async pickModel(model: string | null): Promise<boolean> {
		this.model = model;
		if (this.#isNew) writeStored('local', MODEL_KEY, model);
		this.#remember();
		return this.#keep({ model });
	}

	async pickEffort(effort: ReasoningEffort | null): Promise<boolean> {
		this.effort = effort;
		if (this.#isNew) writeStored('local', EFFORT_KEY, effort);
		this.#remember();
		return this.#keep({ effort });
	}

	async pickWeb(web: WebTool[]): Promise<boolean> {
		this.web = web;
		if (this.#isNew) writeStored('local', WEB_KEY, web.join(' '));
		this.#remember();
		return this.#keep({ web });
	}

	async pickRouting(routing: ModelRouting | null): Promise<boolean> {
		const isSaved = await this.#keep({ routing });
		if (isSaved) this.routing = routing;
		this.#remember();
		return isSaved;
	}

	async instruct(instructions: string, approval: 'ask' | null): Promise<boolean> {
		if (!(await this.#keep({ instructions, approval }))) return false;
		Object.assign(this, { instructions, approval });
		this.#remember();
		return true;
	}

	/** Gives a new chat what the preset has, once: it keeps that, whatever becomes of the preset. */
	start(id: string, { model, effort, instructions, web, routing, approval }: Preset): void {
		Object.assign(this, { model, effort, instructions, web, routing, approval, preset: id });
		this.#remember();
	}

	/** For a reload before the first message. */
	#remember(): void {
		if (this.#isNew) writeStored('session', CHOICES_KEY, JSON.stringify({ id: this.#host.id, ...this.props }));
	}

	show({ model, effort, instructions, routing, approval, preset, web }: ChatChoices): void {
		this.web = web ?? null;
		this.model = model ?? null;
		this.effort = effort ?? null;
		this.instructions = instructions ?? '';
		this.routing = routing ?? null;
		this.approval = approval ?? null;
		this.preset = preset ?? null;
	}

	/** For the first message of a new chat. */
	get props(): ChatChoices {
		return {
			...(this.model === null ? {} : { model: this.model }),
			...(this.effort === null ? {} : { effort: this.effort }),
			...(this.web === null ? {} : { web: [...this.web] }),
			...(this.instructions === '' ? {} : { instructions: this.instructions }),
			...(this.routing === null ? {} : { routing: this.routing }),
			...(this.approval === null ? {} : { approval: this.approval }),
			...(this.preset === null ? {} : { preset: this.preset })
		};
	}

	get #isNew(): boolean {
		return this.#host.phase === 'new';
	}

	/** A new chat sends its choices with its first message; what is picked while that is being sent is saved after it. */
	async #keep(patch: ChatChoices): Promise<boolean> {
		return this.#host.inOrder(async () => {
			if (!this.#isNew) await this.#save(this.#host.id, patch);
		});
	}
}

/** Up to `count` examples of skills that run without approval; a second one of a kind comes after all kinds. */
export function examplesFrom(skills: readonly SkillSummary[], count: number): SkillExample[] {
	return skills
		.filter(
			({ status, mode, trust }) => status === 'ready' && mode !== 'off' && (trust === 'trusted' || trust === 'builtin')
		)
		.flatMap((skill) => (skill.example ? [{ ...skill, example: skill.example }] : []))
		.map((skill) => ({ skill, place: KIND_ORDER.indexOf(kindOf(skill.name, skill.description)) }))
		.map((each, index, all) => ({ ...each, isFirst: all.findIndex(({ place }) => place === each.place) === index }))
		.toSorted((one, other) => Number(other.isFirst) - Number(one.isFirst) || one.place - other.place)
		.slice(0, count)
		.map(({ skill }) => skill);
}
