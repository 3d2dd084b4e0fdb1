/** What can be done with a message that is there. */
import type { Attachment } from 'svelte/attachments';
import type { ApprovalDecision } from '../../shared/events.ts';
import type { Message } from '../../shared/message.ts';
import type { History } from '../conversation/history.svelte.ts';
import type { MessageEntry } from '../conversation/message-entry.svelte.ts';
import type { StickToBottom } from '../ui/stick-to-bottom.svelte.ts';

export interface MessageActions {
	/** An answer is being written: messages must stay as they are. */
	isLocked: boolean;
	/** Is this message of the user being asked otherwise? */
	isEditing: boolean;
	setEditing: (isEditing: boolean) => void;
	/** Puts this text in the place of a user's message. False when it was not taken. */
	edit: (text: string) => Promise<boolean>;
	/** Gives another answer beside this one. */
	retry: () => void;
	/** The same, by another model; absent where none can be chosen. */
	retryWith?: ((model: string) => void) | undefined;
	/** Reads the models that could answer, where they are not known yet. */
	loadModels?: (() => void) | undefined;
	/** Goes on with the answer; absent where that cannot be. */
	continue?: (() => void) | undefined;
	/** A conversation of its own with everything up to here. */
	fork: () => void;
	/** Asks whether to remove the message and all that follows, and does it. */
	remove: () => void;
	/** Shows a message in place of this one. */
	show: (messageId: string) => Promise<boolean>;
	/** Rejects with a sentence to show. */
	decide: (interruptId: string, decision: ApprovalDecision) => Promise<void>;
	/** May the focus move to a question that comes up? */
	mayFocus: () => boolean;
	/** Puts a text where one writes to the model, to be looked at and sent; absent without a model. */
	ask?: ((text: string) => void) | undefined;
	/** Opens the choice of the model. */
	switchModel?: (() => void) | undefined;
}

/** How another model is chosen from among the messages. */
export interface ModelSwitch {
	/** Empty until they are read. */
	readonly models: readonly ModelChoice[];
	load: () => void;
	/** Opens the choice of the model. */
	open: () => void;
}

/** A model to choose for another answer. */
export interface ModelChoice {
	id: string;
	name: string;
}

// Messages in groups that stay what they are when others come before or after them.

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

// Takes the reader to the message that was looked for, and marks it for a moment.

const MARKED_MS = 2000;

/** For `{@attach}` on the list of messages. */
export function showFound(history: History, scroll: StickToBottom): Attachment<HTMLElement> {
	let unmark = (): void => undefined;
	return (list) => {
		const id = history.found;
		if (id === null) return;
		// Seen once: a list that is made anew opens as it always does.
		history.found = null;
		// After what else scrolls a new list, to its end say.
		requestAnimationFrame(() => {
			const row = list.querySelector<HTMLElement>(`[data-message='${CSS.escape(id)}']`);
			if (!row) return;
			scroll.scrollTo(row);
			unmark();
			row.dataset.found = '';
			const timer = setTimeout(() => unmark(), MARKED_MS);
			unmark = () => {
				clearTimeout(timer);
				delete row.dataset.found;
			};
			// What comes into view for the first time takes its real height.
			requestAnimationFrame(() => scroll.scrollTo(row));
		});
	};
}

// Addresses of conversations and of single messages in them. Pure.

const PREFIX = 'm-';

/** Opens the conversation, at a message if one is named: no element has such an id, the page finds the message itself. */
export function conversationAddress(conversationId: string, messageId?: string): string {
	const hash = messageId === undefined ? '' : `#${encodeURIComponent(PREFIX + messageId)}`;
	return `/c/${conversationId}${hash}`;
}

/** The message that an address names by its hash; null where it names none. */
export function messageOfHash(hash: string): string | null {
	const anchor = decode(hash.replace(/^#/, ''));
	return anchor.startsWith(PREFIX) && anchor.length > PREFIX.length ? anchor.slice(PREFIX.length) : null;
}

/** Anybody can write an address: one that is wrong names nothing. */
function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return '';
	}
}

// Tells when there is nothing to see of a run that goes on. Pure.

/** True between parts: before the first, and after one that is over while the model has not begun the next. */
export function isWaiting(message: Message): boolean {
	if (message.status !== 'running') return false;
	const last = message.parts.at(-1);
	if (!last) return true;
	if (last.type === 'text') return last.text === '';
	if (last.type === 'reasoning') return last.done;
	return last.type === 'compaction' || last.status === 'done' || last.status === 'failed';
}
