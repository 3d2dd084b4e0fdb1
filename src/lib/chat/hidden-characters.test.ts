import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markHidden, markHiddenInText } from './hidden-characters.ts';

test.each([
	['report\u202Efdp.exe', 'report⟨U+202E⟩fdp.exe'],
	['a\u200bb\u0000', 'a⟨U+200B⟩b⟨U+0000⟩'],
	['x\u{e0041}', 'x⟨U+E0041⟩'],
	['two\nlines', 'two⟨U+000A⟩lines'],
	['👩‍💻 größe ✔️', '👩‍💻 größe ✔️'],
	['a\u200db', 'a⟨U+200D⟩b']
])('the name %j is shown as %j', (name, shown) => {
	expect(markHidden(name)).toBe(shown);
});

test('a text keeps its line breaks and tabs', () => {
	expect(markHiddenInText('a\tb\r\nc\rd\u2066')).toBe('a\tb\nc\nd⟨U+2066⟩');
});

test('nothing that turns the order of characters is left in any text', () => {
	fc.assert(
		fc.property(fc.string({ unit: 'binary' }), (text) => {
			expect(markHidden(text)).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
		})
	);
});
