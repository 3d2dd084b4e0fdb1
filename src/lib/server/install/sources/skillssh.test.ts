import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
	failing,
	htmlPage,
	json,
	playedConfig,
	rateLimited,
	startGithub,
	startSkillssh,
	type PlayedGithub,
	type PlayedSkillssh
} from '../../../../../tests/support/catalog-servers.ts';
import type { SkillOrigin } from '../../../shared/install.ts';
import { createCatalogRig, skillText, type CatalogRig } from '../catalog-rig.suite.ts';
import { createSources } from './sources.ts';

let github: PlayedGithub;
let skillssh: PlayedSkillssh;
let rig: CatalogRig;
let sources: ReturnType<typeof createSources>;

const fetch = (skillId: string, source = 'acme/skills') =>
	sources.fetch({ type: 'skillssh', source, skillId }, rig.staging, rig.signal);
const files = (found: Record<string, string>) => {
	github.repos['acme/skills']!.branches.develop = found;
};

beforeEach(async () => {
	const develop = {
		'packages/tools/pdf-tools/SKILL.md': skillText('pdf-tools'),
		'packages/tools/pdf-tools/scripts/read.py': 'print(1)\n',
		'other/SKILL.md': skillText('Word Tools')
	};
	github = await startGithub({ repos: { 'acme/skills': { defaultBranch: 'develop', branches: { develop } } } });
	skillssh = await startSkillssh({
		skills: [
			{ skillId: 'pdf-tools', name: 'pdf-tools', installs: 4315, source: 'acme/skills' },
			{ skillId: 'pdf', name: 'PDF', installs: 7, source: 'docs.example.com' }
		]
	});
	rig = await createCatalogRig();
	const options = { ...playedConfig({ github, skillssh }), skillsmpKey: () => null };
	sources = createSources(options);
});

afterEach(async () => {
	await Promise.all([github.close(), skillssh.close(), rig.remove()]);
});

describe('searchSkillssh', () => {
	const search = (q: string, limit = 20) => sources.searchSkillssh({ q, limit }, rig.signal);

	it('E8, E23: what skills.sh finds, with what to install it by where it can be fetched', async () => {
		expect(await search(' pdf ')).toEqual({
			skills: [
				{
					id: 'acme/skills/pdf-tools',
					name: 'pdf-tools',
					description: '',
					provider: 'skillssh',
					author: 'acme',
					popularity: { count: 4315, unit: 'installs' },
					url: `${skillssh.url}/acme/skills/pdf-tools`,
					source: { type: 'skillssh', source: 'acme/skills', skillId: 'pdf-tools' }
				},
				{
					id: 'docs.example.com/pdf',
					name: 'PDF',
					description: '',
					provider: 'skillssh',
					author: 'docs.example.com',
					popularity: { count: 7, unit: 'installs' },
					url: null,
					source: null
				}
			],
			total: 2,
			page: 1,
			limit: 20
		});
		expect(skillssh.requests.map(({ path }) => path)).toEqual(['/api/search?q=pdf&limit=20']);
	});

	it('E8: no more than was asked for, and nothing for a single letter, which it does not search', async () => {
		skillssh.intercept = () => json({ skills: skillssh.skills });
		expect((await search('pdf', 1)).skills).toHaveLength(1);
		const before = skillssh.requests.length;
		for (const q of ['', ' ', 'x']) expect(await search(q)).toMatchObject({ skills: [], total: 0 });
		expect(skillssh.requests).toHaveLength(before);
	});

	it('E23: an odd entry takes nothing from the others', async () => {
		const odd = [null, 'x', { name: 1 }, { name: 'No Source' }, { name: 'a', installs: '9', source: 'x/..' }];
		skillssh.intercept = () => json({ skills: [...odd, ...skillssh.skills] });
		const { skills } = await search('pdf');
		expect(skills.map(({ name, source }) => [name, source !== null])).toEqual([
			['No Source', false],
			['a', false],
			['pdf-tools', true],
			['PDF', false]
		]);
	});

	it.each([
		['status 500', failing(500)],
		['a web page', htmlPage()],
		['another shape', json({ results: [] })],
		['a rate limit', rateLimited(new Date('2031-01-01T00:00:00Z'))]
	])('E8: %s is unavailable', async (_, reply) => {
		skillssh.intercept = () => reply;
		await expect(search('pdf')).rejects.toMatchObject({ name: 'AppError', code: 'unavailable' });
	});
});

describe('a skill of skills.sh', () => {
	it('E9: is found by its name on any path and any default branch, with all its files', async () => {
		const fetched = await fetch('pdf-tools');
		expect(fetched.folders).toEqual(['packages/tools/pdf-tools']);
		expect(await rig.files()).toEqual({
			'packages/tools/pdf-tools/SKILL.md': skillText('pdf-tools'),
			'packages/tools/pdf-tools/scripts/read.py': 'print(1)\n'
		});
		expect(fetched.originOf('packages/tools/pdf-tools')).toEqual({
			provider: 'skillssh',
			source: { type: 'skillssh', source: 'acme/skills', skillId: 'pdf-tools' },
			url: `https://github.com/acme/skills/tree/${github.commitOf('acme/skills')}/packages/tools/pdf-tools`,
			commit: github.commitOf('acme/skills'),
			path: 'packages/tools/pdf-tools',
			revision: github.treeOf('acme/skills', 'packages/tools/pdf-tools')
		});
	});

	it('E9: is found by the name in its front matter where no folder is called so', async () => {
		expect((await fetch('word-tools')).folders).toEqual(['other']);
	});

	it('E9: at the top of a repository is found by the repository’s name, or its own', async () => {
		files({ 'SKILL.md': skillText('excel'), 'a.txt': 'a' });
		expect((await fetch('excel')).folders).toEqual(['']);
		await rig.remove();
		rig = await createCatalogRig();
		expect((await fetch('skills')).folders).toEqual(['']);
	});

	it('E9: of two folders of one name the one in the usual place is taken, and that is said', async () => {
		files({ 'a/pdf/SKILL.md': skillText('pdf'), 'skills/pdf/SKILL.md': skillText('pdf') });
		const { folders, notes } = await fetch('pdf');
		expect(folders).toEqual(['skills/pdf']);
		expect(notes).toEqual(['acme/skills has several skills named “pdf”: “skills/pdf”, “a/pdf”. Using the first one.']);
	});

	it('E9: of two folders of one name the one whose front matter agrees is taken', async () => {
		files({ 'a/pdf/SKILL.md': skillText('old-pdf'), 'b/pdf/SKILL.md': skillText('pdf') });
		expect(await fetch('pdf')).toMatchObject({ folders: ['b/pdf'], notes: [] });
	});

	it.each([
		['none', 'not_found'],
		['???', 'invalid_input'],
		['../../etc', 'not_found']
	])('E9: %s is not there', async (name, code) => {
		await expect(fetch(name)).rejects.toMatchObject({ name: 'AppError', code });
		expect(await rig.files()).toEqual({});
	});

	it('E9: of a repository that is no repository is refused', async () => {
		await expect(fetch('pdf', 'acme/..')).rejects.toMatchObject({ code: 'invalid_input' });
		await expect(fetch('pdf', 'acme/none')).rejects.toMatchObject({ code: 'not_found' });
		expect(skillssh.requests.every(({ path }) => path.startsWith('/audit'))).toBe(true);
	});

	it('E28: is newer when a file of its folder has changed', async () => {
		const origin = (await fetch('pdf-tools')).originOf('packages/tools/pdf-tools');
		expect(await sources.revisionOf(origin, rig.signal)).toBe(origin.revision);
		files({ 'packages/tools/pdf-tools/SKILL.md': skillText('pdf-tools', 'new') });
		expect(await sources.revisionOf(origin, rig.signal)).toBe(github.treeOf('acme/skills', 'packages/tools/pdf-tools'));
	});
});

describe('the copy that skills.sh keeps', () => {
	beforeEach(() => {
		skillssh.downloads['acme/skills/pdf-tools'] = {
			'SKILL.md': skillText('pdf-tools'),
			'scripts/run.sh': '#!/bin/sh\n'
		};
	});

	it('E24: is taken while GitHub refuses, and says so; of which commit it is nobody knows', async () => {
		github.api.intercept = () => rateLimited(new Date('2031-01-01T00:00:00Z'));
		const fetched = await fetch('PDF Tools');
		expect(fetched.folders).toEqual(['pdf-tools']);
		expect(await rig.files()).toEqual({
			'pdf-tools/SKILL.md': skillText('pdf-tools'),
			'*pdf-tools/scripts/run.sh': '#!/bin/sh\n'
		});
		expect(fetched.notes).toEqual([
			'This is the copy that skills.sh keeps, which may not be the latest. ' +
				'GitHub has reached its request limit. Try again at 2031-01-01T00:00:00.000Z.'
		]);
		const origin = fetched.originOf('pdf-tools');
		expect(origin).toMatchObject<Partial<SkillOrigin>>({ provider: 'skillssh', commit: null, revision: null });
		expect(await sources.revisionOf(origin, rig.signal)).toBe(null);
	});

	it('E24: is not asked for while GitHub answers, nor for what GitHub does not have', async () => {
		await fetch('pdf-tools');
		await rig.remove();
		rig = await createCatalogRig();
		await expect(fetch('none')).rejects.toMatchObject({ code: 'not_found' });
		expect(skillssh.requests.filter(({ path }) => path.startsWith('/api/download'))).toEqual([]);
	});

	it.each([
		['there is none', json({ error: 'Not found' }, 404)],
		['it has no files', json({ files: [], hash: '' })],
		['it is something else', htmlPage()]
	])('E24: where %s, what GitHub said is told', async (_, reply) => {
		github.api.intercept = () => failing(503);
		skillssh.intercept = () => reply;
		await expect(fetch('pdf-tools')).rejects.toMatchObject({
			code: 'unavailable',
			message: 'GitHub responded with status 503.'
		});
	});

	it.each(['../evil', '/etc/passwd', 'a\\b', 'a/../../b', ''])(
		'SECURITY Archives: a file %j in it is refused',
		async (path) => {
			github.api.intercept = () => failing(503);
			skillssh.downloads['acme/skills/pdf-tools'] = { 'SKILL.md': skillText('pdf-tools'), [path]: 'x' };
			await expect(fetch('pdf-tools')).rejects.toMatchObject({ name: 'AppError', code: 'invalid_input' });
		}
	);

	it('E24: a copy without end is not read to its end', async () => {
		await rig.remove();
		rig = await createCatalogRig({ packedBytes: 1000, unpackedBytes: 1000, fileBytes: 1000, files: 10 });
		github.api.intercept = () => failing(503);
		skillssh.intercept = ({ path }) => (path.startsWith('/audit') ? undefined : { zeros: 1e9 });
		await expect(fetch('pdf-tools')).rejects.toMatchObject({ code: 'too_large' });
	});
});

describe('the audit', () => {
	const auditOf = async () => (await fetch('pdf-tools')).audits?.get('packages/tools/pdf-tools') ?? null;

	it('E25: says by whom and what risk', async () => {
		const found = { ath: { risk: 'safe' }, socket: { alerts: 2 }, snyk: { risk: 'high', alerts: 1 }, new: {} };
		skillssh.audits['acme/skills'] = { 'pdf-tools': found };
		expect(await auditOf()).toEqual([
			{ by: 'Gen Agent Trust Hub', risk: 'safe' },
			{ by: 'Socket', risk: '2 alerts' },
			{ by: 'Snyk', risk: 'high' }
		]);
		expect(skillssh.requests.map(({ path }) => path)).toEqual(['/audit?source=acme%2Fskills&skills=pdf-tools']);
	});

	it.each([
		['nobody has looked', json({})],
		['it fails', failing(500)],
		['it answers with a page', htmlPage()],
		['it answers with something else', json({ 'pdf-tools': 'safe' })],
		['it answers with an odd name', json(JSON.parse('{"__proto__": {"ath": {"risk": "safe"}}}'))],
		['it answers without end', { zeros: 1e8 }]
	])('E25: where %s the skill is fetched all the same', async (_, reply) => {
		skillssh.intercept = () => reply;
		expect(await auditOf()).toBe(null);
		expect(Object.keys(await rig.files())).toHaveLength(2);
	});
});
