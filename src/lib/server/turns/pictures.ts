/** Pictures attached to a message or made by a model: how they get into requests, and into the files of the conversation. */
import { hash } from 'node:crypto';
import type { ListedFile } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import { isObject } from '../../shared/json.ts';
import { isServerCall } from '../../shared/names.ts';
import type { Model, ModelEvent, ModelRequest, ResponseItem } from '../agent/model.ts';
import { isNote } from '../agent/turn-note.ts';
import type { Workspaces } from '../workspaces.ts';

/** Stands for a picture in a note. The bytes are added when the request is sent, if the model can see. */
interface PicturePart {
	type: 'input_image';
	detail: 'auto';
	/** `digest` is also the id of the version that is kept of the file. */
	file: { path: string; bytes: number; mediaType: string; digest: string };
}

type TextPart = { type: 'input_text'; text: string };

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_SIDE = 8000;
/** Of a picture that a model has made. */
const MAX_MADE_BYTES = 10 * 1024 * 1024;
/** In a request: the newest. */
const MAX_PICTURES = 20;
const MAX_REQUEST_BYTES = 20 * 1024 * 1024;
/** Enough for the size of nearly every picture. */
const HEAD_BYTES = 256 * 1024;
const NAMED_LIKE_PICTURES = /\.(png|jpe?g|gif|webp|avif|bmp|tiff?|heic)$/i;

type Files = Pick<Workspaces, 'read'>;

/** Where the bytes of a picture in a model's item are. The item itself has none. */
type MadeFile = PicturePart['file'] & {
	/** The item's field for them, and whether that is a data URL. */
	field: string;
	isUrl: boolean;
};

/** What a note contains for these attachments: pictures, and sentences about those that can't be shown. */
export async function picturesOf(
	files: Files,
	conversationId: string,
	paths: readonly string[]
): Promise<(PicturePart | TextPart)[]> {
	const parts: (PicturePart | TextPart)[] = [];
	for (const path of paths) {
		const picture = await lookAt(files, conversationId, path);
		if (picture === null) continue;
		if (typeof picture === 'string') parts.push(textPart(`The picture ${path} isn’t shown: ${picture}`));
		else parts.push(textPart(`The picture ${path}:`), picture);
	}
	return parts;
}

/** The picture, a sentence why it isn't shown, or null for another file or one that is gone. Goes by the bytes, not by the name. */
async function lookAt(files: Files, conversationId: string, path: string): Promise<PicturePart | string | null> {
	const opened = await files.read(conversationId, path).catch(() => null);
	if (!opened) return null;
	try {
		const head = Buffer.alloc(Math.min(opened.bytes, HEAD_BYTES));
		await opened.file.read(head, 0, head.length, 0);
		const format = formatOf(head);
		if (!format) return NAMED_LIKE_PICTURES.test(path) ? 'it’s no PNG, JPEG, GIF or WebP.' : null;
		if (opened.bytes > MAX_BYTES) return 'it’s larger than 5 MB.';
		const { mediaType, width, height } = format;
		if (width === 0 || height === 0) return 'it’s damaged.';
		if (Math.max(width ?? 1, height ?? 1) > MAX_SIDE) return `it’s larger than ${MAX_SIDE} pixels.`;
		// It may grow meanwhile.
		const content = Buffer.alloc(opened.bytes);
		const { bytesRead: bytes } = await opened.file.read(content, 0, content.length, 0);
		const digest = hash('sha256', content.subarray(0, bytes));
		return { type: 'input_image', detail: 'auto', file: { path, bytes, mediaType, digest } };
	} finally {
		await opened.file.close();
	}
}

/** Of the files that are listed for people, at most so many are looked at. */
const MAX_LOOKED_AT = 200;

/** Adds what `model` is shown of each file if it's attached, and why. */
export async function withSeenAs(
	listed: readonly ListedFile[],
	model: Pick<Model, 'id' | 'takesImages'>,
	{ files, conversationId }: { files: Files; conversationId: string }
): Promise<ListedFile[]> {
	const canSee = (await model.takesImages?.()) ?? false;
	const seen: ListedFile[] = [];
	for (const [index, file] of listed.entries()) {
		const picture = index < MAX_LOOKED_AT ? await lookAt(files, conversationId, file.path) : null;
		const why =
			picture === null
				? 'Scripts and tools can read it.'
				: typeof picture === 'string'
					? `It can’t be shown: ${picture}`
					: canSee
						? 'The model sees it.'
						: `${model.id} can’t see pictures, as far as is known. Scripts can read it.`;
		seen.push({ ...file, seenAs: { as: canSee && typeof picture === 'object' && picture ? 'picture' : 'name', why } });
	}
	return seen;
}

interface Format {
	mediaType: string;
	/** In pixels; undefined if its place wasn't found. */
	width?: number | undefined;
	height?: number | undefined;
}

/** From the first bytes of a file; null if it's none of the formats that models take. */
export function formatOf(head: Buffer): Format | null {
	const text = head.toString('latin1', 0, 32);
	if (text.startsWith('\x89PNG\r\n\x1a\n') && head.length >= 24)
		return { mediaType: 'image/png', width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
	if (/^GIF8[79]a/.test(text) && head.length >= 10)
		return { mediaType: 'image/gif', width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
	if (/^RIFF....WEBP/s.test(text)) return { mediaType: 'image/webp', ...sizeOfWebp(head, text.slice(12, 16)) };
	if (text.startsWith('\xff\xd8\xff')) return { mediaType: 'image/jpeg', ...sizeOfJpeg(head) };
	return null;
}

function sizeOfWebp(head: Buffer, kind: string): { width?: number; height?: number } {
	if (head.length < 30) return {};
	if (kind === 'VP8X') return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
	if (kind === 'VP8 ') return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
	if (kind !== 'VP8L') return {};
	const bits = head.readUInt32LE(21);
	return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
}

function sizeOfJpeg(head: Buffer): { width?: number; height?: number } {
	for (let at = 2; at + 9 < head.length && head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
		const marker = head[at + 1] ?? 0;
		const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
		if (isFrame) return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) };
	}
	return {};
}

const CANNOT_SEE = 'It isn’t shown, because you can’t see pictures. Scripts can read the file.';
const TOO_MANY = `It isn’t shown any more: a request has at most ${MAX_PICTURES} pictures, of 20 MB together.`;
const GONE = 'It isn’t shown: the file has changed, and this version is no longer kept.';
const REFUSED = 'It isn’t shown, because the model’s server refused it.';

/**
 * Puts the bytes of pictures into requests to a model that can see, and a sentence for any other. A server that refuses them
 * is asked once more without.
 */
export function withPictures(
	model: Model,
	files: Pick<Workspaces, 'read' | 'list' | 'write'>,
	conversationId: string
): Model {
	const urls = new Map<string, string | null>();
	let isRefused = false;

	/** Read once a turn. The kept version, because scripts may have changed the file. */
	const urlOf = async ({ path, mediaType, digest }: PicturePart['file']): Promise<string | null> => {
		const known = urls.get(digest);
		if (known !== undefined) return known;
		const opened = await files.read(conversationId, path, digest).catch(() => null);
		const bytes = await opened?.file.readFile().finally(() => opened.file.close());
		const url = bytes ? `data:${mediaType};base64,${bytes.toString('base64')}` : null;
		urls.set(digest, url);
		return url;
	};
	const show = async (request: ModelRequest, shown: ReadonlySet<unknown>, instead: string): Promise<ModelRequest> => {
		const partOf = async (part: unknown) => {
			if (!isPicture(part)) return part;
			if (!shown.has(part)) return textPart(instead);
			const url = await urlOf(part.file);
			return url === null ? textPart(GONE) : { type: part.type, detail: part.detail, image_url: url };
		};
		const itemOf = async (item: ResponseItem) =>
			isNote(item) ? { ...item, content: await Promise.all((item.content as unknown[]).map(partOf)) } : item;
		return { ...request, input: await Promise.all(request.input.map(itemOf)) };
	};

	/** The items that made pictures, with their bytes again: the newest, as far as they are kept. */
	const withMade = async (request: ModelRequest): Promise<ModelRequest> => {
		const made = request.input.filter(isMade);
		if (made.length === 0) return request;
		const shown = newest(made);
		const whole = request.input.map(async (item) => {
			if (!isMade(item)) return item;
			const url = shown.has(item) ? await urlOf(item.file) : null;
			const { file, ...rest } = item;
			return url === null ? [] : { ...rest, [file.field]: file.isUrl ? url : url.slice(url.indexOf(',') + 1) };
		});
		return { ...request, input: (await Promise.all(whole)).flat() };
	};

	/** Puts a picture into a file of the conversation. Throws an AppError with the sentence why not. */
	const keep = async (picture: string): Promise<MadeFile> => {
		const isUrl = picture.startsWith('data:');
		const base64 = isUrl ? picture.slice(picture.indexOf(',') + 1) : picture;
		if (base64.length > Math.ceil(MAX_MADE_BYTES / 3) * 4)
			throw new AppError('too_large', 'The picture is larger than 10 MB.');
		const content = Buffer.from(base64, 'base64');
		const format = formatOf(content);
		if (!format) throw new AppError('invalid_input', 'The model’s server sent something that isn’t a picture.');
		const { mediaType } = format;
		const extension = mediaType === 'image/jpeg' ? 'jpg' : mediaType.slice('image/'.length);
		const taken = new Set((await files.list(conversationId)).map(({ path }) => path.replace(/\.\w+$/, '')));
		let number = 1;
		while (taken.has(`picture-${number}`)) number += 1;
		const path = `picture-${number}.${extension}`;
		await files.write(conversationId, path, new Blob([content]).stream());
		const digest = hash('sha256', content);
		urls.set(digest, `data:${mediaType};base64,${content.toString('base64')}`);
		return { path, bytes: content.length, mediaType, digest, isUrl, field: '' };
	};

	/** Takes the pictures out of events and items: their files are the only place where they are. */
	async function* withFiles(events: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent> {
		const made = new Map<string, MadeFile | null>();
		for await (const event of events) {
			if (event.type === 'server.done' && event.call.picture !== undefined) {
				const { picture, ...call } = event.call;
				try {
					const file = await keep(picture);
					made.set(picture, file);
					yield { type: 'server.done', call: { ...call, files: [{ path: file.path, bytes: file.bytes }] } };
				} catch (error) {
					if (!(error instanceof AppError)) throw error;
					made.set(picture, null);
					yield { type: 'server.done', call: { ...call, isError: true, result: `Couldn’t save it. ${error.message}` } };
				}
			} else if (event.type === 'completed' || event.type === 'failed') {
				yield { ...event, items: event.items.flatMap((item) => withoutPicture(item, made)) };
			} else yield event;
		}
	}

	async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
		yield* withFiles(streamShown(await withMade(request), signal));
	}

	async function* streamShown(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
		const all = request.input.flatMap((item) => (isNote(item) ? (item.content as unknown[]).filter(isPicture) : []));
		if (all.length === 0) return yield* model.stream(request, signal);
		const none = new Set();
		if (isRefused || !(await model.takesImages?.()))
			return yield* model.stream(await show(request, none, isRefused ? REFUSED : CANNOT_SEE), signal);
		const shown = await show(request, newest(all), TOO_MANY);
		let mayRefuse = true;
		for await (const event of model.stream(shown, signal)) {
			isRefused = mayRefuse && event.type === 'failed' && refusesPictures(event.error);
			if (isRefused) break;
			mayRefuse &&= event.type === 'retrying';
			yield event;
		}
		if (!isRefused) return;
		const message = `${model.id} refused the pictures, so it was asked without them.`;
		yield { type: 'retrying', attempt: 1, delayMs: 0, message };
		yield* model.stream(await show(request, none, REFUSED), signal);
	}
	return { ...model, stream };
}

function newest<Picture extends { file: PicturePart['file'] }>(pictures: readonly Picture[]): Set<Picture> {
	let left = MAX_REQUEST_BYTES;
	const few = pictures.slice(-MAX_PICTURES);
	const cut = few.findLastIndex(({ file }) => (left -= file.bytes) < 0);
	return new Set(few.slice(cut + 1));
}

/** OpenRouter answers 404 if no provider of the model takes them. */
function refusesPictures({ status, message }: { status?: number; message: string }): boolean {
	return [400, 404, 413, 415, 422].includes(status ?? 0) && /image|picture|vision|multi-?modal/i.test(message);
}

function isMade(item: ResponseItem): item is ResponseItem & { file: MadeFile } {
	return isServerCall(item.type) && isObject(item.file);
}

/** The item with its file in place of its picture; without a file, it can't be sent again. */
function withoutPicture(item: ResponseItem, made: ReadonlyMap<string, MadeFile | null>): ResponseItem[] {
	if (!isServerCall(item.type)) return [item];
	const found = Object.entries(item).find(([, value]) => typeof value === 'string' && made.has(value));
	if (!found) return [item];
	const [field, value] = found;
	const file = made.get(String(value));
	return file ? [{ ...item, [field]: null, file: { ...file, field } }] : [];
}

function isPicture(part: unknown): part is PicturePart {
	return isObject(part) && part.type === 'input_image' && isObject(part.file);
}

function textPart(text: string): TextPart {
	return { type: 'input_text', text };
}
