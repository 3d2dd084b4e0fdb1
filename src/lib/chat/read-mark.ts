/** Tells the server that somebody has seen the end of an answer: not before the page is looked at. */

export class ReadMark {
	readonly #markRead: () => Promise<unknown>;
	#isUnread = false;
	#isMarking = false;
	#isDisposed = false;

	/** A rejection of `markRead` changes nothing: it is tried again the next time that the conversation is read. */
	constructor(markRead: () => Promise<unknown>) {
		this.#markRead = markRead;
		document.addEventListener('visibilitychange', this.#look);
	}

	/** Takes over what the server says of the conversation that is shown. */
	show(isUnread: boolean): void {
		this.#isUnread = isUnread;
		this.#look();
	}

	dispose(): void {
		this.#isDisposed = true;
		document.removeEventListener('visibilitychange', this.#look);
	}

	readonly #look = (): void => {
		if (!this.#isUnread || this.#isMarking || this.#isDisposed || document.visibilityState !== 'visible') return;
		this.#isMarking = true;
		this.#isUnread = false;
		void this.#mark();
	};

	async #mark(): Promise<void> {
		try {
			await this.#markRead();
		} catch {
			// It stays unread in the list; whoever opens it again, or the next change in it, tries once more.
			this.#isUnread = true;
		} finally {
			this.#isMarking = false;
		}
	}
}
