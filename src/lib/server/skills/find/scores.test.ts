import { expect, test } from 'vitest';
import { scoreSkill } from './scores.ts';
import { tokenize } from './words.ts';

const weather = { name: 'weather', description: 'The forecast for any city.', tags: ['rain', 'city'] };

test.each([
	['summarise summarize summarising Summaries summary', 1],
	['analyse analyze analyzing analysis', 1],
	['colour colors', 1],
	['convert converting converter conversion', 1],
	['generate generator generating', 1],
	['deploy deployed deployment deploys', 1],
	['Zürich zurich', 1],
	['file fill', 2],
	['sale sail', 2]
])('B7: the words of %j have %i stem(s)', (text, stems) => {
	expect(new Set(tokenize(text)).size).toBe(stems);
});

test('B7: stop-words and single letters are no tokens, extensions and words of any script are', () => {
	expect(tokenize('How do I use the a-z of it?')).toEqual([]);
	expect(tokenize('report.csv')).toContain('csv');
	expect(tokenize('привет')).toEqual(['привет']);
	expect(tokenize('今天天气')).toEqual(['今天', '天天', '天气']);
});

test('B7: the whole name is worth 6, each of its words 2, a tag 3, each word of the description 1', () => {
	expect(scoreSkill('Weather in the city, any rain?', weather)).toEqual({
		score: 6 + 2 + 6 + 1,
		signals: { name: 6, nameTokens: 2, tags: 6, description: 1 }
	});
});

test('B7: a name counts across its separators, and only as whole words', () => {
	const skill = { name: 'count-words', description: '' };
	expect(scoreSkill('please count the words', skill).signals).toMatchObject({ name: 6, nameTokens: 4 });
	expect(scoreSkill('use count_words', skill).signals.name).toBe(6);
	expect(scoreSkill('it is good', { name: 'go', description: '' }).score).toBe(0);
	expect(scoreSkill('weather today', { name: 'getWeather', description: '' }).signals.name).toBe(6);
});

test('B7: a name of stop-words is still found by all of them together', () => {
	expect(scoreSkill('say hello to Ada', { name: 'say-hello', description: '' }).signals.name).toBe(6);
	expect(scoreSkill('hello', { name: 'say-hello', description: '' }).score).toBeLessThan(3);
});
