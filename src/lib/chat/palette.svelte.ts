/** The command palette: everything one can go to or do, ranked by what is typed. */
import type { LucideIcon } from '@lucide/svelte';
import { ConversationSearch } from './conversation-search.svelte.ts';
import type { ConversationsClient } from './conversations-client.ts';
import { fuzzyScore, rankBy } from './fuzzy.ts';
import type { Keys } from './shortcuts.ts';

export interface PaletteItem {
	id: string;
	label: string;
	/** What else is known of it, in a second line. */
	hint?: string;
	/** Found by these words as well. */
	words?: string;
	icon: LucideIcon;
	keys?: Keys;
	/** Only when something is typed: there are many of them. */
	isQuiet?: boolean;
	/** The palette is closed before it begins. */
	run: () => void;
}

export interface PaletteGroup {
	id: string;
	label: string;
	items: PaletteItem[];
	/** As it is, whatever is typed: the server has searched already. */
	isFound?: boolean;
}

const MOST_OF_GROUP = 8;
const FOUND = 8;

export class Palette {
	readonly search: ConversationSearch;
	readonly #groups: (search: ConversationSearch) => PaletteGroup[];
	#query = $state('');
	#index = $state(0);
	readonly groups = $derived.by(() => this.#rank());
	readonly items = $derived(this.groups.flatMap(({ items }) => items));
	/** The one that Enter chooses. */
	readonly active = $derived(this.items[Math.min(this.#index, this.items.length - 1)] ?? null);

	/** `groups`: asked again when something in it changes; with what the server has found. */
	constructor(client: Pick<ConversationsClient, 'search'>, groups: (search: ConversationSearch) => PaletteGroup[]) {
		this.search = new ConversationSearch(client, FOUND);
		this.#groups = groups;
	}

	get query(): string {
		return this.#query;
	}

	set query(query: string) {
		this.#query = query;
		this.#index = 0;
		this.search.query = query;
	}

	/** Round the ends. */
	move(by: 1 | -1): void {
		const count = this.items.length;
		if (count > 0) this.#index = (Math.min(this.#index, count - 1) + by + count) % count;
	}

	moveTo(id: string): void {
		this.#index = Math.max(
			0,
			this.items.findIndex((item) => item.id === id)
		);
	}

	moveToEnd(end: 'first' | 'last'): void {
		this.#index = end === 'first' ? 0 : Math.max(0, this.items.length - 1);
	}

	dispose(): void {
		this.search.dispose();
	}

	/** Groups stay together; the one with the best answer comes first, what the server found last. */
	#rank(): PaletteGroup[] {
		const query = this.#query.trim();
		const textOf = ({ label, words }: PaletteItem): string => (words ? `${label} ${words}` : label);
		const groups = this.#groups(this.search).map((group) => {
			if (group.isFound) return { group, best: -Infinity };
			const items = query === '' ? group.items.filter(({ isQuiet }) => !isQuiet) : rankBy(group.items, query, textOf);
			const best = items[0] ? (fuzzyScore(textOf(items[0]), query) ?? 0) : 0;
			return { group: { ...group, items: items.slice(0, MOST_OF_GROUP) }, best };
		});
		return groups
			.filter(({ group }) => group.items.length > 0)
			.sort((a, b) => b.best - a.best)
			.map(({ group }) => group);
	}
}
