/** One file on its way into the conversation's workspace. */
import { asApiError, type ApiError } from './api-error.ts';
import type { Client } from './client.ts';

export class Attachment {
	/** In the conversation's workspace. */
	readonly path: string;
	readonly bytes: number;
	/** Null for a file that was uploaded before the page was loaded again. */
	readonly #file: File | null;
	#controller = new AbortController();
	state = $state<'uploading' | 'ready' | 'failed'>('uploading');
	/** From 0 to 1. */
	progress = $state(0);
	error = $state.raw<ApiError | null>(null);

	private constructor(path: string, bytes: number, file: File | null) {
		this.path = path;
		this.bytes = bytes;
		this.#file = file;
	}

	static of(file: File, path: string): Attachment {
		return new Attachment(path, file.size, file);
	}

	static stored(path: string, bytes: number): Attachment {
		const attachment = new Attachment(path, bytes, null);
		attachment.state = 'ready';
		return attachment;
	}

	/** Never rejects: a failure is in `state` and `error`. */
	async upload(client: Client, conversationId: string): Promise<void> {
		if (!this.#file) return;
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

	abort(): void {
		this.#controller.abort();
	}
}
