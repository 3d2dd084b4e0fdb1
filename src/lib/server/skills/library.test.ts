/** The whole library, on folders on disk. */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFiles } from '../../../../tests/support/folder.ts';
import { createSkillsProvider, type SkillsProvider, type SkillsProviderOptions } from './provider.ts';

const folder = emptyFolder();
let skills: SkillsProvider | undefined;
afterEach(async () => {
	await skills?.close();
	skills = undefined;
});

const put = (files: Record<string, string>) => putFiles(folder, files);
async function open(roots: Parameters<typeof createSkillsProvider>[0], options: SkillsProviderOptions = {}) {
	skills = await createSkillsProvider(roots, { cwd: join(folder, 'work'), ...options });
	return skills;
}
const at = (path: string) => join(folder, path);
const skillMd = (name: string, more = '') =>
	`---\nname: ${name}\ndescription: What ${name} does.\n${more}---\nBody of ${name}.\n`;

test('A19: a skill is the standard\u2019s record, and what we add to it', async () => {
	await put({
		'skills/demo/SKILL.md': skillMd(
			'demo',
			'license: MIT\ncompatibility: Any\nallowed-tools: Read Bash(git:*)\nversion: 2.0.0\nmetadata:\n  a: b\nx-own: 1\n'
		),
		'skills/demo/scripts/run.sh': 'true'
	});
	const { registry } = await open(at('skills'));
	expect(registry.snapshot().skills[0]).toMatchObject({
		...{ name: 'demo', description: 'What demo does.', license: 'MIT', compatibility: 'Any', metadata: { a: 'b' } },
		...{ allowedTools: 'Read Bash(git:*)', body: 'Body of demo.', extra: { 'x-own': '1', version: '2.0.0' } },
		...{ path: at('skills/demo/SKILL.md'), dir: at('skills/demo'), root: at('skills'), source: 'skills' },
		...{ status: 'ready', version: '2.0.0', tags: [], triggers: [], tools: [], scripts: ['scripts/run.sh'] },
		...{ files: ['SKILL.md', 'scripts/run.sh'], digest: expect.stringMatching(/^[0-9a-f]{16}$/) as string }
	});
});

test('A1, A25, A26: skills lie at any depth; what is inside of one is its files', async () => {
	await put({
		'skills/top/SKILL.md': skillMd('top'),
		'skills/top/inner/SKILL.md': skillMd('inner'),
		'skills/group/deeper/low/SKILL.md': skillMd('low'),
		'skills/top/tool.py': 'print(1)'
	});
	const { skillNames, registry } = await open(at('skills'));
	expect(skillNames).toEqual(['low', 'top']);
	expect(registry.snapshot().skills[1]?.files).toEqual(['SKILL.md', 'inner/SKILL.md', 'tool.py']);
});

test('A30, A28: of several folders the first one wins, and the other skill is reached as source/name', async () => {
	await put({
		'mine/fetch/SKILL.md': skillMd('fetch', 'tags: mine\n'),
		'theirs/fetch/SKILL.md': skillMd('fetch'),
		'theirs/other/SKILL.md': skillMd('other')
	});
	const provider = await open([at('mine'), { path: at('theirs'), source: 'shared' }, at('absent')]);
	expect(provider.skillNames).toEqual(['fetch', 'other']);
	expect(await provider.handleToolCall('skills_tool', { method: 'load', skill_name: 'fetch' })).toContain(
		'Source: mine'
	);
	expect(await provider.handleToolCall('skills_tool', { method: 'load', skill_name: 'shared/fetch' })).toContain(
		'Source: shared'
	);
});

test('A38, A39: versions of a skill lie side by side; a name is the newest, name@range the newest in it', async () => {
	const handler = (version: string) => ({
		[`skills/fetch-${version}/SKILL.md`]: skillMd('fetch', `version: ${version}\n`),
		[`skills/fetch-${version}/say.sh`]: `echo ${version}\n`
	});
	await put({ ...handler('1.0.0'), ...handler('1.4.0'), ...handler('2.0.0') });
	const provider = await open(at('skills'));
	const say = async (skill: string) => provider.handleToolCall('use_skill', { skill, script: 'say.sh' });
	expect(await say('fetch')).toMatchObject({ stdout: '2.0.0\n' });
	expect(await say('fetch@^1.0.0')).toMatchObject({ stdout: '1.4.0\n' });
	expect(await say('fetch@1.0.0')).toMatchObject({ stdout: '1.0.0\n' });
	expect(await say('fetch@^3')).toMatchObject({ error: 'SkillNotFound' });
	expect(
		provider.registry.snapshot().shadowed.flatMap(({ issues }) => issues.filter(({ field }) => field === 'name'))
	).not.toContainEqual(expect.objectContaining({ message: expect.stringContaining('already defined') as string }));
});

test('B4: three tiers: the prompt names a skill, loading gives its instructions, a file comes when it is asked for', async () => {
	await put({ 'skills/demo/SKILL.md': skillMd('demo'), 'skills/demo/references/more.md': 'The small print.' });
	const provider = await open(at('skills'));
	expect(provider.systemPrompt).toContain('### demo\nWhat demo does.');
	expect(provider.systemPrompt).not.toContain('Body of demo.');
	const loaded = await provider.handleToolCall('load_skill', { skill: 'demo' });
	expect(loaded).toContain('Body of demo.');
	expect(loaded).toContain('references/more.md');
	expect(loaded).not.toContain('The small print.');
	expect(await provider.handleToolCall('read_skill_file', { skill: 'demo', path: 'references/more.md' })).toBe(
		'The small print.'
	);
});

describe('A41', () => {
	test('A41: a root of one owner is seen by that owner alone', async () => {
		await put({ 'all/common/SKILL.md': skillMd('common'), 'ada/own/SKILL.md': skillMd('own') });
		const provider = await open([at('all'), { path: at('ada'), source: 'ada', owner: 'ada' }]);
		const load = async (owner: string | undefined) => {
			const session = provider.createSession({ snapshot: provider.registry.snapshot(), owner });
			return (await session.call('load_skill', { skill: 'own' }, { cwd: folder })).ok;
		};
		expect([await load('ada'), await load('bob'), await load(undefined)]).toEqual([true, false, false]);
	});
});

test('A34: what was read is kept: a second look at the library reads no file again', async () => {
	await put({ 'skills/demo/SKILL.md': skillMd('demo') });
	const provider = await open(at('skills'));
	const [before] = provider.registry.snapshot().skills;
	expect(provider.registry.snapshot().skills[0]).toBe(before);
	await rm(at('skills/demo'), { recursive: true });
	expect(await provider.handleToolCall('load_skill', { skill: 'demo' })).toContain('Body of demo.');
	await provider.reload();
	expect(await provider.handleToolCall('load_skill', { skill: 'demo' })).toMatchObject({ error: 'SkillNotFound' });
});

test('D25: what was defined for good is there at the next start', async () => {
	await mkdir(at('skills'), { recursive: true });
	const first = await open(at('skills'), { defineTools: { approve: () => true } });
	const tool = {
		name: 'twice',
		description: 'Doubles.',
		parameters: '{"n":{"type":"number"}}',
		code: 'return args.n * 2;',
		persistent: 'true'
	};
	await first.handleToolCall('define_tool', tool);
	expect(await readFile(at('skills/twice/SKILL.md'), 'utf8')).toContain('generator: define_tool');
	await first.close();
	const second = await open(at('skills'));
	expect(await second.handleToolCall('use_skill', { skill: 'twice', tool: 'twice', input: { n: 21 } })).toMatchObject({
		value: 42
	});
});

// What other systems got wrong between a skill's folder and its use.

const demoMd = (front: string, body = 'Body') => `---\nname: demo\n${front}\n---\n${body}`;
async function openFiles(files: Record<string, string>): Promise<SkillsProvider> {
	await putFiles(at('skills'), files);
	return open(at('skills'));
}

test.each(['allowed-tools: Read', 'allowed-tools: []', 'tools: [Read]', 'allowed_tools: Read'])(
	'A14, A17: a skill with “%s” runs its script as any other: a wish restricts nothing',
	async (front) => {
		const provider = await openFiles({
			'demo/SKILL.md': demoMd(`description: d\n${front}`),
			'demo/say.sh': 'echo ran\n'
		});
		const result = await provider.handleToolCall('use_skill', { skill: 'demo', script: 'say.sh' });
		expect(result).toMatchObject({ success: true, stdout: 'ran\n' });
	}
);

test('A14: a wish grants nothing: who is asked before a use is asked all the same', async () => {
	const provider = await openFiles({
		'demo/SKILL.md': demoMd('description: d\nallowed-tools: use_skill Bash(*) *'),
		'demo/say.sh': 'echo ran\n'
	});
	const asked: string[] = [];
	const session = provider.createSession({
		snapshot: provider.registry.snapshot(),
		approve: (_operation, skill) => {
			asked.push(skill.name);
			return false;
		}
	});
	const { ok } = await session.call('use_skill', { skill: 'demo', script: 'say.sh' }, { cwd: folder });
	expect({ ok, asked }).toEqual({ ok: false, asked: ['demo'] });
});

test('A5, A13: a skill with a fault in its metadata is in the library, with the line of the fault', async () => {
	const provider = await openFiles({
		'demo/SKILL.md': demoMd('description: d\nmetadata:\n  note: Use when: it rains # or snows\n  nested: [a]')
	});
	const { skills: ready, broken } = provider.registry.snapshot();
	expect(broken).toEqual([]);
	expect(ready[0]?.metadata.note).toBe('Use when: it rains');
	expect(ready[0]?.issues.map(({ field, severity, line }) => [field, severity, line])).toEqual([
		['metadata', 'warning', 6],
		['_', 'warning', 5]
	]);
});

test('A9: descriptions of 501, 1,024 and 1,068 characters are each in the library; only the last with a warning', async () => {
	for (const [length, issues] of [
		[501, 0],
		[1024, 0],
		[1068, 1]
	] as const) {
		const provider = await openFiles({ 'demo/SKILL.md': demoMd(`description: ${'d'.repeat(length)}`) });
		const [demo] = provider.registry.snapshot().skills;
		expect(demo?.description).toHaveLength(length);
		expect(demo?.issues).toHaveLength(issues);
		await provider.close();
	}
});

test('A10: without a description the model does not see it; it is listed as broken, its first paragraph offered', async () => {
	const provider = await openFiles({ 'demo/SKILL.md': demoMd('license: MIT', '# Demo\n\nDoes a thing.\n\nMore.') });
	expect(provider.systemPrompt).toBe('');
	expect(provider.registry.snapshot().broken).toMatchObject([
		{ name: 'demo', description: 'Does a thing.', issues: [{ field: 'description', severity: 'error', line: 1 }] }
	]);
});

test('A35, A36: only the tools.json beside the SKILL.md gives tools; a skill without one has none', async () => {
	const manifest = (name: string) => JSON.stringify([{ name, description: 'Does a thing.' }]);
	const provider = await openFiles({
		'demo/SKILL.md': demoMd('description: d'),
		'demo/tools.json': manifest('own_tool'),
		'demo/scripts/tools.json': manifest('deep_tool'),
		'plain/SKILL.md': '---\nname: plain\ndescription: d\n---\nOnly words.',
		'plain/references/tools.json': manifest('other_tool')
	});
	const { skills: ready } = provider.registry.snapshot();
	expect(ready.map(({ name, tools }) => [name, tools.map((tool) => tool.name)])).toEqual([
		['demo', ['own_tool']],
		['plain', []]
	]);
	expect(await provider.handleToolCall('load_skill', { skill: 'plain' })).toContain('Only words.');
});

test('A37: a name that is not there is answered with the nearest', async () => {
	const provider = await openFiles({ 'demo/SKILL.md': demoMd('description: d') });
	expect(await provider.handleToolCall('load_skill', { skill: '**Demo**' })).toContain('Body');
	expect(await provider.handleToolCall('load_skill', { skill: 'demoo' })).toMatchObject({
		error: 'SkillNotFound',
		hint: expect.stringContaining('demo') as string
	});
});

test('A38, A39: a bare name, latest and a range are found where a skill states its version and where it states none', async () => {
	const provider = await openFiles({
		'demo/SKILL.md': demoMd('description: d'),
		'other/SKILL.md': '---\nname: other\ndescription: d\nversion: "0.1.3"\n---\nOther.'
	});
	const load = async (skill: string) => typeof (await provider.handleToolCall('load_skill', { skill })) === 'string';
	for (const name of [
		'demo',
		'demo@1.0.0',
		'demo@latest',
		'demo@*',
		'demo@^1',
		'demo@>=1.0.0',
		'other',
		'other@^0.1.0'
	]) {
		expect(await load(name), name).toBe(true);
	}
	for (const name of ['demo@2', 'demo@<=0.9.0', 'other@^0.2.0']) expect(await load(name), name).toBe(false);
});
