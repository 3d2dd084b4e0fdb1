/** One file on its way into the workspace. */
import { ApiError, asApiError } from '../request.ts';
import { findHidden } from '../../shared/characters.ts';
import type { ListedFile } from '../../shared/api.ts';
import type { Client } from '../server.ts';
import { fileUrl } from '../files/files.ts';

/** The server's limit. */
export const MAX_FILE_BYTES = 200 * 1024 * 1024;
/** Pictures that browsers show and that run no code; larger ones get no preview. */
const PICTURE = /\.(png|jpe?g|gif|webp|avif)$/i;
const MAX_PICTURE_BYTES = 20_000_000;

export class Attachment {
	/** Path in the workspace. */
	readonly path: string;
	readonly bytes: number;
	/** The pasted text; null for a file. */
	readonly pastedText: string | null;
	/** Hidden characters in pasted text: their number, and each kind once. */
	readonly hidden: { count: number; kinds: readonly string[] };
	/** Null for a file uploaded before a reload. */
	readonly #file: File | null;
	#controller = new AbortController();
	#objectUrl: string | null = null;
	#lookedAtFor: string | null = null;
	/** `held`: not uploaded until somebody uses the message box. */
	state = $state<'held' | 'uploading' | 'ready' | 'failed'>('uploading');
	/** From 0 to 1. */
	progress = $state(0);
	error = $state.raw<ApiError | null>(null);
	/** What the model will be given of it; null while unknown. */
	seenAs = $state.raw<ListedFile['seenAs'] | null>(null);

	private constructor(path: string, bytes: number, file: File | null, pastedText: string | null) {
		this.path = path;
		this.bytes = bytes;
		this.#file = file;
		this.pastedText = pastedText;
		const hidden = findHidden(pastedText ?? '');
		this.hidden = { count: hidden.length, kinds: hidden.filter((each, index) => hidden.indexOf(each) === index) };
		if (bytes > MAX_FILE_BYTES) {
			this.state = 'failed';
			this.error = new ApiError('too_large', 'This file is over 200 MB. Choose a smaller one.');
		}
	}

	static of(file: File, path: string, pastedText: string | null = null): Attachment {
		return new Attachment(path, file.size, file, pastedText);
	}

	/** Delays the upload until `upload` is called. */
	hold(): void {
		if (this.state === 'uploading') this.state = 'held';
	}

	static stored(path: string, bytes: number): Attachment {
		const attachment = new Attachment(path, bytes, null, null);
		attachment.state = 'ready';
		attachment.error = null;
		return attachment;
	}

	/** False if another try would fail the same way. */
	get canRetry(): boolean {
		return this.state === 'failed' && this.bytes <= MAX_FILE_BYTES;
	}

	/** Never rejects: a failure sets `state` and `error`. */
	async upload(client: Client, conversationId: string): Promise<void> {
		if (!this.#file || this.bytes > MAX_FILE_BYTES) return;
		this.state = 'uploading';
		this.progress = 0;
		this.error = null;
		this.#controller = new AbortController();
		const { signal } = this.#controller;
		try {
			await client.uploadFile(conversationId, this.path, this.#file, {
				signal,
				onprogress: (share) => (this.progress = share)
			});
			this.state = 'ready';
		} catch (error) {
			if (signal.aborted) return;
			this.state = 'failed';
			this.error = asApiError(error);
		}
	}

	/** Finds out what this model will be given of the file. Never rejects: without an answer, nothing is said. */
	async look(client: Client, conversationId: string, model: string): Promise<void> {
		if (this.#lookedAtFor === model) return;
		this.#lookedAtFor = model;
		const listed = await client.listFiles(conversationId, { model, path: this.path }).catch(() => []);
		if (this.#lookedAtFor === model) this.seenAs = listed[0]?.seenAs ?? null;
	}

	/** Address of a preview; null if it isn't a picture or isn't there yet. */
	pictureUrl(conversationId: string): string | null {
		if (!PICTURE.test(this.path) || this.bytes > MAX_PICTURE_BYTES) return null;
		if (this.#file) return (this.#objectUrl ??= URL.createObjectURL(this.#file));
		return this.state === 'ready' ? fileUrl(conversationId, this.path) : null;
	}

	/** Cancels the upload and frees the preview. */
	dispose(): void {
		this.#controller.abort();
		if (this.#objectUrl !== null) URL.revokeObjectURL(this.#objectUrl);
		this.#objectUrl = null;
	}
}
