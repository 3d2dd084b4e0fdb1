/** The list of messages on the page, made from what the server has stored. */
import { emptyAnswer, type Message } from '../shared/message.ts';
import { newId, timestamp } from './ids.ts';
import { MessageEntry } from './message-entry.svelte.ts';

/**
 * The list with the newest stretch as it was read, after the places before it that are there already. What has a place keeps
 * it, with all that was rendered in it; the answer of the run `liveRunId` stays as it is: the page follows that run, and is
 * further than what was read.
 */
export function mergeEntries(entries: MessageEntry[], messages: Message[], liveRunId: string | null): MessageEntry[] {
	const byId = new Map(entries.map((entry) => [entry.message.id, entry]));
	const byRun = new Map(entries.map((entry) => [entry.message.runId, entry]));
	const newest = messages.map((message) => {
		// An answer whose run was started here has no id of the server's yet.
		const entry = byId.get(message.id) ?? (message.runId === null ? undefined : byRun.get(message.runId));
		if (!entry) return new MessageEntry(message);
		const isLive = message.runId !== null && message.runId === liveRunId;
		if (!isLive) {
			if (!isSame(entry.message, message)) entry.message = message;
		} else if (entry.message.id !== message.id || entry.message.parentId !== message.parentId) {
			entry.message = { ...entry.message, id: message.id, parentId: message.parentId };
		}
		return entry;
	});
	const merged = [...entriesBefore(entries, messages), ...newest];
	const isUnchanged = merged.length === entries.length && merged.every((entry, index) => entry === entries[index]);
	return isUnchanged ? entries : merged;
}

/** The places before the first of these messages, where they are still what comes before it. */
function entriesBefore(entries: MessageEntry[], messages: Message[]): MessageEntry[] {
	const [first] = messages;
	const index = entries.findIndex(({ message }) => message.id === first?.id);
	return index > 0 && entries[index - 1]?.message.id === first?.parentId ? entries.slice(0, index) : [];
}

/** The place of a run's answer, with the list that has it: a new one at the end when there was none. */
export function placeOfRun(entries: MessageEntry[], runId: string): { entry: MessageEntry; entries: MessageEntry[] } {
	const found = entries.find(({ message }) => message.role === 'assistant' && message.runId === runId);
	if (found) return { entry: found, entries };
	const entry = new MessageEntry(emptyAnswer(newId(), runId, timestamp()));
	return { entry, entries: [...entries, entry] };
}

/** A message that is not being written changes only together with one of these. */
function isSame(before: Message, now: Message): boolean {
	return (
		now.status !== 'running' &&
		before.id === now.id &&
		before.status === now.status &&
		before.runId === now.runId &&
		before.parentId === now.parentId
	);
}
