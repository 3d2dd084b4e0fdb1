/** The skills of one conversation as its page has them: what is pinned, what the model has loaded (FEATURES F7). */
import type { ConversationSkill, ConversationSkillList } from '../../shared/api.ts';
import { ApiError, asApiError } from '../request.ts';
import { createSingleRead } from '../ui/reading.svelte.ts';
import type { Client } from '../server.ts';

/** Whose skills they are; `new`: the server knows no message of it yet. */
export interface SkillsHost {
	readonly id: string;
	readonly phase: 'new' | 'loading' | 'ready' | 'failed';
}

/** Most that `forwardedProps.pins` takes. */
const MOST_PENDING = 20;

export class ConversationSkills {
	readonly #host: SkillsHost;
	readonly #client: Pick<Client, 'listConversationSkills' | 'setConversationSkill'>;
	readonly #controller = new AbortController();
	/** As the server has them, and what was changed here a moment ago. */
	#known = $state.raw<readonly ConversationSkill[]>([]);
	/** To be pinned together with the first message. */
	#pending = $state.raw<readonly ConversationSkill[]>([]);
	/** Why the last change was not made. */
	error = $state.raw<ApiError | null>(null);
	/** Changes with each change that is made here: what was read before is too old then. */
	#version = 0;

	constructor(host: SkillsHost, client: Pick<Client, 'listConversationSkills' | 'setConversationSkill'>) {
		this.#host = host;
		this.#client = client;
	}

	// Getters, not $derived: it outlives the page that made it, as its session does.
	/** Pinned ones first. */
	get list(): readonly ConversationSkill[] {
		return this.#pending.length === 0 ? this.#known : [...this.#pending, ...this.#known];
	}

	/** Names to send as `forwardedProps.pins` with the next message. */
	get pins(): string[] {
		return this.#pending.map(({ name }) => name);
	}

	/** Estimated, of all of them together. */
	get tokens(): number {
		return this.list.reduce((sum, { tokens }) => sum + tokens, 0);
	}

	isPending(name: string): boolean {
		return this.#pending.some((skill) => skill.name === name);
	}

	/** Pins a skill that somebody named; what is known of it is shown until the server says more. */
	pinByName(name: string, about: Partial<Pick<ConversationSkill, 'description' | 'tokens'>> = {}): Promise<void> {
		const { description = '', tokens = 0 } = about;
		return this.pin({ name, description, tokens, isAvailable: true });
	}

	/** Its instructions are with the model from the next message on. Never rejects: see `error`. */
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

	/** It is not with the model any more, unless the model has loaded it itself. */
	async unpin(name: string): Promise<void> {
		if (this.#dropPending(name)) return;
		// Whether the model has loaded it as well is the server's to say.
		await this.#change(name, 'loaded', without(this.#known, name));
	}

	/** It is not with the model any more, also where the model has loaded it. */
	async unload(name: string): Promise<void> {
		if (this.#dropPending(name)) return;
		await this.#change(name, 'unloaded', without(this.#known, name));
	}

	/** The message that they were sent with has arrived; others were chosen meanwhile. */
	async sent(pins: readonly string[]): Promise<void> {
		const late = this.#pending.filter(({ name }) => !pins.includes(name));
		const arrived = this.#pending.filter(({ name }) => pins.includes(name));
		this.#known = [...arrived, ...arrived.reduce((list, { name }) => without(list, name), this.#known)];
		this.#pending = [];
		for (const skill of late) await this.pin(skill);
		await this.refresh();
	}

	/** Reads them again, one read at a time: after a run, or when something has changed elsewhere. A failure changes nothing. */
	readonly refresh = createSingleRead(() => this.#read());

	/** Ends what is under way. */
	dispose(): void {
		this.#controller.abort();
	}

	async #read(): Promise<void> {
		const { signal } = this.#controller;
		if (this.#host.phase === 'new' || signal.aborted) return;
		const version = this.#version;
		const list = await this.#client.listConversationSkills(this.#host.id, signal).catch(asApiError);
		// After a failure what is shown is what was known last; a change that was made meanwhile brings its own list.
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
