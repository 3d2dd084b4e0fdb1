import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emptyAnswer, type Message, type ToolPart } from '../../shared/message.ts';
import { parseSkillFile } from '../skills/parser.ts';
import { transcriptOf } from './by-model.ts';
import { draftFromChat, type ChatFacts } from './from-chat.ts';
import { createHider } from './personal.ts';

const question = (text: string, files: string[] = []): Message => ({
	...emptyAnswer('q', '', '2026-11-01T00:00:00.000Z'),
	role: 'user',
	status: 'complete',
	parts: [{ type: 'text', id: 't', text }],
	files
});
const answer = (text: string, ...parts: ToolPart[]): Message => ({
	...emptyAnswer('a', 'r', '2026-11-01T00:00:00.000Z'),
	status: 'complete',
	parts: [...parts, { type: 'text', id: 't', text }]
});
const call = (name: string, args: object, more: Partial<ToolPart> = {}): ToolPart => ({
	...{ type: 'tool', id: name, name, arguments: JSON.stringify(args), status: 'done', result: '' },
	...more
});
const ran = (skill: string, script: string, args: string[], files: string[] = []) => ({
	...{ skill, script, args, sandbox: 'process', output: [], exitCode: 0 },
	files: files.map((path) => ({ path, bytes: 1 }))
});
function make(messages: Message[], more: Partial<ChatFacts> = {}) {
	const hider = createHider(new Map());
	const made = draftFromChat({ title: 'Sales by month', messages, attached: [], taken: new Set(), ...more }, hider);
	const files = new Map(made.files.map(({ path, content }) => [path, content]));
	const skill = parseSkillFile(files.get('SKILL.md') ?? '', `${made.name}/SKILL.md`);
	const evals = JSON.parse(files.get('evals/evals.json') ?? '{}') as { evals?: { expectations: string[] }[] };
	return { ...made, files, skill, evals: evals.evals ?? [], hidden: hider.hidden };
}

describe('F8: a skill of what worked in a chat', () => {
	test('if all that was tried failed, that is a problem, and what to do; if nothing was tried, or something worked, it isn’t', () => {
		const failed = call('eval_code', { language: 'node', code: 'throw 1' }, { status: 'failed' });
		const looked = call('load_skill', { skill: 'demo' });
		const crashed = call('use_skill', {}, { execution: { ...ran('demo', 'say.sh', []), exitCode: 1 } });
		const problemOf = (...parts: ToolPart[]) => make([question('Count it'), answer('Sorry.', ...parts)]).problem;
		for (const parts of [[failed], [looked, failed], [crashed]]) {
			expect(problemOf(...parts)).toMatch(/^No step of this chat succeeded, so .* make a new draft\.$/);
		}
		expect(problemOf(failed, call('eval_code', { language: 'node', code: '1' }))).toBeNull();
		expect(problemOf(looked)).toBeNull();
		expect(problemOf()).toBeNull();
	});

	test('code that ran becomes a script that takes the file of this case as its argument', () => {
		const code = "const fs = require('fs');\nconsole.log(fs.readFileSync('sales.csv', 'utf8').length);";
		const made = make(
			[
				question('Count sales.csv by month', ['sales.csv']),
				answer(
					'There are 1,204 sales.',
					call('eval_code', { language: 'node', code: 'throw 1' }, { status: 'failed' }),
					call('eval_code', { language: 'node', code }, { result: '1,204' })
				)
			],
			{ attached: [{ path: 'sales.csv', bytes: Buffer.from('a,b\n') }] }
		);
		expect(made.name).toBe('sales-month');
		expect([...made.files.keys()]).toEqual([
			'SKILL.md',
			'scripts/step-1.cjs',
			'examples/sales.csv',
			'evals/evals.json'
		]);
		expect(made.files.get('scripts/step-1.cjs')).toContain('readFileSync((process.argv[2] ?? "sales.csv")');
		expect(made.skill.body).toContain('Run `scripts/step-1.cjs` <a file such as sales.csv> in the working directory.');
		expect(made.skill.description).toContain('Use it when someone asks');
		expect(made.skill.metadata.example).toBe('Count sales.csv by month');
		expect(made.evals).toMatchObject([
			{ files: ['examples/sales.csv'], expectations: ['skillLoaded: sales-month', 'contains: 1,204'] }
		]);
		expect(made.notes).toEqual(['One call that failed was left out.']);
	});

	test('other languages take it, too', () => {
		const python = call('eval_code', { language: 'python', code: "print(open('sales.csv').read())" });
		const shell = call('execute_command', { command: 'wc -l sales.csv > lines.txt' });
		const { files } = make([question('Count', ['sales.csv']), answer('Done.', python, shell)], {
			attached: [{ path: 'sales.csv', bytes: Buffer.from('a') }]
		});
		expect(files.get('scripts/step-1.py')).toBe(
			'import sys\nprint(open((sys.argv[1] if len(sys.argv) > 1 else "sales.csv")).read())'
		);
		expect(files.get('scripts/step-2.sh')).toBe('#!/bin/sh\nset -eu\nwc -l "${1:-sales.csv}" > lines.txt\n');
	});

	test('scripts of other skills are named as needs, and what they write is expected of an eval', () => {
		const chart = call(
			'use_skill',
			{ skill: 'data-analysis', script: 'scripts/chart.mjs', args: ['sales.csv', 'month'] },
			{ execution: ran('data-analysis', 'scripts/chart.mjs', ['sales.csv', 'month'], ['chart.svg']) }
		);
		const { skill, evals } = make([question('Draw it', ['sales.csv']), answer('Here.', chart)], {
			attached: [{ path: 'sales.csv', bytes: Buffer.from('a') }]
		});
		expect(skill.metadata.requires).toBe('data-analysis');
		expect(skill.body).toContain(
			'Load the skill `data-analysis` and run `scripts/chart.mjs "<a file such as sales.csv>" month`.'
		);
		expect(evals[0]?.expectations).toContain('file: chart.svg');
	});

	test('secrets and personal paths are gone from every part', () => {
		const token = `ghp_${'a1B2'.repeat(9)}`;
		const command = `curl -H "Authorization: ${token}" https://x.example > /home/ann/out.txt`;
		const made = make([
			question(`Use ${token} for ann@firm.com`),
			answer(`I used ${token}.`, call('execute_command', { command }))
		]);
		const whole = [...made.files.values()].join('\n');
		expect(whole).not.toContain(token);
		expect(whole).not.toMatch(/ann@|\/home\/ann/);
		expect(made.files.get('scripts/step-1.sh')).toContain('${API_TOKEN}');
		expect(made.hidden.map(({ name }) => name)).toContain('API_TOKEN');
	});

	test('a chat with only failures makes a skill that says so', () => {
		const made = make([
			question('Do it'),
			answer('I can’t.', call('execute_command', { command: 'x' }, { status: 'failed' }))
		]);
		expect(made.skill.body).toContain('Nothing that was tried here worked');
		expect(made.evals).toEqual([]);
	});

	test('a title with ../ and shell becomes a name that is one, and one that is free', () => {
		const title = '../../$(rm -rf ~) `x`';
		const { name } = make([question('Do it'), answer('Done.')], { title, taken: new Set(['rm-rf']) });
		expect(name).toBe('rm-rf-2');
		expect(make([question('…'), answer('…')], { title: '東京' }).name).toBe('new-skill');
	});

	test('5,000 messages make a skill of a size that a model can read', () => {
		const many = Array.from({ length: 2500 }, (_, at) => [
			question(`Do ${at}`),
			answer(`Did ${at}.`, call('execute_command', { command: `echo ${at}` }))
		]).flat();
		const made = make(many);
		expect(made.files.size).toBe(22);
		expect(made.notes).toEqual(['Only the last 20 of 2500 different calls are in it.']);
		expect(made.evals).toHaveLength(5);
	});
});

describe('F8: nothing personal is left in names and evals either', () => {
	test('a secret in the question is found by the script that names it; private figures and names are nowhere', () => {
		const made = make([
			question('Log in at 192.168.7.9 with hunter22'),
			answer(
				'Done at 192.168.7.9 with hunter22.',
				call('eval_code', { language: 'python', code: 'password = "hunter22"' }, { result: 'at 192.168.7.9' }),
				call('file_write', { path: 'ann@firm.com.py', content: 'print(1)' })
			)
		]);
		expect(JSON.stringify([...made.files])).not.toMatch(/hunter22|192\.168|ann@firm/);
	});

	test('scripts of one name, or of one that another system refuses, have names of their own', () => {
		const made = make([
			question('Write them'),
			answer(
				'Done.',
				call('file_write', { path: 'step-2.sh', content: 'echo 1' }),
				call('execute_command', { command: 'echo 2' }),
				call('file_write', { path: 'a\\..\\..\\b.py', content: 'print(3)' })
			)
		]);
		const paths = made.files.keys().toArray();
		expect(paths).toHaveLength(new Set(made.files.keys()).size);
		expect(paths).toEqual(expect.arrayContaining(['scripts/step-2.sh', 'scripts/step-2-2.sh', 'scripts/a_.._.._b.py']));
	});

	test('a file’s name is never a command of the script', () => {
		const path = '$(touch pwned).csv';
		const made = make(
			[question('Count', [path]), answer('2', call('execute_command', { command: `wc -l '${path}'` }))],
			{ attached: [{ path, bytes: Buffer.from('a') }] }
		);
		expect(made.files.get('scripts/step-1.sh')).toContain(`wc -l '${path}'`);
	});
});

test('F8: whatever a chat holds, it makes a skill that can be read, and a transcript', () => {
	const text = fc.oneof(
		fc.string({ unit: 'binary', maxLength: 40 }),
		fc.constantFrom('', '---', 'a/b.csv', '../x', '\u2028', '```')
	);
	const tool = fc.constantFrom(
		...[
			'eval_code',
			'execute_command',
			'file_write',
			'load_skill',
			'use_skill',
			'http_request',
			'save_as_skill',
			'mcp__a__b',
			'__proto__'
		]
	);
	const key = fc.constantFrom('code', 'language', 'command', 'path', 'content', 'encoding', '__proto__', 'x');
	const args = fc.oneof(
		text,
		fc.json({ maxDepth: 2 }),
		fc.dictionary(key, fc.jsonValue({ maxDepth: 1 })).map((each) => JSON.stringify(each))
	);
	const execution = fc.record(
		{
			...{ skill: text, script: text, tool: text, args: fc.array(text, { maxLength: 3 }), sandbox: text },
			output: fc.constant([]),
			exitCode: fc.constantFrom(0, 1, null),
			files: fc.array(fc.record({ path: text, bytes: fc.nat() }), { maxLength: 2 }),
			error: text
		},
		{ requiredKeys: ['skill', 'script', 'args', 'sandbox', 'output', 'files'] }
	);
	const status = fc.constantFrom('preparing', 'waiting', 'running', 'done', 'failed', 'cancelled', 'interrupted');
	const toolPart = fc.record(
		{
			type: fc.constant('tool'),
			id: text,
			name: fc.oneof(tool, text),
			arguments: args,
			status,
			result: text,
			execution
		},
		{ requiredKeys: ['type', 'id', 'name', 'arguments', 'status'] }
	);
	const part = fc.oneof(toolPart, fc.record({ type: fc.constantFrom('text', 'reasoning'), id: text, text }));
	const message = fc.record({
		role: fc.constantFrom('user', 'assistant'),
		status: fc.constantFrom('complete', 'failed', 'interrupted'),
		parts: fc.array(part, { maxLength: 4 }),
		files: fc.array(text, { maxLength: 2 })
	});
	const attached = fc.array(fc.record({ path: text, bytes: fc.uint8Array().map((each) => Buffer.from(each)) }), {
		maxLength: 2
	});
	fc.assert(
		fc.property(fc.array(message, { maxLength: 4 }), text, attached, (given, title, files) => {
			const messages = given.map((each) => ({ ...emptyAnswer('a', 'r', '', null), ...each }) as Message);
			const made = make(messages, { title, attached: files });
			expect(made.skill.name).toBe(made.name);
			const hider = createHider();
			expect(transcriptOf(messages, hider)).toEqual(expect.any(String));
		}),
		{ numRuns: 300 }
	);
});
