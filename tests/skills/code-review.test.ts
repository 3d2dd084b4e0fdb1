import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { runSkill, temporaryFolder, type SkillRun } from './run-skill.ts';

const SCRIPT = 'code-review/scripts/review_diff.mjs';

async function review(diff: string): Promise<SkillRun> {
	const cwd = await temporaryFolder();
	await writeFile(join(cwd, 'change.diff'), diff);
	return runSkill(SCRIPT, ['change.diff'], { cwd });
}

/** A diff of one file with only new lines. */
const added = (path: string, ...lines: string[]) =>
	[`--- /dev/null`, `+++ b/${path}`, `@@ -0,0 +1,${lines.length} @@`, ...lines.map((line) => `+${line}`), ''].join(
		'\n'
	);

describe('code-review: review_diff', () => {
	it('names each finding by file and line, the worst first, and counts the lines of each file', async () => {
		const example = await readFile(new URL('../../skills/code-review/examples/example.diff', import.meta.url), 'utf8');
		const { stdout, exitCode } = await review(example);
		expect(exitCode).toBe(0);
		expect(stdout).toMatch(/^\*\*Do not merge yet\*\*: 2 blockers, 2 to fix, 2 nits\./);
		expect(stdout).toContain('| `src/invoices.js` | 13 | 4 |');
		const places = [...stdout.matchAll(/^\*\*(.+?)\*\* `(.+?)`/gm)].map(([, level, place]) => `${level} ${place}`);
		expect(places).toEqual([
			...['blocker src/invoices.js:15', 'blocker src/invoices.js:28'],
			...['should fix src/invoices.js:24', 'should fix test/invoices.test.js:5'],
			...['nit src/invoices.js:14', 'nit src/invoices.js:27']
		]);
	});

	it.each([
		['const key = "ghp_abcdefghijklmnopqrstuvwxyz"', 'blocker'],
		['password = os.environ["PASSWORD"]', null],
		['element.innerHTML = text;', 'should fix'],
		['debugger;', 'nit'],
		['return total;', null]
	])('%s: %s', async (line, level) => {
		const { stdout } = await review(added('src/a.js', line));
		if (level === null) expect(stdout).toContain('**Nothing stands out**');
		else expect(stdout).toContain(`**${level}** \`src/a.js:1\``);
	});

	it('says that code came without a test, and not where there is one', async () => {
		expect((await review(added('src/a.js', 'x()'))).stdout).toContain('No test changed with this code.');
		const both = added('src/a.js', 'x()') + added('tests/a.test.js', 'x()');
		expect((await review(both)).stdout).not.toContain('No test changed');
	});
});

test('code-review: what is no diff, or not there, ends with code 1 and says why', async () => {
	const none = await review('just words\n');
	expect(none).toMatchObject({ exitCode: 1, stdout: '' });
	expect(none.stderr).toContain("change.diff isn't a unified diff.");
	const missing = await runSkill(SCRIPT, ['missing.diff'], { cwd: await temporaryFolder() });
	expect(missing.stderr).toBe("Can't read missing.diff: there is no such file.\n");
});
