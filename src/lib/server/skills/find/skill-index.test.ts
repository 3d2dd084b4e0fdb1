import fc from 'fast-check';
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

test('F2: the points of a skill are told by the field and the words that they come from, most first', () => {
	const skills = [
		skill('fill-pdf', 'Fills the fields of a form.', { tags: ['forms'], triggers: ['sign this contract'] }),
		skill('tides', 'When the sea comes in.')
	];
	const index = createSkillIndex(skills);
	const [form, tides] = index.explain('Please fill the PDF forms, and sign', skills);
	expect(form!.signals.map(({ signal, words }) => [signal, words])).toEqual([
		['whole name', ['fill', 'pdf']],
		['name', ['fill', 'pdf']],
		['trigger', ['sign']],
		['tag', ['forms']],
		['description', ['fill', 'forms']]
	]);
	expect(tides).toEqual({ skill: skills[1], points: 0, signals: [] });
	expect(index.explain('', skills).map(({ points }) => points)).toEqual([0, 0]);
	expect(index.explain('tides', [skill('tides')])).toMatchObject([{ points: 0, signals: [] }]);
});

test('F2: the sum of the signals is the points, and the points are the score of the ranking', () => {
	const word = fc.constantFrom(
		'tide',
		'tides',
		'pdf',
		'form',
		'the',
		'say',
		'hello',
		'editing',
		'edits',
		'Wörter',
		'\u8cc7\u6599'
	);
	const words = (maxLength: number) => fc.array(word, { maxLength });
	const anySkill = fc
		.record({
			name: fc.array(word, { minLength: 1, maxLength: 3 }),
			description: words(8),
			tags: words(2),
			triggers: words(3)
		})
		.map(({ name, description, tags, triggers }) =>
			skill(name.join('-'), description.join(' '), { tags, triggers: [triggers.join(' ')] })
		);
	fc.assert(
		fc.property(fc.array(anySkill, { minLength: 1, maxLength: 12 }), words(6), (skills, query) => {
			const index = createSkillIndex(skills);
			const ranked = index.rank(query.join(' '), skills.length);
			const explained = index.explain(
				query.join(' '),
				ranked.map((each) => each.skill)
			);
			for (const [at, { points, signals }] of explained.entries()) {
				expect(points).toBeCloseTo(ranked[at]!.score, 4);
				expect(signals.reduce((sum, signal) => sum + signal.points, 0)).toBeCloseTo(points, 9);
			}
			const others = skills.filter((each) => !ranked.some((found) => found.skill === each));
			for (const { points } of index.explain(query.join(' '), others)) expect(points).toBe(0);
		}),
		{ numRuns: 300 }
	);
});
