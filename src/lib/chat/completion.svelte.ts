/** The list of names under the caret: what is in it, what is chosen of it, when it is open. */
import { tokenAt, type Token } from './completion-token.ts';
import { completionsFor, type Completion, type CompletionSources } from './completions.ts';

export interface CompletionMenuOptions {
	commands: () => CompletionSources['commands'];
	skills: () => CompletionSources['skills'];
	/** Read once each time that a file is named. A rejection counts as none. */
	readFiles: () => Promise<CompletionSources['files']>;
}

export class CompletionMenu {
	readonly #options: CompletionMenuOptions;
	#files = $state.raw<CompletionSources['files']>([]);
	#hasFiles = false;
	/** Closed by hand: it stays closed while the same name is written. */
	#closedAt: number | null = null;
	token = $state.raw<Token | null>(null);
	/** Where somebody went in the list; -1 while nobody has gone anywhere. */
	#visited = $state(-1);
	readonly list: Completion[] = $derived.by(() => {
		if (!this.token) return [];
		const { commands, skills } = this.#options;
		return completionsFor(this.token, { commands: commands(), skills: skills(), files: this.#files });
	});
	readonly isOpen = $derived(this.list.length > 0);
	/** Of `list`; -1 for none. Skills and files may come after the name was written: then it is the first that can be chosen. */
	readonly activeIndex: number = $derived.by(() => {
		if (this.list[this.#visited]?.obstacle === null) return this.#visited;
		return !this.token || this.token.isTentative ? -1 : this.#next(-1, 1);
	});
	readonly active: Completion | null = $derived(this.list[this.activeIndex] ?? null);

	constructor(options: CompletionMenuOptions) {
		this.#options = options;
	}

	/** Call it after each change of the text or the caret. */
	look(text: string, caret: number): void {
		const token = tokenAt(text, caret);
		if (!token || token.from !== this.#closedAt) this.#closedAt = null;
		const isSame = token?.from === this.token?.from && token?.query === this.token?.query;
		this.token = this.#closedAt === null ? token : null;
		if (token?.trigger === 'file') void this.#readFiles();
		else this.#hasFiles = false;
		if (!isSame) this.#visited = -1;
	}

	move(to: 'next' | 'previous' | 'first' | 'last'): void {
		if (to === 'next') this.#visited = this.#next(this.activeIndex, 1);
		else if (to === 'previous') this.#visited = this.#next(Math.max(this.activeIndex, 0), -1);
		else this.#visited = to === 'first' ? this.#next(-1, 1) : this.#next(0, -1);
	}

	/** The pointer is on it. */
	visit(index: number): void {
		if (this.list[index]?.obstacle === null) this.#visited = index;
	}

	/** Until another name is begun. */
	close(): void {
		this.#closedAt = this.token?.from ?? null;
		this.token = null;
	}

	/** The nearest that can be chosen, round and round; -1 where none can. */
	#next(from: number, step: 1 | -1): number {
		const { length } = this.list;
		for (let count = 1; count <= length; count++) {
			const index = (from + step * count + length * 2) % length;
			if (this.list[index]?.obstacle === null) return index;
		}
		return -1;
	}

	async #readFiles(): Promise<void> {
		if (this.#hasFiles) return;
		this.#hasFiles = true;
		this.#files = await this.#options.readFiles().catch(() => []);
	}
}
