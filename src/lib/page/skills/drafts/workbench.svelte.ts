/** A draft of a skill on the page: saved as one types, checked after each change, never overwritten by another tab (F8). */
import type { DraftReview, SkillDraft } from '../../../shared/drafts.ts';
import { MAX_SKILL_FILE_BYTES } from '../../../shared/names.ts';
import { ApiError, asApiError } from '../../request.ts';
import type { Client } from '../../server.ts';
import { asArray, asObject, parseJson } from '../../../shared/json.ts';
import { readStored, writeStored } from '../../ui/clipboard.ts';

export type WorkbenchClient = Pick<
	Client,
	'getDraft' | 'changeDraft' | 'reviewDraft' | 'saveDraft' | 'stopDraft' | 'deleteDraft' | 'improveDraft' | 'startDraft'
>;

interface Pending {
	path: string;
	/** null removes the file. */
	text: string | null;
}

/** Delay after the last key. */
const SAVE_MS = 600;
/** Until what a server that was away didn’t get is sent again. */
const RETRY_MS = 3000;
/** Between two looks at what a model is writing. */
const WATCH_MS = 700;

function isPending(value: unknown): value is Pending {
	const { path, text } = asObject(value);
	return typeof path === 'string' && (typeof text === 'string' || text === null);
}

export class Workbench {
	readonly #client: WorkbenchClient;
	readonly id: string;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** One request after the other. */
	#last: Promise<void> = Promise.resolve();
	#checks = 0;
	#isLeft = false;
	draft = $state.raw<SkillDraft | null>(null);
	path = $state('SKILL.md');
	review = $state.raw<DraftReview | null>(null);
	/** Typed, and not yet on the server: one for each file. */
	pending = $state.raw<readonly Pending[]>([]);
	/** Another tab was faster. */
	isConflict = $state(false);
	error = $state.raw<ApiError | null>(null);
	isBusy = $state(false);
	/** What should be better, in a person’s words; kept until the model has done it. */
	wish = $state('');
	readonly isWriting = $derived(this.draft?.state === 'writing');
	readonly files = $derived.by(() => {
		const typed = (path: string) => this.pending.find((each) => each.path === path);
		const saved = (this.draft?.files ?? []).map((file) => ({ ...file, ...typed(file.path) }));
		const added = this.pending.filter(({ path }) => !saved.some((file) => file.path === path));
		// A removed file has no text, like one that isn't text.
		return [...saved, ...added.map((each) => ({ ...each, bytes: each.text?.length ?? 0 }))].filter(
			({ path }) => typed(path)?.text !== null
		);
	});
	readonly file = $derived(this.files.find(({ path }) => path === this.path) ?? null);

	constructor(client: WorkbenchClient, id: string) {
		this.#client = client;
		this.id = id;
	}

	/** Never rejects. With what was typed in this browser before, and couldn’t be sent. */
	async open(): Promise<void> {
		const kept = asObject(parseJson(readStored('local', this.#key) ?? ''));
		const pending = asArray(kept.pending).filter(isPending);
		await this.#read(pending, kept.revision);
		// Otherwise, there is nothing to send to, and the error stays.
		if (this.draft) await this.flush();
	}

	/** Never rejects. Forgets what was typed and isn't saved. */
	async load(): Promise<void> {
		await this.#read();
		await this.check();
	}

	/** `pending` was typed on `revision`. */
	async #read(pending: Pending[] = [], revision?: unknown): Promise<void> {
		await this.#work(async () => {
			this.#show(await this.#client.getDraft(this.id));
			this.pending = pending;
			this.isConflict = pending.length > 0 && this.draft?.revision !== revision;
			if (pending.length === 0) this.#keep();
		});
		if (!this.file) this.path = this.files[0]?.path ?? 'SKILL.md';
	}

	/** Call after `load`; returns what ends it. */
	watch(): () => void {
		const timer = setInterval(() => {
			if (this.isWriting && !this.isBusy) void this.load();
		}, WATCH_MS);
		return () => {
			clearInterval(timer);
			this.#isLeft = true;
			void this.flush();
		};
	}

	type(text: string): void {
		this.#put(this.path, text);
	}

	/** @throws ApiError for a name that is there, in any case */
	add(path: string): void {
		if (this.files.some((file) => file.path.toLowerCase() === path.toLowerCase())) {
			throw new ApiError('conflict', 'A file with this name already exists.');
		}
		this.#put(path, '');
		this.path = path;
	}

	/** What was typed in it is sent first, so that Undo brings it back. */
	async remove(path: string): Promise<void> {
		if (this.pending.some((each) => each.path === path)) await this.flush();
		this.#put(path, null);
		if (this.path === path) this.path = 'SKILL.md';
	}

	#put(path: string, text: string | null): void {
		if (text !== null && text.length > MAX_SKILL_FILE_BYTES) {
			this.error = new ApiError('too_large', `${path} would be larger than 2 MB. It wasn’t changed.`);
			return;
		}
		this.pending = [...this.pending.filter((each) => each.path !== path), { path, text }];
		this.#keep();
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.flush(), SAVE_MS);
	}

	/** In this browser, until the server has it: a tab may be closed before, or the server away. */
	#keep(): void {
		const { pending, draft } = this;
		const isKept = pending.length > 0 && draft !== null;
		writeStored('local', this.#key, isKept ? JSON.stringify({ revision: draft.revision, pending }) : null);
	}

	get #key(): string {
		return `draft-typed:${this.id}`;
	}

	/** Sends what was typed, and checks it. Never rejects. */
	async flush(): Promise<void> {
		clearTimeout(this.#timer);
		await this.#work(async () => {
			const { pending, draft } = this;
			if (pending.length === 0 || !draft || this.isConflict) return;
			this.#show(await this.#client.changeDraft(this.id, { revision: draft.revision, files: [...pending] }));
			// What was typed meanwhile stays.
			this.pending = this.pending.filter((each) => !pending.includes(each));
			this.#keep();
		});
		if (this.error?.code === 'unreachable' && this.pending.length > 0 && !this.#isLeft)
			this.#timer = setTimeout(() => void this.flush(), RETRY_MS);
		await this.check();
	}

	/** In a conflict: writes what was typed over what the other tab did. */
	async keepMine(): Promise<void> {
		await this.#work(async () => {
			this.#show(await this.#client.getDraft(this.id));
			this.isConflict = false;
		});
		await this.flush();
	}

	async undo(): Promise<void> {
		await this.flush();
		await this.#work(async () => {
			if (this.draft)
				this.#show(await this.#client.changeDraft(this.id, { revision: this.draft.revision, undo: true }));
		});
		await this.check();
	}

	/** Lets the model change it, by what a person wishes and by what failed. */
	async improve(): Promise<void> {
		await this.flush();
		await this.#work(async () => {
			if (!this.draft || this.isConflict) return;
			const { revision } = this.draft;
			const { wish } = this;
			this.#show(await this.#client.improveDraft(this.id, { revision, ...(wish.trim() !== '' && { wish }) }));
		});
	}

	async stop(): Promise<void> {
		await this.#work(async () => this.#show(await this.#client.stopDraft(this.id)));
		await this.check();
	}

	/** Places it in the library; resolves to the skill's id, or to null with `error`. */
	async save(): Promise<string | null> {
		await this.flush();
		let savedAs: string | null = null;
		await this.#work(async () => {
			// What couldn’t be sent would be missing.
			if (!this.draft || this.isConflict || this.pending.length > 0) return;
			this.#show(await this.#client.saveDraft(this.id, this.draft.revision));
			savedAs = this.draft.savedAs;
		});
		// It may say by now why it can’t.
		if (savedAs === null) this.review = null;
		await this.check();
		return savedAs;
	}

	/** Another draft, of the skill as it is now; resolves to its id, or to null with `error`. */
	async startAgain(): Promise<string | null> {
		await this.flush();
		let id: string | null = null;
		await this.#work(async () => {
			if (this.draft?.base) ({ id } = await this.#client.startDraft({ skill: this.draft.base, another: true }));
		});
		return id;
	}

	/** Makes it a draft again, after it was discarded or its skill removed. Rejects with an ApiError. */
	async restore(): Promise<void> {
		const { revision } = await this.#client.getDraft(this.id);
		await this.#client.changeDraft(this.id, { revision, restore: true });
	}

	/** False if it couldn’t be discarded, with `error`. */
	async discard(): Promise<boolean> {
		// So that Undo brings all of it back.
		await this.flush();
		let isGone = false;
		await this.#work(async () => {
			await this.#client.deleteDraft(this.id);
			this.pending = [];
			this.#keep();
			isGone = true;
		});
		return isGone;
	}

	/** Only the newest check counts. */
	async check(): Promise<void> {
		const { draft } = this;
		if (!draft || draft.state === 'writing' || this.review?.revision === draft.revision) return;
		const asked = ++this.#checks;
		const review = await this.#client.reviewDraft(this.id).catch((error: unknown) => {
			if (asked === this.#checks) this.error = asApiError(error);
			return null;
		});
		if (asked === this.#checks) this.review = review;
	}

	#show(draft: SkillDraft): void {
		const before = this.draft;
		const isDone = before?.state === 'writing' && draft.state !== 'writing';
		if (isDone && JSON.stringify(draft.files) !== JSON.stringify(before.files)) this.wish = '';
		this.draft = draft;
	}

	#work(work: () => Promise<void>): Promise<void> {
		this.#last = this.#last.then(async () => {
			this.isBusy = true;
			try {
				await work();
				this.error = null;
			} catch (error) {
				const failure = asApiError(error);
				if (failure.code === 'conflict' && this.pending.length > 0) this.isConflict = true;
				else this.error = failure;
			} finally {
				this.isBusy = false;
			}
		});
		return this.#last;
	}
}
