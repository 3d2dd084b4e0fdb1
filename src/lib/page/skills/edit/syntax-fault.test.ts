import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { python } from '@codemirror/lang-python';
import { describe, expect, test } from 'vitest';
import { faultsIn, syntaxFault } from './syntax-fault.ts';

const [JS, PY, JSON_] = [javascript(), python(), json()].map(({ language }) => language.parser);
const PARSERS = new Map(Object.entries({ js: JS, mjs: JS, cjs: JS, py: PY, json: JSON_ }));
const faultIn = (path: string, text: string) => {
	const parser = PARSERS.get(path.split('.').at(-1) ?? '') ?? JS;
	return parser ? syntaxFault(parser.parse(text), text, path) : null;
};

describe('F1: a script that can’t be read', () => {
	test.each([
		['a.mjs', 'console.log("a"\nconst b = 1;\n', 2, 'This isn’t valid JavaScript. Check this line and the one above.'],
		['a.js', 'const a = ;\nfoo();\n', 1, 'This isn’t valid JavaScript. Check this line, near “;”.'],
		['a.mjs', 'function f() {\n  return 1;\n\n', 2, 'A bracket or quote is never closed.'],
		['a.py', 'def f()\n    return 1\n', 1, 'This isn’t valid Python. Check this line.'],
		['a.json', '{"a": 1,}\n', 1, 'This isn’t valid JSON. Check this line, near “}”.']
	])('%s %j is told with its line', (path, text, line, message) => {
		expect(faultIn(path, text)).toEqual({ line, severity: 'error', message });
	});

	test.each([
		['a.mjs', '#!/usr/bin/env node\nimport a from "./a.json" with { type: "json" };\nawait a;\n'],
		['a.py', 'def a():\n    yield\n\n\nx = 20.\nwith (a() as (b, c)):\n    pass\n'],
		['a.py', 'x = f"{d["a"]:>{w}}"\nmatch x:\n    case ast.Name():\n        pass\n'],
		['a.ts', 'const a: string = ;\n'],
		['a.md', 'const a = ;'],
		['a.json', ' \n']
	])('%s %j has nothing to tell', (path, text) => {
		expect(faultIn(path, text)).toBeNull();
	});

	test('files are looked at without an editor, each as what it is', async () => {
		const files = [
			{ path: 'scripts/good.mjs', text: 'console.log(1);\n' },
			{ path: 'scripts/bad.mjs', text: 'const a = 1;\r\nconst b = ;\r\n' },
			{ path: 'scripts/bad.py', text: 'def f()\n    return 1\n' },
			{ path: 'scripts/run.sh', text: 'if (' },
			{ path: 'scripts/long.mjs', text: null }
		];
		expect((await faultsIn(files)).map(({ path, line }) => [path, line])).toEqual([
			['scripts/bad.mjs', 2],
			['scripts/bad.py', 1]
		]);
	});

	test('no file of the bundled skills, of the examples and of the app’s own scripts is one', () => {
		const files = ['skills', 'examples', 'scripts'].flatMap((folder) =>
			readdirSync(folder, { recursive: true, withFileTypes: true })
				.filter((entry) => entry.isFile() && PARSERS.has(entry.name.split('.').at(-1) ?? ''))
				.map(({ parentPath, name }) => join(parentPath, name))
		);
		expect(files.length).toBeGreaterThan(20);
		expect(files.filter((path) => faultIn(path, readFileSync(path, 'utf8')) !== null)).toEqual([]);
	});
});
