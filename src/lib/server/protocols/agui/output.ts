/** Puts AG-UI's snapshots of state and messages into a run's events, for clients that ask for them (FEATURES F13). */
import type * as agui from '@ag-ui/core';
import { isTerminal, type RunEvent } from '../../../shared/events.ts';
import type { Message, Part } from '../../../shared/message.ts';
import { listConversationSkills } from '../../conversations/conversation-skills.ts';
import type { StoredEvent } from '../../store/chat/runs.ts';
import type { Store } from '../../store/store.ts';

type Parts = Parameters<typeof listConversationSkills>[0] & { store: Pick<Store, 'messages'> };

interface Snapshots {
	batches: AsyncIterable<StoredEvent[]>;
	/** As the client gave it: any JSON, or nothing. */
	state: unknown;
}

/**
 * STATE_SNAPSHOT after the run's start, and before its end once more with MESSAGES_SNAPSHOT. They are in no log: each has
 * the number of the event before it, so that a client that goes on after one misses nothing.
 */
export async function* withSnapshots(
	parts: Parts,
	conversationId: string,
	{ batches, state }: Snapshots
): AsyncGenerator<StoredEvent[]> {
	const stateSnapshot = async () => {
		return JSON.stringify({ type: 'STATE_SNAPSHOT', snapshot: await stateOf(parts, conversationId, state) });
	};
	const messagesSnapshot = async () => {
		const messages = toAguiMessages(await parts.store.messages.list(conversationId));
		return JSON.stringify({ type: 'MESSAGES_SNAPSHOT', messages });
	};
	for await (const batch of batches) {
		const whole: StoredEvent[] = [];
		for (const stored of batch) {
			const event = JSON.parse(stored.data) as RunEvent;
			if (isTerminal(event)) {
				const seq = stored.seq - 1;
				whole.push({ seq, data: await stateSnapshot() }, { seq, data: await messagesSnapshot() });
			}
			whole.push(stored);
			if (event.type === 'RUN_STARTED') whole.push({ seq: stored.seq, data: await stateSnapshot() });
		}
		yield whole;
	}
}

/** The client's own state with the conversation's skills beside it; a state that is no object has no room for them. */
async function stateOf(parts: Parts, conversationId: string, given: unknown): Promise<unknown> {
	if (given !== undefined && given !== null && (typeof given !== 'object' || Array.isArray(given))) return given;
	const { data } = await listConversationSkills(parts, conversationId);
	const namesOf = (wanted: 'pinned' | 'loaded') => data.flatMap(({ name, state }) => (state === wanted ? [name] : []));
	return { ...given, skills: { pinned: namesOf('pinned'), loaded: namesOf('loaded') } };
}

// A conversation's messages in AG-UI's shape, with the ids that its events have (FEATURES F13). Pure.

function toAguiMessages(messages: readonly Message[]): agui.Message[] {
	return messages.flatMap((message) => {
		return message.role === 'user' ? [toUserMessage(message)] : message.parts.flatMap(toAnswerMessages);
	});
}

function toUserMessage({ id, parts, files }: Message): agui.Message {
	const content = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
	return { id, role: 'user', content, metadata: files.length > 0 ? { files } : undefined };
}

/** A part is a message in AG-UI; a call that has its result is two. */
function toAnswerMessages(part: Part): agui.Message[] {
	switch (part.type) {
		case 'text':
			return [{ id: part.id, role: 'assistant', content: part.text }];
		case 'reasoning':
			return [{ id: part.id, role: 'reasoning', content: part.text }];
		case 'tool': {
			const { id, name, arguments: text, result } = part;
			const call: agui.Message = {
				id,
				role: 'assistant',
				toolCalls: [{ id, type: 'function', function: { name, arguments: text } }]
			};
			if (result === undefined) return [call];
			return [call, { id: `result_${id}`, role: 'tool', toolCallId: id, content: result }];
		}
		case 'compaction':
			// The model's beginning was shortened: nothing that anybody has said.
			return [];
		default:
			return part satisfies never;
	}
}
