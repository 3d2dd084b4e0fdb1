/** Reads the content of a prompt: its text, and the files that come along with it. */
import { isUtf8 } from 'node:buffer';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContentBlock, EmbeddedResourceResource } from '@agentclientprotocol/sdk';
import { plainLine } from '../../../shared/characters.ts';
import { AppError } from '../../../shared/errors.ts';
import { safeSegments } from '../../safe-path.ts';
import { formatOf } from '../../skills/run/picture-format.ts';
import { decodeReceived, nameOfReceived, tellAddress } from '../received-files.ts';
import { type Editor, MAX_TEXT_BYTES, placeOf, readProjectFile, readProjectText } from './editor-tools.ts';

export interface Prompt {
	text: string;
	files: PromptFile[];
}

interface PromptFile {
	name: string;
	bytes: Buffer<ArrayBuffer>;
	/** It has its path in the project as its name, and replaces the copy of an earlier prompt. */
	isOfProject: boolean;
}

/** As in a message of the page. */
const MAX_CHARACTERS = 1_000_000;
const MAX_FILES = 100;
const MAX_FILE_BYTES = 20 * 1024 * 1024;

/**
 * Files of the project are read from the editor, and named by their path. Nothing is written yet. @throws AppError `invalid_input`, `too_large`
 */
export async function readPrompt(
	blocks: readonly ContentBlock[],
	editor: Editor,
	signal: AbortSignal
): Promise<Prompt> {
	const files: Prompt['files'] = [];
	const texts: string[] = [];
	for (const [index, block] of blocks.entries()) {
		const place = `prompt.${index}`;
		switch (block.type) {
			case 'text':
				texts.push(block.text);
				break;
			case 'image':
			case 'audio':
				files.push(receive(block.data, { mediaType: block.mimeType, kind: block.type, place }));
				break;
			case 'resource_link':
				texts.push(await readLink(block, { editor, files, signal }));
				break;
			case 'resource':
				texts.push(await readResource(block.resource, { editor, files, place }));
				break;
			default:
				throw new AppError('invalid_input', `${place}.type isn’t known here.`);
		}
		if (files.length > MAX_FILES) throw new AppError('invalid_input', `A prompt can have at most ${MAX_FILES} files.`);
	}
	const text = texts.join('').trim() || files.map(({ name }) => name).join(', ');
	if (text === '') throw new AppError('invalid_input', 'The prompt is empty.');
	if (text.length > MAX_CHARACTERS)
		throw new AppError('too_large', 'The prompt is longer than a million characters. Attach the text as a file.');
	return { text: text.toWellFormed(), files };
}

interface Reading {
	editor: Editor;
	files: Prompt['files'];
}

/** The words for a link; its file is added to `files`. */
async function readLink(
	{ uri, name }: { uri: string; name: string },
	{ editor, files, signal }: Reading & { signal: AbortSignal }
): Promise<string> {
	const at = fileOf(uri);
	const place = at === null ? null : await placeOf(editor.project, at).catch(refused);
	if (!place) return ` ${tellAddress(name === '' || name === uri ? uri : `${name}: ${uri}`)} `;
	const mention = mentionOf(place.shown, uri);
	const facts = await stat(place.path).catch(() => null);
	if (facts?.isDirectory()) return `${mention}/`;
	const saved = await readProjectFile(place.path, MAX_FILE_BYTES).catch(refused);
	const isText = saved === null || (saved.length <= MAX_TEXT_BYTES && isUtf8(saved));
	// The editor may have changes that aren't saved, or a file that isn't there yet.
	const current = isText ? await readProjectText(editor, place.path, signal).catch(() => null) : null;
	signal.throwIfAborted();
	const bytes = current === null ? saved : Buffer.from(current);
	if (bytes) files.push(ofProject(bytes, place.shown));
	return mention;
}

/** The words for what the editor sends with its content. A part of a file is text, a whole one is a file. */
async function readResource(
	resource: EmbeddedResourceResource,
	{ editor, files, place: where }: Reading & { place: string }
): Promise<string> {
	const { uri, mimeType } = resource;
	const at = fileOf(uri);
	const place = at === null ? null : await placeOf(editor.project, at).catch(refused);
	const mention = place ? mentionOf(place.shown, uri) : plainLine(basename(at ?? uri)).slice(0, 200);
	if ('text' in resource) {
		if (uri.includes('#')) return `${mention}:\n\n${resource.text}\n\n`;
		const bytes = Buffer.from(resource.text.toWellFormed());
		checkSize(bytes, where);
		const filename = basename(at ?? URL.parse(uri)?.pathname ?? '') || 'text.txt';
		files.push(
			place
				? ofProject(bytes, place.shown)
				: { name: nameOfReceived({ bytes, mediaType: '', filename }), bytes, isOfProject: false }
		);
	} else {
		const filename = basename(at ?? URL.parse(uri)?.pathname ?? '');
		files.push(receive(resource.blob, { mediaType: mimeType ?? '', kind: 'file', filename, place: where }));
	}
	return mention;
}

function receive(
	data: string,
	{ mediaType, kind, filename, place }: { mediaType: string; kind: string; filename?: string; place: string }
): Prompt['files'][number] {
	const received = decodeReceived(data);
	if (!received) throw new AppError('invalid_input', `${place} must have base64 as its data.`);
	const { bytes } = received;
	checkSize(bytes, place);
	const known = formatOf(bytes)?.mediaType ?? mediaType;
	return { name: nameOfReceived({ bytes, mediaType: known, filename, kind }), bytes, isOfProject: false };
}

function checkSize(bytes: Buffer, place: string): void {
	if (bytes.length > MAX_FILE_BYTES) throw new AppError('too_large', `${place} is larger than 20 MB.`);
}

/** Under the same path as in the project, if a chat's file can have it. */
function ofProject(bytes: Buffer<ArrayBuffer>, shown: string): PromptFile {
	try {
		const name = safeSegments(shown).join('/');
		return { name, bytes, isOfProject: true };
	} catch (error) {
		refused(error);
		return { name: nameOfReceived({ bytes, mediaType: '', filename: basename(shown) }), bytes, isOfProject: true };
	}
}

/** `src/main.ts`, with the lines that the address names. */
function mentionOf(shown: string, uri: string): string {
	const lines = /#(L\d+(?:[-:]L?\d+)?)$/.exec(uri)?.[1];
	return lines === undefined ? shown : `${shown}#${lines}`;
}

/** null if it isn't an address of a file on this computer. */
function fileOf(uri: string): string | null {
	const url = URL.parse(uri);
	if (url?.protocol !== 'file:') return null;
	try {
		url.search = '';
		url.hash = '';
		return fileURLToPath(url);
	} catch {
		return null;
	}
}

function refused(error: unknown): null {
	if (error instanceof AppError) return null;
	throw error;
}
