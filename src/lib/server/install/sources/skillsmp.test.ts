import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
	failing,
	htmlPage,
	json,
	playedConfig,
	redirectTo,
	startGithub,
	startSkillsmp,
	type PlayedGithub,
	type PlayedSkillsmp
} from '../../../../../tests/support/catalog-servers.ts';
import { createCatalogRig, skillText, type CatalogRig } from '../catalog-rig.suite.ts';
import { createSources } from './sources.ts';

let github: PlayedGithub;
let skillsmp: PlayedSkillsmp;
let rig: CatalogRig;
let sources: ReturnType<typeof createSources>;
let key: string | null;

const entry = (name: string, stars: number) => ({
	id: `acme-${name}`,
	name,
	author: 'acme',
	description: `Does ${name}.`,
	githubUrl: `https://github.com/acme/skills/tree/main/skills/${name}`,
	stars
});
const search = (q: string, page = 1, limit = 20) => sources.searchSkillsmp({ q, page, limit }, rig.signal);

beforeEach(async () => {
	const main = {
		'skills/seo/SKILL.md': skillText('seo'),
		'skills/seo/scripts/a.py': 'print(1)\n',
		'skills/pdf/SKILL.md': skillText('pdf')
	};
	github = await startGithub({ repos: { 'acme/skills': { defaultBranch: 'main', branches: { main } } } });
	skillsmp = await startSkillsmp({ skills: [entry('pdf', 5), entry('seo', 900), entry('seo-two', 20)] });
	key = skillsmp.key;
	rig = await createCatalogRig();
	const options = { ...playedConfig({ github, skillsmp }), skillsmpKey: () => Promise.resolve(key) };
	sources = createSources(options);
});

afterEach(async () => {
	await Promise.all([github.close(), skillsmp.close(), rig.remove()]);
});

describe('searchSkillsmp', () => {
	it('E6, E26: what SkillsMP finds, with its pages and totals', async () => {
		expect(await search('seo', 2, 1)).toEqual({
			skills: [
				{
					id: 'acme-seo-two',
					name: 'seo-two',
					description: 'Does seo-two.',
					provider: 'skillsmp',
					author: 'acme',
					popularity: { count: 20, unit: 'stars' },
					url: `${skillsmp.url}/skills/acme-seo-two`,
					source: {
						type: 'skillsmp',
						sourceUrl: 'https://github.com/acme/skills/tree/main/skills/seo-two',
						name: 'seo-two'
					}
				}
			],
			total: 2,
			page: 2,
			limit: 1
		});
		expect(skillsmp.requests[0]?.path).toBe('/api/v1/skills/search?q=seo&page=2&limit=1');
	});

	it('E6: without a question it is the catalog’s own list, the most stars first, and no names of ours', async () => {
		expect((await search('')).skills.map(({ name }) => name)).toEqual(['seo', 'seo-two', 'pdf']);
		skillsmp.skills = [];
		expect(await search('')).toMatchObject({ skills: [], total: 0 });
		skillsmp.intercept = () => json({ success: false, error: { code: 'MISSING_QUERY' } }, 400);
		expect(await search('')).toMatchObject({ skills: [], total: 0 });
		await expect(search('seo')).rejects.toMatchObject({ code: 'unavailable' });
	});

	it('E6: without a key nobody is asked, and it says where to set one', async () => {
		key = null;
		await expect(search('seo')).rejects.toMatchObject({
			name: 'AppError',
			code: 'invalid_input',
			hint: 'Get one at skillsmp.com and add it in the settings, or as SKILLSMP_API_KEY.'
		});
		expect(skillsmp.requests).toEqual([]);
	});

	it('E6: without a key an empty question finds nothing, which is no error', async () => {
		key = null;
		expect(await search('  ')).toEqual({ skills: [], total: 0, page: 1, limit: 20 });
		expect(skillsmp.requests).toEqual([]);
	});

	it('E6: a key that is not accepted is told, not shown', async () => {
		key = 'sk_live_skillsmp_wrong';
		const error: unknown = await search('seo').catch((thrown: unknown) => thrown);
		expect(error).toMatchObject({ code: 'forbidden', message: 'SkillsMP rejected the API key.' });
		expect(JSON.stringify(error)).not.toContain('wrong');
	});

	it('SECURITY Outbound requests: the key goes to SkillsMP alone, wherever it leads', async () => {
		skillsmp.intercept = () => redirectTo(`${github.apiUrl}/repos/acme/skills`);
		await expect(search('seo')).rejects.toMatchObject({ code: 'unavailable' });
		expect(github.api.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
	});

	it.each([
		['data.skills', { data: { skills: [entry('a', 1)] } }],
		['data.data.skills', { data: { data: { skills: [entry('a', 1)], pagination: { total: 1 } } } }],
		['skills', { skills: [entry('a', 1)], pagination: {} }],
		['the skills of its semantic search', { data: { object: 'page', data: [{ score: 0.9, skill: entry('a', 1) }] } }],
		['odd entries beside it', { skills: [null, { name: 5 }, entry('a', 1), 'x'] }],
		['little but a name', { skills: [{ name: 'a', stars: 'many', pagination: 7 }] }]
	])('E26: %s is understood', async (_, body) => {
		skillsmp.intercept = () => json({ success: true, ...body });
		expect(await search('a')).toMatchObject({ skills: [{ name: 'a' }], total: 1 });
	});

	it('E26: an address that is none is not shown as a link', async () => {
		const odd = { ...entry('a', 1), skillUrl: 'javascript:alert(1)', githubUrl: null };
		skillsmp.intercept = () => json({ skills: [odd] });
		expect((await search('a')).skills[0]).toMatchObject({ url: null, source: null });
	});

	it.each([
		['status 500', failing(500)],
		['a web page', htmlPage()],
		['another shape', json({ data: [] })],
		['a quota', json({ success: false, error: { code: 'DAILY_QUOTA_EXCEEDED' } }, 429)]
	])('E6: %s is unavailable', async (_, reply) => {
		skillsmp.intercept = () => reply;
		await expect(search('a')).rejects.toMatchObject({ name: 'AppError', code: 'unavailable' });
	});
});

describe('a skill of SkillsMP', () => {
	const fetch = (sourceUrl: string, name?: string) =>
		sources.fetch({ type: 'skillsmp', sourceUrl, ...(name ? { name } : {}) }, rig.staging, rig.signal);

	it('E7: is its whole folder, with where it came from, and can be asked for again', async () => {
		const sourceUrl = 'https://github.com/acme/skills/tree/main/skills/seo';
		const fetched = await fetch(sourceUrl, 'seo');
		expect(fetched.folders).toEqual(['skills/seo']);
		expect(Object.keys(await rig.files()).sort()).toEqual(['skills/seo/SKILL.md', 'skills/seo/scripts/a.py']);
		const origin = fetched.originOf('skills/seo');
		expect(origin).toMatchObject({
			provider: 'skillsmp',
			source: { type: 'skillsmp', sourceUrl, name: 'seo' },
			commit: github.commitOf('acme/skills'),
			revision: github.treeOf('acme/skills', 'skills/seo')
		});
		github.repos['acme/skills']!.branches.main!['skills/seo/scripts/a.py'] = 'print(2)\n';
		expect(await sources.revisionOf(origin, rig.signal)).toBe(github.treeOf('acme/skills', 'skills/seo'));
	});

	it('E7: of a whole repository is the one of that name', async () => {
		const fetched = await fetch('https://github.com/acme/skills', 'pdf');
		expect(fetched.folders).toEqual(['skills/pdf']);
		expect(fetched.originOf('skills/pdf').source).toEqual({
			type: 'skillsmp',
			sourceUrl: 'https://github.com/acme/skills/tree/HEAD/skills/pdf',
			name: 'pdf'
		});
	});

	it('E7: without a name a whole repository is all of them', async () => {
		expect((await fetch('https://github.com/acme/skills')).folders).toEqual(['skills/pdf', 'skills/seo']);
	});

	it.each(['https://evil.example/acme/skills', 'http://127.0.0.1/x', 'skills'])(
		'SECURITY Outbound requests: %s as its address is refused',
		async (sourceUrl) => {
			await expect(fetch(sourceUrl)).rejects.toMatchObject({ name: 'AppError', code: 'invalid_input' });
		}
	);
});
