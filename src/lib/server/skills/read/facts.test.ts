import { expect, test } from 'vitest';
import { readFacts } from './skill-loader.ts';
import { parseSkill } from '../parser.ts';

function facts(front: string) {
	const text = `---\nname: demo\ndescription: x\n${front}\n---\n`;
	return readFacts(parseSkill(text, '/skills/demo/SKILL.md', { mode: 'lenient' }).spec);
}

test('A17: tags are a list, or text divided by commas or blanks, at the top or in metadata', () => {
	for (const front of [
		'tags: [a, b c]',
		'tags: "a, b c"',
		'metadata:\n  tags: "a, b c"',
		'tag:\n  - a\n  - b c\n  - a'
	]) {
		expect(facts(front).facts.tags, front).toEqual(['a', 'b c']);
	}
	expect(facts('metadata:\n  tags: csv data table').facts.tags).toEqual(['csv', 'data', 'table']);
	expect(facts('').facts.tags).toEqual([]);
});

test('A17: triggers are phrases, under each of their names', () => {
	for (const key of ['triggers', 'trigger_patterns', 'trigger', 'activation']) {
		expect(facts(`${key}: [make a chart, plot]`).facts.triggers, key).toEqual(['make a chart', 'plot']);
		expect(facts(`${key}: make a chart`).facts.triggers, key).toEqual(['make a chart']);
	}
});

test('A38: a version is three numbers; 1.0.0 when there is none; anything else is mended with a warning', () => {
	expect(facts('version: 2.3.4')).toMatchObject({ facts: { version: '2.3.4' }, issues: [] });
	expect(facts('metadata:\n  version: 2.3.4').facts.version).toBe('2.3.4');
	expect(facts('')).toMatchObject({ facts: { version: '1.0.0' }, issues: [] });
	expect(facts('version: 1.1')).toMatchObject({
		facts: { version: '1.1.0' },
		issues: [{ field: 'version', fix: 'version: 1.1.0' }]
	});
	expect(facts('version: new')).toMatchObject({ facts: { version: '1.0.0' }, issues: [{ severity: 'warning' }] });
	expect(facts('version: [1]')).toMatchObject({ facts: { version: '1.0.0' }, issues: [{ severity: 'warning' }] });
});

test('A17: an author', () => {
	expect(facts('author: Ada').facts.author).toBe('Ada');
	expect(facts('author: [x]').facts.author).toBeUndefined();
});
