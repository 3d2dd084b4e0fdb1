/** The list of messages on the page, made from what the server has stored. */
import { emptyAnswer, type Message } from '../shared/message.ts';
import { newId, timestamp } from './ids.ts';
import { entryKey, MessageEntry } from './message-entry.svelte.ts';

/** A finished message does not change any more: its place, and all that was rendered in it, stays. */
export function mergeEntries(entries: MessageEntry[], messages: Message[]): MessageEntry[] {
	const known = new Map(entries.map((entry) => [entry.key, entry]));
	return messages.map((message) => {
		const entry = known.get(entryKey(message));
		const isSame = entry && message.status !== 'running' && entry.message.status === message.status;
		return isSame ? entry : new MessageEntry(message);
	});
}

/** The place of a run's answer, with the list that has it: a new one at the end when there was none. */
export function placeOfRun(entries: MessageEntry[], runId: string): { entry: MessageEntry; entries: MessageEntry[] } {
	const found = entries.find(({ message }) => message.role === 'assistant' && message.runId === runId);
	if (found) return { entry: found, entries };
	const entry = new MessageEntry(emptyAnswer(newId(), runId, timestamp()));
	return { entry, entries: [...entries, entry] };
}
