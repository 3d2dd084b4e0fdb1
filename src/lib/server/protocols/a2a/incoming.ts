/** A client's message → what a run is asked, and the files that come with it. */
import { createHash } from 'node:crypto';
import { Role, type Message, type Part } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { AppError } from '../../../shared/errors.ts';
import { checkedMessage } from '../../runs/agui-messages.ts';
import type { NewMessage } from '../../runs/run-request.ts';
import { endingOf } from '../media-types.ts';

export interface IncomingFile {
	/** In the workspace. */
	path: string;
	bytes: Buffer;
}

const PLAIN_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** @throws AppError invalid_input, or an error of A2A, for what cannot be asked */
export function readIncoming(message: Message): { message: NewMessage; files: IncomingFile[] } {
	if (message.role !== Role.ROLE_USER) throw new RequestMalformedError('message.role must be the user’s.');
	const files = message.parts.flatMap(fileOf);
	const paths = files.map(({ path }) => path);
	if (new Set(paths).size < paths.length) throw new RequestMalformedError('Two file parts have the same name.');
	const text = message.parts.flatMap(wordsOf).join('\n\n');
	if (text.trim() === '') {
		throw new RequestMalformedError('The message says nothing: add a text part that says what to do.');
	}
	return { message: checkedMessage({ id: storedId(message.messageId), text, files: paths }), files };
}

/** Clients choose any text; the store's ids are plain. */
function storedId(messageId: string): string {
	if (PLAIN_ID.test(messageId)) return messageId;
	return `a2a-${createHash('sha256').update(messageId).digest('hex').slice(0, 32)}`;
}

function wordsOf({ content }: Part): string[] {
	if (content?.$case === 'text') return [content.value];
	return content?.$case === 'data' ? [asJson(content.value)] : [];
}

function asJson(value: unknown): string {
	try {
		return JSON.stringify(value) ?? 'null';
	} catch (error) {
		throw new AppError('invalid_input', 'A data part is nested too deep.', { cause: error });
	}
}

function fileOf({ content, filename, mediaType }: Part, index: number): IncomingFile[] {
	if (content?.$case === 'url') {
		throw new ContentTypeNotSupportedError(
			'Files by address are not fetched here: send the bytes of the file in the message.'
		);
	}
	if (content?.$case !== 'raw') return [];
	return [{ path: filename === '' ? `file-${index + 1}${endingOf(mediaType)}` : filename, bytes: content.value }];
}
