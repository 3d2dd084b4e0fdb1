import { expect, test } from 'vitest';
import { createLog, logUnexpected, type LogOptions } from './log.ts';

function open(options: Partial<LogOptions>) {
	const lines: string[] = [];
	return { lines, log: createLog((line) => lines.push(line), options) };
}

test('E29: as JSON, a line is one object with its time, level and message, and what is under way', () => {
	const { lines, log } = open({ format: 'json', context: () => ({ requestId: 'r', runId: undefined }) });
	log.error({ error: 'a\nb "c" \u2028', bytes: 3 }, 'couldn’t save');
	expect(lines).toHaveLength(1);
	expect(lines[0]?.endsWith('}\n')).toBe(true);
	expect(lines[0]?.trimEnd()).not.toContain('\n');
	expect(JSON.parse(lines[0] ?? '')).toEqual({
		...{ time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), level: 'error', message: 'couldn’t save' },
		...{ requestId: 'r', error: 'a\nb "c" \u2028', bytes: 3 }
	});
});

test('E29: for people, a line is a sentence with its facts, and nothing in them begins another one', () => {
	const { lines, log } = open({ format: 'text', context: () => ({ runId: 'run-1' }) });
	const hostile = 'x\n2026-01-01T00:00:00.000Z error forged \u001b[31m\u009b31m';
	log.info({ path: '/a/b', words: 'two words', none: undefined, hostile, list: [1, 'b'], flag: true }, 'it happened');
	expect(lines).toHaveLength(1);
	const [line = ''] = lines;
	expect(line).toMatch(
		/^\S+Z info it happened runId=run-1 path=\/a\/b words="two words" hostile=".*" list=\[1,"b"\] flag=true\n$/
	);
	expect(line.trimEnd()).not.toMatch(/\p{Cc}/u);
});

test('E29: what nobody expected has its place; for people it is indented below', () => {
	const error = new Error('boom');
	const json = open({ format: 'json' });
	logUnexpected(json.log, error, { route: '/api/x' });
	logUnexpected(json.log, 'a word');
	expect(json.lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
		{ level: 'error', error: 'boom', stack: error.stack, route: '/api/x' },
		{ level: 'error', error: 'a word' }
	]);
	const text = open({ format: 'text' });
	logUnexpected(text.log, error);
	const [first, ...stack] = (text.lines[0] ?? '').trimEnd().split('\n');
	expect(first).toContain('error=boom');
	expect(stack.length).toBeGreaterThan(1);
	expect(stack.every((line) => line.startsWith('  '))).toBe(true);
});

test('E29: a fact that can’t be written doesn’t take its line away', () => {
	const loop: Record<string, unknown> = {};
	loop.self = loop;
	for (const format of ['json', 'text'] as const) {
		const { lines, log } = open({ format });
		log.error({ loop, big: 1n }, 'it failed');
		expect(lines[0]).toContain('it failed');
	}
});

test('E29: LOG_LEVEL is the least that is written', () => {
	for (const [level, written] of [
		['error', ['error']],
		['info', ['info', 'error']],
		['debug', ['debug', 'info', 'error']]
	] as const) {
		const { lines, log } = open({ level });
		log.debug?.({}, 'x');
		log.info({}, 'x');
		log.error({}, 'x');
		expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(written);
	}
});
