/** One open conversation: its messages, the run that is under way, and what can be done with them. */
import type { ConversationDetail } from '../../shared/api.ts';
import type { ApprovalDecision, TokenUsage } from '../../shared/events.ts';
import { ApiError, asApiError } from '../request.ts';
import { Choices, MessageQueue } from './choices.svelte.ts';
import type { Client } from '../server.ts';
import { ConversationSkills } from './conversation-skills.svelte.ts';
import { pathsOf, ReadMark, type RunQuestion, userMessageOf, watchConversation } from './questions.ts';
import { Draft, type Question } from '../composer/draft.svelte.ts';
import { ConversationFiles } from '../files/conversation-files.svelte.ts';
import { History, mergeEntries, placeOfRun } from './history.svelte.ts';
import { LiveRun, RunStarter } from './live-run.svelte.ts';
import { MessageEntry, receiveEvents } from './message-entry.svelte.ts';
import { createSessionServices, type SessionServices } from './session-services.ts';
import { createSingleRead } from '../ui/reading.svelte.ts';

/** Whom a session tells what the list of conversations shows as well. */
export interface SessionListener {
	runStarted: (conversationId: string, runId: string, title: string) => void;
	runEnded: (conversationId: string) => void;
	titled: (conversationId: string, title: string) => void;
	/** The end of its last answer has been seen here. */
	seen?: (conversationId: string) => void;
	/** Elsewhere it was renamed, deleted or restored. */
	changed?: (conversationId: string) => void;
}

export class ChatSession {
	readonly id: string;
	readonly client: Client;
	readonly draft: Draft;
	readonly queue: MessageQueue;
	readonly history: History;
	readonly run: LiveRun;
	readonly skills: ConversationSkills;
	readonly files: ConversationFiles;
	readonly choices: Choices;
	readonly #listener: SessionListener;
	readonly #starter: RunStarter;
	readonly #readMark: ReadMark;
	title = $state('');
	entries = $state.raw<MessageEntry[]>([]);
	/** Of all runs that have ended, in every branch. */
	usage = $state.raw<TokenUsage | null>(null);
	/** `new`: the server knows no message of it yet. */
	phase = $state<'new' | 'loading' | 'ready' | 'failed'>('new');
	loadError = $state.raw<ApiError | null>(null);
	/** Why the last message was not sent, or the run not stopped. */
	actionError = $state.raw<ApiError | null>(null);
	isSending = $state(false);
	/** It was deleted while it is shown here: nothing is asked of it until it is restored. */
	isDeleted = $state(false);
	/** The conversation is being changed: nothing else may be done with its messages meanwhile. */
	isChanging = $state(false);
	/** How often something was asked here: each time the reader wants to see what becomes of it. */
	askedCount = $state(0);
	#unwatch: (() => void) | null = null;
	/** Changes with what is known here: what was read before is too old then. */
	#version = 0;
	#isDisposed = false;
	/** What a message has to wait for: the conversation is read or changed, or an earlier message is on its way. */
	#underWay: Promise<unknown> | null = null;

	constructor(
		id: string,
		client: Client,
		listener: SessionListener,
		services: SessionServices = createSessionServices()
	) {
		this.id = id;
		this.client = client;
		this.#listener = listener;
		this.skills = new ConversationSkills(this, services.skills);
		this.files = new ConversationFiles(id, client);
		this.draft = new Draft(id, client, this.skills);
		this.queue = new MessageQueue(this);
		this.history = new History(this);
		this.run = new LiveRun(client);
		this.choices = new Choices(this, services.change);
		this.#starter = new RunStarter(client);
		this.#readMark = new ReadMark(() => services.change(id, { isUnread: false }).then(() => listener.seen?.(id)));
	}

	// Getters, not $derived: a session outlives the page that made it, and with a page all that was derived in it ends.
	get isRunning(): boolean {
		return this.run.id !== null;
	}

	/** Does its last answer wait for somebody's consent? */
	get isWaiting(): boolean {
		return this.entries.at(-1)?.message.status === 'waiting';
	}

	/** May messages be asked otherwise, answered anew, left out? */
	get isIdle(): boolean {
		const isBusy = this.isSending || this.isChanging || this.isRunning;
		return !isBusy && !this.isDeleted && this.phase === 'ready';
	}

	/** True also while a run is under way: the message waits for its end then. */
	get canSend(): boolean {
		const { draft } = this;
		const isBusy = this.isSending || this.isChanging || this.phase === 'loading';
		return (
			!isBusy &&
			!this.isDeleted &&
			this.phase !== 'failed' &&
			draft.text.trim() !== '' &&
			!draft.isUploading &&
			!draft.hasFailed
		);
	}

	/** Reads the conversation and goes on following its run. Never rejects: see `loadError`. */
	load(): Promise<void> {
		return this.#during(this.#load());
	}

	async #load(): Promise<void> {
		if (this.isDeleted) return;
		this.phase = 'loading';
		this.loadError = null;
		try {
			this.#show(await this.client.getConversation(this.id));
			this.#becomeReady();
		} catch (error) {
			this.loadError = asApiError(error);
			this.phase = 'failed';
		}
	}

	/** Takes over what happened elsewhere, in another tab say; one read at a time. A failure changes nothing. */
	readonly refresh = createSingleRead(() => this.#read());

	/** It was deleted, or restored: what was refused before is said no more. */
	setDeleted(isDeleted: boolean): void {
		if (this.isDeleted !== isDeleted) {
			this.isDeleted = isDeleted;
			this.actionError = null;
			if (isDeleted) this.#readMark.show(false);
			this.#listener.changed?.(this.id);
		}
		if (!isDeleted) void this.refresh();
	}

	/**
	 * Sends what is in the box; while an answer is being written, after it, or with `isUrgent` after its step. What
	 * cannot be sent yet, because the conversation is still being read say, is sent as soon as it can.
	 */
	async send({ isUrgent = false } = {}): Promise<void> {
		while (this.#underWay) await this.#underWay;
		if (!this.canSend || this.#isDisposed) return;
		const question = this.draft.take();
		const isSent = await (this.isRunning
			? this.queue.add(question.text, pathsOf(question), isUrgent)
			: this.#during(this.#ask(question)));
		if (isSent) this.draft.sent(question);
		else this.draft.restore(question);
	}

	/** Puts a file that is there already into the next message. */
	async useFile(path: string): Promise<void> {
		if (!this.files.find(path)) await this.files.refresh();
		const file = this.files.find(path);
		if (file) this.draft.mention(file.path, file.bytes);
		else this.draft.problem = 'This file no longer exists.';
	}

	/** Puts a skill's example into the box, its message and its files. False when that failed, `actionError` says why, or somebody has begun to write. */
	async takeExample(skillId: string): Promise<boolean> {
		let isTaken = false;
		await this.attempt(async () => {
			const { prompt, files } = await this.client.putExample(this.id, skillId);
			// What was typed meanwhile is somebody's own.
			if (!this.draft.isEmpty) return;
			for (const { path, bytes } of files) this.draft.mention(path, bytes);
			this.draft.text = prompt;
			isTaken = true;
		});
		return isTaken;
	}

	async stop(): Promise<void> {
		this.actionError = null;
		await this.run.stop().catch((error: unknown) => (this.actionError = asApiError(error)));
	}

	/** Allows or denies a call that waits. Rejects with an `ApiError`. */
	async decide(interruptId: string, decision: ApprovalDecision): Promise<void> {
		try {
			await this.client.decide(this.id, interruptId, decision);
		} catch (error) {
			throw asApiError(error);
		} finally {
			await this.refresh();
		}
	}

	dispose(): void {
		this.#isDisposed = true;
		this.run.leave();
		this.#unwatch?.();
		this.#readMark.dispose();
		this.skills.dispose();
		this.draft.dispose();
	}

	/** See `SessionHost`. */
	async attempt(work: () => Promise<unknown>): Promise<boolean> {
		this.actionError = null;
		this.#version++;
		try {
			await work();
			return true;
		} catch (error) {
			this.actionError = asApiError(error);
			return false;
		} finally {
			this.#version++;
			await this.refresh();
		}
	}

	/** See `SessionHost`. */
	async change(work: () => Promise<unknown>): Promise<boolean> {
		if (!this.isIdle) return false;
		this.isChanging = true;
		return this.#during(this.attempt(work).finally(() => (this.isChanging = false)));
	}

	/** Messages wait for this work. It must not reject. */
	async #during<Result>(work: Promise<Result>): Promise<Result> {
		this.#underWay = work;
		try {
			return await work;
		} finally {
			if (this.#underWay === work) this.#underWay = null;
		}
	}

	/** See `SessionHost`. */
	async startRun(question: RunQuestion | null, props: Record<string, unknown>): Promise<boolean> {
		const isStarted = await this.change(() => this.#starter.start(this.#starter.inputOf(this.id, question, props)));
		if (isStarted) this.askedCount++;
		return isStarted;
	}

	/** Sends a message to the end of what is shown. True when the server has taken it; otherwise `actionError` says why not. */
	async #ask(question: Question): Promise<boolean> {
		const { text } = question;
		const { pins } = this.skills;
		const props = { ...(this.phase === 'new' ? this.choices.props : {}), ...(pins.length > 0 ? { pins } : {}) };
		const input = this.#starter.inputOf(this.id, { text, files: pathsOf(question) }, props);
		const entry = new MessageEntry({ ...userMessageOf(input), parentId: this.entries.at(-1)?.message.id ?? null });
		this.draft.sendingAs(entry.message.id);
		this.entries = [...this.entries, entry];
		this.isSending = true;
		this.askedCount++;
		this.actionError = null;
		try {
			const runId = await this.#starter.start(input);
			this.title ||= text.slice(0, 80);
			this.#listener.runStarted(this.id, runId, this.title);
			if (!this.#isDisposed) this.#follow(runId, 0);
			this.#becomeReady();
			if (pins.length > 0) void this.skills.sent(pins);
			return true;
		} catch (error) {
			this.entries = this.entries.filter((other) => other !== entry);
			this.actionError = asApiError(error);
			return false;
		} finally {
			this.isSending = false;
			this.#version++;
			// It has its id and its place from the server. After a conflict: a run is under way that this page does not know of.
			void this.refresh();
		}
	}

	async #read(): Promise<void> {
		for (;;) {
			// What is being sent is not among what is read; whoever sends reads again afterwards.
			if (this.phase !== 'ready' || this.isSending || this.isDeleted || this.#isDisposed) return;
			const version = this.#version;
			const detail = await this.client.getConversation(this.id).catch(asApiError);
			if (detail instanceof ApiError) return;
			if (version !== this.#version) continue;
			const before = this.run.id;
			const isRenamed = detail.title !== this.title;
			this.#show(detail);
			if (isRenamed) this.#listener.changed?.(this.id);
			if (this.run.id !== null && this.run.id !== before) this.#listener.runStarted(this.id, this.run.id, this.title);
			return;
		}
	}

	#show(detail: ConversationDetail): void {
		const { title, messages, activeRunId, cursor, queue, usage } = detail;
		const isElsewhere = activeRunId !== null && activeRunId !== this.run.id;
		this.title = title;
		this.entries = mergeEntries(this.entries, messages, isElsewhere ? null : this.run.id);
		this.history.update(detail, this.entries.slice(0, this.entries.length - messages.length));
		this.queue.items = queue;
		this.usage = usage;
		const { pins } = this.skills;
		if (this.draft.drop([...messages, ...queue].map(({ id }) => id))) void this.skills.sent(pins);
		this.choices.show(detail);
		this.#readMark.show(detail.isUnread);
		void this.skills.refresh();
		void this.files.refresh();
		if (isElsewhere) this.#follow(activeRunId, cursor);
	}

	#becomeReady(): void {
		this.phase = 'ready';
		if (this.#isDisposed) return;
		this.#unwatch ??= watchConversation({
			connect: () => this.client.conversationEvents(this.id),
			onchange: (isDeleted) => this.setDeleted(isDeleted)
		});
	}

	#follow(runId: string, after: number): void {
		const { entry, entries } = placeOfRun(this.entries, runId);
		// Over already: it was read between its last event and its end.
		if (this.#isDisposed || entry.message.status !== 'running') return;
		this.entries = entries;
		this.run.follow({
			runId,
			after,
			onevents: (events) => {
				const { title, hasLoaded, hasFiles } = receiveEvents(entry, events);
				if (hasLoaded) void this.skills.refresh();
				if (hasFiles) void this.files.refresh();
				if (title === null) return;
				this.title = title;
				this.#listener.titled(this.id, title);
			},
			onend: (isLost) => {
				this.#version++;
				this.#listener.runEnded(this.id);
				void (isLost ? this.load() : this.refresh());
			}
		});
	}
}
