/** What has been written and not sent, of every conversation, kept by the browser. Where storage is off or full nothing is kept. */
import { readStored, storedKeys, writeStored } from './stored.ts';

export interface StoredDraft {
	text: string;
	/** Uploaded already. */
	files: { path: string; bytes: number }[];
	/** Names of skills that are to be pinned with it. */
	pins: string[];
	/** The id under which it was sent; null unless it is perhaps under way. */
	sentAs: string | null;
}

const PREFIX = 'draft:';
/** Of more the oldest goes. */
const MOST = 50;

/** True where something that was written for this conversation has not been sent. */
export function hasDraft(conversationId: string): boolean {
	return readStored('local', PREFIX + conversationId) !== null;
}

/** The draft of one conversation. Another tab may keep one of the same: neither removes what the other has written. */
export class DraftStore {
	readonly #key: string;
	/** As it was read or written here last. */
	#known: string | null = null;

	constructor(conversationId: string) {
		this.#key = PREFIX + conversationId;
	}

	read(): StoredDraft {
		this.#known = readStored('local', this.#key);
		const { text, files, pins, sentAs } = parse(this.#known) ?? { text: '', files: [], pins: [], sentAs: null };
		return { text, files, pins, sentAs };
	}

	/** What is stored is on its way as this message. */
	mark(messageId: string): void {
		const draft = parse(this.#known);
		if (draft && readStored('local', this.#key) === this.#known) this.#put({ ...draft, sentAs: messageId });
	}

	write(draft: StoredDraft): void {
		const isEmpty = draft.text === '' && draft.files.length === 0 && draft.pins.length === 0;
		const stored = readStored('local', this.#key);
		if (isEmpty) {
			if (stored === this.#known) writeStored('local', this.#key, null);
			this.#known = null;
			return;
		}
		if (stored === null) makeRoom();
		this.#put(draft);
	}

	#put(draft: StoredDraft): void {
		this.#known = JSON.stringify({ ...draft, at: Date.now() });
		writeStored('local', this.#key, this.#known);
	}
}

function makeRoom(): void {
	const kept = storedKeys('local', PREFIX).map((key) => ({ key, at: parse(readStored('local', key))?.at ?? 0 }));
	const tooMany = kept.length - MOST + 1;
	if (tooMany <= 0) return;
	for (const { key } of kept.toSorted((one, other) => one.at - other.at).slice(0, tooMany)) {
		writeStored('local', key, null);
	}
}

/** Null for what another version of the page, or somebody's hand, has written otherwise. */
function parse(json: string | null): (StoredDraft & { at: number }) | null {
	if (json === null) return null;
	let value: unknown;
	try {
		value = JSON.parse(json);
	} catch (error) {
		if (error instanceof SyntaxError) return null;
		throw error;
	}
	const { text, files, pins, sentAs, at } = (value ?? {}) as Record<string, unknown>;
	if (typeof text !== 'string' || !Array.isArray(files) || !Array.isArray(pins)) return null;
	const names = pins.filter((pin) => typeof pin === 'string');
	return {
		...{ text, files: files.filter(isFile), pins: names },
		sentAs: typeof sentAs === 'string' ? sentAs : null,
		at: typeof at === 'number' ? at : 0
	};
}

function isFile(value: unknown): value is StoredDraft['files'][number] {
	const { path, bytes } = (value ?? {}) as Record<string, unknown>;
	return typeof path === 'string' && typeof bytes === 'number';
}
