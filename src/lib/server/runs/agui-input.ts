/** AG-UI's `RunAgentInput` → what the runner starts. The history is the server's: only the newest message is taken. */
import { conversationId, userMessage, type RunAgentInput } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import { safeSegments } from './safe-path.ts';
import type { RunRequest } from './runner.ts';

/** @throws AppError invalid_input when the last message is not a user's, or says nothing */
export function toRunRequest(input: RunAgentInput): RunRequest {
	const parsed = userMessage.safeParse(input.messages.at(-1));
	if (!parsed.success) {
		const issue = parsed.error.issues[0];
		const field = ['messages', input.messages.length - 1, ...(issue?.path ?? [])].join('.');
		throw new AppError('invalid_input', `${field}: the last message must be a user's: ${issue?.message ?? ''}`);
	}
	const { id, content, metadata } = parsed.data;
	const text = (typeof content === 'string' ? content : content.map(textOf).join('\n')).replaceAll('\0', '');
	if (text.trim() === '') throw new AppError('invalid_input', 'messages: the message is empty; write something.');
	const files = metadata?.files ?? [];
	for (const file of files) safeSegments(file);
	return {
		runId: input.runId,
		conversationId: input.threadId,
		message: { id, text, files },
		tools: input.tools.map(({ name, description, parameters }) => {
			return { type: 'function', name, description, parameters: isObject(parameters) ? parameters : EMPTY_PARAMETERS };
		})
	};
}

/** An id that may name a folder. @throws AppError invalid_input */
export function checkConversationId(id: string): string {
	if (conversationId.safeParse(id).success) return id;
	throw new AppError('invalid_input', 'id: must be 1 to 128 letters, digits, hyphens or underscores');
}

const EMPTY_PARAMETERS = { type: 'object', properties: {} };

function textOf(part: { type: string; text?: unknown }): string {
	return part.type === 'text' && typeof part.text === 'string' ? part.text : '';
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
