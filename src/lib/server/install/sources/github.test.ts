import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
	failing,
	htmlPage,
	json,
	rateLimited,
	startGithub,
	type PlayedGithub
} from '../../../../../tests/support/catalog-servers.ts';
import type { InstallSource } from '../../../shared/install.ts';
import { createCatalogRig, skillText, type CatalogRig } from '../catalog-rig.suite.ts';
import { createGithub, type Github } from './github.ts';
import { createOutbound } from './outbound.ts';
import type { FetchedSkills } from '../catalog-installer.ts';

type GithubSource = Extract<InstallSource, { type: 'github' }>;
let played: PlayedGithub;
let rig: CatalogRig;
let github: Github;

const trunk = () => ({
	'README.md': 'hello',
	'skills/a/SKILL.md': skillText('a'),
	'skills/a/scripts/run.sh': { content: '#!/bin/sh\n', mode: '100755' as const },
	'skills/a/data/ü #1%.bin': new Uint8Array([0, 255, 10, 13]),
	'skills/b/SKILL.md': skillText('b'),
	'template/SKILL.md': skillText('template')
});
const source = (more: Partial<GithubSource> = {}): GithubSource => ({
	type: 'github',
	repository: 'acme/skills',
	...more
});
const fetch = (more: Partial<GithubSource> = {}): Promise<FetchedSkills> =>
	github.fetch(source(more), rig.staging, rig.signal);

beforeEach(async () => {
	played = await startGithub({
		repos: {
			'acme/skills': {
				defaultBranch: 'trunk',
				branches: { trunk: trunk(), 'feature/new/x': { 'one/SKILL.md': skillText('one'), 'one/a.txt': 'A' } },
				tags: { 'v1.0': { 'SKILL.md': skillText('old') } }
			}
		}
	});
	rig = await createCatalogRig();
	github = githubWith(null);
});
const githubWith = (token: string | null) =>
	createGithub({
		outbound: createOutbound({ hosts: played.hosts }),
		apiUrl: played.apiUrl,
		rawUrl: played.rawUrl,
		token
	});

afterEach(async () => {
	await played.close();
	await rig.remove();
});

describe('E9: what is fetched of a repository', () => {
	it('E9: whole folders of every skill of a default branch that is not called main, scripts and modes included', async () => {
		const fetched = await fetch();
		expect(fetched.folders).toEqual(['skills/a', 'skills/b']);
		expect(await rig.files()).toEqual({
			'skills/a/SKILL.md': skillText('a'),
			'*skills/a/scripts/run.sh': '#!/bin/sh\n',
			'skills/a/data/ü #1%.bin': Buffer.from([0, 255, 10, 13]).toString(),
			'skills/b/SKILL.md': skillText('b')
		});
		expect(fetched.notes).toEqual(['Skipped files outside the skills: “template”.']);
	});

	it('E9, E28: each says where it came from: commit, tree, address, and how to fetch it alone again', async () => {
		const commit = played.commitOf('acme/skills');
		expect((await fetch()).originOf('skills/a')).toEqual({
			provider: 'github',
			source: { type: 'github', repository: 'acme/skills', path: 'skills/a' },
			url: `https://github.com/acme/skills/tree/${commit}/skills/a`,
			commit,
			path: 'skills/a',
			revision: played.treeOf('acme/skills', 'skills/a')
		});
	});

	it.each([
		['a folder', { path: 'skills/b' }, ['skills/b']],
		['its SKILL.md', { path: '/skills/b/SKILL.md' }, ['skills/b']],
		['a folder of several', { path: 'skills/' }, ['skills/a', 'skills/b']],
		['a folder outside the usual places', { path: 'template' }, ['template']],
		['a branch with slashes', { ref: 'feature/new/x' }, ['one']],
		['a tag, with the skill at the top', { ref: 'v1.0' }, ['']],
		['the address of the repository', { repository: 'https://github.com/acme/skills.git' }, ['skills/a', 'skills/b']],
		['an address without https', { repository: 'github.com/acme/skills/' }, ['skills/a', 'skills/b']],
		[
			'the address of a folder',
			{ repository: 'https://www.github.com/acme/skills/tree/trunk/skills/b?tab=x#y' },
			['skills/b']
		],
		[
			'the address of a file',
			{ repository: 'https://github.com/acme/skills/blob/trunk/skills/b/SKILL.md' },
			['skills/b']
		],
		[
			'an address with a branch with slashes',
			{ repository: 'https://github.com/acme/skills/tree/feature/new/x/one' },
			['one']
		],
		[
			'an address of a branch with slashes',
			{ repository: 'https://github.com/acme/skills/tree/feature/new/x' },
			['one']
		],
		[
			'an address of the default branch',
			{ repository: 'https://github.com/acme/skills/tree/HEAD/skills/b' },
			['skills/b']
		],
		[
			'an address and its branch',
			{ repository: 'https://github.com/acme/skills/tree/feature/new/x/one', ref: 'feature/new/x' },
			['one']
		]
	])('E9: %s names it', async (_, more, folders) => {
		const fetched = await fetch(more);
		expect(fetched.folders).toEqual(folders);
		expect(Object.keys(await rig.files()).length).toBeGreaterThan(0);
	});

	it('E9: a commit that is no branch’s any more is still fetched', async () => {
		const commit = played.commitOf('acme/skills');
		await fetch();
		played.repos['acme/skills']!.branches.trunk = { 'skills/a/SKILL.md': skillText('changed') };
		await rig.remove();
		rig = await createCatalogRig();
		await fetch({ ref: commit, path: 'skills/a' });
		expect((await rig.files())['skills/a/SKILL.md']).toBe(skillText('a'));
	});

	it('E9: only what is to be installed is downloaded, from the commit and not from the branch', async () => {
		await fetch({ path: 'skills/b' });
		expect(played.raw.requests.map(({ path }) => path)).toEqual([
			`/acme/skills/${played.commitOf('acme/skills')}/skills/b/SKILL.md`
		]);
		expect(played.api.requests).toHaveLength(2);
	});

	it.each([0, 1, 3])(
		'E9: a listing that GitHub cuts short after %i entries is completed folder by folder',
		async (most) => {
			played.repos['acme/skills']!.branches.trunk = {
				...trunk(),
				...Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`skills/c/${index}.txt`, `${index}`])),
				'skills/c/SKILL.md': skillText('c')
			};
			played.api.intercept = ({ url }) => {
				// Small folders are listed whole, as GitHub does.
				played.listAtMost = url.pathname.endsWith(played.treeOf('acme/skills', 'skills/c')) ? null : most;
				return undefined;
			};
			const fetched = await fetch();
			expect(fetched.folders).toEqual(['skills/a', 'skills/b', 'skills/c']);
			expect(Object.keys(await rig.files())).toHaveLength(10);
			expect(fetched.originOf('skills/c').revision).toBe(played.treeOf('acme/skills', 'skills/c'));
			await rig.remove();
			rig = await createCatalogRig();
			const alone = await fetch({ path: 'skills/c' });
			expect(alone.originOf('skills/c').revision).toBe(played.treeOf('acme/skills', 'skills/c'));
		}
	);

	it('E9: a repository that was renamed is fetched under its new name', async () => {
		played.repos['old/name'] = { defaultBranch: 'x', branches: {}, movedTo: 'acme/skills' };
		expect((await fetch({ repository: 'old/name', path: 'skills/b' })).folders).toEqual(['skills/b']);
		expect(await rig.files()).toEqual({ 'skills/b/SKILL.md': skillText('b') });
	});

	it('E9: a private repository is fetched with the key, which the host of raw files never sees', async () => {
		played.repos['acme/skills']!.token = 'ghp_secret';
		await expect(fetch()).rejects.toMatchObject({
			code: 'not_found',
			hint: expect.stringContaining('GITHUB_TOKEN') as string
		});
		github = githubWith('ghp_secret');
		expect((await fetch({ path: 'skills/b' })).folders).toEqual(['skills/b']);
		expect(played.raw.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
		expect(played.raw.requests).not.toEqual([]);
	});

	it('E9: what is kept in Git LFS is said to be missing', async () => {
		played.repos['acme/skills']!.branches.trunk = {
			'SKILL.md': skillText('a'),
			'model.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n'
		};
		expect((await fetch()).notes).toEqual([
			'“model.bin” is only a pointer: its content is in Git LFS and wasn’t downloaded.'
		]);
	});
});

describe('E9: what is refused', () => {
	it.each([
		['another host', { repository: 'https://gitlab.com/acme/skills' }, 'invalid_input'],
		['a host that begins like it', { repository: 'https://github.com.evil.example/acme/skills' }, 'invalid_input'],
		['no repository', { repository: 'skills' }, 'invalid_input'],
		['a path after the name', { repository: 'acme/skills/skills/a' }, 'invalid_input'],
		['dots for a name', { repository: 'acme/..' }, 'invalid_input'],
		['a page that is no folder', { repository: 'https://github.com/acme/skills/issues/1' }, 'invalid_input'],
		['a broken escape', { repository: 'https://github.com/acme/%zz' }, 'invalid_input'],
		['a branch that leads elsewhere', { ref: '../../../user' }, 'invalid_input'],
		[
			'an address with such a branch',
			{ repository: 'https://github.com/acme/skills/tree/..%2F..%2Fuser/x' },
			'invalid_input'
		],
		['a path that leads elsewhere', { path: '../other' }, 'invalid_input'],
		['no such repository', { repository: 'acme/none' }, 'not_found'],
		['no such branch', { ref: 'none' }, 'not_found'],
		['no such folder', { path: 'skills/none' }, 'not_found'],
		['a file', { path: 'README.md' }, 'not_found'],
		['a folder without a skill', { path: 'skills/a/scripts' }, 'not_found']
	])('E9: %s', async (_, more, code) => {
		await expect(fetch(more)).rejects.toMatchObject({ name: 'AppError', code });
		expect(await rig.files()).toEqual({});
	});

	it('SECURITY Archives: a link or a submodule in a skill leaves it out with the entry named; alone it is refused', async () => {
		played.repos['acme/skills']!.branches.trunk = {
			'skills/a/SKILL.md': skillText('a'),
			'skills/b/SKILL.md': skillText('b'),
			'skills/b/etc': { link: '/etc' },
			'skills/c/SKILL.md': skillText('c'),
			'skills/c/vendor': { submodule: 'a'.repeat(40) },
			'docs/link': { link: '../skills' }
		};
		const fetched = await fetch();
		expect(fetched.folders).toEqual(['skills/a']);
		expect(fetched.notes).toEqual([
			'Skipped “skills/b”. The entry “skills/b/etc” was refused: it’s a link.',
			'Skipped “skills/c”. The entry “skills/c/vendor” was refused: it’s a submodule.'
		]);
		await expect(fetch({ path: 'skills/b' })).rejects.toMatchObject({
			code: 'invalid_input',
			message: 'The entry “skills/b/etc” was refused: it’s a link.'
		});
	});

	it.each(['../../evil.sh', '/etc/cron.d/x', 'skills/a/../../x', 'a//b', '.'])(
		'SECURITY Archives: a listing with the entry %s is refused as a whole',
		async (path) => {
			played.extraEntries = [{ path, mode: '100644', type: 'blob', sha: 'a'.repeat(40), size: 1 }];
			await expect(fetch()).rejects.toMatchObject({
				code: 'invalid_input',
				message: expect.stringContaining(path) as string
			});
			expect(played.raw.requests).toEqual([]);
		}
	);

	it.each(['skills/a/a\\b', 'skills/a/CON', 'skills/a/skill.MD', 'skills/a/x\u202e'])(
		'SECURITY Archives: a file of a skill that is called %j is refused',
		async (path) => {
			played.repos['acme/skills']!.branches.trunk![path] = 'x';
			await expect(fetch()).rejects.toMatchObject({ code: 'invalid_input' });
		}
	);

	it('SECURITY Archives: a file that came changed is noticed', async () => {
		played.corrupt.add('skills/a/scripts/run.sh');
		await expect(fetch()).rejects.toMatchObject({
			code: 'unavailable',
			message: 'The download of file “skills/a/scripts/run.sh” doesn’t match the commit, so nothing was saved.'
		});
	});

	it.each([
		['one file', { fileBytes: 100 }, { 'SKILL.md': skillText('a'), 'big.txt': 'x'.repeat(101) }],
		['all together', { packedBytes: 150 }, { 'SKILL.md': skillText('a'), 'big.txt': 'x'.repeat(140) }],
		['the number', { files: 2 }, { 'SKILL.md': skillText('a'), a: '1', b: '2' }]
	])('E9: over the limit for %s nothing is downloaded', async (_, limits, files) => {
		await rig.remove();
		rig = await createCatalogRig({ packedBytes: 1e4, unpackedBytes: 1e4, fileBytes: 1e4, files: 10, ...limits });
		played.repos['acme/skills']!.branches.trunk = files;
		await expect(fetch()).rejects.toMatchObject({ code: 'too_large' });
		expect(played.raw.requests).toEqual([]);
	});

	it('E9: a listing that lies about a size is not believed', async () => {
		const limits = { packedBytes: 1e4, unpackedBytes: 1e4, fileBytes: 1000, files: 10 };
		await rig.remove();
		rig = await createCatalogRig(limits);
		played.repos['acme/skills']!.branches.trunk = { 'SKILL.md': skillText('a') };
		played.raw.intercept = () => ({ zeros: 1e9 });
		await expect(fetch()).rejects.toMatchObject({ code: 'too_large' });
	});

	it('E9: more than a hundred skills at once are refused with a hint', async () => {
		played.repos['acme/skills']!.branches.trunk = Object.fromEntries(
			Array.from({ length: 101 }, (_, index) => [`skills/s${index}/SKILL.md`, skillText(`s${index}`)])
		);
		await expect(fetch()).rejects.toMatchObject({ code: 'too_large', hint: 'Choose a folder (path).' });
	});
});

describe('E9: when GitHub fails', () => {
	it.each([
		['a rate limit', rateLimited(new Date('2031-01-01T00:00:00Z')), 'unavailable', '2031-01-01T00:00:00.000Z'],
		['status 500', failing(500), 'unavailable', '500'],
		['a web page', htmlPage(), 'unavailable', 'sent something other than'],
		['a key that is refused', failing(401), 'forbidden', 'denied access to'],
		['an empty repository', failing(409), 'not_found', 'has no'],
		[
			'something else',
			json({ sha: '../..', commit: { tree: { sha: 'x' } } }),
			'unavailable',
			'sent something other than'
		]
	])('E9: %s is told for what it is, whichever request it meets', async (_, reply, code, message) => {
		for (const path of ['/repos/acme/skills/commits', '/repos/acme/skills/git/trees']) {
			played.api.intercept = (request) => (request.path.startsWith(path) ? reply : undefined);
			await expect(fetch()).rejects.toMatchObject({
				name: 'AppError',
				code,
				message: expect.stringContaining(message) as string
			});
		}
	});

	it('E9: whoever waits for a server that hangs can stop', async () => {
		played.raw.intercept = () => 'hang';
		const failed = expect(fetch()).rejects.toMatchObject({ name: 'AppError', code: 'unavailable' });
		await played.raw.asked('/');
		rig.stop();
		await failed;
	});

	it('E9: a file that fails among many ends the whole', async () => {
		played.raw.intercept = ({ path }) => (path.includes('run.sh') ? failing(503) : undefined);
		await expect(fetch()).rejects.toMatchObject({ code: 'unavailable', message: 'GitHub responded with status 503.' });
	});
});

describe('E9: an Enterprise server', () => {
	it('E9: has its pages above its API', async () => {
		const outbound = createOutbound({ hosts: [] });
		const api = 'https://git.example.com/api/v3';
		const own = createGithub({ outbound, apiUrl: api, rawUrl: played.rawUrl, token: null });
		expect(own.addressOf({ repository: 'acme/skills', ref: 'a/b', path: 'skills/ü' })).toBe(
			'https://git.example.com/acme/skills/tree/a/b/skills/%C3%BC'
		);
		const elsewhere = source({ repository: 'https://github.com/acme/skills' });
		await expect(own.open(elsewhere, rig.signal)).rejects.toMatchObject({ code: 'invalid_input' });
	});
});

describe('E28: what is newer', () => {
	it('E28: the revision changes with any file of the folder, and with nothing else', async () => {
		const origin = (await fetch()).originOf('skills/a');
		const now = () => github.revisionOf(origin, source({ path: 'skills/a' }), rig.signal);
		const { branches } = played.repos['acme/skills']!;
		expect(await now()).toBe(origin.revision);
		branches.trunk!['skills/b/SKILL.md'] = skillText('b', 'new');
		expect(await now()).toBe(origin.revision);
		branches.trunk!['skills/a/scripts/run.sh'] = { content: '#!/bin/sh\n', mode: '100644' };
		expect(await now()).toBe(played.treeOf('acme/skills', 'skills/a'));
		expect(await now()).not.toBe(origin.revision);
		played.listAtMost = 1;
		expect(await now()).toBe(played.treeOf('acme/skills', 'skills/a'));
		branches.trunk = { 'SKILL.md': skillText('a') };
		await expect(now()).rejects.toMatchObject({ code: 'not_found' });
	});

	it('E28: of a skill at the top it is the tree of the commit', async () => {
		const origin = (await fetch({ ref: 'v1.0' })).originOf('');
		played.repos['acme/skills']!.tags!['v1.0'] = { 'SKILL.md': 'moved' };
		const revision = await github.revisionOf(origin, source({ ref: 'v1.0' }), rig.signal);
		expect(revision).toBe(played.treeOf('acme/skills', '', 'v1.0'));
		expect(revision).not.toBe(origin.revision);
	});
});
