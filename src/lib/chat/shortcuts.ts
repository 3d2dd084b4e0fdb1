/** All shortcuts, once: what listens, the dialog that lists them, tooltips and the settings page read this table. Pure. */

/** `Mod`: Cmd on a Mac, Ctrl elsewhere. The others are as `KeyboardEvent.key` has them. */
export type Keys = readonly string[];

export interface Shortcut {
	id: string;
	label: string;
	group: (typeof SHORTCUT_GROUPS)[number][0];
	/** Any of these. */
	keys: readonly Keys[];
}

export const SHORTCUT_GROUPS = [
	['anywhere', 'Anywhere'],
	['list', 'In the list of conversations'],
	['composer', 'In the message box']
] as const;

export const SHORTCUTS = [
	{ id: 'palette', label: 'Command palette', group: 'anywhere', keys: [['Mod', 'K']] },
	{ id: 'newChat', label: 'New chat', group: 'anywhere', keys: [['Mod', 'Shift', 'O']] },
	{ id: 'search', label: 'Search conversations', group: 'anywhere', keys: [['Mod', 'Shift', 'F']] },
	{ id: 'sidebar', label: 'Show or hide the sidebar', group: 'anywhere', keys: [['Mod', 'B']] },
	{ id: 'shortcuts', label: 'Keyboard shortcuts', group: 'anywhere', keys: [['Mod', '/'], ['?']] },
	{ id: 'close', label: 'Close what is open; stop the answer', group: 'anywhere', keys: [['Escape']] },
	{ id: 'move', label: 'Up and down the list', group: 'list', keys: [['ArrowUp'], ['ArrowDown']] },
	{ id: 'ends', label: 'First and last of the list', group: 'list', keys: [['Home'], ['End']] },
	{ id: 'open', label: 'Open the conversation', group: 'list', keys: [['Enter']] },
	{ id: 'rename', label: 'Rename it', group: 'list', keys: [['F2']] },
	{ id: 'remove', label: 'Delete it', group: 'list', keys: [['Delete']] },
	{ id: 'send', label: 'Send', group: 'composer', keys: [['Enter']] },
	{ id: 'newLine', label: 'New line', group: 'composer', keys: [['Shift', 'Enter']] },
	{
		id: 'sendNext',
		label: 'Send, and while an answer is being written: right after its step',
		group: 'composer',
		keys: [['Mod', 'Enter']]
	},
	{ id: 'edit', label: 'Edit your last message, when the box is empty', group: 'composer', keys: [['ArrowUp']] },
	{
		id: 'removeLast',
		label: 'Take away the last file or skill, when the box is empty',
		group: 'composer',
		keys: [['Backspace']]
	},
	{
		id: 'commands',
		label: 'Choose a command or a skill, at the beginning of a line',
		group: 'composer',
		keys: [['/']]
	},
	{ id: 'skills', label: 'Choose a skill', group: 'composer', keys: [['$']] },
	{ id: 'files', label: 'Choose a file of this conversation', group: 'composer', keys: [['@']] }
] as const satisfies readonly Shortcut[];

/** Those that are listened to on the whole page. */
export type GlobalShortcut = 'palette' | 'newChat' | 'search' | 'sidebar' | 'shortcuts';

const GLOBAL: readonly string[] = ['palette', 'newChat', 'search', 'sidebar', 'shortcuts'] satisfies GlobalShortcut[];

/** What of a keyboard event it depends on. */
export type Press = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey' | 'isComposing'>;

/** `isTyping`: the focus is where letters are written, so that a key alone is a letter. */
export function findShortcut(press: Press, { isMac, isTyping }: { isMac: boolean; isTyping: boolean }) {
	// AltGr is Ctrl and Alt together: it writes a character.
	if (press.isComposing || press.altKey) return null;
	const found = SHORTCUTS.find(
		({ id, keys }) => GLOBAL.includes(id) && keys.some((wanted) => isPressed(press, wanted, isMac, isTyping))
	);
	return (found?.id ?? null) as GlobalShortcut | null;
}

/** The keys as they are printed on them: `['Ctrl', 'Shift', 'O']`, `['⌘', 'K']`. */
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

/** Of this browser. */
export function isMacintosh(): boolean {
	return typeof navigator !== 'undefined' && /^(Mac|iP)/.test(navigator.platform);
}

function isPressed(press: Press, wanted: Keys, isMac: boolean, isTyping: boolean): boolean {
	const needsMod = wanted.includes('Mod');
	if (!needsMod && isTyping) return false;
	if ((isMac ? press.metaKey : press.ctrlKey) !== needsMod) return false;
	if (isMac ? press.ctrlKey : press.metaKey) return false;
	const key = wanted.at(-1) ?? '';
	// A sign may need Shift or not, as the keyboard has it; a letter is another shortcut with it.
	if (!/^[A-Z]$/.test(key)) return press.key === key;
	return press.shiftKey === wanted.includes('Shift') && letterOf(press) === key;
}

/** On keyboards of other scripts the place of the key counts. */
function letterOf({ key, code }: Press): string {
	return /^[a-z]$/i.test(key) ? key.toUpperCase() : code.replace(/^Key/, '');
}
