/** The command palette's ranking, and all keyboard shortcuts. */
import type { LucideIcon } from '@lucide/svelte';
import type { Client } from '../server.ts';
import { ConversationSearch } from '../sidebar/conversation-list.svelte.ts';
import { byScore, fuzzyScore, hasWords, isNearly, spaced } from '../text/fuzzy.ts';

export interface PaletteItem {
	id: string;
	label: string;
	/** Why it can’t be used, in a word. */
	mark?: string;
	/** Second line. */
	hint?: string;
	/** When it was last changed, as ISO 8601. */
	at?: string;
	/** More words that find it. */
	words?: string;
	/** Text that finds it by whole words, after what is found by its label. */
	prose?: string;
	/** Whoever types this name whole means it. */
	name?: string;
	/** Found with one letter typed wrong, too. */
	isNearlyFound?: boolean;
	icon: LucideIcon;
	keys?: Keys;
	/** Shown only after typing. */
	isQuiet?: boolean;
	/** Comes last in its group, unless it fits best. */
	isDestructive?: boolean;
	/** Called after the palette has closed. */
	run: () => unknown;
}

export interface PaletteGroup {
	id: string;
	label: string;
	items: PaletteItem[];
	/** Results of a server search, not ranked again. What another group shows stays there. */
	isFound?: boolean;
}

const MOST_OF_GROUP = 8;
const FOUND = 8;
/** Less than a label with the query in it has, more than scattered letters. */
const IN_PROSE = 500;
/** More than any label. */
const IS_NAME = 2000;

export class Palette {
	readonly search: ConversationSearch;
	readonly #groups: (search: ConversationSearch) => PaletteGroup[];
	#query = $state('');
	readonly groups = $derived.by(() => this.#rank());

	/** `groups` is reactive, and gets the results of the server search. */
	constructor(client: Pick<Client, 'searchConversations'>, groups: (search: ConversationSearch) => PaletteGroup[]) {
		this.search = new ConversationSearch(client, FOUND);
		this.#groups = groups;
	}

	get query(): string {
		return this.#query;
	}

	set query(query: string) {
		this.#query = query;
		this.search.query = query;
	}

	dispose(): void {
		this.search.dispose();
	}

	/** Sorts within groups, then groups by their best match; server results come last. */
	#rank(): PaletteGroup[] {
		const query = this.#query.trim();
		const groups = this.#groups(this.search).map((group) => {
			if (group.isFound) return { group, best: -Infinity };
			if (query === '') return { group: { ...group, items: group.items.filter(({ isQuiet }) => !isQuiet) }, best: 0 };
			const [first, ...rest] = byScore(group.items, (item) => scoreOf(item, query));
			const isLast = ({ item }: (typeof rest)[number]) => item.isDestructive === true;
			const ranked = first ? [first, ...rest.filter((each) => !isLast(each)), ...rest.filter(isLast)] : [];
			const items = ranked.slice(0, MOST_OF_GROUP).map(({ item }) => item);
			return { group: { ...group, items }, best: first?.score ?? 0 };
		});
		const shown = groups.flatMap(({ group }) => (group.isFound ? [] : group.items.map(({ id }) => id)));
		return groups
			.map(({ group, best }) => ({
				group: group.isFound ? { ...group, items: group.items.filter(({ id }) => !shown.includes(id)) } : group,
				best
			}))
			.filter(({ group }) => group.items.length > 0)
			.sort((a, b) => b.best - a.best)
			.map(({ group }) => group);
	}
}

function scoreOf({ label, words, prose, name, isNearlyFound = false }: PaletteItem, query: string): number | null {
	if (name !== undefined && spaced(name) === spaced(query)) return IS_NAME;
	const score = fuzzyScore(words ? `${label} ${words}` : label, query);
	if (prose !== undefined && hasWords(prose, query)) return Math.max(score ?? 0, IN_PROSE);
	return score ?? (isNearlyFound && isNearly(label, query) ? 0 : null);
}

/** `Mod` is Cmd on a Mac, otherwise Ctrl. Other keys as in `KeyboardEvent.key`. */
export type Keys = readonly string[];

export interface Shortcut {
	id: string;
	label: string;
	group: (typeof SHORTCUT_GROUPS)[number][0];
	/** Alternatives. */
	keys: readonly Keys[];
}

export const SHORTCUT_GROUPS = [
	['anywhere', 'Anywhere'],
	['list', 'In the list of chats'],
	['composer', 'In the message box']
] as const;

export const SHORTCUTS = [
	{ id: 'palette', label: 'Command palette', group: 'anywhere', keys: [['Mod', 'K']] },
	{ id: 'newChat', label: 'New chat', group: 'anywhere', keys: [['Mod', 'Shift', 'O']] },
	{ id: 'search', label: 'Search chats', group: 'anywhere', keys: [['Mod', 'Shift', 'F']] },
	{ id: 'sidebar', label: 'Toggle sidebar', group: 'anywhere', keys: [['Mod', 'B']] },
	{ id: 'shortcuts', label: 'Keyboard shortcuts', group: 'anywhere', keys: [['Mod', '/'], ['?']] },
	{ id: 'close', label: 'Close dialog or stop answer', group: 'anywhere', keys: [['Escape']] },
	{ id: 'move', label: 'Move up or down', group: 'list', keys: [['ArrowUp'], ['ArrowDown']] },
	{ id: 'ends', label: 'First or last chat', group: 'list', keys: [['Home'], ['End']] },
	{ id: 'open', label: 'Open chat', group: 'list', keys: [['Enter']] },
	{ id: 'rename', label: 'Rename chat', group: 'list', keys: [['F2']] },
	{ id: 'remove', label: 'Delete chat', group: 'list', keys: [['Delete']] },
	{ id: 'send', label: 'Send message', group: 'composer', keys: [['Enter']] },
	{ id: 'newLine', label: 'New line', group: 'composer', keys: [['Shift', 'Enter']] },
	{
		id: 'sendNext',
		label: 'Send message (during an answer: after this step)',
		group: 'composer',
		keys: [['Mod', 'Enter']]
	},
	{ id: 'edit', label: 'Edit last message (empty box)', group: 'composer', keys: [['ArrowUp']] },
	{
		id: 'removeLast',
		label: 'Remove last file or skill (empty box)',
		group: 'composer',
		keys: [['Backspace']]
	},
	{
		id: 'commands',
		label: 'Insert command or skill (start of line)',
		group: 'composer',
		keys: [['/']]
	},
	{ id: 'skills', label: 'Use a skill', group: 'composer', keys: [['$']] },
	{ id: 'files', label: 'Add file from this chat', group: 'composer', keys: [['@']] }
] as const satisfies readonly Shortcut[];

/** Handled on the whole page. */
export type GlobalShortcut = 'palette' | 'newChat' | 'search' | 'sidebar' | 'shortcuts';

const GLOBAL: readonly string[] = ['palette', 'newChat', 'search', 'sidebar', 'shortcuts'] satisfies GlobalShortcut[];

export type Press = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey' | 'isComposing'>;

/** `isTyping`: the focus is in a text field, where a single key is a letter. */
export function findShortcut(press: Press, { isMac, isTyping }: { isMac: boolean; isTyping: boolean }) {
	// AltGr is Ctrl+Alt and types a character.
	if (press.isComposing || press.altKey) return null;
	const found = SHORTCUTS.find(
		({ id, keys }) => GLOBAL.includes(id) && keys.some((wanted) => isPressed(press, wanted, isMac, isTyping))
	);
	return (found?.id ?? null) as GlobalShortcut | null;
}

/** As printed on the keys: `['Ctrl', 'Shift', 'O']`, `['⌘', 'K']`. */
export function printKeys(keys: Keys, isMac: boolean): string[] {
	const names: Record<string, string> = {
		Mod: isMac ? '⌘' : 'Ctrl',
		Shift: isMac ? '⇧' : 'Shift',
		Enter: 'Enter',
		Escape: 'Esc',
		Delete: 'Delete',
		Backspace: 'Backspace',
		ArrowUp: '↑',
		ArrowDown: '↓',
		Home: 'Home',
		End: 'End'
	};
	return keys.map((key) => names[key] ?? key);
}

/** For tooltips: `Close sidebar (Ctrl+B)`. */
export function withKeys(label: string, id: Shortcut['id'], isMac = isMacintosh()): string {
	const keys = SHORTCUTS.find((shortcut) => shortcut.id === id)?.keys[0] ?? [];
	return `${label} (${printKeys(keys, isMac).join(isMac ? '' : '+')})`;
}

export function isMacintosh(): boolean {
	return typeof navigator !== 'undefined' && /^(Mac|iP)/.test(navigator.platform);
}

function isPressed(press: Press, wanted: Keys, isMac: boolean, isTyping: boolean): boolean {
	const needsMod = wanted.includes('Mod');
	if (!needsMod && isTyping) return false;
	if ((isMac ? press.metaKey : press.ctrlKey) !== needsMod) return false;
	if (isMac ? press.ctrlKey : press.metaKey) return false;
	const key = wanted.at(-1) ?? '';
	// Whether a sign needs Shift depends on the keyboard; for letters, Shift matters.
	if (!/^[A-Z]$/.test(key)) return press.key === key;
	return press.shiftKey === wanted.includes('Shift') && letterOf(press) === key;
}

/** On non-Latin keyboards the position of the key counts. */
function letterOf({ key, code }: Press): string {
	return /^[a-z]$/i.test(key) ? key.toUpperCase() : code.replace(/^Key/, '');
}
