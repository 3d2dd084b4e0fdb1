import { access, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { createWorkshop, type ToolPreview, type Workshop } from './workshop.ts';

const dir = emptyFolder();
let workshop: Workshop;
let previews: ToolPreview[];
let isApproved: boolean;
let reloads: number;
beforeEach(() => {
	previews = [];
	isApproved = true;
	reloads = 0;
	workshop = createWorkshop({
		dir,
		approve: (preview) => {
			previews.push(preview);
			return isApproved;
		},
		isReserved: (name) => name === 'load_skill',
		reload: () => Promise.resolve((reloads += 1))
	});
});
afterEach(async () => {
	await workshop.close();
});

const shout = (more: Record<string, unknown> = {}) => ({
	name: 'shout_text',
	description: 'Shouts a text.',
	parameters: '{"text":{"type":"string","description":"What"}}',
	code: 'return args.text.toUpperCase();',
	persistent: 'true',
	...more
});
const exists = (path: string) =>
	access(join(dir, path)).then(
		() => true,
		() => false
	);

test('D25: a persistent tool is shown, approved, and written in the documented layout', async () => {
	await workshop.define(shout());
	expect(previews).toMatchObject([{ tool: 'shout_text', skill: 'shout-text', persistent: true, before: null }]);
	expect(JSON.parse(await readFile(join(dir, 'shout-text/tools.json'), 'utf8'))).toMatchObject([
		{ name: 'shout_text', script: 'scripts/shout_text.js' }
	]);
	expect(await readFile(join(dir, 'shout-text/scripts/shout_text.js'), 'utf8')).toContain('args.text.toUpperCase()');
	expect(await readFile(join(dir, 'shout-text/SKILL.md'), 'utf8')).toContain('name: shout-text');
	expect(reloads).toBe(1);
	expect((await readdir(dir)).filter((name) => name.startsWith('.staging'))).toEqual([]);
});

test('D25: what is not approved is not written', async () => {
	isApproved = false;
	await expect(workshop.define(shout())).rejects.toMatchObject({ type: 'ApprovalDenied' });
	expect(await readdir(dir)).toEqual([]);
});

test('D25: one that is not persistent lives with the workshop', async () => {
	await workshop.define(shout({ persistent: 'false' }));
	expect(await readdir(dir)).toEqual([]);
	expect(workshop.passing).toMatchObject([{ name: 'shout-text', source: 'session', tools: [{ name: 'shout_text' }] }]);
	const [skill] = workshop.passing;
	await workshop.close();
	await expect(access(skill?.dir ?? '')).rejects.toThrow();
});

test('D25: a second definition shows what it replaces, and undo brings the first one back', async () => {
	await workshop.define(shout());
	await workshop.define(shout({ code: 'return 2;' }));
	expect(previews[1]?.before?.['scripts/shout_text.js']).toContain('toUpperCase');
	expect(await readFile(join(dir, 'shout-text/scripts/shout_text.js'), 'utf8')).toContain('return 2;');
	expect(await workshop.undo()).toBe(true);
	expect(await readFile(join(dir, 'shout-text/scripts/shout_text.js'), 'utf8')).toContain('toUpperCase');
	expect(await workshop.undo()).toBe(true);
	expect(await exists('shout-text')).toBe(false);
	expect(await workshop.undo()).toBe(false);
});

test('D26: a removed tool goes to the trash, and undo brings it back', async () => {
	await workshop.define(shout());
	await workshop.remove('shout_text');
	expect(await exists('shout-text')).toBe(false);
	await workshop.undo();
	expect(await exists('shout-text/SKILL.md')).toBe(true);
});

test('D26: built-in tools and the skills of others are protected', async () => {
	await expect(workshop.define(shout({ name: 'load_skill' }))).rejects.toThrow('is a built-in tool');
	await expect(workshop.remove('load_skill')).rejects.toThrow('is a built-in tool');
	await mkdir(join(dir, 'shout-text'));
	await writeFile(join(dir, 'shout-text/SKILL.md'), '---\nname: shout-text\ndescription: By hand.\n---\n');
	await expect(workshop.define(shout())).rejects.toThrow('A skill named “shout-text” already exists');
	await expect(workshop.remove('shout_text')).rejects.toMatchObject({ type: 'UnknownTool' });
	for (const name of ['../up', 'ghost', '', '__proto__']) {
		await expect(workshop.remove(name)).rejects.toMatchObject({ type: 'UnknownTool' });
	}
});

test.each([
	[{ parameters: '{' }, 'isn’t valid JSON'],
	[{ parameters: '[]' }, 'must be a JSON object'],
	[{ parameters: '{"a":{"type":"date"}}' }, 'parameters” is wrong'],
	[{ code: '' }, 'The code is empty'],
	[{ name: 'Shout' }, 'isn’t a valid tool name'],
	[{ description: 5 }, '“description” must be text']
])('D25: %j is refused before anyone is asked', async (more, message) => {
	await expect(workshop.define(shout(more))).rejects.toThrow(message);
	expect(previews).toEqual([]);
});
