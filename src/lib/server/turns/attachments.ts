/** Files attached to a message, made by a model, or looked at by it: how they get into requests, and into the files of the conversation. */
import { hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { ListedFile, WorkspaceFile } from '../../shared/api.ts';
import { plainLine, withoutHidden } from '../../shared/characters.ts';
import { AppError } from '../../shared/errors.ts';
import type { ProducedFile } from '../../shared/events.ts';
import { isObject } from '../../shared/json.ts';
import { isServerCall } from '../../shared/names.ts';
import { PICTURE_TOKENS } from '../agent/compaction.ts';
import type { FunctionTool, Model, ModelEvent, ModelRequest, ResponseItem } from '../agent/model.ts';
import { failure } from '../agent/tool.ts';
import { estimateTokens } from '../skills/prompt.ts';
import type { Workspaces } from '../workspaces.ts';
import { contextLimitOf } from './context-budget.ts';
import { withoutMetadata } from './picture-metadata.ts';
import { type BuiltinTools, joinTools } from './toolbox.ts';

/** Stands for a file in a stored item. The bytes are added when a request is sent to a model that takes them. */
type FilePart = (
	| { type: 'input_image'; detail: 'auto' }
	/** `pages` for the context budget; `text` for models that take no files. */
	| { type: 'input_file'; filename: string; pages: number; text: string }
) & {
	/** `digest` is also the id of the version that is kept of the file, or of its copy for models. */
	file: { path: string; bytes: number; mediaType: string; digest: string };
};
type TextPart = { type: 'input_text'; text: string };
export type AttachedPart = FilePart | TextPart;

const MAX_PICTURE_BYTES = 5 * 1024 * 1024;
const MAX_SIDE = 8000;
/** Of a copy: models scale larger ones down themselves. */
const MAX_COPY_SIDE = 1568;
/** Of a picture that a model has made. */
const MAX_MADE_BYTES = 10 * 1024 * 1024;
const MAX_PDF_BYTES = 20 * 1024 * 1024;
/** In a request: the newest. */
const MAX_SHOWN = 20;
const MAX_REQUEST_BYTES = 20 * 1024 * 1024;
/** Enough for the size of nearly every picture. */
const HEAD_BYTES = 256 * 1024;
const NAMED_LIKE_PICTURES = /\.(png|jpe?g|gif|webp|avif|bmp|tiff?|heic)$/i;
/** Share of the model's context, in tokens, for the texts and pages attached to one message. */
const ATTACHED_SHARE = 1 / 4;
const MAX_ATTACHED_TOKENS = 100_000;
/** Of a text that is longer, the model gets the beginning, and reads the rest with tools. */
const BEGINNING_TOKENS = 2000;
const MAX_PAGES = 100;

type Files = Pick<Workspaces, 'read' | 'readCopy'>;
/** Where the bytes of a picture in a model's item are. The item itself has none. */
type MadeFile = FilePart['file'] & {
	/** The item's field for them, and whether that is a data URL. */
	field: string;
	isUrl: boolean;
};

type Reader = Pick<Model, 'id' | 'takes' | 'contextTokens'>;

/** What is known of a file. `why`: the end of a sentence why the model isn't given it. */
type Content =
	| { kind: 'picture'; file: FilePart['file']; isCopy?: boolean }
	| TextContent
	| PdfContent
	| { kind: 'picture' | 'pdf'; why: string }
	| typeof OTHER;
type TextContent = { kind: 'text'; text: string; bytes: number; isWhole: boolean };
type PdfContent = { kind: 'pdf'; pages: number; texts: string[]; file: FilePart['file'] };
const OTHER = { kind: 'other' } as const;

/** What the model is given of a file, and that in words for people. */
interface Given {
	as: NonNullable<ListedFile['seenAs']>['as'];
	why: string;
	parts: AttachedPart[];
}

interface Reading {
	conversationId: string;
	model: Reader;
	/** The operator's limit of the context; null: the model's own. */
	cap: number | null;
	signal: AbortSignal;
}

/** What a note contains for these attachments. */
export async function attachedParts(
	files: Files,
	paths: readonly string[],
	{ conversationId, model, cap, signal }: Reading
): Promise<AttachedPart[]> {
	if (paths.length === 0) return [];
	const room = { left: await roomOf({ model, cap, signal }) };
	const takesFiles = (await model.takes?.('file')) ?? false;
	const parts: AttachedPart[] = [];
	for (const path of paths) {
		if (signal.aborted) break;
		const content = await readContent(files, conversationId, path);
		if (content) parts.push(...give(path, content, { takesFiles, room }).parts);
	}
	return parts;
}

/** Goes by the bytes, not by the name. Null if it's gone. */
async function readContent(files: Files, conversationId: string, path: string): Promise<Content | null> {
	const copy = await files.readCopy(conversationId, path).catch(() => null);
	const opened = copy ?? (await files.read(conversationId, path).catch(() => null));
	if (!opened) return null;
	try {
		const content = await contentOf(opened.file, opened.bytes, path);
		return content.kind === 'picture' && copy ? { ...content, isCopy: true } : content;
	} finally {
		await opened.file.close();
	}
}

async function contentOf(file: FileHandle, bytes: number, path: string): Promise<Content> {
	const head = await firstBytes(file, Math.min(bytes, HEAD_BYTES));
	const whole = async (mediaType: string) => {
		const content = await firstBytes(file, bytes);
		return { content, file: { path, bytes: content.length, mediaType, digest: hash('sha256', content) } };
	};
	if (head.toString('latin1', 0, 1024).includes('%PDF-')) {
		if (bytes > MAX_PDF_BYTES) return { kind: 'pdf', why: 'it’s larger than 20 MB.' };
		const { content, file: about } = await whole('application/pdf');
		// Heavy, and rarely needed.
		const { readPdf } = await import('./pdf.ts');
		const read = await readPdf(content, MAX_ATTACHED_TOKENS * 4);
		return typeof read === 'string' ? { kind: 'pdf', why: read } : { kind: 'pdf', ...read, file: about };
	}
	const format = formatOf(head);
	if (!format && NAMED_LIKE_PICTURES.test(path))
		return { kind: 'picture', why: 'it’s no PNG, JPEG, GIF or WebP. Scripts can read it.' };
	if (!format) {
		const isWhole = bytes <= MAX_ATTACHED_TOKENS * 4;
		const text = textOf(isWhole ? await firstBytes(file, bytes) : head, isWhole);
		return text === null ? OTHER : { kind: 'text', text, bytes, isWhole };
	}
	const why = problemOfPicture(format, bytes);
	if (why !== null) return { kind: 'picture', why };
	const { content, file: about } = await whole(format.mediaType);
	if (!withoutMetadata(content, format.mediaType)) return { kind: 'picture', why: 'it’s damaged.' };
	return { kind: 'picture', file: about };
}

function problemOfPicture({ width, height }: Format, bytes: number): string | null {
	if (bytes > MAX_PICTURE_BYTES) return 'it’s larger than 5 MB.';
	if (width === 0 || height === 0) return 'it’s damaged.';
	return Math.max(width ?? 1, height ?? 1) > MAX_SIDE ? `it’s larger than ${MAX_SIDE} pixels.` : null;
}

/** It may grow or shrink meanwhile. */
async function firstBytes(file: FileHandle, bytes: number): Promise<Buffer> {
	const content = Buffer.alloc(bytes);
	const { bytesRead } = await file.read(content, 0, bytes, 0);
	return content.subarray(0, bytesRead);
}

/** Null unless it's UTF-8. The last character may be cut. */
function textOf(bytes: Buffer, isWhole: boolean): string | null {
	try {
		const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
		return text.includes('\0') ? null : text;
	} catch {
		return null;
	}
}

function give(
	path: string,
	content: Content,
	{ takesFiles, room }: { takesFiles: boolean; room: { left: number } }
): Given {
	const name = plainLine(path);
	if (content.kind === 'other') return { as: 'name', why: 'Only its name; scripts can read it.', parts: [] };
	if ('why' in content) {
		const what = content.kind === 'pdf' ? 'PDF' : 'picture';
		const parts = [textPart(`The ${what} ${name} isn’t shown: ${content.why}`)];
		return { as: 'name', why: `Only its name: ${content.why}`, parts };
	}
	if (content.kind === 'text') return giveText(name, content, room);
	if (content.kind === 'pdf') return givePdf(name, content, { takesFiles, room });
	const picture = { type: 'input_image', detail: 'auto', file: content.file } as const;
	const why = content.isCopy ? 'The model sees a copy of this picture.' : 'The model sees this picture.';
	return { as: 'picture', why, parts: [textPart(`The picture ${name}:`), picture] };
}

function giveText(name: string, { text, bytes, isWhole }: TextContent, room: { left: number }): Given {
	const isShort = isWhole && estimateTokens(text) <= room.left;
	const shown = isShort ? text : text.slice(0, Math.min(room.left, BEGINNING_TOKENS) * 4).toWellFormed();
	room.left -= estimateTokens(shown);
	const about = isShort ? '' : `, ${bytes} bytes, the beginning. Read the rest with a tool or a script`;
	const why = isShort ? 'The model reads this file.' : 'The model reads the beginning; scripts can read all.';
	return { as: 'text', why, parts: [quoted(`The file ${name}${about}:`, shown)] };
}

function givePdf(
	name: string,
	{ pages, texts, file }: PdfContent,
	{ takesFiles, room }: { takesFiles: boolean; room: { left: number } }
): Given {
	const count = pages === 1 ? '1 page' : `${pages} pages`;
	const fitting: string[] = [];
	let left = room.left;
	for (const [index, text] of texts.entries()) {
		const page = `[Page ${index + 1}]\n${text}`;
		left -= estimateTokens(page);
		if (left < 0) break;
		fitting.push(page);
	}
	const isWhole = fitting.length === pages;
	const extent = isWhole ? count : `the first ${fitting.length} of ${count}. Scripts can read the rest`;
	const hasText = fitting.length > 0 && texts.some((text) => text !== '');
	const without = fitting.length === 0 ? 'there’s no room for it.' : 'it has no text, only pictures of pages.';
	const part = hasText
		? quoted(`The text of the PDF ${name}, ${extent}:`, fitting.join('\n\n'))
		: textPart(`The PDF ${name} (${count}) isn’t shown: ${without}`);
	if (takesFiles && pages <= MAX_PAGES && pages * PICTURE_TOKENS <= room.left) {
		room.left -= pages * PICTURE_TOKENS;
		const whole = { type: 'input_file', filename: name, pages, text: part.text, file } as const;
		return { as: 'file', why: `The model reads it, ${count}.`, parts: [whole] };
	}
	room.left -= estimateTokens(part.text);
	if (!hasText) return { as: 'name', why: `Only its name: ${without}`, parts: [part] };
	const read = isWhole ? count : `${fitting.length} of ${count}`;
	return { as: 'text', why: `The model reads its text, ${read}.`, parts: [part] };
}

/** Keeps a foreign text from ending its block. */
function quoted(intro: string, text: string): TextPart {
	const inert = withoutHidden(text).replace(/<(?=\/?file_content\b)/gi, '&lt;');
	return textPart(`${intro}\n<file_content>\n${inert}\n</file_content>`);
}

/** Keeps the copy of a picture that models are sent in its place. @throws AppError invalid_input | too_large */
export async function keepCopy(
	files: Pick<Workspaces, 'keepCopy'>,
	{ conversationId, path }: { conversationId: string; path: string },
	body: ReadableStream<Uint8Array> | null
): Promise<WorkspaceFile> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	// Cancelling the body would close the connection before the answer.
	for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
		bytes += chunk.length;
		if (bytes > MAX_PICTURE_BYTES) throw new AppError('too_large', 'A copy has at most 5 MB.');
		chunks.push(chunk);
	}
	const copy = Buffer.concat(chunks);
	const { mediaType, width, height } = formatOf(copy) ?? {};
	if (!mediaType || !width || !height || !withoutMetadata(copy, mediaType))
		throw new AppError('invalid_input', 'The copy isn’t a PNG, JPEG, GIF or WebP.');
	if (Math.max(width, height) > MAX_COPY_SIDE)
		throw new AppError('too_large', `A copy has at most ${MAX_COPY_SIDE} pixels on its longest side.`);
	return files.keepCopy(conversationId, path, copy);
}

/** Of the files that are listed for people, at most so many are looked at, and so many PDFs. */
const MAX_LOOKED_AT = 200;
const MAX_PDFS_LOOKED_AT = 20;

/** Adds what a model is given of each file if it's attached, and why. `model`: null for Demo mode. */
export async function withSeenAs(
	listed: readonly ListedFile[],
	files: Files,
	{ conversationId, model, cap, signal }: Omit<Reading, 'model'> & { model: Reader | null }
): Promise<ListedFile[]> {
	if (!model) {
		const seenAs = { as: 'name', why: 'Demo mode can’t read it; scripts can.' } as const;
		return listed.map((file) => ({ ...file, seenAs }));
	}
	const takesFiles = (await model.takes?.('file')) ?? false;
	const canSee = (await model.takes?.('image')) ?? false;
	const left = await roomOf({ model, cap, signal });
	const seen: ListedFile[] = [];
	let pdfs = 0;
	for (const [index, file] of listed.entries()) {
		const isPdf = /\.pdf$/i.test(file.path);
		if (isPdf) pdfs += 1;
		const isLookedAt = index < MAX_LOOKED_AT && pdfs <= MAX_PDFS_LOOKED_AT && !signal.aborted;
		const content = isLookedAt ? await readContent(files, conversationId, file.path) : null;
		const { as, why } = give(file.path, content ?? OTHER, { takesFiles, room: { left } });
		const isBlind = as === 'picture' && !canSee;
		seen.push({ ...file, seenAs: isBlind ? { as: 'unseen', why: `${model.id} can’t see pictures.` } : { as, why } });
	}
	return seen;
}

async function roomOf({ model, cap, signal }: Omit<Reading, 'conversationId'>): Promise<number> {
	const { tokens } = await contextLimitOf(model, { cap, signal, patienceMs: null });
	return Math.min(tokens * ATTACHED_SHARE, MAX_ATTACHED_TOKENS);
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
const TOO_MANY = `It isn’t shown any more: a request has at most ${MAX_SHOWN} pictures, of 20 MB together.`;
const GONE = 'It isn’t shown: the file has changed, and this version is no longer kept.';
const REFUSED = 'It isn’t shown, because the model’s server refused it.';

/**
 * Puts the bytes of files into requests to a model that takes them, and a sentence or their text for any other. A server
 * that refuses them is asked once more without.
 */
export function withAttachments(
	model: Model,
	files: Pick<Workspaces, 'read' | 'list' | 'write'>,
	conversationId: string
): Model {
	const urls = new Map<string, string | null>();
	let isRefused = false;

	/** Read once a turn. The kept version, because scripts may have changed the file. */
	const urlOf = async ({ path, mediaType, digest }: FilePart['file']): Promise<string | null> => {
		const known = urls.get(digest);
		if (known !== undefined) return known;
		const opened = await files.read(conversationId, path, digest).catch(() => null);
		const bytes = await opened?.file.readFile().finally(() => opened.file.close());
		const url = bytes ? dataUrl(bytes, mediaType) : null;
		urls.set(digest, url);
		return url;
	};
	const show = async (request: ModelRequest, shown: ReadonlySet<unknown>, instead: string): Promise<ModelRequest> => {
		const partOf = async (part: unknown) => {
			if (!isFilePart(part)) return part;
			const url = shown.has(part) ? await urlOf(part.file) : null;
			if (part.type === 'input_file') {
				const { type, filename, text } = part;
				return url === null ? textPart(text) : { type, filename, file_data: url };
			}
			if (url === null) return textPart(shown.has(part) ? GONE : instead);
			return { type: part.type, detail: part.detail, image_url: url };
		};
		const itemOf = async (item: ResponseItem) => {
			if (filePartsOf(item).length === 0) return item;
			if (!Array.isArray(item.output)) return { ...item, content: await Promise.all(partsOf(item).map(partOf)) };
			const parts = await Promise.all(partsOf(item).map(partOf));
			// Not every server takes anything but a text here.
			return { ...item, output: parts.every(isText) ? parts.map(({ text }) => text).join('\n') : parts };
		};
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

	const keep = async (picture: string): Promise<MadeFile> => {
		const isUrl = picture.startsWith('data:');
		const base64 = isUrl ? picture.slice(picture.indexOf(',') + 1) : picture;
		const file = await savePicture(files, conversationId, base64);
		urls.set(file.digest, dataUrl(Buffer.from(base64, 'base64'), file.mediaType));
		return { ...file, isUrl, field: '' };
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
		const all = request.input.flatMap(filePartsOf);
		if (all.length === 0) return yield* model.stream(request, signal);
		const takes = { input_image: await model.takes?.('image'), input_file: await model.takes?.('file') };
		const shown = newest(isRefused ? [] : all.filter(({ type }) => takes[type]));
		const instead = isRefused ? REFUSED : takes.input_image ? TOO_MANY : CANNOT_SEE;
		let mayRefuse = shown.size > 0;
		for await (const event of model.stream(await show(request, shown, instead), signal)) {
			isRefused ||= mayRefuse && event.type === 'failed' && refusesFiles(event.error);
			if (isRefused && mayRefuse) break;
			mayRefuse &&= event.type === 'retrying';
			yield event;
		}
		if (!isRefused || !mayRefuse) return;
		const what = [...shown].some(({ type }) => type === 'input_file') ? 'attached files' : 'pictures';
		const message = `${model.id} refused the ${what}, so it was asked without them.`;
		yield { type: 'retrying', attempt: 1, delayMs: 0, message };
		yield* model.stream(await show(request, new Set(), REFUSED), signal);
	}
	return { ...model, stream };
}

function dataUrl(bytes: Buffer, mediaType: string): string | null {
	const sent = withoutMetadata(bytes, mediaType);
	return sent && `data:${mediaType};base64,${sent.toString('base64')}`;
}

/** Puts a picture into a file of the conversation. Throws an AppError with the sentence why not. */
async function savePicture(
	files: Pick<Workspaces, 'list' | 'write'>,
	conversationId: string,
	base64: string
): Promise<FilePart['file']> {
	if (base64.length > Math.ceil(MAX_MADE_BYTES / 3) * 4)
		throw new AppError('too_large', 'The picture is larger than 10 MB.');
	const content = Buffer.from(base64, 'base64');
	const format = formatOf(content);
	if (!format) throw new AppError('invalid_input', 'The server sent something that isn’t a picture.');
	const { mediaType } = format;
	const extension = mediaType === 'image/jpeg' ? 'jpg' : mediaType.slice('image/'.length);
	const taken = new Set((await files.list(conversationId)).map(({ path }) => path.replace(/\.\w+$/, '')));
	let number = 1;
	while (taken.has(`picture-${number}`)) number += 1;
	const path = `picture-${number}.${extension}`;
	await files.write(conversationId, path, new Blob([content]).stream());
	return { path, bytes: content.length, mediaType, digest: hash('sha256', content) };
}

const LOOK: FunctionTool = {
	type: 'function',
	name: 'look_at_file',
	description:
		'Look at a picture in the working directory: PNG, JPEG, GIF or WebP, at most 5 MB. Use it to check what a script has drawn, such as a chart, and to correct it.',
	parameters: {
		type: 'object',
		properties: { path: { type: 'string', description: 'Relative to the working directory, with “/”.' } },
		required: ['path'],
		additionalProperties: false
	}
};

interface Sight {
	files: Pick<Workspaces, 'read' | 'list' | 'write' | 'keepVersions'>;
	conversationId: string;
	/** Whether the model is offered the tool. */
	mayLook: boolean;
}

/** Adds the tool to look at files, and makes files of the pictures that other tools return, which the model then sees. */
export function withSight(others: BuiltinTools | undefined, { files, conversationId, mayLook }: Sight): BuiltinTools {
	const look = async (path: string): Promise<FilePart> => {
		const file = await lookAt(files, conversationId, path);
		return { type: 'input_image', detail: 'auto', file };
	};
	/** One after the other, because each takes the next free name. */
	let saving: Promise<unknown> = Promise.resolve();
	const save = (picture: string) => {
		const saved = saving.then(() => savePicture(files, conversationId, picture));
		saved.catch(() => undefined);
		saving = saved.catch(() => undefined);
		return saved;
	};
	const looking: BuiltinTools = {
		tools: () => (mayLook ? [LOOK] : []),
		has: (name) => mayLook && name === LOOK.name,
		lane: () => null,
		approval: () => null,
		async call(_name, args) {
			const path = String(args.path ?? '').replace(/^(\.\/)+/, '');
			try {
				const picture = await look(path);
				const { bytes, digest } = picture.file;
				const shown = [{ path, bytes, seen: digest }];
				return { ok: true, output: `The picture ${plainLine(path)}:`, parts: [picture], files: shown };
			} catch (error) {
				if (!(error instanceof AppError)) throw error;
				return { ok: false, output: failure('InvalidArgs', error.message, error.hint).output };
			}
		}
	};
	if (!others) return looking;
	const showing: BuiltinTools = {
		...others,
		async call(name, args, context) {
			const pictures: string[] = [];
			const result = await others.call(name, args, { ...context, pictures });
			const [made, parts, problems]: [ProducedFile[], AttachedPart[], string[]] = [[], [], []];
			for (const picture of pictures) {
				try {
					const { path, bytes } = await save(picture);
					made.push({ path, bytes });
					parts.push(textPart(`The picture ${path}:`), await look(path));
				} catch (error) {
					if (!(error instanceof AppError)) throw error;
					problems.push(`A picture isn’t shown. ${error.message}`);
				}
			}
			if (pictures.length === 0) return result;
			return { ...result, output: [result.output, ...problems].join('\n'), parts, files: made };
		}
	};
	return joinTools([looking, showing]);
}

/** Keeps this version, for later requests. Throws an AppError with the sentence why it can't be shown. */
async function lookAt(files: Sight['files'], conversationId: string, path: string): Promise<FilePart['file']> {
	const { file, bytes } = await files.read(conversationId, path);
	const refuse = (why: string, hint?: string): never => {
		throw new AppError('invalid_input', `“${plainLine(path)}” can’t be shown: ${why}`, { hint });
	};
	try {
		const head = await firstBytes(file, Math.min(bytes, HEAD_BYTES));
		const format = formatOf(head);
		if (!format) return refuse('it isn’t a PNG, JPEG, GIF or WebP.', 'Write the picture as a PNG and look at that.');
		const why = problemOfPicture(format, bytes);
		if (why !== null) return refuse(why, 'Write a smaller one and look at that.');
		const content = await firstBytes(file, bytes);
		if (!withoutMetadata(content, format.mediaType)) return refuse('it’s damaged.');
		const about = { path, bytes: content.length, mediaType: format.mediaType, digest: hash('sha256', content) };
		await files.keepVersions(conversationId);
		const kept = await files.read(conversationId, path, about.digest).catch(() => null);
		if (!kept) return refuse('it has changed meanwhile, or there’s no room to keep it.', 'Try again.');
		await kept.file.close();
		return about;
	} finally {
		await file.close();
	}
}

function newest<Part extends { file: FilePart['file'] }>(parts: readonly Part[]): Set<Part> {
	let left = MAX_REQUEST_BYTES;
	const few = parts.slice(-MAX_SHOWN);
	const cut = few.findLastIndex(({ file }) => (left -= file.bytes) < 0);
	return new Set(few.slice(cut + 1));
}

/** OpenRouter answers 404 if no provider of the model takes them; 413 often comes from a proxy that says nothing more. */
function refusesFiles({ status, message }: { status?: number; message: string }): boolean {
	if (status === 413) return true;
	return (
		[400, 404, 415, 422].includes(status ?? 0) &&
		/image|picture|vision|multi-?modal|\bfiles?\b|file_data|pdf|document|\boutput\b/i.test(message)
	);
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

function partsOf({ content, output }: ResponseItem): unknown[] {
	return Array.isArray(output) ? output : Array.isArray(content) ? content : [];
}

function filePartsOf(item: ResponseItem): FilePart[] {
	return partsOf(item).filter(isFilePart);
}

function isFilePart(part: unknown): part is FilePart {
	return isObject(part) && (part.type === 'input_image' || part.type === 'input_file') && isObject(part.file);
}

function isText(part: unknown): part is TextPart {
	return isObject(part) && part.type === 'input_text';
}

function textPart(text: string): TextPart {
	return { type: 'input_text', text };
}
