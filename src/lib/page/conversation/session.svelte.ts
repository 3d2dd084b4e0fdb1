/** One open chat: its messages, the active run, and the actions on them. */
import type { ConversationDetail } from '../../shared/api.ts';
import type { ApprovalDecision, TokenUsage } from '../../shared/events.ts';
import type { QuestionReply } from '../../shared/questions.ts';
import { BUILT_IN_MODEL } from '../../shared/names.ts';
import { ApiError, asApiError, isInTrash } from '../request.ts';
import { Choices, MessageQueue } from './choices.svelte.ts';
import type { Client } from '../server.ts';
import { ConversationSkills } from './conversation-skills.svelte.ts';
import { pathsOf, ReadMark, type RunQuestion, userMessageOf, watchConversation } from './questions.ts';
import { Draft, type Question } from '../composer/draft.svelte.ts';
import { ConversationFiles } from '../files/conversation-files.svelte.ts';
import { History, mergeEntries, placeOfRun } from './history.svelte.ts';
import { LiveRun, type LiveRunOptions, RunStarter } from './live-run.svelte.ts';
import { openQuestions } from '../../shared/message.ts';
import { MessageEntry, receiveEvents, createSessionServices, type SessionServices } from './message-entry.svelte.ts';
import { createSingleRead } from '../ui/reading.svelte.ts';

/** Told about changes that the chat list shows too. */
export interface SessionListener {
	runStarted: (conversationId: string, runId: string, title: string) => void;
	runEnded: (conversationId: string) => void;
	titled: (conversationId: string, title: string) => void;
	/** The end of the last reply has been read here. */
	seen?: (conversationId: string) => void;
	/** Renamed, deleted or restored elsewhere. */
	changed?: (conversationId: string) => void;
}

export interface ComparedEntry {
	/** Empty if unknown. */
	model: string;
	entry: MessageEntry;
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
	/** Answers to the last question, side by side until one is chosen; usually none. The last entry is one of them. */
	compared = $state.raw<readonly ComparedEntry[]>([]);
	#front = $state<string | null>(null);
	/** Of all finished runs, in every branch. */
	usage = $state.raw<TokenUsage | null>(null);
	/** `new`: not saved on the server. */
	phase = $state<'new' | 'loading' | 'ready' | 'failed'>('new');
	loadError = $state.raw<ApiError | null>(null);
	/** Why the last message wasn't sent or the run not stopped. */
	actionError = $state.raw<ApiError | null>(null);
	isSending = $state(false);
	/** Deleted before or while it's open: no requests until it is restored. */
	isDeleted = $state(false);
	/** A change is under way; no other action on messages meanwhile. */
	isChanging = $state(false);
	/** Number of questions asked here; each scrolls the reader to the reply. */
	askedCount = $state(0);
	#unwatch: (() => void) | null = null;
	/** Increases with each local change, which outdates reads under way. */
	#version = 0;
	#isDisposed = false;
	/** Work that a message has to wait for: a read, a change, or an earlier message. */
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
		this.files = new ConversationFiles(id, client, () => this.isReadable);
		this.draft = new Draft(id, client, this.skills);
		this.queue = new MessageQueue(this);
		this.history = new History(this);
		this.run = new LiveRun(client);
		this.choices = new Choices(this, services.change);
		this.#starter = new RunStarter(client);
		this.#readMark = new ReadMark(() => services.change(id, { isUnread: false }).then(() => listener.seen?.(id)));
	}

	// Getters, not $derived: a session outlives the page that created it, and deriveds end with their page.
	get isRunning(): boolean {
		return this.run.id !== null;
	}

	/** Whether the last reply waits for approval. */
	get isWaiting(): boolean {
		return (this.front?.entry ?? this.entries.at(-1))?.message.status === 'waiting';
	}

	/** Whether a tool of the reply under way asks the person something. */
	get isAsked(): boolean {
		const parts = this.isRunning ? (this.entries.at(-1)?.message.parts ?? []) : [];
		return parts.some((part) => part.type === 'tool' && openQuestions(part).length > 0);
	}

	/** Whether messages can be edited, retried or removed. */
	get isIdle(): boolean {
		return !this.isRunning && this.#isFree;
	}

	/** Whether reads make sense: not of a chat that is known to be deleted, nor for a page that has left it. */
	get isReadable(): boolean {
		return !this.isDeleted && !this.#isDisposed;
	}

	get #isFree(): boolean {
		return !this.isSending && !this.isChanging && !this.isDeleted && this.phase === 'ready';
	}

	/** Whether this answer can be retried or continued: of several side by side, also while others are being written. */
	canChange(entry: MessageEntry): boolean {
		const isCompared = this.compared.some((each) => each.entry === entry);
		return isCompared ? this.#isFree && entry.message.status !== 'running' : this.isIdle;
	}

	/** Of answers side by side, the one that the next message follows. */
	get front(): ComparedEntry | null {
		const shown = this.#front ?? this.entries.at(-1)?.message.id;
		return this.compared.find(({ entry }) => entry.message.id === shown) ?? this.compared[0] ?? null;
	}

	bringToFront({ message }: MessageEntry): void {
		this.#front = message.id;
	}

	/** Goes on with this answer and its model. Stops the others; they stay as versions. */
	async choose(answer: ComparedEntry): Promise<boolean> {
		const { status } = answer.entry.message;
		const [next] = this.queue.items;
		const isChosen = await this.#choose(answer);
		if (isChosen && next && status === 'complete') void this.queue.sendNow(next.id);
		return isChosen;
	}

	#choose({ entry, model }: ComparedEntry): Promise<boolean> {
		const { id } = entry.message;
		const hasModel = model !== '' && model !== BUILT_IN_MODEL;
		const others = this.compared.flatMap((each) => (each.entry === entry ? [] : (each.entry.message.runId ?? [])));
		return this.attempt(async () => {
			await this.run.stop(this.run.ids.filter((runId) => others.includes(runId)));
			await this.client.changeConversation(this.id, { show: id, ...(hasModel ? { model } : {}) });
		});
	}

	/** Also true during a run: the message is queued then. */
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

	/** Reads the conversation and follows its run. Never rejects: see `loadError`. */
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
			this.isDeleted = isInTrash(this.loadError);
		}
	}

	/** Applies changes from elsewhere, one read at a time. A failure changes nothing. */
	readonly refresh = createSingleRead(() => this.#read());

	/** Deleted or restored elsewhere; clears the last error. */
	setDeleted(isDeleted: boolean): void {
		if (this.isDeleted !== isDeleted) {
			this.isDeleted = isDeleted;
			this.actionError = null;
			if (isDeleted) this.#readMark.show(false);
			this.#listener.changed?.(this.id);
		}
		if (!isDeleted) void (this.phase === 'failed' ? this.load() : this.refresh());
	}

	/**
	 * Sends the draft: during a run it's queued for the end, or with `isUrgent` for the end of the step. Waits for reads and
	 * changes under way first; what is sent while a file is on its way follows it.
	 */
	async send({ isUrgent = false } = {}): Promise<void> {
		while (this.#underWay) await this.#underWay;
		if (this.draft.isUploading && !this.draft.isHeld) this.draft.awaited = this.draft.text;
		if (!this.canSend || this.#isDisposed) return;
		const { front } = this;
		if (front && !this.isRunning && !(await this.#during(this.#choose(front)))) return;
		const question = this.draft.take();
		const isSent = await (this.isRunning
			? this.queue.add(question.text, pathsOf(question), isUrgent)
			: this.#during(this.#ask(question)));
		if (isSent) this.draft.sent(question);
		else this.draft.restore(question, this.actionError);
	}

	/** Attaches a workspace file to the next message. */
	async useFile(path: string): Promise<void> {
		if (!this.files.find(path)) await this.files.refresh();
		const file = this.files.find(path);
		if (file) this.draft.mention(file.path, file.bytes);
		else this.draft.problem = 'This file no longer exists.';
	}

	/** Fills the message box with a skill's example and its files. Resolves to false if that failed (see `actionError`) or the box isn't empty. */
	async takeExample(skillId: string): Promise<boolean> {
		let isTaken = false;
		await this.attempt(async () => {
			const { prompt, files } = await this.client.putExample(this.id, skillId);
			// Keep what was typed meanwhile.
			if (!this.draft.isEmpty) return;
			this.draft.fill(() => {
				for (const { path, bytes } of files) this.draft.mention(path, bytes);
				this.draft.text = prompt;
			});
			isTaken = true;
		});
		return isTaken;
	}

	/** Empties the box, and takes its skills away, if they were filled in and left as they were. */
	dropGiven(): void {
		if (!this.draft.isGiven) return;
		for (const name of this.skills.pins) void this.skills.unpin(name);
		this.draft.clear();
	}

	/** Stops all answers under way, or this one. */
	async stop(runId?: string): Promise<void> {
		this.actionError = null;
		await this.run
			.stop(runId === undefined ? undefined : [runId])
			.catch((error: unknown) => (this.actionError = asApiError(error)));
	}

	/** Allows or denies a pending call. Rejects with an `ApiError`. */
	async decide(interruptId: string, decision: ApprovalDecision): Promise<void> {
		try {
			await this.client.decide(this.id, interruptId, decision);
		} catch (error) {
			throw asApiError(error);
		} finally {
			await this.refresh();
		}
	}

	/** Answers what a running call asks. Rejects with an `ApiError`. */
	async reply(question: string, reply: QuestionReply): Promise<void> {
		await this.client.reply(this.id, question, reply).catch((error: unknown) => {
			throw asApiError(error);
		});
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
	async change(work: () => Promise<unknown>, entry?: MessageEntry): Promise<boolean> {
		if (!(entry ? this.canChange(entry) : this.isIdle)) return false;
		this.isChanging = true;
		return this.inOrder(work).finally(() => (this.isChanging = false));
	}

	/** Like `attempt`, after what is under way; messages wait for it. */
	async inOrder(work: () => Promise<unknown>): Promise<boolean> {
		const before = this.#underWay;
		return this.#during(
			this.attempt(async () => {
				await before;
				await work();
			})
		);
	}

	/** Messages wait for this work, which must not reject. */
	async #during<Result>(work: Promise<Result>): Promise<Result> {
		this.#underWay = work;
		try {
			return await work;
		} finally {
			if (this.#underWay === work) this.#underWay = null;
		}
	}

	/** See `SessionHost`. */
	async startRun(question: RunQuestion | null, props: Record<string, unknown>, entry?: MessageEntry): Promise<boolean> {
		const input = this.#starter.inputOf(this.id, question, props);
		const isStarted = await this.change(() => this.#starter.start(input), entry);
		if (isStarted && this.compared.length === 0) this.askedCount++;
		return isStarted;
	}

	/** Sends a message at the end of the chat. Resolves to false on failure; see `actionError`. */
	async #ask(question: Question): Promise<boolean> {
		const { text } = question;
		const { pins } = this.skills;
		const compare = this.choices.compared.length > 1 ? this.choices.compared : [];
		const props = {
			...(this.phase === 'new' ? this.choices.props : {}),
			...(pins.length > 0 ? { pins } : {}),
			...(compare.length > 0 ? { compare } : {})
		};
		const input = this.#starter.inputOf(this.id, { text, files: pathsOf(question) }, props);
		const entry = new MessageEntry({ ...userMessageOf(input), parentId: this.entries.at(-1)?.message.id ?? null });
		this.draft.sendingAs(entry.message.id);
		this.entries = [...this.entries, entry];
		this.isSending = true;
		// A read under way doesn't know it: its result would take the message away for a moment.
		this.#version++;
		this.askedCount++;
		this.actionError = null;
		try {
			const runId = await this.#starter.start(input);
			this.title ||= text.slice(0, 80);
			this.#listener.runStarted(this.id, runId, this.title);
			// Where several answers go, the next read tells.
			if (!this.#isDisposed && compare.length === 0) this.#follow([{ runId, after: 0 }]);
			this.choices.compared = [];
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
			// The message gets its id and place from the server. After a conflict, the server has a run this page doesn't know.
			void this.refresh();
		}
	}

	async #read(): Promise<void> {
		for (;;) {
			// A message being sent isn't in the result; its sender reads again afterwards.
			if (this.phase !== 'ready' || this.isSending || !this.isReadable) return;
			const version = this.#version;
			const detail = await this.client.getConversation(this.id).catch(asApiError);
			// It may have been deleted, or left, since it was asked for.
			if (detail instanceof ApiError || !this.isReadable) return;
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
		const { title, messages, activeRunId, cursor, epoch, queue, usage, compared = [] } = detail;
		const running = compared
			.filter(({ message }) => message.status === 'running')
			.flatMap(({ message, cursor: after, epoch: known }) =>
				message.runId === null ? [] : [{ runId: message.runId, after, epoch: known }]
			);
		const active =
			compared.length > 0 || activeRunId === null ? running : [{ runId: activeRunId, after: cursor, epoch }];
		const { ids } = this.run;
		const isElsewhere = active.some(({ runId }) => !ids.includes(runId));
		const live = isElsewhere ? ids.filter((id) => active.some(({ runId }) => runId === id)) : ids;
		const known = [...this.entries, ...this.compared.map(({ entry }) => entry)];
		this.title = title;
		this.entries = mergeEntries(this.entries, messages, live);
		this.compared = compared.flatMap(({ model, message }) => {
			const [entry] = mergeEntries([...this.entries, ...known], [message], live).slice(-1);
			return entry ? [{ model, entry }] : [];
		});
		if (!compared.some(({ message }) => message.id === this.#front)) this.#front = null;
		this.history.update(detail, this.entries.slice(0, this.entries.length - messages.length));
		this.queue.items = queue;
		this.usage = usage;
		const { pins } = this.skills;
		if (this.draft.drop([...messages, ...queue].map(({ id }) => id))) void this.skills.sent(pins);
		this.choices.show(detail);
		if (!this.isReadable) return;
		this.#readMark.show(detail.isUnread);
		void this.skills.refresh();
		void this.files.refresh();
		if (isElsewhere) this.#follow(active);
	}

	#becomeReady(): void {
		this.phase = 'ready';
		if (this.#isDisposed) return;
		this.#unwatch ??= watchConversation({
			connect: () => this.client.conversationEvents(this.id),
			onchange: (isDeleted) => this.setDeleted(isDeleted)
		});
	}

	#follow(runs: readonly { runId: string; after: number }[]): void {
		const followed = runs.flatMap(({ runId, after }): LiveRunOptions[] => {
			const beside = this.compared.find(({ entry }) => entry.message.runId === runId);
			const { entry, entries } = beside ? { ...beside, entries: this.entries } : placeOfRun(this.entries, runId);
			// The run ended between its last event and this read.
			if (this.#isDisposed || entry.message.status !== 'running') return [];
			this.entries = entries;
			return [{ runId, after, ...this.#listen(entry) }];
		});
		if (followed.length > 0) this.run.follow(followed);
	}

	#listen(entry: MessageEntry): Pick<LiveRunOptions, 'onevents' | 'onend'> {
		return {
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
				if (!this.isRunning) this.#listener.runEnded(this.id);
				void (isLost ? this.load() : this.refresh());
			}
		};
	}
}
