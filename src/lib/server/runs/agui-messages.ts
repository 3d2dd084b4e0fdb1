/** What the messages of AG-UI's `RunAgentInput` bring that the server does not have yet: it keeps the history itself (FEATURES F13). */
import { createHash } from 'node:crypto';
import { conversationId, toolMessage, userMessage, type RunAgentInput } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import { safeSegments } from '../safe-path.ts';
import type { CallResult } from '../store/handed-calls.ts';
import type { NewMessage } from './run-request.ts';

type AguiMessage = RunAgentInput['messages'][number];

/** Characters of what a program says besides the messages: more would be most of what a model takes. */
const MAX_INSTRUCTIONS = 50_000;
/** Characters of one result; a message may be as long. */
const MAX_RESULT = 1_000_000;

/** A new message of which the files can be in a workspace. @throws AppError invalid_input */
export function checkedMessage({ id, text, files }: NewMessage): NewMessage {
	const readable = text.replaceAll('\0', '');
	if (readable.trim() === '') throw new AppError('invalid_input', 'messages: the message is empty; write something.');
	for (const file of files) safeSegments(file);
	return { id, text: readable, files };
}

/** The last message. @throws AppError invalid_input when it is not a user's, or says nothing */
export function newestQuestion({ messages }: RunAgentInput): NewMessage {
	if (messages.length === 0) throw new AppError('invalid_input', 'messages: must hold a message');
	const parsed = userMessage.safeParse(messages.at(-1));
	if (!parsed.success) {
		const issue = parsed.error.issues[0];
		const field = ['messages', messages.length - 1, ...(issue?.path ?? [])].join('.');
		const rule = 'the last message must be a user’s, or the result of a tool';
		throw new AppError('invalid_input', `${field}: ${rule}: ${issue?.message ?? ''}`);
	}
	const { content, metadata } = parsed.data;
	const id = toMessageId(messages.at(-1)?.id ?? '');
	return checkedMessage({ id, text: contentText(content), files: metadata?.files ?? [] });
}

/** The results that the list ends with; none when it ends with something else. @throws AppError invalid_input | too_large */
export function trailingResults({ messages }: RunAgentInput): CallResult[] {
	const first = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
	return messages.slice(first).map((message, index) => toResult(message, first + index));
}

/** The results between the newest question and the one before it. @throws AppError invalid_input | too_large */
export function resultsBeforeQuestion({ messages }: RunAgentInput): CallResult[] {
	const before = messages.slice(0, -1);
	const first = before.findLastIndex(({ role }) => role === 'user') + 1;
	return before.flatMap((message, index) => {
		return index >= first && message.role === 'tool' ? [toResult(message, index)] : [];
	});
}

/** The application's own words for the model: its system and developer messages and its context; empty without any. @throws AppError too_large */
export function spokenInstructions({ messages, context }: RunAgentInput): string {
	const spoken = messages.flatMap(({ role, content }) => {
		const isTheirs = role === 'system' || role === 'developer';
		return isTheirs && typeof content === 'string' && content.trim() !== '' ? [content.trim()] : [];
	});
	const facts = context.map(({ description, value }) => `- ${description}: ${value}`);
	const sections = [
		...(spoken.length > 0 ? [`## Instructions of the application\n\n${spoken.join('\n\n')}`] : []),
		...(facts.length > 0 ? [`## Context from the application\n\n${facts.join('\n')}`] : [])
	];
	const text = sections.join('\n\n').replaceAll('\0', '');
	if (text.length <= MAX_INSTRUCTIONS) return text;
	throw new AppError(
		'too_large',
		`messages, context: instructions and context are longer than ${MAX_INSTRUCTIONS} characters together.`,
		{ hint: 'Shorten them, or send parts of them as messages.' }
	);
}

function toResult(message: AguiMessage, index: number): CallResult {
	const parsed = toolMessage.safeParse(message);
	if (!parsed.success) {
		const issue = parsed.error.issues[0];
		const field = ['messages', index, ...(issue?.path ?? [])].join('.');
		throw new AppError('invalid_input', `${field}: ${issue?.message ?? 'is not right'}`, { details: { field } });
	}
	const { toolCallId, content, error } = parsed.data;
	const text = contentText(content).replaceAll('\0', '');
	// What an application says of a failure may be all that it says.
	const output = error === undefined ? text : [`Error: ${error.replaceAll('\0', '')}`, text].filter(Boolean).join('\n');
	if (output.length > MAX_RESULT) {
		throw new AppError('too_large', `messages.${index}.content: is longer than ${MAX_RESULT} characters.`, {
			hint: 'Send the part of the result that matters.'
		});
	}
	return { toolCallId, output, isError: error !== undefined };
}

/** An id of any form, as one that may stand in an address: the same one for the same message. */
function toMessageId(id: string): string {
	if (conversationId.safeParse(id).success) return id;
	return `agui-${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

/** The text of AG-UI content; parts of other kinds are left out, as AG-UI says of a peer that cannot use them. */
function contentText(content: string | readonly { type: string; text?: unknown }[]): string {
	if (typeof content === 'string') return content;
	return content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])).join('\n');
}
