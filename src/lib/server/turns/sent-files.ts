/** Files in requests: their bytes, the pictures that models and tools make, and the tool to look at one. */
import { hash } from 'node:crypto';
import { plainLine } from '../../shared/characters.ts';
import { AppError } from '../../shared/errors.ts';
import type { ProducedFile } from '../../shared/events.ts';
import { isObject } from '../../shared/json.ts';
import { isServerCall } from '../../shared/names.ts';
import type { FunctionTool, Model, ModelEvent, ModelRequest, ResponseItem } from '../agent/model.ts';
import { failure } from '../agent/tool.ts';
import type { Workspaces } from '../workspaces.ts';
import { type AttachedPart, type FilePart, type TextPart, textPart } from './attachments.ts';
import { firstBytes, formatOf, HEAD_BYTES, problemOfPicture, withoutMetadata } from './pictures.ts';
import { type BuiltinTools, joinTools } from './toolbox.ts';

/** Of a picture that a model has made. */
const MAX_MADE_BYTES = 10 * 1024 * 1024;
/** In a request: the newest. */
const MAX_SHOWN = 20;
const MAX_REQUEST_BYTES = 20 * 1024 * 1024;

/** Where the bytes of a picture in a model's item are. The item itself has none. */
type MadeFile = FilePart['file'] & {
	/** The item's field for them, and whether that is a data URL. */
	field: string;
	isUrl: boolean;
};

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
