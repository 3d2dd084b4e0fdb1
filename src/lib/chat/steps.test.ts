import { describe, expect, test } from 'vitest';
import type { Execution, ToolPart } from '../shared/message.ts';
import { describeStep, printCommand, printResult } from './steps.ts';

const execution: Execution = {
	skill: 'sums',
	script: 'scripts/add.py',
	args: [],
	sandbox: 'process',
	output: [],
	files: []
};

function part(change: Partial<ToolPart>): ToolPart {
	return { type: 'tool', id: 'c', name: 'load_skill', arguments: '{"skill":"sums"}', status: 'done', ...change };
}

describe('the label of a step', () => {
	test.each([
		[part({ status: 'preparing', arguments: '' }), 'Loading skill'],
		[part({ status: 'running' }), 'Loading skill sums'],
		[part({}), 'Loaded skill sums'],
		[part({ status: 'failed' }), 'Load skill sums'],
		[part({ name: 'use_skill', status: 'running', execution }), 'Running scripts/add.py'],
		[part({ name: 'use_skill', execution }), 'Ran scripts/add.py'],
		[part({ name: 'use_skill', execution: { ...execution, tool: 'add' } }), 'Ran add'],
		[part({ name: 'use_skill', status: 'cancelled', arguments: '{"skill":"sums","script":"x.js"}' }), 'Run x.js'],
		[part({ name: 'read_skill_file', arguments: '{"path":"a"}' }), 'Ran read_skill_file']
	])('%# says what happens or happened', (step, label) => {
		expect(describeStep(step).label).toBe(label);
	});
});

test('the skill comes from what ran, else from the arguments, and never from arguments of other tools', () => {
	expect(describeStep(part({ arguments: '{"skill":"a"}' })).skill).toBe('a');
	expect(describeStep(part({ arguments: '{"name":"b"}' })).skill).toBe('b');
	expect(describeStep(part({ arguments: '{"skill":"a"}', name: 'use_skill', execution })).skill).toBe('sums');
	expect(describeStep(part({ arguments: '{"name":"b"}', name: 'add_numbers' })).skill).toBeNull();
});

test.each(['', '{"a":', '[1]', 'null', '"x"', '{"__proto__":{"x":1}}'])('arguments like %s do no harm', (json) => {
	expect(() => describeStep(part({ arguments: json }))).not.toThrow();
});

test('a command is printed as one would type it', () => {
	expect(printCommand({ ...execution, args: ['sales.csv', 'two words', '', '--x="1"'] })).toBe(
		'scripts/add.py sales.csv "two words" "" "--x=\\"1\\""'
	);
});

test('a JSON result is indented, other text is kept, and both have a limit', () => {
	expect(printResult('{"a":[1]}').text).toBe('{\n  "a": [\n    1\n  ]\n}');
	expect(printResult('[not json').text).toBe('[not json');
	expect(printResult('x'.repeat(50), 20)).toEqual({ text: 'x'.repeat(20), isCut: true });
});
