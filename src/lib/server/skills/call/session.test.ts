import fc from 'fast-check';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../../tests/support/folder.ts';
import { createProcessSandbox } from '../../sandbox/process.ts';
import { createExecutor } from '../executor.ts';
import { parseManifest } from '../read/manifest.ts';
import { createSkillSession, type SkillSession, type ToolOutcome } from './session.ts';
import { skillOf } from '../skill-of.suite.ts';
import type { Skill, SkillEvent, SkillExecutionResult } from '../types.ts';

const folder = emptyFolder();
let cwd: string;
let events: SkillEvent[];
beforeEach(() => {
	cwd = join(folder, 'work');
	events = [];
});

interface ToolEntry {
	name: string;
	script?: string;
	parameters?: Record<string, unknown>;
}
function skill(name: string, tools: ToolEntry[] = [], part: Partial<Skill> = {}): Skill {
	const manifest = JSON.stringify(tools.map((tool) => ({ description: `${tool.name} of ${name}`, ...tool })));
	const parts = { files: ['SKILL.md', 'scripts/run.sh'], scripts: ['scripts/run.sh'] };
	return skillOf(name, { root: folder, tools: parseManifest(manifest).tools, ...parts, ...part });
}
function open(skills: Skill[], loaded: string[] = [], seen?: string[]): SkillSession {
	const executor = createExecutor({
		sandbox: createProcessSandbox(),
		timeoutMs: 30_000,
		maxOutputBytes: 20_480,
		env: {}
	});
	const snapshot = { skills, shadowed: [], broken: [], revision: 'r1' };
	return createSkillSession({ snapshot: () => snapshot, executor, loaded, ...(seen ? { seen } : {}) });
}
const put = (path: string, text: string) => putFile(folder, path, text);
const call = (session: SkillSession, name: string, args: unknown = {}) =>
	session.call(name, args as Record<string, unknown>, { cwd, onEvent: (event) => events.push(event) });
const names = (session: SkillSession) => session.tools().map((tool) => tool.name);
const read = (outcome: ToolOutcome) => JSON.parse(outcome.output) as Record<string, unknown>;

describe('load_skill', () => {
	test('B18: in one conversation the same instructions are handed out once, changed ones again', async () => {
		const session = open([skill('demo'), skill('other', [], { digest: 'of-other' })], [], ['of-other']);
		const outputs = [];
		for (const name of ['demo', 'demo', 'other'])
			outputs.push((await call(session, 'load_skill', { skill: name })).output);
		expect(outputs[0]).toContain('How to use demo.');
		expect(outputs[1]).toContain('already loaded');
		expect(outputs[2]).toContain('already loaded');
		const changed = open([skill('demo', [], { digest: 'new' })], ['demo'], ['old']);
		expect((await call(changed, 'load_skill', { skill: 'demo' })).output).toContain('How to use demo.');
	});

	test('B18: of a program that told of no conversation every call is answered in full', async () => {
		const session = open([skill('demo')]);
		for (let round = 0; round < 2; round += 1) {
			expect((await call(session, 'load_skill', { skill: 'demo' })).output).toContain('How to use demo.');
		}
	});

	test('C1: answers with the instructions, the folder, the files and the tools, and says so', async () => {
		const outcome = await call(open([skill('demo', [{ name: 'count' }])]), 'load_skill', { skill: 'demo' });
		expect(outcome.ok).toBe(true);
		expect(outcome.result).toBe(outcome.output);
		expect(outcome.output).toContain('How to use demo.');
		expect(outcome.output).toContain(`dir="${join(folder, 'demo')}"`);
		expect(outcome.output).toContain('scripts/run.sh');
		expect(outcome.output).toContain('count: count of demo');
		const tokens = Math.ceil('How to use demo.'.length / 4);
		expect(events).toMatchObject([{ type: 'loaded', skill: 'demo', path: join(folder, 'demo/SKILL.md'), tokens }]);
	});
	test('C1: instructions of 1 MiB are handed out in pieces, each of which says how to read on', async () => {
		const body = Array.from({ length: 40_000 }, (_, line) => `line ${line}: é and more words`).join('\n');
		const session = open([skill('demo', [], { body })], [], []);
		const [definition] = session.tools();
		expect(definition?.parameters.properties).toHaveProperty('offset');
		let offset: number | undefined = 0;
		let text = '';
		for (let piece = 0; offset !== undefined && piece < 100; piece += 1) {
			const { output } = await call(session, 'load_skill', { skill: 'demo', ...(offset > 0 ? { offset } : {}) });
			expect(output.length).toBeLessThan(70_000);
			const [shown = '', told] = output.split('\n\n[These are bytes ');
			text += shown.replace(/^<skill_content [^>]*>\n/, '').replace(/\n<\/skill_content>$/, '');
			const next = /offset (\d+) to read on/.exec(told ?? '')?.[1];
			offset = next === undefined ? undefined : Number(next);
		}
		expect(text).toBe(body);
		// The beginning was given out and isn't repeated; later pieces always are.
		expect((await call(session, 'load_skill', { skill: 'demo' })).output).toContain('already loaded');
	});
	test('C1: short instructions come whole, and load_skill takes no offset for them', () => {
		expect(open([skill('demo')]).tools()[0]?.parameters.properties).not.toHaveProperty('offset');
	});
	test('C1, C8: a list of files that has no room for all says so', async () => {
		const [whole, cut] = [skill('whole'), skill('cut', [], { hasMoreFiles: true })];
		const outputs = [];
		for (const name of ['whole', 'cut']) {
			for (const [tool, args] of [
				['load_skill', { skill: name }],
				['read_skill_file', { skill: name }],
				['skill_resource', { name }],
				['skills_tool:load', { skill_name: name }]
			] as const) {
				outputs.push((await call(open([whole, cut]), tool, args)).output.includes('… and more files, not listed'));
			}
		}
		expect(outputs).toEqual([false, false, false, false, true, true, true, true]);
	});
	test('F3: skills that it names and that can’t be loaded are said in one sentence, in each dialect, and as an event', async () => {
		const requires = { 'metadata.requires': ['other', 'not-here', 'switched-off'] };
		const skills = [skill('demo', [], { extra: requires }), skill('other'), skill('switched-off')];
		const snapshot = { skills, shadowed: [], broken: [], revision: 'r1' };
		const executor = createExecutor({
			sandbox: createProcessSandbox(),
			timeoutMs: 30_000,
			maxOutputBytes: 20_480,
			env: {}
		});
		const modeOf = ({ name }: Skill) => (name === 'switched-off' ? ('off' as const) : ('auto' as const));
		const session = createSkillSession({ snapshot: () => snapshot, executor, modeOf });
		const said = '[This skill names skills that can’t be loaded now: not-here (not installed), switched-off (off).]';
		for (const [tool, args] of [
			['load_skill', { skill: 'demo' }],
			['skill_load', { name: 'demo' }],
			['skills_tool', { method: 'load', skill_name: 'demo' }]
		] as const) {
			const { output } = await call(session, tool, args);
			expect(output.endsWith(`\n\n${said}`), tool).toBe(true);
		}
		const [event] = events.filter(({ type }) => type === 'loaded');
		expect(event).toMatchObject({
			lacks: [
				{ name: 'not-here', state: 'missing' },
				{ name: 'switched-off', state: 'off' }
			]
		});
		expect((await call(session, 'load_skill', { skill: 'other' })).output).not.toContain('can’t be loaded');
	});

	test('F3: skills that need each other load as any', async () => {
		const extra = (name: string) => ({ 'metadata.requires': [name] });
		const session = open([skill('a-b', [], { extra: extra('b-a') }), skill('b-a', [], { extra: extra('a-b') })]);
		for (const name of ['a-b', 'b-a'])
			expect((await call(session, 'load_skill', { skill: name })).output).toMatch(/<\/skill_content>$/);
	});

	test('C1: an unknown skill is SkillNotFound with those there are', async () => {
		const outcome = await call(open([skill('one'), skill('two')]), 'load_skill', { skill: 'three' });
		expect(outcome).toMatchObject({ ok: false, result: { success: false, error: 'SkillNotFound', exitCode: -1 } });
		expect(read(outcome)).toEqual({
			ok: false,
			error: 'SkillNotFound',
			message: 'Skill not found: “three”.',
			hint: 'Available skills: one, two'
		});
		expect(read(await call(open([]), 'load_skill', { skill: 'x' }))).toMatchObject({
			hint: 'No skills are installed.'
		});
	});
	test.each(['demo-skill', 'Demo Skill', ' DEMO_SKILL '])('A37: %j finds demo-skill', async (name) => {
		expect((await call(open([skill('other'), skill('demo-skill')]), 'load_skill', { skill: name })).ok).toBe(true);
	});
	test('A37: the exact name wins over one that is only alike, a name over a folder', async () => {
		const session = open([skill('a-b'), skill('a_b'), skill('other', [], { dir: join(folder, 'a_b') })]);
		expect((await call(session, 'load_skill', { skill: 'a_b' })).output).toContain('How to use a_b.');
		expect((await call(session, 'load_skill', { skill: 'A-B' })).output).toContain('How to use a-b.');
	});
	test('A37: the folder\u2019s name finds a skill that is named otherwise', async () => {
		const session = open([skill('pretty', [], { dir: join(folder, 'plain_folder') })]);
		expect((await call(session, 'load_skill', { skill: 'plain_folder' })).output).toContain('How to use pretty.');
	});
});

describe('tools', () => {
	test('C18: without skills there is no tool', () => {
		expect(open([]).tools()).toEqual([]);
	});
	test('D24: the tools of a skill are there once it is loaded, and from the start when it was loaded before', async () => {
		const demo = skill('demo', [{ name: 'count', parameters: { text: { type: 'string' } } }]);
		const session = open([demo]);
		expect(names(session)).toEqual(['load_skill', 'use_skill']);
		expect(session.has('count')).toBe(false);
		await call(session, 'load_skill', { skill: 'demo' });
		expect(session.tools()[2]).toEqual({
			type: 'function',
			name: 'count',
			description: 'count of demo',
			parameters: {
				type: 'object',
				properties: { text: { type: 'string' } },
				required: ['text'],
				additionalProperties: false
			}
		});
		expect(session.has('count')).toBe(true);
		expect(names(open([demo], ['demo', 'gone']))).toEqual(['load_skill', 'use_skill', 'count']);
	});
	test('D17: of two skills with one tool name the skill loaded last has it; the other\u2019s is skill__tool', async () => {
		const session = open([skill('one', [{ name: 'same' }]), skill('two', [{ name: 'same' }])]);
		const owner = async (name: string) => (await call(session, name)).output.match(/How to use (\w+)/)?.[1];
		await call(session, 'load_skill', { skill: 'one' });
		await call(session, 'load_skill', { skill: 'two' });
		expect(names(session).slice(2).sort()).toEqual(['one__same', 'same']);
		expect([await owner('same'), await owner('one__same')]).toEqual(['two', 'one']);
		expect(names(session).slice(2).sort()).toEqual(['same', 'two__same']);
	});
	test('D17: load_skill and use_skill are never overridden', async () => {
		const session = open([skill('evil', [{ name: 'load_skill' }, { name: 'use_skill' }])], ['evil']);
		expect(names(session)).toEqual(['load_skill', 'use_skill', 'evil__load_skill', 'evil__use_skill']);
		expect(session.tools()[0]?.description).toContain('Load the full instructions');
	});
	test('D17: a name that is made of a skill’s and a tool’s is never a reserved one', () => {
		const mcp = skill('mcp', [{ name: 'demo__echo' }, { name: 'other' }]);
		const session = createSkillSession({
			snapshot: () => ({ skills: [mcp], shadowed: [], broken: [], revision: 'r1' }),
			executor: createExecutor({ sandbox: createProcessSandbox(), timeoutMs: 1000, maxOutputBytes: 1000, env: {} }),
			loaded: ['mcp'],
			isReserved: (name) => name.startsWith('mcp__') || name === 'demo__echo'
		});
		expect(names(session).slice(2)).toEqual([expect.stringMatching(/^skill_mcp__demo__echo_[0-9a-f]{8}$/), 'other']);
	});
	test('D17: every tool keeps a name that a model can call, of its own, however long or odd the skills are named', () => {
		const long = (last: string) => `${'long-'.repeat(12)}${last}`;
		const tools = [{ name: 'a' }, { name: 'b' }, { name: 'same' }, { name: 't'.repeat(64) }];
		const skills = [long('one'), long('two'), 'Métier, deux', 'Mötier, deux', 'last', 'x'].map((name) =>
			skill(name, tools)
		);
		const clash = skill('clash', [{ name: 'last__a' }]);
		const session = open(
			[...skills, clash],
			[...skills, clash].map(({ name }) => name)
		);
		const all = names(session);
		expect(new Set(all).size).toBe(all.length);
		expect(all).toHaveLength(2 + 6 * 4 + 1);
		for (const name of all) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
	});
});

describe('use_skill', () => {
	test('C13: both streams, exit code, duration and files reach the model, also of a script that fails', async () => {
		await put('demo/scripts/run.sh', 'echo out; echo err >&2; echo x > made.txt; exit 3\n');
		const outcome = await call(open([skill('demo')]), 'use_skill', { skill: 'demo', script: 'run.sh' });
		expect(outcome.ok).toBe(false);
		expect(read(outcome)).toEqual({
			ok: false,
			error: 'ExecutionFailed',
			message: 'scripts/run.sh ended with exit code 3.',
			exitCode: 3,
			durationMs: expect.any(Number) as number,
			stdout: 'out\n',
			stderr: 'err\n',
			truncated: false,
			files: [{ path: 'made.txt', bytes: 2 }]
		});
	});
	test('C13: of a thousand files that a script makes the model reads a hundred, and how many more there are', async () => {
		await put('demo/scripts/run.sh', 'for i in $(seq 1 300); do : > "f$i"; done\n');
		const outcome = await call(open([skill('demo')]), 'use_skill', { skill: 'demo', script: 'run.sh' });
		expect((outcome.result as SkillExecutionResult).files).toHaveLength(300);
		expect(read(outcome)).toMatchObject({ ok: true, moreFiles: 200 });
		expect(read(outcome).files).toHaveLength(100);
	});
	test('D1: numbers and booleans are taken as texts, null as no arguments', async () => {
		await put('demo/scripts/run.sh', 'printf "%s|" "$@"\n');
		const session = open([skill('demo')]);
		const use = async (args: unknown) =>
			read(await call(session, 'use_skill', { skill: 'demo', script: 'run.sh', args }));
		expect(await use(['a b', 5, true])).toMatchObject({ stdout: 'a b|5|true|' });
		expect(await use(null)).toMatchObject({ ok: true, stdout: '|' });
		expect(await use([['a']])).toMatchObject({ ok: false, error: 'InvalidArgs' });
		expect(await use('a b')).toMatchObject({ ok: false, error: 'InvalidArgs' });
	});
	test('D24: a tool of a skill that is not loaded is reached by use_skill', async () => {
		await put('demo/up.js', 'export default ({ text }) => text.toUpperCase();');
		const session = open([skill('demo', [{ name: 'up', script: 'up.js', parameters: { text: { type: 'string' } } }])]);
		expect(await call(session, 'use_skill', { skill: 'demo', tool: 'up', args: { text: 'a' } })).toMatchObject({
			ok: true,
			output: '"A"'
		});
		expect(read(await call(session, 'use_skill', { skill: 'demo', tool: 'down' }))).toMatchObject({
			error: 'UnknownTool',
			hint: expect.stringContaining('up') as string
		});
	});
	test('D13: without a script it says which there are', async () => {
		for (const rest of [{}, { tool: '' }, { script: 5 }]) {
			expect(read(await call(open([skill('demo')]), 'use_skill', { skill: 'demo', ...rest }))).toMatchObject({
				error: 'InvalidArgs',
				hint: 'Its scripts: scripts/run.sh'
			});
		}
	});
});

describe('tools of a tools.json', () => {
	const parameters = { text: { type: 'string' }, count: { type: 'integer', optional: true } };
	const session = () => open([skill('demo', [{ name: 'mark', script: 'mark.sh', parameters }])], ['demo']);

	test.each([
		[{}, 'text'],
		[{ text: 5 }, 'text'],
		[{ text: 'x', count: 'many' }, 'count'],
		[{ text: 'x', other: 1 }, 'other']
	])('D16: %j is refused by the name of what is wrong, and nothing runs', async (args, field) => {
		await put('demo/mark.sh', 'touch ran\n');
		const outcome = await call(session(), 'mark', args);
		expect(read(outcome)).toMatchObject({ error: 'InvalidArgs', message: expect.stringContaining(field) as string });
		expect(events).toEqual([]);
	});
	test('D19: a __workDir of the model is dropped, ours is put in', async () => {
		await put('demo/mark.sh', 'cat\n');
		expect(read(await call(session(), 'mark', { text: 'x', __workDir: '/etc' }))).toEqual({
			text: 'x',
			__workDir: cwd
		});
	});
	test('D18: a tool without a script answers with the instructions', async () => {
		const outcome = await call(open([skill('demo', [{ name: 'stub' }])], ['demo']), 'stub', {});
		expect(outcome).toMatchObject({ ok: true, output: expect.stringContaining('How to use demo.') as string });
	});
	test('D23, C13: a failure is {error}, with its type, exit code and both streams', async () => {
		await put('demo/mark.sh', 'echo out; echo err >&2; exit 4\n');
		expect(read(await call(session(), 'mark', { text: 'x' }))).toEqual({
			error: 'mark.sh ended with exit code 4.',
			type: 'ExecutionFailed',
			exitCode: 4,
			stdout: 'out\n',
			stderr: 'err\n'
		});
	});
});

test('D43: all ways to one skill share a lane; loading has none, and neither has what is not there', () => {
	const session = open([skill('My_Skill', [{ name: 'count' }], { dir: join(folder, 'my-folder') })], ['My_Skill']);
	const lane = session.lane('use_skill', { skill: 'My_Skill', script: 'x' });
	expect(lane).not.toBeNull();
	expect(session.lane('use_skill', { skill: 'my skill' })).toBe(lane);
	expect(session.lane('use_skill', { skill: 'my-folder' })).toBe(lane);
	expect(session.lane('count', {})).toBe(lane);
	expect(session.lane('load_skill', { skill: 'My_Skill' })).toBeNull();
	expect(session.lane('use_skill', { skill: 'other' })).toBeNull();
	expect(session.lane('nothing', {})).toBeNull();
});

describe('hostile calls', () => {
	const demo = () =>
		open(
			[skill('demo', [{ name: 'mark', script: 'mark.sh', parameters: { a: { type: 'string', optional: true } } }])],
			['demo']
		);
	const hostile: [string, unknown][] = [
		['null', null],
		['a list', ['demo']],
		['a number', 5],
		['a text', 'demo'],
		['a skill that is null', { skill: null }],
		['a skill that is a list', { skill: ['demo'] }],
		['a skill without a prototype', { skill: Object.create(null) as unknown }]
	];
	test.each(hostile)('C14: %s as arguments is InvalidArgs, of each tool, and has no lane', async (_name, args) => {
		for (const name of ['load_skill', 'use_skill', 'mark']) {
			const outcome = await call(demo(), name, args);
			expect(read(outcome)).toMatchObject({ ok: false, error: 'InvalidArgs' });
		}
		expect(demo().lane('use_skill', args as never)).toBeNull();
	});
	test.each(['__proto__', 'constructor', 'toString', 'de\0mo', '', '../demo', 'x'.repeat(1_000_000)])(
		'C14: the skill %.20j is SkillNotFound, in few words',
		async (name) => {
			const outcome = await call(demo(), 'load_skill', { skill: name });
			expect(read(outcome)).toMatchObject({
				error: 'SkillNotFound',
				hint: expect.stringContaining('Available skills: demo') as string
			});
			expect(outcome.output.length).toBeLessThan(1000);
		}
	);
	test.each(['__proto__', 'constructor', 'hasOwnProperty', '', 'x'.repeat(1_000_000)])(
		'C14: the tool %.20j is UnknownTool',
		async (name) => {
			expect(demo().has(name)).toBe(false);
			const outcome = await call(demo(), name, {});
			expect(read(outcome)).toMatchObject({ error: 'UnknownTool' });
			expect(outcome.output.length).toBeLessThan(1000);
		}
	);
	test('C14: arguments with the keys of a prototype are checked as any other', async () => {
		const args: unknown = JSON.parse('{"__proto__":{"a":5},"constructor":1}');
		expect(read(await call(demo(), 'mark', args))).toMatchObject({ error: 'InvalidArgs' });
		expect(({} as Record<string, unknown>).a).toBeUndefined();
	});
	test('C14: whatever the arguments are, a call has an outcome', async () => {
		const session = demo();
		const name = fc.constantFrom('load_skill', 'use_skill', 'mark', 'nothing');
		const odd = fc.record(
			{
				skill: fc.oneof(fc.constant('demo'), fc.jsonValue()),
				script: fc.jsonValue(),
				args: fc.jsonValue(),
				tool: fc.jsonValue()
			},
			{ requiredKeys: [] }
		);
		await fc.assert(
			fc.asyncProperty(name, fc.oneof(fc.jsonValue(), odd), async (tool, args) => {
				const outcome = await call(session, tool, args);
				session.lane(tool, args as never);
				if (!outcome.ok) expect(read(outcome)).toMatchObject({ ok: false, message: expect.any(String) as string });
			}),
			{ numRuns: 300 }
		);
	});
});

describe('an error', () => {
	test.each([
		['load_skill', { skill: 7 }],
		['load_skill', { skill: 'ghost' }],
		['use_skill', { skill: 'demo', script: '../out.sh' }],
		['use_skill', { skill: 'demo', script: 'run.sh', args: 7 }],
		['use_skill', { skill: 'demo' }],
		['read_skill_file', { skill: 'demo', path: 'none.md' }],
		['read_skill_file', { skill: 'demo', path: '../../etc/passwd' }],
		['search_skills', {}],
		['ghost_tool', {}],
		['skill_resource', { name: 'demo', resource: 'none.md' }]
	])('C15: of %s with %o has a type, a message and what to do', async (name, args) => {
		const { ok, result } = await call(open([skill('demo')]), name, args);
		expect(ok).toBe(false);
		const { error, message, hint } = result as SkillExecutionResult;
		expect(error).toMatch(/^[A-Z]\w+$/);
		expect(message).toMatch(/\w/);
		expect(hint).toMatch(/\w/);
	});
});
