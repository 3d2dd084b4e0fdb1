/** Actions on messages, failed replies, grouping for rendering, and addresses of messages. */
import type { Attachment } from 'svelte/attachments';
import type { ApprovalDecision } from '../../shared/events.ts';
import type { QuestionReply } from '../../shared/questions.ts';
import type { Message } from '../../shared/message.ts';
import type { History } from '../conversation/history.svelte.ts';
import type { MessageEntry } from '../conversation/message-entry.svelte.ts';
import type { StickToBottom } from '../ui/stick-to-bottom.svelte.ts';

export interface MessageActions {
	/** A reply is being written: messages can't change. */
	isLocked: boolean;
	/** This user message is being edited. */
	isEditing: boolean;
	setEditing: (isEditing: boolean) => void;
	/** Replaces a user message. Resolves to false on failure. */
	edit: (text: string) => Promise<boolean>;
	/** Starts editing the message that a reply answers. */
	editQuestion?: (() => void) | undefined;
	/** Opens the choice of files, with the message that a reply answers in the box. */
	attach?: (() => void) | undefined;
	/** Generates another reply beside this one. */
	retry: () => void;
	/** Retries with another model; absent if there is no choice. */
	retryWith?: ((model: string) => void) | undefined;
	/** Has other models answer beside this reply; absent if there is no choice. */
	compare?: ((models: string[]) => void) | undefined;
	/** Loads the available models, once. */
	loadModels?: (() => void) | undefined;
	/** Continues the reply; absent if it can't be continued. */
	continue?: (() => void) | undefined;
	/** Marks the reply as not good, or takes that back. */
	dislike?: (() => void) | undefined;
	/** Copies everything up to here into a new chat. */
	fork: () => void;
	/** Deletes the message and everything after it, which can be undone. */
	remove: () => void;
	/** Switches to another version of this message. */
	show: (messageId: string) => Promise<boolean>;
	/** Rejects with the sentence to show. */
	decide: (interruptId: string, decision: ApprovalDecision) => Promise<void>;
	/** Answers what a call asks. Rejects with the sentence to show. */
	reply: (id: string, reply: QuestionReply) => Promise<void>;
	/** Whether a new approval may take the focus. */
	mayFocus: () => boolean;
	/** Sends one of the answers that this reply offers; absent where messages follow it. */
	choose?: ((answer: string) => void) | undefined;
	/** Puts a text into the message box; absent without a model. */
	ask?: ((text: string) => void) | undefined;
	/** Opens the model picker. */
	switchModel?: (() => void) | undefined;
}

/** Choosing another model from within the messages. */
export interface ModelSwitch {
	/** Empty until loaded. */
	readonly models: readonly ModelChoice[];
	load: () => void;
	/** Opens the model picker. */
	open: () => void;
}

export interface ModelChoice {
	id: string;
	name: string;
}

export interface MessageGroup {
	key: number;
	/** The same array while it holds the same messages. */
	entries: MessageEntry[];
}

const GROUP_SIZE = 16;

/** Groups messages for rendering. Groups stay the same when messages are added before or after them. */
export class MessageGroups {
	/** Position of each message relative to the first one ever seen; earlier ones have negative positions. */
	#places = new WeakMap<MessageEntry, number>();
	#groups = new Map<number, MessageGroup>();

	/** The browser skips hidden groups as a whole; observing each of 400 messages costs more than rendering the newest one. */
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

const MARKED_MS = 2000;

/** For `{@attach}` on the message list: scrolls to a found message and outlines it briefly. */
export function showFound(history: History, scroll: StickToBottom): Attachment<HTMLElement> {
	let unmark = (): void => undefined;
	return (list) => {
		const id = history.found;
		if (id === null) return;
		// Once only: a list created later opens as usual.
		history.found = null;
		// After other scrolling of a new list, e.g. to its end.
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
			// Rows get their real height when first rendered.
			requestAnimationFrame(() => scroll.scrollTo(row));
		});
	};
}

const PREFIX = 'm-';

/** Address of a chat or of a message in it. No element has such an id: the page finds the message itself. */
export function conversationAddress(conversationId: string, messageId?: string): string {
	const hash = messageId === undefined ? '' : `#${encodeURIComponent(PREFIX + messageId)}`;
	return `/c/${conversationId}${hash}`;
}

/** The message named by an address's hash, or null. */
export function messageOfHash(hash: string): string | null {
	const anchor = decode(hash.replace(/^#/, ''));
	return anchor.startsWith(PREFIX) && anchor.length > PREFIX.length ? anchor.slice(PREFIX.length) : null;
}

/** Malformed addresses name nothing. */
function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return '';
	}
}

/** True while a run shows nothing new: before its first part, and between a finished part and the next. */
export function isWaiting(message: Message): boolean {
	if (message.status !== 'running') return false;
	const last = message.parts.at(-1);
	if (!last) return true;
	if (last.type === 'text') return last.text === '';
	if (last.type === 'reasoning') return last.done;
	return last.type === 'compaction' || last.status === 'done' || last.status === 'failed';
}

export type ErrorAction = 'continue' | 'retry' | 'settings' | 'credits' | 'switch' | 'newChat';

const USUAL: readonly ErrorAction[] = ['continue', 'retry'];

/** Most helpful first. */
const ACTIONS: Record<string, readonly ErrorAction[]> = {
	unauthorized: ['settings', 'retry'],
	insufficient_credits: ['credits', 'switch', 'retry'],
	moderation: ['switch', 'retry'],
	model_not_found: ['switch', 'settings', 'retry'],
	context_length_exceeded: ['newChat', 'switch'],
	rate_limited: ['continue', 'retry', 'switch'],
	provider_error: ['continue', 'retry', 'switch'],
	timeout: ['continue', 'retry', 'switch'],
	unreachable: ['continue', 'retry', 'settings'],
	stream_truncated: ['continue', 'retry'],
	empty_response: ['retry', 'switch']
};

export function actionsFor(code: string): readonly ErrorAction[] {
	return Object.hasOwn(ACTIONS, code) ? (ACTIONS[code] ?? USUAL) : USUAL;
}

/** Where to buy credits; null if the reply didn't come from OpenRouter. */
export function creditsPage(message: string): string | null {
	return /(?<![\w.-])openrouter\.ai(?![\w-]|\.\w)/.test(message) ? 'https://openrouter.ai/settings/credits' : null;
}

export interface ErrorWords {
	/** What happened, and what to do. */
	message: string;
	/** The model server's own words, or null. */
	detail: string | null;
}

/** Splits the model server's own words off our message; they are shown under Details. */
export function splitDetail(message: string): ErrorWords {
	const found = /^(.+?) It said: "(.*)"\.(?: (.*))?$/s.exec(message);
	if (!found) return { message, detail: null };
	const [, before = '', detail = '', after = ''] = found;
	return { message: [before, after].filter((words) => words !== '').join(' '), detail };
}
