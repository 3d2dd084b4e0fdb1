import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { putFiles, sharedFolder } from '../../../../../tests/support/folder.ts';
import {
	createSkillRegistry,
	listSkillResources,
	readSkillResource,
	renderSkillsBlock,
	skillLoadTool,
	skillResourceTool
} from './drover.ts';
import { parseSkillFile } from '../parser.ts';
import type { SkillSpec } from '../types.ts';

const folder = sharedFolder();
let pdf: SkillSpec;
let plain: SkillSpec;
const FILES = {
	'pdf/SKILL.md': '---\nname: pdf\ndescription: Edit PDFs.\ncompatibility: Needs\n  Python\n---\nUse the scripts.',
	'pdf/scripts/extract.py': 'print(1)',
	'pdf/scripts/deep/inner.py': 'print(2)',
	'pdf/references/forms.md': 'Forms.',
	'pdf/assets/logo.svg': '<svg/>',
	'pdf/LICENSE.txt': 'MIT',
	'pdf/.hidden': 'x',
	'plain/SKILL.md': `---\nname: plain\ndescription: ${'long '.repeat(60)}\n---\nJust read.`
};
beforeAll(async () => {
	await putFiles(folder, FILES);
	pdf = parseSkillFile(FILES['pdf/SKILL.md'], join(folder, 'pdf/SKILL.md'));
	plain = parseSkillFile(FILES['plain/SKILL.md'], join(folder, 'plain/SKILL.md'));
});

test('A31: a registry has what it was given, the first of a name', () => {
	const registry = createSkillRegistry([pdf, plain, { ...pdf, body: 'other' }]);
	expect(registry.list()).toEqual([pdf, plain]);
	expect([registry.get('pdf'), registry.get('ghost'), registry.has('plain'), registry.has('__proto__')]).toEqual([
		pdf,
		undefined,
		true,
		false
	]);
});

test('C8, C10: resources one level deep, by folder, sorted, without hidden ones', async () => {
	expect(await listSkillResources(pdf)).toEqual({
		scripts: ['extract.py'],
		references: ['forms.md'],
		assets: ['logo.svg'],
		other: ['LICENSE.txt']
	});
	expect(await listSkillResources(plain)).toEqual({ scripts: [], references: [], assets: [], other: [] });
});

test('C9: a resource is read, and nothing outside', async () => {
	expect(await readSkillResource(pdf, 'scripts/deep/inner.py')).toBe('print(2)');
	for (const path of ['../plain/SKILL.md', '/etc/passwd', 'scripts/../../plain/SKILL.md']) {
		await expect(readSkillResource(pdf, path), path).rejects.toMatchObject({ type: 'ScriptNotAllowed' });
	}
});

test('C2: skill_load answers with the body, and with what else there is', async () => {
	const registry = createSkillRegistry([pdf, plain]);
	const tool = skillLoadTool({ registry, allowed: ['pdf', 'plain', 'ghost'] });
	expect(tool).toMatchObject({
		name: 'skill_load',
		parameters: { properties: { name: { enum: ['pdf', 'plain', 'ghost'] } } }
	});
	expect(await tool.execute({ name: 'pdf' })).toEqual({
		content:
			'Use the scripts.\n\n---\nThis skill ships 1 script, 1 reference, 1 asset. Call skill_resource(name="pdf") to list them.'
	});
	expect(await tool.execute({ name: 'plain' })).toEqual({ content: 'Just read.' });
	expect(await skillLoadTool({ registry, allowed: ['pdf'], hintResources: false }).execute({ name: 'pdf' })).toEqual({
		content: 'Use the scripts.'
	});
});

test('C2: skill_load gives long instructions in pieces, and says how to read on', async () => {
	const body = `${'a'.repeat(80_000)}b`;
	const tool = skillLoadTool({ registry: createSkillRegistry([{ ...plain, body }]), allowed: ['plain'] });
	const { content } = await tool.execute({ name: 'plain' });
	expect(content).toContain('bytes 0 to 65536 of 80001 of the instructions. Load the skill again with offset 65536');
	const rest = await tool.execute({ name: 'plain', offset: 65_536 });
	expect(rest).toEqual({ content: body.slice(65_536) });
});

test('B14: what is not allowed is denied with the list; what is allowed but not there says that', async () => {
	const tool = skillLoadTool({ registry: createSkillRegistry([pdf, plain]), allowed: ['pdf', 'ghost'] });
	expect(await tool.execute({ name: 'plain' })).toEqual({
		content: 'The skill “plain” isn’t allowed here. Allowed skills: pdf, ghost',
		isError: true
	});
	expect(await tool.execute({ name: 'ghost' })).toMatchObject({
		content: expect.stringContaining('is allowed but wasn’t found') as string,
		isError: true
	});
	expect(await tool.execute({} as { name: string })).toMatchObject({ isError: true });
});

test('C7: skill_resource lists, reads, and tells when there is more', async () => {
	const tool = skillResourceTool({
		registry: createSkillRegistry([pdf, plain]),
		allowed: ['pdf', 'plain'],
		maxBytes: 4
	});
	expect(await tool.execute({ name: 'pdf' })).toEqual({
		content: '- scripts/extract.py\n- references/forms.md\n- assets/logo.svg\n- LICENSE.txt'
	});
	expect(await tool.execute({ name: 'plain' })).toEqual({ content: 'plain has no supporting files.' });
	expect(await tool.execute({ name: 'pdf', resource: 'LICENSE.txt' })).toEqual({ content: 'MIT' });
	expect(await tool.execute({ name: 'pdf', resource: 'references/forms.md' })).toEqual({
		content: 'Form\n\n[truncated: bytes 0 to 4 of 6; call again with offset 4 for more]'
	});
	expect(await tool.execute({ name: 'pdf', resource: 'references/forms.md', offset: 4 })).toEqual({ content: 's.' });
	for (const offset of [-1, 1.5, NaN, '4' as never]) {
		expect((await tool.execute({ name: 'pdf', resource: 'LICENSE.txt', offset })).content).toBe('MIT');
	}
	expect(await tool.execute({ name: 'pdf', resource: '../plain/SKILL.md' })).toMatchObject({ isError: true });
	expect(await tool.execute({ name: 'pdf', resource: 'ghost.md' })).toMatchObject({
		content: expect.stringContaining('references/forms.md') as string,
		isError: true
	});
});

test('B2: the block has a line for each allowed skill, cut to one line', () => {
	const registry = createSkillRegistry([pdf, plain]);
	const block = renderSkillsBlock(registry, ['pdf', 'plain', 'ghost']);
	expect(block).toMatch(/^## Available skills\n\nCall `skill_load\(name="<name>"\)`/);
	expect(block).toContain('- pdf: Edit PDFs.\n  (compatibility: Needs Python)\n- plain: long long');
	expect(block.split('\n').at(-1)).toHaveLength('- plain: '.length + 200);
	expect(renderSkillsBlock(registry, ['ghost'])).toBe('');
});

test('B2, B14: a name that is allowed twice is told once, and no emoji is cut in two', () => {
	const registry = createSkillRegistry([{ ...pdf, description: '😀'.repeat(300) }]);
	const block = renderSkillsBlock(registry, ['pdf', 'pdf']);
	expect(block.match(/^- pdf: (.*)$/gm)).toEqual([`- pdf: ${'😀'.repeat(199)}…`]);
	const { parameters } = skillLoadTool({ registry, allowed: ['pdf', 'pdf'] });
	expect(parameters).toMatchObject({ properties: { name: { enum: ['pdf'] } } });
});
