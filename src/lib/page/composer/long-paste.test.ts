import { expect, test } from 'vitest';
import { LONG_PASTE, pastedFrom } from './attachment.svelte.ts';

function clipboard({ text = '', files = [] as File[], types = ['text/plain'] }) {
	return { getData: () => text, files: files as unknown as FileList, types };
}
const picture = new File(['x'], 'image.png', { type: 'image/png' });

test('a text of 4,000 characters becomes a file; a shorter one goes into the box', () => {
	expect(pastedFrom(clipboard({ text: 'a'.repeat(LONG_PASTE) }))).toEqual({ longText: 'a'.repeat(LONG_PASTE) });
	expect(pastedFrom(clipboard({ text: 'a'.repeat(LONG_PASTE - 1) }))).toBeNull();
});

test('files are attached, also with their names as text beside them', () => {
	expect(pastedFrom(clipboard({ files: [picture] }))).toEqual({ files: [picture] });
	expect(pastedFrom(clipboard({ files: [picture], text: 'image.png' }))).toEqual({ files: [picture] });
});

test('of a table from an office program the text is meant, not the picture of it', () => {
	const types = ['text/plain', 'text/html', 'Files'];
	expect(pastedFrom(clipboard({ files: [picture], text: 'a\tb', types }))).toBeNull();
});

test('nothing comes of nothing', () => {
	expect(pastedFrom(null)).toBeNull();
	expect(pastedFrom(clipboard({}))).toBeNull();
});
