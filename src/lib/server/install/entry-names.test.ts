import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import { checkEntryName, createEntryNames, isLeftOut, quoteEntry } from './staging-folder.ts';

const deep = Array.from({ length: 13 }, () => 'a').join('/');

test.each([
	['', 'empty'],
	['/etc/passwd', 'absolute'],
	['//server/share/x', 'absolute'],
	['C:/Windows/x', 'drive'],
	['c:x', 'drive'],
	['..', 'leads out'],
	['../x', 'leads out'],
	['a/../../x', 'leads out'],
	['./a', 'leads out'],
	['a/./b', 'leads out'],
	['a/‥/b', 'leads out'],
	['．．/x', 'leads out'],
	['a／..／b', 'leads out'],
	['a//b', 'part of its path is empty'],
	['a/', 'part of its path is empty'],
	['..\\x', 'backslash'],
	['scripts\\run.py', 'backslash'],
	['a\0b', 'invisible'],
	['a\nb', 'invisible'],
	['a\u007fb', 'invisible'],
	['a\u0085b', 'invisible'],
	['gpj.\u202eexe', 'invisible'],
	['a\u200bb', 'invisible'],
	['a\u{e0041}b', 'invisible'],
	['a\ud800b', 'invisible'],
	['a\u2028b', 'invisible'],
	['file.txt:stream', 'Windows'],
	['what?', 'Windows'],
	['a|b', 'Windows'],
	['CON', 'reserved on Windows'],
	['nul.txt', 'reserved on Windows'],
	['a/Aux.tar.gz', 'reserved on Windows'],
	['com1', 'reserved on Windows'],
	['COM¹.log', 'reserved on Windows'],
	['lpt9 .txt', 'reserved on Windows'],
	['conin$', 'reserved on Windows'],
	['a./b', 'its name ends with a dot or space, which Windows doesn’t allow'],
	['a/b ', 'its name ends with a dot or space, which Windows doesn’t allow'],
	['...', 'its name ends with a dot or space, which Windows doesn’t allow'],
	['ü'.repeat(128), '255 bytes'],
	['a/'.repeat(6) + 'a'.repeat(1020), '1024 characters'],
	[deep, '12 levels']
])('SECURITY Archives: %j is no name of a file (%s)', (path, why) => {
	const error = thrownBy(() => checkEntryName(path));
	expect(error).toMatchObject({ code: 'invalid_input' });
	expect(error.message).toContain(why);
	expect(error.message).toContain(quoteEntry(path));
});

test.each([
	'SKILL.md',
	'scripts/run.py',
	'.claude/skills/a/SKILL.md',
	'references/Über uns.md',
	'日本語/手順：一.md',
	'console.md',
	'common/com10.txt',
	'a..b/..c',
	'x'.repeat(255)
])('E20: %j is one', (path) => expect(checkEntryName(path)).toEqual(path.split('/')));

describe('SECURITY Archives: no two names that some file system takes for one', () => {
	test.each([
		['a.md', 'a.md', 'twice'],
		['SKILL.md', 'skill.MD', 'case or Unicode form'],
		['Docs/a.md', 'docs/b.md', 'case or Unicode form'],
		['caf\u00e9.md', 'cafe\u0301.md', 'case or Unicode form'],
		['ﬁle.md', 'file.md', 'case or Unicode form'],
		['straße.md', 'STRASSE.md', 'case or Unicode form'],
		['σ.md', 'ς.md', 'case or Unicode form'],
		['a', 'a/b', 'a file and a folder'],
		['a/b', 'a', 'a file and a folder']
	])('%j and %j', (first, second, why) => {
		const names = createEntryNames();
		names.take(first, 'file');
		const error = thrownBy(() => names.take(second, 'file'));
		expect(error).toMatchObject({ code: 'invalid_input' });
		expect(error.message).toContain(why);
		expect(error.message).toContain(quoteEntry(second));
	});
	test('a folder may be named before and after its files', () => {
		const names = createEntryNames();
		names.take('a', 'folder');
		names.take('a/b', 'file');
		names.take('a', 'folder');
		expect(() => names.take('a/b', 'folder')).toThrow('a file and a folder');
	});
});

test('SECURITY Archives: a refused name is shown with escapes, and cut', () => {
	expect(quoteEntry('a\u001b[31m\u202e')).toBe('“a⟨U+001B⟩[31m⟨U+202E⟩”');
	expect(quoteEntry('x'.repeat(5000)).length).toBeLessThan(110);
});

test('E20: what systems leave beside the files is known by any spelling', () => {
	expect(['__MACOSX/._a', 'a/.DS_Store', 'a/.git/config', '.GIT/hooks/x'].map(isLeftOut)).toEqual([
		true,
		true,
		true,
		true
	]);
	expect(['.gitignore', '.github/x.yml', 'a/git'].map(isLeftOut)).toEqual([false, false, false]);
});

test('SECURITY Archives: any text is a safe relative path or an AppError', () => {
	const part = fc.oneof(fc.constantFrom('..', '.', '', 'a', 'CON', '\\', ' '), fc.string({ unit: 'binary' }));
	fc.assert(
		fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
			const path = parts.join('/');
			try {
				const segments = checkEntryName(path);
				expect(segments.join('/')).toBe(path);
				expect(segments.every((segment) => !['', '.', '..'].includes(segment))).toBe(true);
			} catch (error) {
				expect(error).toBeInstanceOf(AppError);
			}
		})
	);
});

function thrownBy(action: () => unknown): Error {
	try {
		action();
	} catch (error) {
		return error as Error;
	}
	throw new Error('Nothing was thrown.');
}
