import { describe, expect, test } from 'vitest';
import type { Execution, ToolPart } from '../../shared/message.ts';
import { describeCall, describeStep, problemOf, printCommand, printProgram, printResult, statusWord } from './steps.ts';

const execution: Execution = {
	skill: 'sums',
	script: 'scripts/add.py',
	args: [],
	sandbox: 'process',
	output: [],
	files: []
};

const MCP: Execution = { ...execution, skill: 'mcp/demo', script: 'add numbers', tool: 'add numbers', sandbox: 'mcp' };

function part(change: Partial<ToolPart>): ToolPart {
	return { type: 'tool', id: 'c', name: 'load_skill', arguments: '{"skill":"sums"}', status: 'done', ...change };
}

describe('C17: what the model says that a step is about', () => {
	test.each([
		[part({ headline: 'Doing <b>maths</b>' }), { label: 'Doing <b>maths</b>', chip: 'sums' }],
		[part({ headline: 'a\u202e\n b' }), { label: 'a⟨U+202E⟩ b' }],
		[part({ headline: 'x'.repeat(500) }), { label: `${'x'.repeat(160)}…` }],
		[part({ headline: '' }), { label: 'Loaded skill sums' }],
		[part({ name: 'file_write', arguments: '{"path":"a"}', headline: 'Noting it' }), { chip: 'file_write' }],
		[part({ name: 'mcp__demo__add', headline: 'Adding up' }), { label: 'Adding up', chip: 'Ran add of demo' }]
	])('%# is its title, and what is really called stands beside it', (step, facts) => {
		expect(describeStep(step)).toMatchObject(facts);
	});
});

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
		[part({ name: 'use_skill', status: 'running', arguments: '{"skill":"sums"}' }), 'Running a script'],
		[part({ name: 'read_skill_file', arguments: '{"skill":"pdf","path":"REFERENCE.md"}' }), 'Read pdf/REFERENCE.md'],
		[part({ name: 'read_skill_file', arguments: '{"skill":"pdf"}' }), 'Read files in pdf'],
		[part({ name: 'search_skills', arguments: '{"query":"pdf form"}' }), 'Searched skills for “pdf form”'],
		[part({ name: 'openrouter:web_search', arguments: '{"query":"tides"}' }), 'Searched the web for “tides”'],
		[part({ name: 'openrouter:web_fetch', arguments: '{"url":"https://a.example/x"}' }), 'Read a.example'],
		[part({ name: 'image_generation_call', arguments: '{}', status: 'failed' }), 'Make a picture'],
		[part({ name: 'list_skills', arguments: '{}', status: 'running' }), 'Listing skills'],
		[part({ name: 'file_write', arguments: '{"path":"out.pdf","content":"x"}' }), 'Wrote out.pdf'],
		[part({ name: 'omniroute_file_read', arguments: '{"path":"a/b.txt"}', status: 'failed' }), 'Read a/b.txt'],
		[part({ name: 'http_request', arguments: '{"url":"https://example.org/x?y"}' }), 'Requested example.org'],
		[part({ name: 'web_search', arguments: '{"query":"news"}' }), 'Searched the web for “news”'],
		[part({ name: 'eval_code', arguments: '{"language":"python","code":"1"}' }), 'Ran python code'],
		[part({ name: 'execute_command', arguments: '{"command":"ls\\n-la"}' }), 'Ran ls -la'],
		[part({ name: 'editor_edit', arguments: '{"path":"src/a.ts","old_text":"a","new_text":"b"}' }), 'Edited src/a.ts'],
		[part({ name: 'editor_run', arguments: '{"command":"npm test"}' }), 'Ran npm test'],
		[part({ name: 'browser', arguments: '{"action":"open","url":"https://example.org/"}' }), 'Opened example.org'],
		[part({ name: 'browser', arguments: '{"action":"screenshot","path":"a.png"}' }), 'Took screenshot a.png'],
		[part({ name: 'browser', arguments: '{}' }), 'Ran the browser'],
		[part({ name: 'list_things', arguments: '{"path":"a"}' }), 'Ran list_things'],
		[part({ name: 'list_things', arguments: '{"_intent":"See what there is"}' }), 'See what there is'],
		[
			part({ name: 'file_write', status: 'preparing', arguments: '{"path":"out.md","content":"# He' }),
			'Writing out.md'
		],
		[part({ arguments: '{"skill":"a\u202eb"}' }), 'Loaded skill a⟨U+202E⟩b'],
		[part({ name: 'mcp__demo__add', status: 'waiting', arguments: '{"a":1}' }), 'Run add of demo'],
		[part({ name: 'mcp__demo__add_0a1b2c3d', status: 'running', execution: MCP }), 'Running add numbers of demo'],
		[part({ name: 'mcp__demo__add_0a1b2c3d', execution: { ...MCP, exitCode: null } }), 'Ran add numbers of demo'],
		[part({ name: 'constructor', arguments: '{}' }), 'Ran constructor']
	])('%# says what happens or happened', (step, label) => {
		expect(describeStep(step).label).toBe(label);
	});
});

test.each([
	[part({}), null],
	[part({ name: 'use_skill', execution }), 'sums'],
	[part({ name: 'use_skill', execution: { ...execution, tool: 'add' } }), 'sums'],
	[part({ name: 'http_request', arguments: '{"url":"https://example.org"}' }), 'http_request'],
	[part({ name: 'list_things', arguments: '{}' }), null]
])('%# has a word beside its label only for what the label does not say', (step, chip) => {
	expect(describeStep(step).chip).toBe(chip);
});

test('the program of a built-in skill is what it was given to run', () => {
	const given = { skill: 'execute_command', script: 'execute_command', args: ['{"command":"ls -la | head"}'] };
	expect(printProgram(given)).toBe('ls -la | head');
	expect(printProgram({ ...given, skill: 'sums' })).toMatch(/^execute_command /);
	expect(printProgram({ ...execution, args: ['a'] })).toBe('scripts/add.py a');
});

test.each([
	[
		'Traceback (most recent call last):\n  File "x.py", line 3\nModuleNotFoundError: No module named numpy\n',
		'ModuleNotFoundError: No module named numpy'
	],
	[
		'file:///x.mjs:2\nthrow new Error("no")\n^\n\nError: The clock did not answer\n    at ask (x.mjs:2:24)\n\nNode.js v24.21.0\n',
		'Error: The clock did not answer'
	],
	[
		"Error: ENOENT: no such file\n    at open {\n  errno: -2,\n  code: 'ENOENT'\n}\n\nNode.js v24.1.0",
		'Error: ENOENT: no such file'
	],
	['x.sh: line 3: foo: command not found\n', 'x.sh: line 3: foo: command not found'],
	['\u001b[31mfatal: not a repository\u001b[0m\n', 'fatal: not a repository'],
	['  \n\n', 'The script failed without any output.']
])('what went wrong is the line of %j that says so', (text, line) => {
	const message = 'x.py ended with exit code 1.';
	expect(problemOf({ message, tool: undefined, output: [{ stream: 'stderr', text }] })).toBe(line);
	// For scripts whose streams are merged.
	expect(problemOf({ message, tool: undefined, output: [{ stream: 'stdout', text }] })).toBe(line);
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

test('F13: a call of a program’s own tool waits for that program, and needs nobody’s approval', () => {
	expect(statusWord(part({ name: 'read_clock', status: 'waiting' }))).toBe('Waiting for the client');
	const approval = { interruptId: 'i', skill: 's', script: 'x', args: [], reason: 'Because.', digest: 'd' };
	expect(statusWord(part({ status: 'waiting', approval }))).toBe('Needs approval');
});

test('D33: a step whose script waits for a worker says so, until it begins', () => {
	expect(statusWord(part({ status: 'running', execution: { ...execution, isWaiting: true } }))).toBe(
		'Waiting for a worker'
	);
	const installing = { ...execution, isWaiting: true, waitsFor: 'packages' as const };
	expect(statusWord(part({ status: 'running', execution: installing }))).toBe('Installing packages');
	expect(statusWord(part({ status: 'running', execution }))).toBe('Running');
	expect(statusWord(part({ status: 'cancelled', execution: { ...execution, isWaiting: true } }))).toBe('Stopped');
});

test.each([
	['load_skill: {"skill":"demo"}', 'Loaded skill demo'],
	['use_skill: {"skill":"demo","script":"scripts/a.mjs","args":["a: b"]}', 'Ran scripts/a.mjs'],
	['use_skill: {"skill":"demo","script":"scripts/a.mjs","args":["cut o', 'Ran scripts/a.mjs'],
	['list_skills: ', 'Listed skills']
])('a call that evals kept has the words of its step: %s', (call, label) => {
	expect(describeCall(call)).toBe(label);
});
