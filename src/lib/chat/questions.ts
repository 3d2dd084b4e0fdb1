/** A user's message on its way: as the request that starts a run, and as the message that the list shows at once. */
import type { RunAgentInput } from '../shared/api.ts';
import type { Message } from '../shared/message.ts';
import type { Question } from './draft.svelte.ts';
import { newId, timestamp } from './ids.ts';
import type { MessageEntry } from './message-entry.svelte.ts';

export function pathsOf(question: Question): string[] {
	return question.attachments.map(({ path }) => path);
}

/**
 * AG-UI's input for one new message. When it says the same as `unconfirmed`, that one is sent again as it was:
 * the server may have it already, and takes the same ids for the same run.
 */
export function runInput(
	threadId: string,
	text: string,
	files: string[],
	unconfirmed: RunAgentInput | null
): RunAgentInput {
	const metadata = files.length > 0 ? { metadata: { files } } : {};
	const create = (runId: string, id: string): RunAgentInput => ({
		threadId,
		runId,
		messages: [{ id, role: 'user', content: text, ...metadata }],
		tools: [],
		context: []
	});
	if (unconfirmed) {
		const same = create(unconfirmed.runId, unconfirmed.messages[0]?.id ?? newId());
		if (JSON.stringify(same) === JSON.stringify(unconfirmed)) return unconfirmed;
	}
	return create(newId(), newId());
}

/** The message as the list shows it before the server has stored it. */
export function userMessageOf(input: RunAgentInput): Message {
	const [message] = input.messages;
	const files = message?.metadata?.files;
	return {
		id: message?.id ?? newId(),
		role: 'user',
		status: 'complete',
		parts: [{ type: 'text', id: `${message?.id}-text`, text: String(message?.content ?? '') }],
		files: Array.isArray(files) ? files.map(String) : [],
		runId: null,
		error: null,
		usage: null,
		retry: null,
		createdAt: timestamp()
	};
}

/** What was asked before an answer: text and files; null when there is nothing that could be asked again. */
export function questionBefore(
	entries: MessageEntry[],
	answer: MessageEntry
): { text: string; files: string[] } | null {
	const earlier = entries.slice(0, Math.max(0, entries.indexOf(answer)));
	const question = earlier.findLast(({ message }) => message.role === 'user')?.message;
	if (!question) return null;
	const text = textOf(question);
	return text === '' ? null : { text, files: question.files };
}

/** A message's text parts, without reasoning and steps. */
export function textOf(message: Message): string {
	return message.parts
		.flatMap((part) => (part.type === 'text' ? [part.text] : []))
		.join('\n\n')
		.trim();
}
