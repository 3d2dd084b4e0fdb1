/** What a model is given of the files attached to a message, and that in words for people. */
import { hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { ListedFile, WorkspaceFile } from '../../shared/api.ts';
import { estimateTokens, plainLine, withoutHidden } from '../../shared/characters.ts';
import { AppError } from '../../shared/errors.ts';
import { PICTURE_TOKENS } from '../agent/compaction.ts';
import type { Model } from '../agent/model.ts';
import type { Workspaces } from '../workspaces.ts';
import { contextLimitOf } from './context-budget.ts';
import { readUpTo } from '../foreign-folders.ts';
import { formatOf, HEAD_BYTES } from '../skills/run/picture-format.ts';
import { MAX_PICTURE_BYTES, problemOfPicture, withoutMetadata } from './pictures.ts';

/** Stands for a file in a stored item. The bytes are added when a request is sent to a model that takes them. */
export type FilePart = (
	| { type: 'input_image'; detail: 'low' | 'high' | 'auto' | 'original' }
	/** `pages` for the context budget; `text` for models that take no files. */
	| { type: 'input_file'; filename: string; pages: number; text: string }
) & {
	/** `digest` is also the id of the version that is kept of the file, or of its copy for models. */
	file: { path: string; bytes: number; mediaType: string; digest: string };
};
export type TextPart = { type: 'input_text'; text: string };
export type AttachedPart = FilePart | TextPart;

/** Of a copy: models scale larger ones down themselves. */
const MAX_COPY_SIDE = 1568;
const MAX_PDF_BYTES = 20 * 1024 * 1024;
const NAMED_LIKE_PICTURES = /\.(png|jpe?g|gif|webp|avif|bmp|tiff?|heic)$/i;
/** Share of the model's context, in tokens, for the texts and pages attached to one message. */
const ATTACHED_SHARE = 1 / 4;
const MAX_ATTACHED_TOKENS = 100_000;
/** Of a text that is longer, the model gets the beginning, and reads the rest with tools. */
const BEGINNING_TOKENS = 2000;
const MAX_PAGES = 100;

type Files = Pick<Workspaces, 'read' | 'readCopy'>;
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
	const head = await readUpTo(file, Math.min(bytes, HEAD_BYTES));
	const whole = async (mediaType: string) => {
		const content = await readUpTo(file, bytes);
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
		const text = textOf(isWhole ? await readUpTo(file, bytes) : head, isWhole);
		return text === null ? OTHER : { kind: 'text', text, bytes, isWhole };
	}
	const why = problemOfPicture(format, bytes);
	if (why !== null) return { kind: 'picture', why };
	const { content, file: about } = await whole(format.mediaType);
	if (!withoutMetadata(content, format.mediaType)) return { kind: 'picture', why: 'it’s damaged.' };
	return { kind: 'picture', file: about };
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
		const seenAs = { as: 'name', why: 'Skills can read it.' } as const;
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

export function textPart(text: string): TextPart {
	return { type: 'input_text', text };
}
