import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSkill } from '../parser.ts';
import { lackOf, siblingsOf } from './siblings.ts';

const LIBRARY = { skills: [{ name: 'pdf' }, { name: 'pdf-tools' }, { name: 'own' }], off: [{ name: 'charts' }] };

function named(front: string, body = 'Do it.', beside: string[] = []) {
	const text = `---\nname: own\ndescription: Does it.\n${front}---\n${body}\n`;
	const { spec } = parseSkill(text, '/skills/own/SKILL.md', { mode: 'lenient' });
	return siblingsOf(spec, { ...LIBRARY, beside });
}
const inText = (body: string) => named('', body).map(({ name }) => name);

describe('F3: skills that a skill names', () => {
	test.each([
		['a list', 'metadata:\n  requires: [pdf-tools, charts, not-here]\n'],
		['a list over lines', 'metadata:\n  requires:\n    - pdf-tools\n    - charts\n    - not-here\n'],
		['a text', 'metadata:\n  requires: pdf-tools, charts not-here\n'],
		['a key of its own', 'metadata:\n  requires.skills: pdf-tools charts not-here\n'],
		['a key in the map', 'metadata:\n  requires:\n    bins: [jq]\n    skills: [pdf-tools, charts, not-here]\n']
	])('as %s of metadata.requires, with what became of each', (_form, front) => {
		expect(named(front)).toEqual([
			{ name: 'pdf-tools', isDeclared: true, from: ['metadata.requires'], state: 'on' },
			{ name: 'charts', isDeclared: true, from: ['metadata.requires'], state: 'off' },
			{ name: 'not-here', isDeclared: true, from: ['metadata.requires'], state: 'missing' }
		]);
	});

	test.each([
		'metadata:\n  requires:\n    bins: [jq, pdf-tools]\n    env: [TOKEN]\n',
		'metadata:\n  openclaw:\n    requires:\n      bins: [charts]\n',
		'requires:\n  bins: [jq]\n',
		'metadata:\n  requires.bins: jq\n  requires.python: pdf-tools\n',
		'metadata:\n  requires: [pdf-tools?, own, "Node.js", "python>=3"]\n'
	])('not as programs, variables, packages or options: %j', (front) => {
		expect(named(front)).toEqual([]);
	});

	test.each([
		['First load the `not-here` skill.', 'not-here'],
		['Use skill: not-here for tables.', 'not-here'],
		['**REQUIRED SUB-SKILL:** Use superpowers:writing-plans', 'writing-plans'],
		['REQUIRED SUB-SKILL: Use superpowers:writing-plans', 'writing-plans'],
		['See [it](../not-here/SKILL.md).', 'not-here'],
		['Run `python ../not-here/scripts/fill.py`.', 'not-here'],
		['Call use_skill("not-here", …).', 'not-here'],
		['The pdf skill does forms; the `pdf` skill too.', 'pdf'],
		['Fill it with `pdf-tools`.', 'pdf-tools'],
		['When done, read ../charts/README.md.', 'charts'],
		['the **charts** skill draws it', 'charts']
	])('in the text: %s', (body, name) => {
		expect(inText(body)).toEqual([name]);
	});

	test.each([
		'Write a pdf, or export as `pdf`. Charts are nice; a good writing skill helps.',
		'Create the `my-skill` skill in ../build/ and the skill `description` field.',
		'A `custom` skill and the new-found skill of a `well-known` author.',
		'The own skill: see `own`. Use skill-name, use skill: your-skill.',
		'cd ../not-here && make; https://example.org/../not-here/SKILLS',
		'The most useful skill is the listening skill.'
	])('but no word of ordinary English: %s', (body) => {
		expect(inText(body)).toEqual([]);
	});

	test('in the same download are told from missing ones; the library comes first', () => {
		const states = named('metadata:\n  requires: [pdf, beside-it, not-here]\n', '', ['pdf', 'beside-it', 'own']);
		expect(states.map(({ state }) => state)).toEqual(['on', 'beside', 'missing']);
	});

	test('are at most 64, however many it names, and are told in one sentence', () => {
		const many = Array.from({ length: 1000 }, (_, index) => `other-${index}-skill`);
		const body = `the \`zz-last\` skill\n${many.map((name) => `the \`x${name}\` skill`).join('\n')}`;
		const found = named(`metadata:\n  requires: [${many.map((name) => `a${name}`).join(', ')}]\n`, body);
		expect(found).toHaveLength(64);
		expect(found.every(({ isDeclared }) => isDeclared)).toBe(true);
		const said = lackOf(found) ?? '';
		expect(said).toMatch(/aother-7-skill \(not installed\) and 56 more\.\]$/);
		expect(said.length).toBeLessThan(400);
		expect(lackOf([])).toBeNull();
	});

	test('are valid names, whatever the text is', () => {
		const noise = fc.stringMatching(/^(?:the |skill|use |`|\*|:|\.\.\/|[a-z-]|\u202e|<|\n| |\/){0,80}$/);
		fc.assert(
			fc.property(noise, (body) => {
				for (const name of inText(body)) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
			})
		);
	});

	test('take linear time in a hostile text', () => {
		const started = performance.now();
		for (const part of ['the `', '../', 'use skill: ', 'a-', '`a-', 'skill `a', 'the a-']) inText(part.repeat(60_000));
		expect(performance.now() - started).toBeLessThan(2000);
	});
});
