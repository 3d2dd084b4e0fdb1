/** Messages in groups that stay what they are when others come before or after them. */
import type { MessageEntry } from './message-entry.svelte.ts';

export interface MessageGroup {
	key: number;
	/** The same array as long as it has the same messages. */
	entries: MessageEntry[];
}

const GROUP_SIZE = 16;

export class MessageGroups {
	/** The place of each message, counted from the first one that was ever there: those before it have negative ones. */
	#places = new WeakMap<MessageEntry, number>();
	#groups = new Map<number, MessageGroup>();

	/** The browser skips a whole group that is out of sight; to watch each of 400 messages costs more than the newest one. */
	update(entries: MessageEntry[]): MessageGroup[] {
		const known = entries.findIndex((entry) => this.#places.has(entry));
		const first = (entries[known] ? (this.#places.get(entries[known]) ?? 0) : 0) - Math.max(0, known);
		const fresh = new Map<number, MessageEntry[]>();
		for (const [index, entry] of entries.entries()) {
			this.#places.set(entry, first + index);
			const key = Math.floor((first + index) / GROUP_SIZE);
			const group = fresh.get(key);
			if (group) group.push(entry);
			else fresh.set(key, [entry]);
		}
		this.#groups = new Map([...fresh].map(([key, list]) => [key, this.#reuse(key, list)]));
		return [...this.#groups.values()];
	}

	#reuse(key: number, entries: MessageEntry[]): MessageGroup {
		const old = this.#groups.get(key);
		const isSame =
			old?.entries.length === entries.length && old.entries.every((entry, index) => entry === entries[index]);
		return isSame ? old : { key, entries };
	}
}
