import { expect, test } from 'vitest';
import { AUTO_MAX_SKILLS, AUTO_MIN_SCORE, pickAutoSkills, scoreAutoSkill } from './scores.ts';

const weather = { name: 'get-weather', description: 'Tells the weather of a city', tags: ['forecast'] };
const ask = (...messages: string[]) => ({ messages });

test('B5, B7: every signal gives the points of the document, and is reported by itself', () => {
	const { score, signals } = scoreAutoSkill(weather, ask('Call get-weather for the forecast in my city'));
	expect(signals).toEqual({ name: 6, nameTokens: 4, tags: 3, description: 3, background: 0, provider: 0 });
	expect(score).toBe(16);
});

test('B7: the name counts as it stands, its tokens by themselves', () => {
	expect(scoreAutoSkill(weather, ask('get me the weather')).signals).toMatchObject({ name: 0, nameTokens: 4 });
	expect(scoreAutoSkill({ ...weather, name: 'getWeather' }, ask('get weather')).signals.nameTokens).toBe(4);
	expect(scoreAutoSkill({ ...weather, name: 'io.csv' }, ask('a csv file')).signals.nameTokens).toBe(2);
});

test('B7: the context holds tools, model, formats and the background reason as well', () => {
	const points = (request: object) => scoreAutoSkill(weather, { messages: [], ...request }).score;
	expect(points({ tools: [{ name: 'forecast' }] })).toBe(3);
	expect(points({ model: 'acme/forecast-1' })).toBe(3);
	expect(points({ formats: ['forecast'] })).toBe(3);
});

test('B7: the background reason gives 2 for each token in the name, and 2 in a tag, either way round', () => {
	const { signals } = scoreAutoSkill(weather, { messages: [], backgroundReason: 'weather forecasting' });
	expect(signals.background).toBe(4);
});

test('B7: tags that name a provider gain 2 with it and lose 2 with another', () => {
	const skill = { name: 'x', description: '', tags: ['openai'] };
	const points = (provider?: string) =>
		scoreAutoSkill(skill, { messages: [], ...(provider ? { provider } : {}) }).signals.provider;
	expect([points('openai'), points('anthropic'), points()]).toEqual([2, -2, 0]);
	expect(scoreAutoSkill(weather, { messages: [], provider: 'openai' }).signals.provider).toBe(0);
});

test('B7: words of one or two letters and an empty name say nothing', () => {
	const skill = { name: '', description: 'it is so', tags: ['', ' '] };
	expect(scoreAutoSkill(skill, ask('it is so')).score).toBe(0);
});

test('B8: at least 3 points, at most 5 skills; ties by installs, then by name', () => {
	expect([AUTO_MAX_SKILLS, AUTO_MIN_SCORE]).toEqual([5, 3]);
	const skills = ['g', 'f', 'e', 'd', 'c', 'b', 'a'].map((name) => ({
		name: `zz-${name}`,
		description: '',
		tags: name === 'a' ? [] : ['pdf'],
		installCount: name === 'g' ? 2 : 0
	}));
	const picked = pickAutoSkills(skills, ask('read this pdf'));
	expect(picked.map(({ skill }) => skill.name)).toEqual(['zz-g', 'zz-b', 'zz-c', 'zz-d', 'zz-e']);
	expect(pickAutoSkills(skills, ask('read this pdf'), { maxSkills: 1 })).toHaveLength(1);
	expect(pickAutoSkills(skills, ask('read this pdf'), { minScore: 4 })).toEqual([]);
});

test('B8: of equals the one that was used last comes first, before installs count', () => {
	const skills = ['a', 'b', 'c'].map((name, index) => ({
		name: `zz-${name}`,
		description: '',
		tags: ['pdf'],
		installCount: 3 - index,
		...(name === 'c' ? { lastUsedAt: 1_700_000_000_000 } : {})
	}));
	const names = (given: typeof skills) => pickAutoSkills(given, ask('a pdf')).map(({ skill }) => skill.name);
	expect(names(skills)).toEqual(['zz-c', 'zz-a', 'zz-b']);
	expect(names(skills.toReversed())).toEqual(['zz-c', 'zz-a', 'zz-b']);
});
