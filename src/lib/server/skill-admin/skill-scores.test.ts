import { expect, test } from 'vitest';
import { scoreRequest } from '../../shared/skills.ts';
import { scoreAutoSkill, scoreSkill } from '../skills/find/scores.ts';
import { ownerOf, type SkillMode } from '../skills/registry/visibility.ts';
import type { Skill } from '../skills/types.ts';
import { scoreSkills, type ScoreParts } from './skill-list.ts';

function skill(name: string, description: string, more: Partial<Skill> = {}): Skill {
	return {
		...{ status: 'ready', name, description, version: '1.0.0', source: 'local', root: '/s', dir: `/s/${name}` },
		...{ path: `/s/${name}/SKILL.md`, body: '', metadata: {}, extra: {}, tags: [], triggers: [], digest: name },
		...{ tools: [], files: [], scripts: [], issues: [] },
		...more
	};
}

interface Rig {
	shadowed?: Skill[];
	modes?: Record<string, SkillMode>;
	pins?: Record<string, string>;
	lastUsed?: Record<string, string>;
	settings?: { autoMaxSkills: number; autoMinScore: number };
}

function partsOf(skills: Skill[], rig: Rig = {}): ScoreParts {
	const { shadowed = [], modes = {}, pins = {}, lastUsed = {} } = rig;
	return {
		skills: { registry: { snapshot: () => ({ skills, shadowed, broken: [], revision: '1' }) } },
		modes: {
			modeOf: (subject) => (typeof subject === 'string' ? undefined : modes[subject.name]) ?? 'auto',
			pinOf: (skillId) => pins[skillId] ?? null
		},
		usage: { of: (skillId) => ({ executions: 0, failures: 0, lastUsedAt: lastUsed[skillId] ?? null }) },
		settings: { current: () => rig.settings ?? { autoMaxSkills: 5, autoMinScore: 3 } }
	};
}

const score = (parts: ScoreParts, body: unknown) => scoreSkills(parts, scoreRequest.parse(body));
const names = async (parts: ScoreParts, body: unknown) => (await score(parts, body)).data.map(({ name }) => name);

const WEATHER = skill('get-weather', 'Tells the weather of a city.', { tags: ['weather', 'forecast'] });
const PDF = skill('pdf-forms', 'Fills forms in a PDF.', { tags: ['pdf'] });
const SUMS = skill('sums', 'Adds numbers.');

test.each([
	['no text', {}],
	['text that is none', { text: 7 }],
	['far too much of it', { text: 'x'.repeat(100_001) }],
	['a limit of nothing', { text: 'x', limit: 0 }],
	['a key that nobody knows', { text: 'x', skills: [] }]
])('B7: %s is refused', (_name, body) => {
	expect(scoreRequest.safeParse(body).success).toBe(false);
});

test('B7: an empty text gives no skill a point, and still lists them', async () => {
	const { data, total } = await score(partsOf([SUMS, PDF]), { text: '' });
	expect(data.map(({ name, score, omniroute }) => [name, score, omniroute.score, omniroute.isPicked])).toEqual([
		['pdf-forms', 0, 0, false],
		['sums', 0, 0, false]
	]);
	expect(total).toBe(2);
});

test('B7, F2: the points are those of both scorers, by signal', async () => {
	const text = 'What weather is forecast? get-weather, please.';
	const { data } = await score(partsOf([SUMS, WEATHER]), { text, provider: 'openai', backgroundReason: 'weather' });
	const [first] = data;
	expect(first).toMatchObject({ id: 'get-weather', mode: 'auto', ...scoreSkill(text, WEATHER) });
	const request = { messages: [text], provider: 'openai', backgroundReason: 'weather' };
	expect(first?.omniroute).toEqual({ ...scoreAutoSkill(WEATHER, request), isPicked: true });
	expect(first?.omniroute.signals.background).toBeGreaterThan(0);
	expect(data[1]?.omniroute.isPicked).toBe(false);
});

test('B8: picked are as many of `auto` as the settings say, with as many points, and all that are on', async () => {
	const skills = ['a', 'b', 'c', 'd'].map((name) => skill(`zz-${name}`, 'x', { tags: ['pdf'] }));
	const picked = async (rig: Rig) => {
		const { data, ...limits } = await score(partsOf(skills, rig), { text: 'a pdf' });
		return { names: data.filter(({ omniroute }) => omniroute.isPicked).map(({ name }) => name), limits };
	};
	const two = { autoMaxSkills: 2, autoMinScore: 3 };
	expect(await picked({ settings: two })).toEqual({ names: ['zz-a', 'zz-b'], limits: { total: 4, ...two } });
	expect((await picked({ settings: { autoMaxSkills: 5, autoMinScore: 4 } })).names).toEqual([]);
	expect((await picked({ settings: two, modes: { 'zz-a': 'off', 'zz-d': 'on' } })).names).toEqual([
		'zz-b',
		'zz-c',
		'zz-d'
	]);
	expect((await picked({ settings: { autoMaxSkills: 0, autoMinScore: 0 } })).names).toEqual([]);
});

test('B8: of equals the one that was used last is first, then the name decides', async () => {
	const skills = ['c', 'a', 'b'].map((name) => skill(`zz-${name}`, 'Reads a pdf.'));
	const lastUsed = { 'local/zz-b': '2026-01-02T00:00:00.000Z', 'local/zz-c': '2026-01-01T00:00:00.000Z' };
	expect(await names(partsOf(skills, { lastUsed }), { text: 'pdf' })).toEqual(['zz-b', 'zz-c', 'zz-a']);
	expect(await names(partsOf(skills), { text: 'pdf' })).toEqual(['zz-a', 'zz-b', 'zz-c']);
});

test('B6, A38: what is off has points and is not picked; of versions the one in use is scored', async () => {
	const old = skill('pdf-forms', 'Was for spreadsheets.', { version: '0.9.0' });
	const parts = partsOf([PDF], { shadowed: [old], modes: { 'pdf-forms': 'off' } });
	const { data, total } = await score(parts, { text: 'fill a pdf' });
	expect(data).toMatchObject([{ name: 'pdf-forms', mode: 'off', omniroute: { isPicked: false } }]);
	expect(total).toBe(1);
	expect(data[0]?.score).toBeGreaterThan(0);
	const pinned = partsOf([PDF], { shadowed: [old], pins: { 'local/pdf-forms': '0.9.0' } });
	expect((await score(pinned, { text: 'spreadsheets' })).data[0]?.signals.description).toBe(1);
});

test('A41: a key’s own skills are scored for that key alone', async () => {
	const mine = skill('mine', 'Reads a pdf.', { owner: ownerOf('team-a') ?? '', source: ownerOf('team-a') ?? '' });
	const parts = partsOf([mine, PDF]);
	expect(await names(parts, { text: 'pdf' })).toEqual(['pdf-forms']);
	expect(await names(parts, { text: 'pdf', apiKeyId: 'team-b' })).toEqual(['pdf-forms']);
	expect((await names(parts, { text: 'pdf', apiKeyId: 'team-a' })).sort()).toEqual(['mine', 'pdf-forms']);
});

test('B7: the longest text among very many skills leaves the event loop free in between', async () => {
	const skills = Array.from({ length: 3000 }, (_, index) => skill(`skill-${index}`, `Does thing number ${index}.`));
	let turns = 0;
	const beat = setInterval(() => (turns += 1), 0);
	const { data, total } = await score(partsOf(skills), { text: 'skill thing number '.repeat(5000), limit: 3 });
	clearInterval(beat);
	expect(turns).toBeGreaterThan(2);
	expect([data.length, total]).toEqual([3, 3000]);
});
