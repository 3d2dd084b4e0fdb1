/** All shortcuts, once: what listens, the dialog that lists them, tooltips and the settings page read this table. Pure. */
import { paletteText as text } from '../strings/palette.ts';

/** `Mod`: Cmd on a Mac, Ctrl elsewhere. The others are as `KeyboardEvent.key` has them. */
export type Keys = readonly string[];

export interface Shortcut {
	id: keyof typeof text.shortcutNames;
	group: keyof typeof text.shortcutGroups;
	/** Any of these. */
	keys: readonly Keys[];
}

export const SHORTCUTS = [
	{ id: 'palette', group: 'anywhere', keys: [['Mod', 'K']] },
	{ id: 'newChat', group: 'anywhere', keys: [['Mod', 'Shift', 'O']] },
	{ id: 'search', group: 'anywhere', keys: [['Mod', 'Shift', 'F']] },
	{ id: 'sidebar', group: 'anywhere', keys: [['Mod', 'B']] },
	{ id: 'shortcuts', group: 'anywhere', keys: [['Mod', '/'], ['?']] },
	{ id: 'close', group: 'anywhere', keys: [['Escape']] },
	{ id: 'move', group: 'list', keys: [['ArrowUp'], ['ArrowDown']] },
	{ id: 'ends', group: 'list', keys: [['Home'], ['End']] },
	{ id: 'open', group: 'list', keys: [['Enter']] },
	{ id: 'rename', group: 'list', keys: [['F2']] },
	{ id: 'remove', group: 'list', keys: [['Delete']] },
	{ id: 'send', group: 'composer', keys: [['Enter']] },
	{ id: 'newLine', group: 'composer', keys: [['Shift', 'Enter']] },
	{ id: 'sendNext', group: 'composer', keys: [['Mod', 'Enter']] },
	{ id: 'edit', group: 'composer', keys: [['ArrowUp']] },
	{ id: 'removeLast', group: 'composer', keys: [['Backspace']] },
	{ id: 'commands', group: 'composer', keys: [['/']] },
	{ id: 'skills', group: 'composer', keys: [['$']] },
	{ id: 'files', group: 'composer', keys: [['@']] }
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
		Mod: isMac ? text.keys.command : text.keys.ctrl,
		Shift: isMac ? text.keys.shiftOnMac : text.keys.shift,
		Enter: text.keys.enter,
		Escape: text.keys.escape,
		Delete: text.keys.delete,
		Backspace: text.keys.backspace,
		ArrowUp: text.keys.up,
		ArrowDown: text.keys.down,
		Home: text.keys.home,
		End: text.keys.end
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
