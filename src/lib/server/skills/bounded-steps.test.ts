/** How much work a SKILL.md can cause: counted, not timed (A3–A5, A24). */
import fc from 'fast-check';
import type * as yaml from 'js-yaml';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { mutatedSkills } from './mutated-skills.suite.ts';
import { parseSkill } from './parser.ts';
import { SkillLoadError } from './types.ts';
import { quotePlainValues } from './read/front-matter.ts';

/** For a reader that hangs, not for a busy machine. */
const TIME_LIMIT_MS = 60_000;
const MEGABYTE = 1_000_000;
const loads = vi.hoisted((): { length: number; lines: number }[] => []);
vi.mock('js-yaml', async (importOriginal) => {
	const original = await importOriginal<typeof yaml>();
	const load: typeof original.load = (text, options) => {
		loads.push({ length: text.length, lines: text.split('\n').length });
		return original.load(text, options);
	};
	return { ...original, load };
});
beforeEach(() => {
	loads.length = 0;
});

/** Reads in lenient mode; null if refused with a line number. `loads` records what the YAML reader was given. */
function read(contents: string) {
	loads.length = 0;
	try {
		return parseSkill(contents, '/skills/demo/SKILL.md', { mode: 'lenient' }).spec;
	} catch (error) {
		if (!(error instanceof SkillLoadError)) throw error;
		expect(error.issues[0]?.line).toBeGreaterThan(0);
		return null;
	}
}

/** More than a megabyte of lines that are hard on a reader. */
const hugeBody = fc
	.array(
		fc.constantFrom(
			'---x\n',
			' ---\n',
			'\t\t- a\n',
			'🎉 ',
			'👩‍👩‍👧\n',
			'```yaml\n---\n```\n',
			'a: b: c\n',
			'"',
			'\r\n',
			'#',
			'[',
			'\u2028'
		),
		{ minLength: 1, maxLength: 12 }
	)
	.map((pieces) => `x${pieces.join('')}`)
	.map((piece) => piece.repeat(Math.ceil(MEGABYTE / piece.length)));

describe('what YAML is given', () => {
	test(
		'A4, A5: whatever the file, it is read at most twice, and never more than 64 KiB or 1,000 lines',
		() => {
			fc.assert(
				fc.property(mutatedSkills(), fc.constantFrom(1, 100, 5000), (contents, times) => {
					read(contents.repeat(times));
					expect(loads.length).toBeLessThanOrEqual(2);
					for (const { length, lines } of loads) {
						// The splitter adds a line break at each end.
						expect(length).toBeLessThanOrEqual(64 * 1024 + 2);
						expect(lines).toBeLessThanOrEqual(1002);
					}
				}),
				{ numRuns: 500 }
			);
		},
		TIME_LIMIT_MS
	);
	test('A5: what is valid is read once, what is mended twice', () => {
		read('---\nname: demo\ndescription: d\n---\n');
		expect(loads).toHaveLength(1);
		read('---\nname: demo\ndescription: a: b\n---\n');
		expect(loads).toHaveLength(2);
	});
	test(
		'A3, A19: a body of a megabyte comes back whole, with tabs, emoji and fences in it, and none of it reaches YAML',
		() => {
			const front = 'name: demo\ndescription: 🎉\tparty';
			fc.assert(
				fc.property(hugeBody, (body) => {
					const spec = read(`---\n${front}\n---\n${body}`);
					expect(spec?.description).toBe('🎉 party');
					// Compared without the matcher, which would print a megabyte.
					expect(spec?.body === body.replace(/\r\n?/g, '\n').trim()).toBe(true);
					expect(loads).toEqual([{ length: front.length + 1, lines: 3 }]);
				}),
				{ numRuns: 40 }
			);
		},
		TIME_LIMIT_MS
	);
	test('A3: a megabyte without a fence, or behind one that never closes, is refused and never reaches YAML', () => {
		const starts = fc.constantFrom('', '---', '---js\n', '----\n', '---\n');
		fc.assert(
			fc.property(hugeBody, starts, (body, start) => {
				fc.pre(start !== '---\n' || !/\n---[ \t]*(?:\n|$)/.test(body));
				expect(read(start + body)).toBeNull();
				expect(loads).toEqual([]);
			}),
			{ numRuns: 40 }
		);
	});
});

describe('the repair', () => {
	/** How often lines were read. */
	function stepsOf(lines: string[]): number {
		let steps = 0;
		const counted = new Proxy(lines, {
			get(target, key, receiver) {
				if (typeof key === 'string' && /^\d+$/.test(key)) steps += 1;
				return Reflect.get(target, key, receiver) as unknown;
			}
		});
		expect(quotePlainValues(counted)).toHaveLength(lines.length);
		return steps;
	}
	const rows = (count: number, row: (index: number) => string) =>
		Array.from({ length: count }, (_, index) => row(index));
	const deep = (index: number) => ' '.repeat(index);
	test.each([
		['keys', rows(1000, (index) => `k${index}: a: b`)],
		['one value that goes on', ['x: a: b', ...rows(999, () => '  c')]],
		['a block without an end', ['x: |', ...rows(999, () => '  y: |')]],
		['blocks in blocks', rows(350, (index) => `${deep(index)}k: |`)],
		['quotations in quotations', rows(350, (index) => `${deep(index)}k: "a`)],
		['lists in lists that never close', rows(350, (index) => `${deep(index)}k: [a`)],
		['lists in lists that close too early', rows(350, (index) => `${deep(index)}k: [a] b`)],
		['maps in maps', rows(350, (index) => `${deep(index)}k: a: b`)],
		['blank lines', ['x: "', ...rows(999, () => '')]]
	])('A5: %s: each line is looked at a fixed number of times', (_what, lines) => {
		expect(stepsOf(lines)).toBeLessThanOrEqual(8 * lines.length);
	});
	test('A5: so it is whatever the lines', () => {
		const line = fc
			.tuple(
				fc.nat(6),
				fc.constantFrom('', '- ', '- - ', 'k: ', '- k: ', 'k:'),
				fc.constantFrom('', '|', '"a', "'", '[a', '[a] b', '{', 'a: b', '# r', '\t')
			)
			.map(([indent, head, value]) => `${' '.repeat(indent)}${head}${value}`);
		fc.assert(
			fc.property(fc.array(line, { maxLength: 200 }), (lines) => {
				expect(stepsOf(lines)).toBeLessThanOrEqual(8 * lines.length);
			}),
			{ numRuns: 2000 }
		);
	});
	test.each([
		['blanks before a dash', `${' '.repeat(60_000)}- `],
		['blanks behind a dash', `-${' '.repeat(60_000)}`],
		['dashes', '- '.repeat(30_000)],
		['blanks behind a key', `k:${' '.repeat(60_000)}`],
		['blanks in a value', `k: a${' '.repeat(60_000)}b: c`],
		['remarks that are none', `k: a: ${'#'.repeat(60_000)}`],
		['words', `k: a\n ${'a'.repeat(60_000)}`],
		['quotes', `k: ${'"\\"'.repeat(20_000)}`],
		['apostrophes in a list', `k: [${"' ".repeat(30_000)}`],
		['brackets', `k: ${'['.repeat(60_000)}`],
		['a key and line separators', `k: ${' '.repeat(30_000)}a\u2028${' '.repeat(30_000)}`]
	])('A5: a line of 60,000 characters ends, with %s', (_what, line) => {
		const lines = line.split('\n');
		expect(quotePlainValues(lines)).toHaveLength(lines.length);
		read(`---\nname: demo\n${line}\nx: a: b\n---\n`);
		expect(loads.length).toBeLessThanOrEqual(2);
	});
});

test('A20: the mutated files of the property tests hold tabs, emoji, halves of them, line separators and quotes', () => {
	const all = fc.sample(mutatedSkills(), { numRuns: 2000, seed: 1 }).join('');
	for (const piece of ['\t', '🎉', '\u2028', '\r', '\0', '"', '__proto__', '---js', '&a', '*a'])
		expect(all).toContain(piece);
	expect(all.isWellFormed()).toBe(false);
});
