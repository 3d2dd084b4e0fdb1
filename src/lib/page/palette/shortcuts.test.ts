import { describe, expect, test } from 'vitest';
import { findShortcut, printKeys, SHORTCUTS, withKeys, type Press } from './palette.svelte.ts';

function press(keys: string, more: Partial<Press> = {}): Press {
	const names = keys.split('+');
	const key = names.at(-1) || '+';
	return {
		...{ key, code: /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : '', isComposing: false },
		ctrlKey: names.includes('Ctrl'),
		metaKey: names.includes('Cmd'),
		altKey: names.includes('Alt'),
		shiftKey: names.includes('Shift'),
		...more
	};
}

const elsewhere = { isMac: false, isTyping: false };

describe('on the whole page', () => {
	test.each([
		['Ctrl+k', 'palette'],
		['Ctrl+Shift+O', 'newChat'],
		['Ctrl+Shift+F', 'search'],
		['Ctrl+b', 'sidebar'],
		['Ctrl+/', 'shortcuts'],
		['Ctrl+Shift+/', 'shortcuts'],
		['Shift+?', 'shortcuts'],
		['?', 'shortcuts'],
		['k', null],
		['Ctrl+Shift+B', null],
		['Ctrl+o', null],
		['Ctrl+Alt+k', null],
		['Ctrl+Cmd+k', null],
		['Cmd+k', null],
		['Enter', null],
		['F2', null]
	])('%s is %s', (keys, id) => {
		expect(findShortcut(press(keys), elsewhere)).toBe(id);
	});

	test('on a Mac it is Cmd, and Ctrl stays with the text field', () => {
		const mac = { isMac: true, isTyping: true };
		expect(findShortcut(press('Cmd+k'), mac)).toBe('palette');
		expect(findShortcut(press('Ctrl+b'), mac)).toBeNull();
	});

	test('whoever writes keeps the keys that write', () => {
		const typing = { isMac: false, isTyping: true };
		expect(findShortcut(press('Shift+?'), typing)).toBeNull();
		expect(findShortcut(press('Ctrl+/'), typing)).toBe('shortcuts');
		expect(findShortcut(press('Ctrl+k', { isComposing: true }), typing)).toBeNull();
	});

	test('on a keyboard of another script the key in the same place counts', () => {
		expect(findShortcut(press('Ctrl+л', { code: 'KeyK' }), elsewhere)).toBe('palette');
	});

	test('on another Latin keyboard the letter counts, not its place', () => {
		expect(findShortcut(press('Ctrl+k', { code: 'KeyV' }), elsewhere)).toBe('palette');
		expect(findShortcut(press('Ctrl+t', { code: 'KeyK' }), elsewhere)).toBeNull();
	});
});

test('keys are printed as they are called', () => {
	expect(printKeys(['Mod', 'Shift', 'O'], false)).toEqual(['Ctrl', 'Shift', 'O']);
	expect(printKeys(['Mod', 'Shift', 'O'], true)).toEqual(['⌘', '⇧', 'O']);
	expect(withKeys('Close', 'sidebar', false)).toBe('Close (Ctrl+B)');
	expect(withKeys('Close', 'sidebar', true)).toBe('Close (⌘B)');
});

test('each shortcut has a name of its own, and no two have the same keys in a place', () => {
	expect(new Set(SHORTCUTS.map(({ id }) => id)).size).toBe(SHORTCUTS.length);
	expect(new Set(SHORTCUTS.map(({ label }) => label)).size).toBe(SHORTCUTS.length);
	const places = SHORTCUTS.flatMap(({ group, keys }) => keys.map((one) => `${group} ${one.join('+')}`));
	expect(new Set(places).size).toBe(places.length);
});
