/** What other systems got wrong between a skill's folder and its use: real folders and processes. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSkillsProvider, type SkillsProvider } from './provider.ts';

let folder: string;
let skills: SkillsProvider | undefined;
beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'pitfalls-'));
});
afterEach(async () => {
	await skills?.close();
	skills = undefined;
	await rm(folder, { recursive: true, force: true });
});

async function open(files: Record<string, string>): Promise<SkillsProvider> {
	for (const [path, text] of Object.entries(files)) {
		await mkdir(dirname(join(folder, 'skills', path)), { recursive: true });
		await writeFile(join(folder, 'skills', path), text);
	}
	skills = await createSkillsProvider(join(folder, 'skills'), { cwd: join(folder, 'work') });
	return skills;
}
const skillMd = (front: string, body = 'Body') => `---\nname: demo\n${front}\n---\n${body}`;

test.each(['allowed-tools: Read', 'allowed-tools: []', 'tools: [Read]', 'allowed_tools: Read'])(
	'A14, A17: a skill with “%s” runs its script as any other: a wish restricts nothing',
	async (front) => {
		const provider = await open({
			'demo/SKILL.md': skillMd(`description: d\n${front}`),
			'demo/say.sh': 'echo ran\n'
		});
		const result = await provider.handleToolCall('use_skill', { skill: 'demo', script: 'say.sh' });
		expect(result).toMatchObject({ success: true, stdout: 'ran\n' });
	}
);

test('A14: a wish grants nothing: who is asked before a use is asked all the same', async () => {
	const provider = await open({
		'demo/SKILL.md': skillMd('description: d\nallowed-tools: use_skill Bash(*) *'),
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
	const provider = await open({
		'demo/SKILL.md': skillMd('description: d\nmetadata:\n  note: Use when: it rains # or snows\n  nested: [a]')
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
		const provider = await open({ 'demo/SKILL.md': skillMd(`description: ${'d'.repeat(length)}`) });
		const [demo] = provider.registry.snapshot().skills;
		expect(demo?.description).toHaveLength(length);
		expect(demo?.issues).toHaveLength(issues);
		await provider.close();
	}
});

test('A10: without a description the model does not see it; it is listed as broken, its first paragraph offered', async () => {
	const provider = await open({ 'demo/SKILL.md': skillMd('license: MIT', '# Demo\n\nDoes a thing.\n\nMore.') });
	expect(provider.systemPrompt).toBe('');
	expect(provider.registry.snapshot().broken).toMatchObject([
		{ name: 'demo', description: 'Does a thing.', issues: [{ field: 'description', severity: 'error', line: 1 }] }
	]);
});

test('A35, A36: only the tools.json beside the SKILL.md gives tools; a skill without one has none', async () => {
	const manifest = (name: string) => JSON.stringify([{ name, description: 'Does a thing.' }]);
	const provider = await open({
		'demo/SKILL.md': skillMd('description: d'),
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
	const provider = await open({ 'demo/SKILL.md': skillMd('description: d') });
	expect(await provider.handleToolCall('load_skill', { skill: '**Demo**' })).toContain('Body');
	expect(await provider.handleToolCall('load_skill', { skill: 'demoo' })).toMatchObject({
		error: 'SkillNotFound',
		hint: expect.stringContaining('demo') as string
	});
});

test('A38, A39: a bare name, latest and a range are found where a skill states its version and where it states none', async () => {
	const provider = await open({
		'demo/SKILL.md': skillMd('description: d'),
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
