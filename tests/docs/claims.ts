/** Reads a page of claims, each with the tests that prove it, and reports unproven ones: pure functions over texts. */

import ts from 'typescript';

export interface Claim {
	/** Starts at 1. */
	line: number;
	text: string;
	/** As written, starting at the arrow. */
	references: string[];
}

const ARROW = '→ ';
const REFERENCE = /^→ (\S+\.(?:test|spec|suite)\.ts): (\S.*)$/;
/** Separates a group's title from a test's. */
const WITHIN = ' › ';
const ITEM = /^\s*([-*+]|\d+\.) /;
const NOT_RUN = ['skip', 'todo', 'fixme'];

/**
 * Every paragraph, bullet and table row is a claim, except in the last section (what isn't protected).
 * Before the first section, only bullets and rows are claims.
 */
export function claimsOf(page: string): Claim[] {
	const lines = page.split('\n');
	const isHeading = (line = '') => line.startsWith('#');
	const first = lines.findIndex((line) => line.startsWith('## '));
	const last = lines.findLastIndex((line) => line.startsWith('## '));
	const claims: Claim[] = [];
	let open: Claim | null = null;
	for (const [index, line] of lines.slice(0, last).entries()) {
		if (line.trim() === '' || isHeading(line) || isTableHead(lines, index)) {
			open = null;
			continue;
		}
		const isItem = ITEM.test(line) || line.startsWith('|');
		if (isItem || !open) open = { line: index + 1, text: '', references: [] };
		if (open.text === '' && (isItem || index > first)) claims.push(open);
		const { text, references } = readLine(line.replace(ITEM, ''));
		open.text = [open.text, text].filter(Boolean).join(' ');
		open.references.push(...references);
	}
	return claims;
}

/** One sentence for each problem; `read` returns a test file's text, or null if it doesn't exist. */
export function problemsOf(page: string, read: (path: string) => string | null): string[] {
	const known = new Map<string, string[] | null>();
	const titlesOf = (path: string): string[] | null => {
		let titles = known.get(path);
		if (titles === undefined) {
			const source = read(path);
			titles = source === null ? null : testTitles(source);
			known.set(path, titles);
		}
		return titles;
	};
	return claimsOf(page).flatMap(({ line, text, references }) => {
		const where = `line ${line}`;
		if (references.length === 0) return [`${where}: no test shows “${text}”`];
		return references.flatMap((reference) => {
			const [, path, title] = REFERENCE.exec(reference) ?? [];
			if (!path || !title) return [`${where}: “${reference}” is no reference to a test`];
			const titles = titlesOf(path);
			if (titles === null) return [`${where}: there is no ${path}`];
			return hasTest(titles, title) ? [] : [`${where}: ${path} has no test “${title}”`];
		});
	});
}

/** The titles of a file's tests, prefixed with their groups', as written; tests that never run are left out. */
export function testTitles(source: string): string[] {
	const file = ts.createSourceFile('tests.ts', source, ts.ScriptTarget.Latest, true);
	const titles: string[] = [];
	const visit = (node: ts.Node, groups: string[]): void => {
		const call = ts.isCallExpression(node) ? readCall(node) : null;
		if (call?.names.some((name) => NOT_RUN.includes(name))) return;
		const isGroup = call?.names.includes('describe');
		if (call && !isGroup) titles.push([...groups, call.title].join(WITHIN));
		node.forEachChild((child) => visit(child, call && isGroup ? [...groups, call.title] : groups));
	};
	visit(file, []);
	return titles;
}

/** A reference may give a title alone or with its group's. */
function hasTest(titles: readonly string[], title: string): boolean {
	return titles.some((found) => found === title || found.endsWith(WITHIN + title));
}

/** For `test('…')`, `test.each(…)('…')`, `test.describe('…')`: the names before the title; null for any other call. */
function readCall({ expression, arguments: [title] }: ts.CallExpression): { names: string[]; title: string } | null {
	const names: string[] = [];
	let callee: ts.Expression = expression;
	while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) {
		if (ts.isPropertyAccessExpression(callee)) names.push(callee.name.text);
		callee = callee.expression;
	}
	if (!ts.isIdentifier(callee) || !['test', 'it', 'describe'].includes(callee.text)) return null;
	if (!title) return null;
	if (ts.isStringLiteralLike(title)) return { names: [callee.text, ...names], title: title.text };
	if (ts.isTemplateExpression(title)) return { names: [callee.text, ...names], title: title.getText().slice(1, -1) };
	return null;
}

function isTableHead(lines: readonly string[], index: number): boolean {
	const isRule = (line = '') => /^\|[\s|:-]+$/.test(line);
	return isRule(lines[index]) || (lines[index]?.startsWith('|') === true && isRule(lines[index + 1]));
}

/** References end with their line or, in a table, at the end of the cell or at a line break in it. */
function readLine(line: string): { text: string; references: string[] } {
	const pieces = (line.startsWith('|') ? line.split(/\||<br>/) : [line]).map((piece) => piece.trim());
	const references = pieces.flatMap((piece) => (piece.includes(ARROW) ? piece.slice(piece.indexOf(ARROW)) : []));
	const texts = pieces.map((piece) => piece.split(ARROW)[0]?.trim());
	return { text: texts.filter(Boolean).join(' | '), references };
}
