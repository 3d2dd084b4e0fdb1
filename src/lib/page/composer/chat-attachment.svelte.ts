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
/** The server keeps no copy of larger files. */
const MAX_COPIED_BYTES = 50 * 1024 * 1024;

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
	/** Why other servers don’t have it yet. */
	hint = $state<string | null>(null);
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
			const written = await client.uploadFile(conversationId, this.path, this.#file, {
				signal,
				onprogress: (share) => (this.progress = share)
			});
			this.hint = written.hint ?? null;
			const copy = await copyForModels(this.#file).catch(() => null);
			const options = { signal, onprogress: () => {} };
			// Without one, models are sent the picture itself.
			if (copy) await client.uploadCopy(conversationId, this.path, copy, options).catch(() => null);
			if (!signal.aborted) this.state = 'ready';
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

/** On the longest side: models scale larger pictures down themselves. */
const MAX_SIDE = 1568;
/** More would take too much memory on a phone. */
const MAX_PIXELS = 200_000_000;
/** A larger PNG is a photo rather than a drawing or a screen. */
const MAX_PNG_BYTES = 1_500_000;

/**
 * A picture as models use it: upright, not larger than they see, without the place and whatever else a camera wrote into it.
 * Null if the file will do, if it's none, and for GIFs, which may move.
 */
async function copyForModels(file: File): Promise<Blob | null> {
	if (!/^image\/(?!gif|svg)/.test(file.type) || file.size > MAX_COPIED_BYTES) return null;
	const url = URL.createObjectURL(file);
	try {
		const picture = await loaded(url);
		if (!picture) return null;
		const { naturalWidth: width, naturalHeight: height } = picture;
		const isTaken = /^image\/(png|jpeg|webp)$/.test(file.type);
		const scale = Math.min(1, MAX_SIDE / Math.max(width, height));
		if (width * height === 0 || width * height > MAX_PIXELS || (isTaken && scale === 1)) return null;
		const canvas = document.createElement('canvas');
		canvas.width = Math.max(1, Math.round(width * scale));
		canvas.height = Math.max(1, Math.round(height * scale));
		const context = canvas.getContext('2d');
		if (!context) return null;
		context.imageSmoothingQuality = 'high';
		context.drawImage(picture, 0, 0, canvas.width, canvas.height);
		const encoded = (type: string) => new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, 0.9));
		let copy = await encoded(file.type === 'image/jpeg' ? 'image/jpeg' : 'image/png');
		if (copy?.type === 'image/png' && copy.size > MAX_PNG_BYTES) copy = await encoded('image/webp');
		return copy && (copy.size < file.size || !isTaken) ? copy : null;
	} finally {
		URL.revokeObjectURL(url);
	}
}

/** Null if the browser can't read it. */
function loaded(url: string): Promise<HTMLImageElement | null> {
	return new Promise((resolve) => {
		const picture = new Image();
		picture.onload = () => resolve(picture);
		picture.onerror = () => resolve(null);
		picture.src = url;
	});
}
