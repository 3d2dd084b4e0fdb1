/** Files in requests: their bytes, the pictures that models and tools make, and the tool to look at one. */
import { hash } from 'node:crypto';
import { plainLine } from '../../shared/characters.ts';
import { AppError } from '../../shared/errors.ts';
import type { ProducedFile } from '../../shared/events.ts';
import { isObject } from '../../shared/json.ts';
import { BUILT_IN_MODEL, isServerCall } from '../../shared/names.ts';
import type { FunctionTool, Model, ModelEvent, ModelRemarks, ModelRequest, ResponseItem } from '../agent/model.ts';
import { failure } from '../agent/tool.ts';
import { refusedBy, refuses } from '../agent/turn-note.ts';
import type { Workspaces } from '../workspaces.ts';
import { type AttachedPart, type FilePart, type TextPart, textPart } from './attachments.ts';
import { problemOfPicture, withoutMetadata } from './pictures.ts';
import { readUpTo } from '../foreign-folders.ts';
import { formatOf, HEAD_BYTES } from '../skills/run/picture-format.ts';
import { type BuiltinTools, joinTools } from './toolbox.ts';

/** Of a picture that a model has made. */
const MAX_MADE_BYTES = 10 * 1024 * 1024;
/** In a request: the newest. */
const MAX_SHOWN = 20;
const MAX_REQUEST_BYTES = 20 * 1024 * 1024;
/** In the figures of an answer: each a sentence, with at most so much of an address. */
const MAX_REMARKS = 20;
const MAX_ADDRESS = 200;

/** Where the bytes of a picture in a model's item are. The item itself has none. */
type MadeFile = FilePart['file'] & {
	/** The item's field for them, and whether that is a data URL. */
	field: string;
	isUrl: boolean;
};

/** A part of a program's message that isn't a file of ours: its server's, or one at an address. Nothing is fetched here. */
interface ForeignPart {
	type: FilePart['type'];
	file?: undefined;
	image_url?: unknown;
	file_url?: unknown;
	file_id?: unknown;
}
type SentPart = FilePart | ForeignPart;

/** Why a part isn't sent, for the model. */
const UNABLE = { input_image: 'you can’t see pictures', input_file: 'you can’t read attached files' };
const TOO_MANY = `a request has at most ${MAX_SHOWN} pictures and files, of 20 MB together`;
const GONE = 'the file has changed, and this version is no longer kept';
const REFUSED = 'the model’s server refused it';

/**
 * Puts the bytes of files into requests to a model that takes them, and a sentence or their text for any other. A server
 * that refuses them is asked once more without, and a note keeps them out of this model's later requests. `isForProgram`:
 * sends them also to a model of which nothing is known, and says which ones weren't sent.
 */
export function withAttachments(
	model: Model,
	files: Pick<Workspaces, 'read' | 'list' | 'write'>,
	conversationId: string,
	isForProgram = false
): Model {
	const urls = new Map<string, string | null>();

	const contentOf = async (path: string, version?: string): Promise<Buffer | undefined> => {
		const opened = await files.read(conversationId, path, version).catch(() => null);
		return opened?.file.readFile().finally(() => opened.file.close());
	};
	/** Read once a turn. The kept version, because scripts may have changed the file; without one, the file itself, if it's the same. */
	const urlOf = async ({ path, mediaType, digest }: FilePart['file']): Promise<string | null> => {
		const known = urls.get(digest);
		if (known !== undefined) return known;
		const bytes = (await contentOf(path, digest)) ?? (await contentOf(path));
		const url = bytes && hash('sha256', bytes) === digest ? dataUrl(bytes, mediaType) : null;
		urls.set(digest, url);
		return url;
	};
	/** `why`: for the parts that aren't sent. */
	const show = async (request: ModelRequest, why: (part: SentPart) => string | null): Promise<ModelRequest> => {
		const partOf = async (part: unknown) => {
			if (!isSentPart(part)) return part;
			const reason = why(part);
			// Demo mode would take our sentence for the user's.
			if (reason !== null && model.id === BUILT_IN_MODEL) return [];
			if (!isFilePart(part)) return reason === null ? part : insteadOf(part, reason);
			const url = reason === null ? await urlOf(part.file) : null;
			if (part.type === 'input_file') {
				const { type, filename, text } = part;
				return url === null ? textPart(text) : { type, filename, file_data: url };
			}
			if (url === null) return insteadOf(part, reason ?? GONE);
			return { type: part.type, detail: part.detail, image_url: url };
		};
		const itemOf = async (item: ResponseItem) => {
			if (!partsOf(item).some(isSentPart)) return item;
			const parts = (await Promise.all(partsOf(item).map(partOf))).flat();
			if (!Array.isArray(item.output)) return { ...item, content: parts };
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
		const keys = keysOf(request.input);
		const all = [...keys.keys()];
		if (all.length === 0) return yield* model.stream(request, signal);
		const takes = { input_image: await model.takes?.('image'), input_file: await model.takes?.('file') };
		const isTaken = ({ type }: SentPart) => takes[type] ?? isForProgram;
		const refused = refusedBy(request.input, model.id);
		const isRefused = (part: SentPart) => refused.has(keys.get(part) ?? '');
		const shown = newest(all.filter((part) => isTaken(part) && !isRefused(part)));
		const why = (part: SentPart) => {
			if (shown.has(part)) return null;
			if (isRefused(part)) return REFUSED;
			return isTaken(part) ? TOO_MANY : UNABLE[part.type];
		};
		const leftOut = isForProgram ? remarksOf(all, why, model.id) : [];
		let mayRefuse = shown.size > 0;
		let hasRefused = false;
		for await (const event of model.stream(await show(request, why), signal)) {
			hasRefused = mayRefuse && event.type === 'failed' && refusesFiles(event.error);
			if (hasRefused) break;
			mayRefuse &&= event.type === 'retrying';
			yield event.type === 'completed' ? withRemarks(event, leftOut) : event;
		}
		if (!hasRefused) return;
		const what = [...shown].some(({ type }) => type === 'input_file') ? 'attached files' : 'pictures';
		const message = `${model.id} refused the ${what}, so it was asked without them.`;
		yield { type: 'retrying', attempt: 1, delayMs: 0, message };
		const note = refuses(
			model.id,
			[...shown].flatMap((part) => keys.get(part) ?? [])
		);
		for await (const event of model.stream(await show(request, (part) => why(part) ?? REFUSED), signal)) {
			if (event.type === 'completed')
				yield { ...withRemarks(event, [...leftOut, message]), items: [note, ...event.items] };
			else yield event.type === 'failed' ? { ...event, items: [note, ...event.items] } : event;
		}
	}
	return { ...model, stream };
}

function withRemarks<Event extends ModelRemarks>(event: Event, remarks: readonly string[]): Event {
	return remarks.length === 0 ? event : { ...event, leftOut: [...remarks, ...(event.leftOut ?? [])] };
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
		const head = await readUpTo(file, Math.min(bytes, HEAD_BYTES));
		const format = formatOf(head);
		if (!format) return refuse('it isn’t a PNG, JPEG, GIF or WebP.', 'Write the picture as a PNG and look at that.');
		const why = problemOfPicture(format, bytes);
		if (why !== null) return refuse(why, 'Write a smaller one and look at that.');
		const content = await readUpTo(file, bytes);
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

function newest<Part extends { file?: FilePart['file'] | undefined }>(parts: readonly Part[]): Set<Part> {
	let left = MAX_REQUEST_BYTES;
	const few = parts.slice(-MAX_SHOWN);
	const cut = few.findLastIndex(({ file }) => (left -= file?.bytes ?? 0) < 0);
	return new Set(few.slice(cut + 1));
}

/** By content, and counted: a file that is attached once more is tried once more. */
function keysOf(input: readonly ResponseItem[]): Map<SentPart, string> {
	const counts = new Map<string, number>();
	const parts = input.flatMap((item) => partsOf(item).filter(isSentPart));
	return new Map(
		parts.map((part) => {
			const content = isFilePart(part) ? part.file.digest : hash('sha256', JSON.stringify(part));
			const count = (counts.get(content) ?? 0) + 1;
			counts.set(content, count);
			return [part, `${content}#${count}`];
		})
	);
}

/** Sentences for people. The text of a PDF is sent in its place. */
function remarksOf(parts: readonly SentPart[], why: (part: SentPart) => string | null, model: string): string[] {
	const remarks = parts.flatMap((part) => {
		const reason = part.type === 'input_file' && isFilePart(part) ? null : why(part);
		if (reason === null) return [];
		return `${nameOf(part)} wasn’t sent to ${model}: ${reason.replace(/^you /, 'it ')}.`;
	});
	return [...new Set(remarks)].slice(-MAX_REMARKS);
}

function insteadOf(part: SentPart, reason: string): TextPart {
	const rest = isFilePart(part) ? ' Scripts can read the file.' : '';
	return textPart(`${nameOf(part)} isn’t shown, because ${reason}.${rest}`);
}

function nameOf(part: SentPart): string {
	if (isFilePart(part)) return plainLine(part.file.path);
	const { type, image_url, file_url, file_id } = part;
	const address = [image_url, file_url, file_id].find((each) => typeof each === 'string' && !each.startsWith('data:'));
	const kind = type === 'input_image' ? 'picture' : 'file';
	return address === undefined ? `The ${kind}` : `The ${kind} ${plainLine(String(address)).slice(0, MAX_ADDRESS)}`;
}

/**
 * OpenRouter answers 404 if no provider of the model takes them; 413 often comes from a proxy that says nothing more. Local
 * servers answer 500, which says much else too: one sentence must name both the file and what is wrong with it.
 */
function refusesFiles({ status = 0, message }: { status?: number; message: string }): boolean {
	if (status === 413) return true;
	if (status === 500) return SAYS_REFUSED.test(message);
	return (
		[400, 404, 415, 422].includes(status) &&
		/image|picture|vision|multi-?modal|\bfiles?\b|file_data|pdf|document|\boutput\b/i.test(message)
	);
}

const SENT = String.raw`\b(?:images?|pictures?|vision|multi-?modal|pdfs?|input_image|input_file)\b`;
const REFUSAL = String.raw`\b(?:not support\w*|unsupported|invalid|not (?:a )?valid|(?:cannot|can[’']t|could(?: not|n[’']t)) (?:identify|read|decode)|decod\w+|corrupt\w*|missing data)\b`;
const SAYS_REFUSED = new RegExp(`${SENT}[^.\\n]{0,80}${REFUSAL}|${REFUSAL}[^.\\n]{0,80}${SENT}`, 'i');

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

function isSentPart(part: unknown): part is SentPart {
	return isObject(part) && (part.type === 'input_image' || part.type === 'input_file');
}

function isFilePart(part: SentPart): part is FilePart {
	return isObject(part.file);
}

function isText(part: unknown): part is TextPart {
	return isObject(part) && part.type === 'input_text';
}
