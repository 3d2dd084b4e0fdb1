import { countLines } from '../../text/format.ts';
import { describe, expect, test } from 'vitest';
import { sampleSummary } from '../../../../../tests/support/sample-skills.ts';
import { bodyOf, type FileNode, interpreterOf, rangeOfLine, treeOf } from './skill-editor.svelte.ts';
import { filterSkills } from '../../text/fuzzy.ts';
import {
	editorPage,
	filePage,
	lineOf,
	skillPage,
	adviseOnDescription,
	adviseOnName,
	filesOfTemplate,
	suggestName,
	tabOf
} from '../skill-words.ts';

test('a SKILL.md is read without its front matter, whatever its line ends; without one it is all text', () => {
	expect(bodyOf('---\nname: a\n---\n\n# A\n---\nb\n')).toBe('# A\n---\nb');
	expect(bodyOf('\ufeff---\r\nname: a\r\n---\r\nText\r\n')).toBe('Text');
	expect(bodyOf('---\nname: a\n---')).toBe('');
	expect(bodyOf('# A\n---\n')).toBe('# A\n---');
	expect(bodyOf('---\nname: a\n---\n\n    code\n')).toBe('    code');
});

test('lines are counted and found as an editor has them', () => {
	expect(['', 'a', 'a\n', 'a\nb\n\n'].map(countLines)).toEqual([1, 1, 2, 4]);
	expect(rangeOfLine('ab\ncd\nef', 2)).toEqual([3, 5]);
	expect(rangeOfLine('ab\ncd', 2)).toEqual([3, 5]);
	expect(rangeOfLine('ab', 9)).toEqual([0, 2]);
});

test('a script has its interpreter by its name', () => {
	expect(['a.py', 'b/c.SH', 'd.mjs', 'e.md', 'f.constructor'].map(interpreterOf)).toEqual([
		'Python',
		'Shell',
		'Node',
		null,
		null
	]);
});

test('paths become a tree: the SKILL.md, its scripts and examples, then folders, then files, each by name', () => {
	const files = [
		'z.txt',
		'a.txt',
		'scripts/b.sh',
		'SKILL.md',
		'scripts/lib/a.sh',
		'assets/x.png',
		'examples/e.csv'
	].map((path) => ({
		path,
		bytes: 1,
		text: null
	}));
	const print = (nodes: readonly FileNode[]): unknown[] =>
		nodes.map(({ path, file, children }) => (file ? path : [path, ...print(children)]));
	expect(print(treeOf(files))).toEqual([
		'SKILL.md',
		['scripts', ['scripts/lib', 'scripts/lib/a.sh'], 'scripts/b.sh'],
		['examples', 'examples/e.csv'],
		['assets', 'assets/x.png'],
		'a.txt',
		'z.txt'
	]);
});

test('addresses name tabs, also those of parts of them; others name none', () => {
	expect(['#files', '#secrets', '#network', '#doctor', '#', '', '#toString'].map(tabOf)).toEqual([
		'files',
		'overview',
		'overview',
		'overview',
		null,
		null,
		null
	]);
});

test('a skill that is named as a page is has an address of its own', () => {
	expect(['pdf', 'mine/pdf@1.0.0', 'new', 'edit', 'trash'].map(skillPage)).toEqual([
		'/skills/pdf',
		'/skills/mine/pdf@1.0.0',
		'/skills/~new',
		'/skills/~edit',
		'/skills/~trash'
	]);
	expect(editorPage('mine/a b')).toBe('/skills/edit/mine/a%20b');
	expect(editorPage('a', 'scripts/x.mjs', { line: 12 })).toBe('/skills/edit/a?file=scripts%2Fx.mjs&line=12');
});

test('a file of a skill has an address, and so has each line of it', () => {
	expect(filePage('mine/a', 'scripts/x.mjs')).toBe('/skills/mine/a?file=scripts%2Fx.mjs#files');
	expect(filePage('a', 'x.mjs', 12)).toBe('/skills/a?file=x.mjs#L12');
	expect(['#L12', '12', '#L0', '#L', '#L1e3', '#L99999999', ''].map(lineOf)).toEqual([
		...[12, 12],
		...[null, null, null, null, null]
	]);
	expect(['#L12', '#Lx'].map(tabOf)).toEqual(['files', null]);
});

test('E2: the list is narrowed by words, mode and origin', () => {
	const skills = [
		sampleSummary({ name: 'pdf-forms', description: 'Fills forms.', provider: 'github' }),
		sampleSummary({ name: 'torn', status: 'broken' }),
		sampleSummary({ name: 'words', mode: 'off', provider: 'bundled' })
	];
	const names = (query: string, filter: Parameters<typeof filterSkills>[1]['filter']) =>
		filterSkills(skills, { query, filter }).map(({ name }) => name);
	expect(names('FORMS fill', 'all')).toEqual(['pdf-forms']);
	expect(names('', 'yours')).toEqual(['torn']);
	expect(names('', 'bundled')).toEqual(['words']);
	expect(names('', 'off')).toEqual(['words']);
	expect(names('', 'installed')).toEqual(['pdf-forms']);
});

test('E2: “To review” lists what isn’t trusted, what has a problem and what has an update', () => {
	const problem = { severity: 'warning', field: '_', message: 'is odd' } as const;
	const skills = [
		sampleSummary({ name: 'new', trust: 'untrusted' }),
		sampleSummary({ name: 'edited', trust: 'changed' }),
		sampleSummary({ name: 'odd', trust: 'trusted', diagnostics: [problem] }),
		sampleSummary({ name: 'torn', status: 'broken', trust: 'untrusted' }),
		sampleSummary({ name: 'file_read', trust: 'builtin', provider: 'builtin', diagnostics: [problem] }),
		sampleSummary({ name: 'old', trust: 'trusted', source: 'installed' }),
		sampleSummary({ name: 'old', trust: 'trusted', source: 'mine' })
	];
	const found = filterSkills(skills, { query: '', filter: 'review', outdated: ['installed/old'] });
	expect(found).toEqual([0, 1, 2, 3, 5].map((index) => skills[index]));
});

test('E2: the list is sorted by use, and those whose name is searched for come first', () => {
	const used = (executions: number, lastUsedAt: string | null) => ({ usage: { executions, failures: 0, lastUsedAt } });
	const skills = [
		sampleSummary({ name: 'charts', description: 'Draws a csv file.', ...used(2, '2026-01-03T00:00:00Z') }),
		sampleSummary({ name: 'csv-tools', description: 'Sorts.', ...used(0, null) }),
		sampleSummary({ name: 'pdf', description: 'Reads.', ...used(9, '2026-01-02T00:00:00Z') })
	];
	const names = (query: string, order: Parameters<typeof filterSkills>[1]['order']) =>
		filterSkills(skills, { query, filter: 'all', order }).map(({ name }) => name);
	expect(names('', 'name')).toEqual(['charts', 'csv-tools', 'pdf']);
	expect(names('', 'used')).toEqual(['charts', 'pdf', 'csv-tools']);
	expect(names('', 'most')).toEqual(['pdf', 'charts', 'csv-tools']);
	expect(names('csv', 'most')).toEqual(['csv-tools', 'charts']);
});

describe('F8: while a new skill is described', () => {
	test('a name that may not be is refused, and the nearest that may is offered', () => {
		expect(adviseOnName('', new Set())).toBeNull();
		for (const name of ['Invoice', 'a--b', '-a', 'a_b', 'a'.repeat(65)]) {
			expect(adviseOnName(name, new Set())).toMatchObject({ isWrong: true });
		}
		expect(adviseOnName('pdf', new Set(['pdf']))).toMatchObject({ isWrong: true });
		expect(adviseOnName('pdf-2', new Set(['pdf']))).toMatchObject({ isWrong: false });
		expect(['Invoice Reader', 'Übersicht!', '___', 'a'.repeat(80)].map(suggestName)).toEqual([
			'invoice-reader',
			'ubersicht',
			'',
			'a'.repeat(64)
		]);
	});

	test('a description is refused when it is too long, and advised on when it says too little', () => {
		expect(adviseOnDescription(' ')).toBeNull();
		expect(adviseOnDescription('x'.repeat(1025))).toMatchObject({ isWrong: true });
		expect(adviseOnDescription('Reads invoices.')?.message).toMatch(/Say more/);
		expect(adviseOnDescription('Reads invoices in PDF files and lists all sums.')?.message).toMatch(/when to use it/);
		const good = 'Reads invoices in PDF files. Use when somebody asks about bills.';
		expect(adviseOnDescription(good)).toEqual({ message: 'Says what it does and when to use it', isWrong: false });
	});

	test('what a template makes is said before', () => {
		expect(filesOfTemplate('a-b', 'tools', 'text')).toEqual(['a-b/SKILL.md', 'a-b/tools.json', 'a-b/scripts/a_b.mjs']);
		expect(filesOfTemplate('1-b', 'tools', 'text').at(-1)).toBe('1-b/scripts/run_1_b.mjs');
		expect(filesOfTemplate('a', 'script', 'text')).toEqual(['a/SKILL.md', 'a/scripts/run.mjs']);
	});
});
