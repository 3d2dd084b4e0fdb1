import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { putFile } from '../../../../tests/support/folder.ts';
import { wheelFolder } from '../../../../tests/support/package-index.ts';
import { removeFolder } from '../foreign-folders.ts';

let dir: string;
beforeEach(async () => {
	dir = await mkdtemp(join(tmpdir(), 'install-packages-'));
});
afterEach(() => removeFolder(dir));

function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
	const env = {
		...{ PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production' },
		...{ DATA_DIR: join(dir, 'data'), SKILLS_DIRS: join(dir, 'skills') },
		SKILLS_PIP_INDEX_URL: pathToFileURL(join(dir, 'wheels')).href
	};
	return new Promise((ended) => {
		const program = join(import.meta.dirname, 'install-packages.ts');
		execFile(process.execPath, [program, ...args], { env }, (error, stdout, stderr) =>
			ended({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
		);
	});
}

test('D46: its usage is told; an option that it hasn’t is one sentence with exit code 2', async () => {
	expect(await run('--help')).toEqual({ code: 0, stdout: expect.stringContaining('SKILL…, or --all'), stderr: '' });
	const { code, stdout, stderr } = await run('--al');
	expect([code, stdout]).toEqual([2, '']);
	expect(stderr).toMatch(/^Unknown option '--al'\. Usage: .*--all.*\n$/);
});

test('D46: it lists sizes, the room that is used and guesses that no index has, and installs nothing again', async () => {
	await wheelFolder(join(dir, 'wheels'), [{ name: 'tiny-lib' }]);
	await putFile(dir, 'skills/demo/SKILL.md', '---\nname: demo\ndescription: Says it.\n---\nRun it.');
	await putFile(dir, 'skills/demo/scripts/a.py', 'import tiny_lib\nimport no_such_mod\n');
	const first = await run('--all', '--yes');
	expect(first.stdout).toMatch(/demo needs 1 package:\n {2}tiny-lib 1\.0\.0 from a folder, \d\.\d kB\n/);
	expect(first.stdout).toContain('Not in the index, so probably no packages: no-such-mod');
	expect(first.stdout).toContain('All skills’ packages: 0 MB of 2,048 MB used\n');
	expect(first.stdout).toContain('demo: installed.');
	expect((await run('--all', '--yes')).stdout).toBe('demo: 1 package installed already.\n');
});
