/** Calls written according to each document, in one session with real skills. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFiles } from '../../../../../../tests/support/folder.ts';
import { createSkillsProvider, type SkillsProvider, type SkillsProviderOptions } from '../../provider.ts';
import type { SkillExecutionResult } from '../../types.ts';

const FILES: Record<string, string> = {
	'pdf_editing/SKILL.md':
		'---\nname: pdf-editing\ndescription: Edit PDF forms.\nversion: 1.2.0\nauthor: Ada\nlicense: MIT\ntags: [pdf, forms]\ntriggers: [fill a form]\nallowed-tools: Bash(git:*)\n---\nSee references/forms.md.',
	'pdf_editing/references/forms.md': 'How to fill a form.',
	'pdf_editing/scripts/show.sh': 'printf "%s|" "$@"; echo; env | grep ^SKILL_ARG_ | sort; cat\n',
	'pdf_editing/scripts/fail.sh': 'echo half; echo broken >&2; exit 3\n',
	'count-words/SKILL.md': '---\nname: count-words\ndescription: Count words.\n---\nCall count_words.',
	'count-words/tools.json': JSON.stringify([
		{ name: 'count_words', description: 'Counts.', script: 'count.mjs', parameters: { text: { type: 'string' } } }
	]),
	'count-words/count.mjs': 'export default ({ text }) => ({ words: text.trim().split(/\\s+/).length });'
};

const folder = emptyFolder();
let skills: SkillsProvider;
beforeEach(async () => {
	await putFiles(join(folder, 'skills'), FILES);
	await open();
});
afterEach(async () => {
	await skills.close();
});

async function open(options: SkillsProviderOptions = {}): Promise<void> {
	skills = await createSkillsProvider(join(folder, 'skills'), { cwd: join(folder, 'work'), ...options });
}
const call = (name: string, args: Record<string, unknown> = {}) => skills.handleToolCall(name, args);
/** The text the model would read. */
const read = async (name: string, args: Record<string, unknown> = {}) => {
	const session = skills.createSession({ snapshot: skills.registry.snapshot() });
	return (await session.call(name, args, { cwd: join(folder, 'work') })).output;
};
const offered = async (options: SkillsProviderOptions) => {
	await skills.close();
	await open(options);
	return skills.tools.map(({ name }) => name);
};

describe('OpenRouter Skills (S0)', () => {
	test('C1, C11: the proposal\u2019s two tools, and the loop that it shows', async () => {
		expect(skills.tools.map(({ name }) => name)).toEqual(['load_skill', 'use_skill']);
		expect(await call('load_skill', { skill: 'pdf-editing' })).toContain('See references/forms.md.');
		const result = (await call('use_skill', {
			skill: 'pdf-editing',
			script: 'show.sh',
			args: ['a b', '--x=1']
		})) as SkillExecutionResult;
		expect(result).toMatchObject({ success: true, stdout: 'a b|--x=1|\n', exitCode: 0 });
	});
	test('C4, C5, C6: list, search and read, with what they found', async () => {
		expect(await call('list_skills')).toContain('- pdf-editing v1.2.0 [skills] by Ada: Edit PDF forms.');
		expect(await call('search_skills', { query: 'pdf forms' })).toMatch(/^- pdf-editing .*\(score \d/);
		expect(await call('search_skills', { query: 'xyzzy' })).toContain('No skill matches “');
		expect(await call('read_skill_file', { skill: 'pdf-editing' })).toContain('- references/forms.md');
		expect(await call('read_skill_file', { skill: 'pdf-editing', path: 'references/forms.md' })).toBe(
			'How to fill a form.'
		);
		const page = await call('read_skill_file', {
			skill: 'pdf-editing',
			path: 'references/forms.md',
			offset: 4,
			limit: 2
		});
		expect(page).toBe('to\n\n[bytes 4 to 6 of 19; continue with offset 6]');
	});
	test('D2: use_skill takes an object as well, in each style', async () => {
		const use = async (more: object) =>
			(
				(await call('use_skill', {
					skill: 'pdf-editing',
					script: 'show.sh',
					args: { a: 1, b: true },
					...more
				})) as SkillExecutionResult
			).stdout;
		expect(await use({})).toBe('1|true|\nSKILL_ARG_A=1\nSKILL_ARG_B=true\n');
		expect(await use({ arg_style: 'named' })).toBe('--a|1|--b|true|\nSKILL_ARG_A=1\nSKILL_ARG_B=true\n');
		expect(await use({ arg_style: 'env' })).toBe('|\nSKILL_ARG_A=1\nSKILL_ARG_B=true\n');
		expect(await use({ arg_style: 'json' })).toBe('|\nSKILL_ARG_A=1\nSKILL_ARG_B=true\n{"a":1,"b":true}');
		expect(
			await call('use_skill', { skill: 'pdf-editing', script: 'show.sh', args: { a: 1 }, arg_style: 'shell' })
		).toMatchObject({ error: 'InvalidArgs' });
	});
	test('B19: `remember` is accepted; a result stays in the history either way', async () => {
		for (const remember of [true, false]) {
			const result = await call('use_skill', { skill: 'pdf-editing', script: 'show.sh', remember });
			expect(result).toMatchObject({ success: true });
		}
	});
	test('D9, C13: only what is in the folder runs; a failure has both streams and the exit code', async () => {
		expect(await call('use_skill', { skill: 'pdf-editing', script: '../count-words/count.mjs' })).toMatchObject({
			error: 'ScriptNotAllowed'
		});
		expect(await call('use_skill', { skill: 'pdf-editing', script: 'SKILL.md' })).toMatchObject({
			error: 'UnsupportedScriptType'
		});
		const result = await call('use_skill', { skill: 'pdf-editing', script: 'fail.sh' });
		expect(result).toMatchObject({
			success: false,
			exitCode: 3,
			stdout: 'half\n',
			stderr: 'broken\n',
			error: 'ExecutionFailed'
		});
	});
	test('C15: every failure has a type, a message and a hint', async () => {
		expect(await call('load_skill', { skill: 'pdf-edit' })).toMatchObject({
			error: 'SkillNotFound',
			message: 'Skill not found: “pdf-edit”.',
			hint: expect.stringMatching(/^Did you mean pdf-editing\? Available skills: count-words, pdf-editing$/) as string
		});
	});
});

describe('drover (S3)', () => {
	test('C2: skill_load gives the body and says what else there is', async () => {
		const text = await read('skill_load', { name: 'pdf-editing' });
		expect(text).toMatch(
			/^See references\/forms\.md\.\n\n---\nThis skill ships 2 scripts, 1 reference\. Call skill_resource/
		);
		expect(await read('skill_load', { name: 'count-words' })).toBe('Call count_words.');
		expect(await read('skill_load', { name: 'ghost' })).toContain('Skill not found: “ghost”.');
		expect(await read('skill_load', {})).toContain('“name” must be the name of a skill');
	});
	test('C7: skill_resource lists and reads', async () => {
		expect(await read('skill_resource', { name: 'pdf-editing' })).toContain('- references/forms.md');
		expect(await read('skill_resource', { name: 'pdf-editing', resource: 'references/forms.md' })).toBe(
			'How to fill a form.'
		);
		expect(await read('skill_resource', { name: 'pdf-editing', resource: '../count-words/count.mjs' })).not.toContain(
			'export'
		);
	});
	test('C11: its tools are offered where they are asked for, with the names there are', async () => {
		expect(await offered({ dialect: 'drover' })).toEqual(['skill_load', 'skill_resource']);
		expect(skills.tools[0]?.parameters).toMatchObject({
			properties: { name: { enum: ['count-words', 'pdf-editing'] } }
		});
	});
});

describe('Agent Zero (S2)', () => {
	test('C3: load has the header, the content and the files', async () => {
		const text = await read('skills_tool', { method: 'load', skill_name: 'pdf_editing' });
		for (const line of [
			'Skill: pdf-editing',
			'Source: skills',
			'Version: 1.2.0',
			'Author: Ada',
			'License: MIT',
			'Tags: pdf, forms',
			'Allowed tools: Bash(git:*)',
			'Triggers: fill a form',
			'Description: Edit PDF forms.',
			'See references/forms.md.',
			'- references/forms.md'
		]) {
			expect(text.split('\n')).toContain(line);
		}
	});
	test('C4: list has count, versions, sources, authors, tags and a tip', async () => {
		const text = await read('skills_tool', { method: 'list' });
		expect(text).toMatch(
			/^2 skills available:\n- count-words v1\.0\.0 \[skills\]: Count words\.\n- pdf-editing v1\.2\.0 \[skills\] author=Ada tags=pdf,forms: Edit PDF forms\.\n\nTip:/
		);
	});
	test('C5: search has the points of the document: name 3, description 2, 1 for each tag', async () => {
		expect(await read('skills_tool', { method: 'search', query: 'pdf' })).toContain('(score 6)');
		expect(await read('skills_tool', { method: 'search', query: 'forms' })).toContain('(score 3.25)');
	});
	test('C6: read_file reads, and never outside', async () => {
		const file = (file_path: string) =>
			read('skills_tool', { method: 'read_file', skill_name: 'pdf_editing', file_path });
		expect(await file('references/forms.md')).toBe('How to fill a form.');
		expect(await file('../count-words/SKILL.md')).toMatch(/^Error in skills_tool: /);
		expect(await file('ghost.md')).toMatch(/^Error in skills_tool: /);
	});
	test('D2: execute_script takes the document\u2019s three styles', async () => {
		const run = (arg_style?: string) =>
			read('skills_tool', {
				method: 'execute_script',
				skill_name: 'pdf_editing',
				script_path: 'scripts/show.sh',
				script_args: { input_pdf: '/w/d.pdf', output_dir: '/tmp/i' },
				...(arg_style ? { arg_style } : {})
			});
		const variables = 'SKILL_ARG_INPUT_PDF=/w/d.pdf\nSKILL_ARG_OUTPUT_DIR=/tmp/i\n';
		expect(await run()).toBe(`/w/d.pdf|/tmp/i|\n${variables}`);
		expect(await run('named')).toBe(`--input_pdf|/w/d.pdf|--output_dir|/tmp/i|\n${variables}`);
		expect(await run('env')).toBe(`|\n${variables}`);
	});
	test('C15: a script that fails is told with its code and both streams', async () => {
		const text = await read('skills_tool', {
			method: 'execute_script',
			skill_name: 'pdf_editing',
			script_path: 'scripts/fail.sh'
		});
		expect(text).toMatch(/^Script failed: .*\(exit code 3\)\nstdout:\nhalf\n\nstderr:\nbroken\n$/);
	});
	test('C17: the method after a colon, and the envelope of a model without tool calls', async () => {
		expect(await read('skills_tool:load', { skill_name: 'pdf_editing' })).toContain('Skill: pdf-editing');
		const envelope = { thoughts: ['…'], headline: 'Listing', tool_name: 'skills_tool', tool_args: { method: 'list' } };
		expect(await read('response', envelope)).toContain('2 skills available');
		expect(await read('skills_tool', envelope)).toContain('2 skills available');
	});
	test('C14: what is wrong is a text, never an exception', async () => {
		expect(await read('skills_tool', { method: 'dance' })).toContain(
			'“method” must be one of list, load, read_file, execute_script, search'
		);
		expect(await read('skills_tool', {})).toMatch(/^Error in skills_tool: /);
		expect(await read('skills_tool:load', {})).toContain('“skill_name” must be');
	});
	test('C11: its one tool is offered where it is asked for', async () => {
		expect(await offered({ dialect: 'agent-zero' })).toEqual(['skills_tool']);
	});
});

describe('Skill Tools (S4)', () => {
	test('F10, D24: a tool of a tools.json is called by its name once loaded, and through use_skill before', async () => {
		expect(
			await call('use_skill', { skill: 'count-words', tool: 'count_words', input: { text: 'a b c' } })
		).toMatchObject({ value: { words: 3 } });
		expect(await call('count_words', { text: 'a b' })).toMatchObject({ error: 'UnknownTool' });
		await call('load_skill', { skill: 'count-words' });
		expect(await call('count_words', { text: 'a b' })).toMatchObject({ success: true, value: { words: 2 } });
	});
	test('D24: a tool of a skill that is on is offered from the start', async () => {
		const session = skills.createSession({
			snapshot: skills.registry.snapshot(),
			modeOf: ({ name }) => (name === 'count-words' ? 'on' : 'auto')
		});
		expect(session.tools().map(({ name }) => name)).toContain('count_words');
	});
	test('D25, D26: define_tool makes a tool that can be called at once; remove_tool takes it away', async () => {
		await skills.close();
		await open({ defineTools: { approve: () => true } });
		const tool = {
			name: 'add_up',
			description: 'Adds.',
			parameters: '{"a":{"type":"number"}}',
			code: 'return args.a + 1;'
		};
		expect(skills.tools.map(({ name }) => name)).toContain('define_tool');
		expect(await call('define_tool', tool)).toContain('The tool add_up is defined');
		expect(await call('add_up', { a: 41 })).toMatchObject({ success: true, value: 42 });
		expect(await call('define_tool', { ...tool, name: 'add_two', persistent: 'true' })).toContain(
			'kept as the skill add-two'
		);
		expect(await readFile(join(folder, 'skills/add-two/tools.json'), 'utf8')).toContain('add_two');
		expect(await call('add_two', { a: 1 })).toMatchObject({ value: 2 });
		expect(await call('remove_tool', { name: 'add_two' })).toContain('was removed');
		expect(await call('add_two', { a: 1 })).toMatchObject({ error: 'UnknownTool' });
		expect(await call('remove_tool', { name: 'load_skill' })).toMatchObject({ error: 'InvalidArgs' });
	});
});

describe('OmniRoute (S1)', () => {
	test('B10: each skill is a tool with a name that providers take, and is found by it and by name@version', async () => {
		expect(await offered({ dialect: 'omniroute' })).toEqual(['count-words__1_0_0', 'pdf-editing__1_2_0']);
		for (const name of ['pdf-editing__1_2_0', 'pdf-editing@1.2.0', 'pdf-editing@^1', 'pdf-editing']) {
			expect(await call(name), name).toContain('See references/forms.md.');
		}
		expect(await call('pdf-editing@2')).toMatchObject({ error: 'SkillNotFound' });
	});
	test('B10: with a script it runs it; a skill of one tool is that tool', async () => {
		expect(await call('pdf-editing__1_2_0', { script: 'show.sh', args: ['x'] })).toMatchObject({ stdout: 'x|\n' });
		expect(await call('count-words@1.0.0', { text: 'a b c' })).toMatchObject({ value: { words: 3 } });
		expect(await call('count-words@1.0.0', { tool: 'count_words', input: { text: 'a' } })).toMatchObject({
			value: { words: 1 }
		});
	});
});

test('F10, C12: one dispatcher takes every dialect in one conversation, and says what is no tool', async () => {
	expect(await call('skill_load', { name: 'count-words' })).toContain('Call count_words.');
	expect(await call('skills_tool', { method: 'list' })).toContain('2 skills available');
	expect(await call('load_skill', { skill: 'Count Words' })).toContain('<skill_content name="count-words"');
	expect(await call('count_words', { text: 'one two' })).toMatchObject({ value: { words: 2 } });
	expect(await call('nothing_of_the_kind')).toMatchObject({ success: false, error: 'UnknownTool' });
});

test('B6: a skill that is off is neither offered nor executed', async () => {
	const session = skills.createSession({
		snapshot: skills.registry.snapshot(),
		modeOf: ({ name }) => (name === 'pdf-editing' ? 'off' : 'auto')
	});
	expect(JSON.stringify(session.tools())).not.toContain('pdf-editing');
	const use = (name: string, args: Record<string, unknown>) => session.call(name, args, { cwd: join(folder, 'work') });
	expect((await use('use_skill', { skill: 'pdf-editing', script: 'show.sh' })).output).toContain('SkillDisabled');
	expect((await use('load_skill', { skill: 'pdf_editing' })).output).toContain('SkillDisabled');
	expect((await use('skills_tool', { method: 'list' })).output).not.toContain('pdf-editing');
});

test('B14, B15: a skill that is not allowed does not exist for the model', async () => {
	const session = skills.createSession({ snapshot: skills.registry.snapshot(), allowed: ['count-words'] });
	const { output } = await session.call('load_skill', { skill: 'pdf-editing' }, { cwd: folder });
	expect(JSON.parse(output)).toMatchObject({ error: 'SkillNotFound', hint: 'Available skills: count-words' });
	expect(JSON.stringify(session.tools())).not.toContain('pdf-editing');
});

test('C16: who runs the skills is asked first, and a no is read with its reason', async () => {
	const asked: string[] = [];
	const session = skills.createSession({
		snapshot: skills.registry.snapshot(),
		approve: (operation, skill) => {
			asked.push(`${operation.kind} ${skill.name}`);
			return operation.kind === 'load' || 'not on a Sunday';
		}
	});
	const use = (name: string, args: Record<string, unknown>) => session.call(name, args, { cwd: join(folder, 'work') });
	expect((await use('load_skill', { skill: 'count-words' })).ok).toBe(true);
	for (const outcome of [
		await use('use_skill', { skill: 'pdf-editing', script: 'show.sh' }),
		await use('count_words', { text: 'a' }),
		await use('use_skill', { skill: 'count-words', tool: 'count_words', args: { text: 'a' } })
	]) {
		expect(outcome).toMatchObject({ ok: false, output: expect.stringContaining('not on a Sunday') as string });
	}
	expect(asked).toEqual(['load count-words', 'run pdf-editing', 'tool count-words', 'tool count-words']);
});

test('B11, B17: the same tools in the shapes of other APIs', () => {
	expect(skills.chatTools[0]).toMatchObject({ type: 'function', function: { name: 'load_skill' } });
	expect(skills.anthropicTools[0]).toMatchObject({ name: 'load_skill', input_schema: { type: 'object' } });
	expect(skills.geminiTools[0]?.functionDeclarations.map(({ name }) => name)).toEqual(['load_skill', 'use_skill']);
});
