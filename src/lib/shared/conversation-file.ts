/** The file format of exported conversations. Imports refuse unknown keys. */
import { z } from 'zod';
import type { Message } from './message.ts';
import { fileMessage } from './message-schema.ts';

export const FILE_FORMAT = 'openrouter-skills/conversation';
export const FILE_VERSION = 1;
export const MAX_FILE_BYTES = 20 * 1024 * 1024;
export const MAX_FILE_MESSAGES = 10_000;

/** A message without its run. */
export type FileMessage = Omit<Message, 'runId'>;

/** Parents come before their replies; `head` is the last message of the shown branch. */
export const conversationFile = z.strictObject({
	format: z.literal(FILE_FORMAT),
	version: z.literal(FILE_VERSION),
	title: z.string().trim().min(1).max(1000),
	createdAt: z.iso.datetime(),
	exportedAt: z.iso.datetime(),
	head: z.string().min(1).max(256).nullable(),
	messages: z.array(fileMessage).max(MAX_FILE_MESSAGES)
});
export type ConversationFile = z.infer<typeof conversationFile>;
