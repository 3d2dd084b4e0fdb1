/** Makes a conversation of a file that an export wrote, or that somebody made: nothing in it is believed, and nothing is run. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ConversationSummary } from '../../shared/api.ts';
import { conversationFile, type FileMessage, MAX_FILE_MESSAGES } from '../../shared/conversation-file.ts';
import { fileMessage, MAX_FILE_PARTS } from '../../shared/message-schema.ts';
import { AppError } from '../../shared/errors.ts';
import { endMessage, type Message } from '../../shared/message.ts';
import type { Store } from '../store/store.ts';

/** The file but for its messages, which are checked one by one: of a bad file not all has to be looked at to refuse it. */
const envelope = conversationFile.omit({ messages: true }).extend({ messages: z.array(z.unknown()) });

interface Imported {
	title: string;
	createdAt: string;
	head: string | null;
	messages: Message[];
}

/** A new conversation with the file's title. @throws AppError invalid_input with the place named */
export async function importConversation(store: Store, body: unknown, now = new Date()): Promise<ConversationSummary> {
	const { title, createdAt, head, messages } = readConversationFile(body, now);
	const id = randomUUID();
	await store.conversations.create({ id, title, createdAt });
	try {
		await store.messages.fill(id, messages, head);
		await store.conversations.touch(id, now.toISOString());
	} catch (error) {
		await store.conversations.remove(id);
		throw error;
	}
	const conversation = await store.conversations.get(id);
	if (!conversation) throw new AppError('not_found', 'The conversation was deleted while it was imported.');
	return conversation;
}

/** Checks everything, and gives the messages ids of their own. @throws AppError invalid_input */
function readConversationFile(body: unknown, now: Date): Imported {
	const file = check(envelope, body, []);
	if (file.messages.length > MAX_FILE_MESSAGES) {
		throw refusal(
			`A conversation may have at most ${MAX_FILE_MESSAGES} messages; this file has ${file.messages.length}.`
		);
	}
	const ids = new Map<string, string>();
	const messages = file.messages.map((given, index) => {
		requireFewParts(given, index);
		const message = check(fileMessage, given, ['messages', index]) as FileMessage;
		const parentId = message.parentId === null ? null : ids.get(message.parentId);
		if (parentId === undefined) {
			throw refusal(`messages.${index}.parentId: no message before this one has the id ${quote(message.parentId)}`);
		}
		if (ids.has(message.id)) throw refusal(`messages.${index}.id: ${quote(message.id)} is there twice`);
		const id = randomUUID();
		ids.set(message.id, id);
		return ended({ ...message, id, parentId, runId: null, createdAt: timeOf(message.createdAt, now) });
	});
	const head = file.head === null ? null : ids.get(file.head);
	if (head === undefined) throw refusal(`head: no message has the id ${quote(file.head)}`);
	if (head === null && messages.length > 0) throw refusal('head: must be the id of a message');
	return { title: file.title, createdAt: timeOf(file.createdAt, now), head, messages };
}

/** What was open when it was exported is nobody's any more: calls that waited or ran are interrupted. */
function ended(message: Message): Message {
	const isOpen = message.status === 'running' || message.status === 'waiting';
	const status = isOpen ? 'interrupted' : message.status;
	const { parts } = endMessage(message, 'interrupted', null);
	return { ...message, parts, status, retry: null };
}

/** Before its schema looks at each of them: a million parts would have a million things to say. */
function requireFewParts(message: unknown, index: number): void {
	const parts = typeof message === 'object' && message !== null && 'parts' in message ? message.parts : null;
	if (Array.isArray(parts) && parts.length > MAX_FILE_PARTS) {
		throw refusal(`messages.${index}.parts: a message may have at most ${MAX_FILE_PARTS} parts`);
	}
}

/** In the form that the server writes; nothing of a file was said later than now. */
function timeOf(time: string, now: Date): string {
	return new Date(Math.min(Date.parse(time), now.getTime())).toISOString();
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown, at: readonly (string | number)[]) {
	const parsed = schema.safeParse(value);
	if (parsed.success) return parsed.data;
	const issue = parsed.error.issues[0];
	const field = [...at, ...(issue?.path ?? [])].join('.') || 'file';
	throw refusal(`${field}: ${issue?.message ?? 'is not right'}`);
}

function refusal(reason: string): AppError {
	return new AppError('invalid_input', `This is not a conversation that can be imported: ${reason}`, {
		hint: 'Choose a file that was exported as JSON.'
	});
}

function quote(id: string | null): string {
	return `“${(id ?? '').slice(0, 64)}”`;
}
