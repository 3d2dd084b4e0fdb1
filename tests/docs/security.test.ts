/** Every claim in docs/security.md has a test; and the check itself, on small made-up pages. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { claimsOf, problemsOf, testTitles } from './claims.ts';

const root = join(import.meta.dirname, '../..');

function readTests(path: string): string | null {
	return existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : null;
}

describe('SECURITY: docs/security.md', { timeout: 30_000 }, () => {
	const page = readFileSync(join(root, 'docs/security.md'), 'utf8');

	test('every claim names the tests that show it, and each of them exists', () => {
		expect(claimsOf(page).length).toBeGreaterThan(40);
		expect(problemsOf(page, readTests)).toEqual([]);
	});

	test('the last section, in which nothing is claimed, is the one about what is not protected', () => {
		expect([...page.matchAll(/^## (.*)$/gm)].at(-1)?.[1]).toBe('What is not protected');
	});
});

describe('the check', () => {
	const tests = `
		test('holds', () => {});
		describe('a wall', () => {
			test.each([1])('%i bricks', () => {});
			test.skip('is not built yet', () => {});
		});`;
	const problems = (claims: string) =>
		problemsOf(`# Page\nWhat it is about.\n\n## Walls\n${claims}\n\n## Not\n- No claim.\n`, (path) =>
			path === 'tests/wall.test.ts' ? tests : null
		);

	test('is content with a claim that has its test, alone or behind its group', () => {
		expect(problems('- It holds.\n  → tests/wall.test.ts: holds')).toEqual([]);
		expect(problems('- It holds. → tests/wall.test.ts: a wall › %i bricks')).toEqual([]);
		expect(problems('1. It\n   holds.\n   → tests/wall.test.ts: holds\n   → tests/wall.test.ts: %i bricks')).toEqual(
			[]
		);
	});

	test.each([
		['a bullet', '- It holds.\n- It stands.\n  → tests/wall.test.ts: holds', 'line 5: no test shows “It holds.”'],
		['a paragraph', 'It holds,\nand stands.', 'line 5: no test shows “It holds, and stands.”'],
		['a row of a table', '| a | b |\n|---|---|\n| it | holds |', 'line 7: no test shows “it | holds”'],
		['a bullet in a bullet', '- It → tests/wall.test.ts: holds\n  - Well.', 'line 6: no test shows “Well.”']
	])('finds %s without a test', (_what, claims, problem) => expect(problems(claims)).toEqual([problem]));

	test.each([
		['a test that is not there', 'tests/wall.test.ts: falls', 'tests/wall.test.ts has no test “falls”'],
		['a part of a title', 'tests/wall.test.ts: hold', 'tests/wall.test.ts has no test “hold”'],
		['the title of a group', 'tests/wall.test.ts: a wall', 'tests/wall.test.ts has no test “a wall”'],
		['a test that is never run', 'tests/wall.test.ts: is not built yet', 'has no test “is not built yet”'],
		['a file that is not there', 'tests/none.test.ts: holds', 'there is no tests/none.test.ts'],
		['a file that holds no tests', 'src/wall.ts: holds', '“→ src/wall.ts: holds” is no reference to a test'],
		['a reference without a title', 'tests/wall.test.ts', 'is no reference to a test']
	])('finds a claim with %s', (_what, reference, problem) => {
		expect(problems(`- It holds.\n  → ${reference}`)).toEqual([expect.stringContaining(problem)]);
		expect(problems(`| it |\n|---|\n| holds | → ${reference}<br>→ tests/wall.test.ts: holds |`)).toEqual([
			expect.stringContaining(problem)
		]);
	});

	test('leaves out what stands before the first section, but for bullets, and all of the last one', () => {
		expect(problemsOf('# Page\nAbout.\n- A claim.\n\n## Not\n- No claim.\n', () => null)).toEqual([
			'line 3: no test shows “A claim.”'
		]);
	});

	test('knows titles in every form in which tests have them', () => {
		const source = String.raw`
			it('it\u2019s', () => {});
			test.each<[string]>([['x']])('%s', () => {});
			describe.runIf(isRoot)('root', { timeout: 1 }, () => test.skipIf(isMac)('can', () => {}));
			test.describe('page', () => { for (const name of names) test(${'`reads: ${name}`'}, async () => {}); });
			describe.skip('gone', () => test('in it', () => {}));
			test.use({ x: 'no title' }); test.setTimeout(1); expect('a').toBe('b'); attest('c');`;
		expect(testTitles(source)).toEqual(['it’s', '%s', 'root › can', 'page › reads: ${name}']);
	});
});
