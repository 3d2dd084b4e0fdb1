/** A user's message on its way: as the request that starts a run, and as the message that the list shows at once. */
import type { RunAgentInput } from '../shared/api.ts';
import type { Message } from '../shared/message.ts';
import type { Question } from './draft.svelte.ts';
import { newId, timestamp } from './ids.ts';

export function pathsOf(question: Question): string[] {
	return question.attachments.map(({ path }) => path);
}

/** What a run is asked, where it is asked something new. */
export interface RunQuestion {
	text: string;
	/** Workspace paths. */
	files: string[];
}

/**
 * AG-UI's input for a run; `props` say what it does when it does not answer a message at the end of what is shown. When it
 * says the same as `unconfirmed`, that one is sent again as it was: the server may have it already, and takes the same ids
 * for the same run.
 */
export function runInput(
	threadId: string,
	question: RunQuestion | null,
	props: Record<string, unknown> | null,
	unconfirmed: RunAgentInput | null
): RunAgentInput {
	const create = (runId: string, id: string): RunAgentInput => ({
		threadId,
		runId,
		messages: question ? [messageOf(id, question)] : [],
		tools: [],
		context: [],
		...(props ? { forwardedProps: props } : {})
	});
	if (unconfirmed) {
		const same = create(unconfirmed.runId, unconfirmed.messages[0]?.id ?? newId());
		if (JSON.stringify(same) === JSON.stringify(unconfirmed)) return unconfirmed;
	}
	return create(newId(), newId());
}

function messageOf(id: string, { text, files }: RunQuestion): RunAgentInput['messages'][number] {
	return { id, role: 'user', content: text, ...(files.length > 0 ? { metadata: { files } } : {}) };
}

/** The message as the list shows it before the server has stored it. */
export function userMessageOf(input: RunAgentInput): Message {
	const [message] = input.messages;
	const files = message?.metadata?.files;
	return {
		id: message?.id ?? newId(),
		role: 'user',
		parentId: null,
		status: 'complete',
		parts: [{ type: 'text', id: `${message?.id}-text`, text: String(message?.content ?? '') }],
		files: Array.isArray(files) ? files.map(String) : [],
		runId: null,
		error: null,
		usage: null,
		limit: null,
		context: null,
		retry: null,
		createdAt: timestamp()
	};
}

/** A message's text parts, without reasoning and steps. */
export function textOf(message: Message): string {
	return message.parts
		.flatMap((part) => (part.type === 'text' ? [part.text] : []))
		.join('\n\n')
		.trim();
}
