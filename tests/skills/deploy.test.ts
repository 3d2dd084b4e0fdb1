import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { putFiles } from '../support/folder.ts';
import { runSkill, temporaryFolder } from './run-skill.ts';

const DEPLOY = 'deploy/scripts/deploy.sh';
const VERIFY = 'deploy/scripts/verify.mjs';

async function write(cwd: string, files: Record<string, string>): Promise<void> {
	await putFiles(cwd, files);
}

async function workspace(files: Record<string, string>): Promise<string> {
	const cwd = await temporaryFolder();
	await write(cwd, files);
	return cwd;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const BUILD = { 'my build/index.html': '<h1>1</h1>', 'my build/assets/a b.css': 'body{}' };

describe('deploy', () => {
	it('copies a build with spaces in its names and writes its checksums', async () => {
		const cwd = await workspace(BUILD);
		const run = await runSkill(DEPLOY, ['my build', 'out/the site'], { cwd });
		expect(run).toEqual({
			stdout: 'Deployed 2 files to out/the site.\nChecksums: out/the site/MANIFEST.sha256\n',
			stderr: '',
			exitCode: 0
		});
		expect(await readFile(join(cwd, 'out/the site/MANIFEST.sha256'), 'utf8')).toBe(
			`${sha256('body{}')}  assets/a b.css\n${sha256('<h1>1</h1>')}  index.html\n`
		);
		expect(await readdir(join(cwd, 'out'))).toEqual(['the site']);
		expect(await runSkill(VERIFY, ['out/the site'], { cwd })).toEqual({
			stdout: 'out/the site is unchanged: 2 files, all checksums match.\n',
			stderr: '',
			exitCode: 0
		});
	});

	it('keeps what is only in the target, and removes it with --clean', async () => {
		const cwd = await workspace({ ...BUILD, 'site/old.html': 'old', 'site/index.html': 'old' });
		expect(await runSkill(DEPLOY, ['my build', 'site'], { cwd })).toMatchObject({ exitCode: 0 });
		expect((await readdir(join(cwd, 'site'))).toSorted()).toEqual([
			'MANIFEST.sha256',
			'assets',
			'index.html',
			'old.html'
		]);
		expect(await readFile(join(cwd, 'site/index.html'), 'utf8')).toBe('<h1>1</h1>');
		expect(await runSkill(VERIFY, ['site'], { cwd })).toMatchObject({ exitCode: 0 });
		expect(await runSkill(DEPLOY, ['my build', 'site', '--clean'], { cwd })).toMatchObject({ exitCode: 0 });
		expect((await readdir(join(cwd, 'site'))).toSorted()).toEqual(['MANIFEST.sha256', 'assets', 'index.html']);
		expect((await readdir(cwd)).toSorted()).toEqual(['my build', 'site']);
	});

	it('refuses --clean on a folder that it did not deploy', async () => {
		const cwd = await workspace({ ...BUILD, 'photos/a.jpg': 'jpg' });
		const { exitCode, stderr } = await runSkill(DEPLOY, ['my build', 'photos', '--clean'], { cwd });
		expect(exitCode).toBe(2);
		expect(stderr).toContain('--clean would delete files in');
		expect(await readdir(join(cwd, 'photos'))).toEqual(['a.jpg']);
	});

	it('keeps links to files inside the build, and they verify', async () => {
		const cwd = await workspace(BUILD);
		await symlink('index.html', join(cwd, 'my build/start.html'));
		expect((await runSkill(DEPLOY, ['my build', 'site'], { cwd })).stdout).toContain('Deployed 3 files');
		expect(await runSkill(VERIFY, ['site'], { cwd })).toMatchObject({ exitCode: 0 });
	});

	it('leaves the old state when the copy fails, and nothing beside it', async () => {
		const cwd = await workspace({ 'one/name': 'a file', 'two/name/inner': 'a folder of that name' });
		await runSkill(DEPLOY, ['one', 'site'], { cwd });
		const { exitCode, stderr } = await runSkill(DEPLOY, ['two', 'site'], { cwd });
		expect(exitCode).toBe(1);
		expect(stderr).toContain("Not deployed: the files couldn't be copied.");
		expect(await readFile(join(cwd, 'site/name'), 'utf8')).toBe('a file');
		expect((await readdir(cwd)).toSorted()).toEqual(['one', 'site', 'two']);
		expect(await runSkill(VERIFY, ['site'], { cwd })).toMatchObject({ exitCode: 0 });
	});

	it('takes names that look like options or commands as names', async () => {
		const cwd = await workspace({ '-rf/a': '1', '$(touch hacked)/b': '2' });
		expect(await runSkill(DEPLOY, ['--', '-rf', '-target'], { cwd })).toMatchObject({ exitCode: 0 });
		expect(await runSkill(DEPLOY, ['$(touch hacked)', '; touch hacked'], { cwd })).toMatchObject({ exitCode: 0 });
		expect((await readdir(cwd)).toSorted()).toEqual(['$(touch hacked)', '-rf', '-target', '; touch hacked']);
	});

	it.each([
		['/', 'the target is / itself'],
		['/tmp', 'is a top-level folder'],
		['.', 'the working directory'],
		['..', ''],
		['my build', 'the same folder'],
		['my build/inside', 'is inside the source'],
		['my build/assets/../../my build/x', 'is inside the source'],
		['around', 'is inside the target'],
		['link', 'is a symbolic link'],
		['link/', 'is a symbolic link'],
		['file', 'is a file'],
		['file/below', "isn't a folder"],
		['missing/../../elsewhere', "isn't a folder"]
	])('refuses the target %s with code 2 and changes nothing', async (target, message) => {
		const cwd = await workspace({ ...BUILD, file: 'text', 'around/build/a': 'a', 'real/a': 'a' });
		await symlink('real', join(cwd, 'link'));
		const before = (await readdir(cwd, { recursive: true })).toSorted();
		const { exitCode, stdout, stderr } = await runSkill(
			DEPLOY,
			[target === 'around' ? 'around/build' : 'my build', target],
			{ cwd }
		);
		expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
		expect(stderr).toContain('Refused: ');
		expect(stderr).toContain(message);
		expect((await readdir(cwd, { recursive: true })).toSorted()).toEqual(before);
	});

	it('refuses the home folder and what is around it', async () => {
		const cwd = await workspace(BUILD);
		const home = join(cwd, 'users/me');
		await mkdir(home, { recursive: true });
		for (const target of ['users/me', 'users', join(home, '..', 'me')]) {
			const { exitCode, stderr } = await runSkill(DEPLOY, ['my build', target], { cwd, env: { HOME: home } });
			expect(exitCode).toBe(2);
			expect(stderr).toContain('is the home folder, or a folder around it');
		}
		expect(await runSkill(DEPLOY, ['my build', 'users/me/site'], { cwd, env: { HOME: home } })).toMatchObject({
			exitCode: 0
		});
	});

	it.each([
		['/etc/hostname', 'points to an absolute path'],
		['../../secret', 'points outside the source'],
		['nothing-there', 'is broken'],
		['assets', "doesn't point to a file"]
	])('refuses a build with a link to %s', async (leads, message) => {
		const cwd = await workspace({ 'work/build/assets/a': 'a', secret: 'secret' });
		await symlink(leads, join(cwd, 'work/build/link'));
		const { exitCode, stderr } = await runSkill(DEPLOY, ['work/build', 'site'], { cwd });
		expect(exitCode).toBe(1);
		expect(stderr).toContain(message);
		expect((await readdir(cwd)).toSorted()).toEqual(['secret', 'work']);
	});

	it('refuses a build that is missing, a file, empty, or has names that a list cannot hold', async () => {
		const cwd = await workspace({ file: 'x', 'odd/a\nb': 'x' });
		await mkdir(join(cwd, 'empty'));
		for (const [source, message] of [
			['nope', "the folder nope doesn't exist"],
			['file', 'is not a folder'],
			['empty', 'has no files'],
			['odd', 'a line break or a backslash']
		] as const) {
			const { exitCode, stderr } = await runSkill(DEPLOY, [source, 'site'], { cwd });
			expect(exitCode).toBe(1);
			expect(stderr).toContain(message);
		}
		await expect(stat(join(cwd, 'site'))).rejects.toThrow('ENOENT');
	});

	it('ends with code 2 for an unknown option', async () => {
		const cwd = await workspace(BUILD);
		expect(await runSkill(DEPLOY, ['my build', 'site', '--force'], { cwd })).toMatchObject({ exitCode: 2, stdout: '' });
	});
});

describe('deploy: verify', () => {
	async function deployed(): Promise<string> {
		const cwd = await workspace({ ...BUILD, 'secret.txt': 'body{}' });
		await runSkill(DEPLOY, ['my build', 'site'], { cwd });
		return cwd;
	}

	it('lists what was changed, is missing or was added, with code 1', async () => {
		const cwd = await deployed();
		await writeFile(join(cwd, 'site/index.html'), '<h1>2</h1>');
		await rm(join(cwd, 'site/assets/a b.css'));
		await write(cwd, { 'site/new/shell.php': '<?php' });
		const { stdout, stderr, exitCode } = await runSkill(VERIFY, ['site'], { cwd });
		expect(exitCode).toBe(1);
		expect(stdout).toBe('changed: index.html\nextra: new/shell.php\nmissing: assets/a b.css\n');
		expect(stderr).toBe('site has changed: 3 differences.\n');
	});

	it('does not accept the right content behind a link that leads outside', async () => {
		const cwd = await deployed();
		await rm(join(cwd, 'site/assets/a b.css'));
		await symlink('../../secret.txt', join(cwd, 'site/assets/a b.css'));
		const { stdout, exitCode } = await runSkill(VERIFY, ['site'], { cwd });
		expect({ stdout, exitCode }).toEqual({ stdout: 'changed: assets/a b.css\n', exitCode: 1 });
	});

	it.each([
		['../secret.txt', 'is damaged'],
		['/etc/hostname', 'is damaged'],
		['', 'is damaged']
	])('does not read beyond the folder for a list that names "%s"', async (name, message) => {
		const cwd = await deployed();
		await writeFile(join(cwd, 'site/MANIFEST.sha256'), `${sha256('body{}')}  ${name}\n`);
		const { stderr, exitCode, stdout } = await runSkill(VERIFY, ['site'], { cwd });
		expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
		expect(stderr).toContain(message);
	});

	it('says so when there is no list, an empty one, or no folder', async () => {
		const cwd = await deployed();
		expect((await runSkill(VERIFY, ['my build'], { cwd })).stderr).toContain('my build has no MANIFEST.sha256');
		await writeFile(join(cwd, 'site/MANIFEST.sha256'), '');
		expect((await runSkill(VERIFY, ['site'], { cwd })).stderr).toContain('is empty, so nothing can be verified');
		const missing = await runSkill(VERIFY, ['nope'], { cwd });
		expect(missing).toMatchObject({ exitCode: 1, stderr: "Couldn't open the folder nope (ENOENT).\n" });
	});
});
