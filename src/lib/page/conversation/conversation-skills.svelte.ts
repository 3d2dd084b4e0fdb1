/** The skills of one chat: pinned, loaded by the model, or waiting to be pinned (F7). */
import type { ConversationSkill, ConversationSkillList } from '../../shared/api.ts';
import { ApiError, asApiError } from '../request.ts';
import { createSingleRead } from '../ui/reading.svelte.ts';
import type { Client } from '../server.ts';

/** `new`: not saved on the server. */
export interface SkillsHost {
	readonly id: string;
	readonly phase: 'new' | 'loading' | 'ready' | 'failed';
	/** Not if it was deleted. */
	readonly isReadable: boolean;
}

/** Limit of `forwardedProps.pins`. */
const MOST_PENDING = 20;

export class ConversationSkills {
	readonly #host: SkillsHost;
	readonly #client: Pick<Client, 'listConversationSkills' | 'setConversationSkill'>;
	readonly #controller = new AbortController();
	/** From the server, plus the latest change made here. */
	#known = $state.raw<readonly ConversationSkill[]>([]);
	/** Pinned with the first message. */
	#pending = $state.raw<readonly ConversationSkill[]>([]);
	/** Error of the last change. */
	error = $state.raw<ApiError | null>(null);
	/** Increases with each change made here, which outdates reads under way. */
	#version = 0;

	constructor(host: SkillsHost, client: Pick<Client, 'listConversationSkills' | 'setConversationSkill'>) {
		this.#host = host;
		this.#client = client;
	}

	// Getters, not $derived: a session outlives the page that created it.
	/** Pinned ones first. */
	get list(): readonly ConversationSkill[] {
		return this.#pending.length === 0 ? this.#known : [...this.#pending, ...this.#known];
	}

	/** Names to send as `forwardedProps.pins` with the next message. */
	get pins(): string[] {
		return this.#pending.map(({ name }) => name);
	}

	/** Estimated tokens of all skills. */
	get tokens(): number {
		return this.list.reduce((sum, { tokens }) => sum + tokens, 0);
	}

	isPending(name: string): boolean {
		return this.#pending.some((skill) => skill.name === name);
	}

	/** Pins a skill by name, with what is known of it until the server answers. */
	pinByName(name: string, about: Partial<Pick<ConversationSkill, 'description' | 'tokens'>> = {}): Promise<void> {
		const { description = '', tokens = 0 } = about;
		return this.pin({ name, description, tokens, isAvailable: true });
	}

	/** Sends the skill's instructions from the next message on. Never rejects: see `error`. */
	async pin(skill: Omit<ConversationSkill, 'state'>): Promise<void> {
		const pinned: ConversationSkill = { ...skill, state: 'pinned' };
		const known = this.list.find(({ name }) => name === skill.name);
		if (known?.state === 'pinned') return;
		if (this.#host.phase === 'new') {
			const isFull = this.#pending.length >= MOST_PENDING;
			this.error = isFull
				? new ApiError('invalid_input', `You can pin up to ${MOST_PENDING} skills before the first message.`)
				: null;
			if (!isFull) this.#pending = [...this.#pending, pinned];
			return;
		}
		const others = this.#known.filter(({ name }) => name !== skill.name);
		const count = others.filter(({ state }) => state === 'pinned').length;
		await this.#change(skill.name, 'pinned', others.toSpliced(count, 0, { ...pinned, ...known, state: 'pinned' }));
	}

	/** Unpins a skill; it stays loaded if the model has loaded it. */
	async unpin(name: string): Promise<void> {
		if (this.#dropPending(name)) return;
		// The server knows whether the model has loaded it too.
		await this.#change(name, 'loaded', without(this.#known, name));
	}

	/** Removes a skill from the context, pinned or loaded. */
	async unload(name: string): Promise<void> {
		if (this.#dropPending(name)) return;
		await this.#change(name, 'unloaded', without(this.#known, name));
	}

	/** Called when the message with these pins has arrived. Pins chosen since then are sent now. */
	async sent(pins: readonly string[]): Promise<void> {
		const late = this.#pending.filter(({ name }) => !pins.includes(name));
		const arrived = this.#pending.filter(({ name }) => pins.includes(name));
		this.#known = [...arrived, ...arrived.reduce((list, { name }) => without(list, name), this.#known)];
		this.#pending = [];
		for (const skill of late) await this.pin(skill);
		await this.refresh();
	}

	/** Reads the list again, one read at a time. A failure changes nothing. */
	readonly refresh = createSingleRead(() => this.#read());

	dispose(): void {
		this.#controller.abort();
	}

	async #read(): Promise<void> {
		const { signal } = this.#controller;
		if (this.#host.phase === 'new' || !this.#host.isReadable || signal.aborted) return;
		const version = this.#version;
		const list = await this.#client.listConversationSkills(this.#host.id, signal).catch(asApiError);
		// On failure the last known list stays; a change made meanwhile brings its own list.
		if (!(list instanceof ApiError) && version === this.#version) this.#known = list.data;
	}

	async #change(
		name: string,
		state: 'pinned' | 'loaded' | 'unloaded',
		expected: readonly ConversationSkill[]
	): Promise<void> {
		const { signal } = this.#controller;
		const version = ++this.#version;
		this.error = null;
		this.#known = expected;
		let list: ConversationSkillList | null = null;
		try {
			list = await this.#client.setConversationSkill(this.#host.id, name, state, signal);
		} catch (error) {
			if (signal.aborted) return;
			this.error = asApiError(error);
		}
		if (version !== this.#version) return;
		this.#version++;
		if (list) this.#known = list.data;
		else await this.refresh();
	}

	#dropPending(name: string): boolean {
		const rest = without(this.#pending, name);
		if (rest.length === this.#pending.length) return false;
		this.#pending = rest;
		return true;
	}
}

function without(skills: readonly ConversationSkill[], name: string): readonly ConversationSkill[] {
	return skills.filter((skill) => skill.name !== name);
}
