/** Reads the source files' text and reports what breaks the architecture: pure functions over file names and texts. */

import ts from 'typescript';
import { importViolation, packageName, resolveImport } from './import-rule.ts';
import { isTestFile, layerOf } from './layers.ts';

/** Path from `src/` → text. */
export type SourceFiles = Map<string, string>;

/** Each import as written, including dynamic and type-only ones, in TypeScript and in component scripts. */
export function importsOf(file: string, text: string): string[] {
	return ts.preProcessFile(scriptText(file, text), true, true).importedFiles.map((imported) => imported.fileName);
}

/** One sentence per import of `file` that its layer may not have. */
export function layerViolations(file: string, text: string): string[] {
	if (!layerOf(file) && !isTestFile(file)) return [`${file} is in no layer: add it to tests/support/layers.ts`];
	return importsOf(file, text).flatMap((specifier) => importViolation(file, specifier) ?? []);
}

/** Packages `file` imports: `a/b` → `a`, `@a/b/c` → `@a/b`; without Node's own modules. */
export function packagesOf(file: string, text: string): string[] {
	return importsOf(file, text)
		.filter((specifier) => !/^(\.|\$|node:)/.test(specifier))
		.map(packageName);
}

/** Each cycle once, as the files in it; a component that imports itself (recursion) doesn't count. */
export function importCycles(files: SourceFiles): string[][] {
	const cycles: string[][] = [];
	const finished = new Set<string>();
	const visit = (file: string, trail: string[]): void => {
		const start = trail.indexOf(file);
		if (start >= 0) cycles.push([...trail.slice(start), file]);
		const text = files.get(file);
		if (start >= 0 || finished.has(file) || text === undefined) return;
		for (const specifier of importsOf(file, text)) {
			const target = resolveImport(file, specifier);
			if (target && target !== file) visit(target, [...trail, file]);
		}
		finished.add(file);
	};
	for (const file of files.keys()) visit(file, []);
	return cycles;
}

/** Names of mutable module-level variables: `let`, `var`, and collections that start empty. */
export function moduleState(file: string, text: string): string[] {
	const source = ts.createSourceFile(file, scriptText(file, text), ts.ScriptTarget.Latest);
	return source.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) => {
		const isConstant = (declarationList.flags & ts.NodeFlags.Const) !== 0;
		return declarationList.declarations
			.filter(({ initializer }) => !isConstant || (initializer && isEmptyCollection(initializer)))
			.map(({ name }) => name.getText(source));
	});
}

/**
 * How often a file uses the wall clock to calculate: `Date.now`, and `new Date()` for more than a timestamp.
 * The clock can be changed, so code that measures or waits uses `performance.now()`.
 */
export function wallClockUses(file: string, text: string): number {
	const source = ts.createSourceFile(file, scriptText(file, text), ts.ScriptTarget.Latest, true);
	let uses = 0;
	const visit = (node: ts.Node): void => {
		if (ts.isPropertyAccessExpression(node) && node.getText(source) === 'Date.now') uses += 1;
		if (ts.isNewExpression(node) && node.getText(source) === 'new Date()' && isReckonedWith(node.parent)) uses += 1;
		ts.forEachChild(node, visit);
	};
	visit(source);
	return uses;
}

function isReckonedWith(parent: ts.Node): boolean {
	if (ts.isPropertyAccessExpression(parent)) return /^(getTime|valueOf)$/.test(parent.name.text);
	return ts.isBinaryExpression(parent) || ts.isPrefixUnaryExpression(parent);
}

function isEmptyCollection(expression: ts.Expression): boolean {
	if (ts.isAsExpression(expression) || ts.isSatisfiesExpression(expression))
		return isEmptyCollection(expression.expression);
	if (ts.isArrayLiteralExpression(expression)) return expression.elements.length === 0;
	if (ts.isObjectLiteralExpression(expression)) return expression.properties.length === 0;
	if (!ts.isNewExpression(expression) || !ts.isIdentifier(expression.expression)) return false;
	return /^(Weak)?(Map|Set)$/.test(expression.expression.text) && !expression.arguments?.length;
}

function scriptText(file: string, text: string): string {
	if (!file.endsWith('.svelte')) return text;
	return [...text.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map((match) => match[1]).join('\n');
}
