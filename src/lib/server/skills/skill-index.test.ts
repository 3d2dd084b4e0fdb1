import { expect, test } from 'vitest';
import { createSkillIndex, createSkillIndexInSlices, type IndexedSkill } from './skill-index.ts';

const skill = (name: string, description = '', more: Partial<IndexedSkill> = {}): IndexedSkill => ({
	name,
	description,
	...more
});
const found = (query: string, skills: readonly IndexedSkill[], maxSkills?: number) =>
	createSkillIndex(skills)
		.rank(query, maxSkills)
		.map((each) => each.skill.name);

test('B7: the rarer the words that a skill shares with the query, and the more of them, the sooner it comes', () => {
	const skills = [skill('a', 'Reads files.'), skill('b', 'Reads files and tides.'), skill('c', 'Reads files slowly.')];
	expect(found('read the tides file', skills)[0]).toBe('b');
	expect(found('nothing of that', skills)).toEqual([]);
	expect(found('', skills)).toEqual([]);
	expect(found('tides', [])).toEqual([]);
});

test('B7: a word in the name counts more than one in the description', () => {
	expect(found('tides', [skill('moon', 'All about tides.'), skill('tides', 'All about the moon.')])).toEqual([
		'tides',
		'moon'
	]);
});

test('A17: tags and triggers are signals', () => {
	const skills = [
		skill('a', 'One.'),
		skill('b', 'Two.', { tags: ['harbour'] }),
		skill('c', 'Three.', { triggers: ['when is low tide'] })
	];
	expect(found('a harbour', skills)).toEqual(['b']);
	expect(found('low tide today?', skills)).toEqual(['c']);
});

test('B7: endings do not matter', () => {
	const skills = [skill('books', 'Edits workbooks.'), skill('sheets', 'Edits Excel files.')];
	expect(found('editing', skills)).toEqual(['books', 'sheets']);
	expect(found('an excel file', skills)).toEqual(['sheets']);
});

test('B7: a name of stop-words is found by them, whose place in other texts is of no matter', () => {
	expect(found('say hello to Ada', [skill('say-hello', 'Greets.'), skill('other', 'Say hello.')])).toEqual([
		'say-hello'
	]);
});

test('B8: equals come by name, and no more than are asked for', () => {
	const skills = ['d', 'b', 'c', 'a'].map((letter) => skill(`${letter}x`, 'tides'));
	expect(found('tides', skills)).toEqual(['ax', 'bx', 'cx', 'dx']);
	expect(found('tides', skills, 2)).toEqual(['ax', 'bx']);
	expect(found('tides', skills, 0)).toEqual([]);
});

test('B7: it says by which words a skill was found, and one query leaves nothing for the next', () => {
	const index = createSkillIndex([skill('tides', 'Of the sea.'), skill('moon', 'Phases.')]);
	const first = index.rank('tides and moon phases');
	index.rank('sea');
	expect(index.rank('tides and moon phases')).toEqual(first);
	expect(first.map(({ skill: { name }, words }) => [name, words.length])).toEqual([
		['moon', 2],
		['tides', 1]
	]);
});

test('B7: words of any script, of the prototype of objects, and very long queries are only words', () => {
	const skills = [skill('wetter', 'Прогноз погоды.'), skill('constructor', 'toString')];
	expect(found('погоды', skills)).toEqual(['wetter']);
	expect(found('__proto__ constructor', skills)).toEqual(['constructor']);
	expect(found(`constructor ${'tides '.repeat(100_000)}`, skills)).toEqual(['constructor']);
});

test('B7: an index made in slices ranks as one made at once, and leaves the event loop free meanwhile', async () => {
	const skills = Array.from({ length: 20_000 }, (_, index) =>
		skill(`skill-${index}`, `Does the thing number ${index} for everyone who looks for tide ${index % 97} of the sea.`)
	);
	let turns = 0;
	const timer = setInterval(() => (turns += 1), 0);
	const index = await createSkillIndexInSlices(skills);
	clearInterval(timer);
	expect(turns).toBeGreaterThan(1);
	expect(index.rank('tide 42 of the sea')).toEqual(createSkillIndex(skills).rank('tide 42 of the sea'));
});

test('B7: names in camel case and of stop-words, tags and repeated words are read as `scoreSkill` reads them', () => {
	const skills = [skill('getWeather', 'Rain.'), skill('how-to', 'Rain, rain, rain.', { tags: ['doIt', 'do-it'] })];
	expect(found('weather', skills)).toEqual(['getWeather']);
	expect(found('how to', skills)).toEqual(['how-to']);
	expect(found('do it', skills)).toEqual(['how-to']);
	expect(found('rain', skills)).toEqual(['how-to', 'getWeather']);
});
