/** The known pitfalls of rows B and C, each tried against every dialect that has it. */
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putFiles, sharedFolder } from '../../../../tests/support/folder.ts';
import { createToolNames } from './hosts/adapters.ts';
import { listSkillResources } from './hosts/drover.ts';
import { createSkillsProvider, type SkillsProvider } from './provider.ts';
import { searchSkills } from './find/scores.ts';
import { skillOf } from './skill-of.suite.ts';

const folder = sharedFolder();
let skills: SkillsProvider;
const FILES: Record<string, string | Buffer> = {
	'demo/SKILL.md': '---\nname: demo\ndescription: Shows all.\n---\nUse it.',
	'demo/scripts/fail.sh': 'echo half; echo broken >&2; exit 3\n',
	'demo/scripts/warn.sh': 'echo done; echo careful >&2\n',
	'demo/scripts/office/unpack.py': 'print(1)',
	'demo/references/long.md': `${'€'.repeat(30_000)}end`,
	'demo/assets/logo.png': Buffer.concat([Buffer.from('\x89PNG'), Buffer.alloc(20)]),
	'demo/assets/late.bin': Buffer.concat([Buffer.alloc(5000, 0x61), Buffer.alloc(20)]),
	'demo/data/x.csv': 'a',
	'secret.txt': 'TOP SECRET'
};
beforeAll(async () => {
	await putFiles(folder, FILES);
	for (let index = 0; index < 90; index += 1) {
		await mkdir(join(folder, 'many/notes'), { recursive: true });
		await writeFile(join(folder, `many/notes/n${index}.md`), 'n');
	}
	await writeFile(join(folder, 'many/SKILL.md'), '---\nname: many\ndescription: Has many files.\n---\nRead them.');
	await symlink('../references', join(folder, 'demo/scripts/linked'));
	await symlink('../../secret.txt', join(folder, 'demo/references/out.md'));
	await chmod(join(folder, 'demo/scripts/fail.sh'), 0o755);
	skills = await createSkillsProvider(folder, { cwd: folder });
});
afterAll(async () => {
	await skills.close();
});

/** The text the model would read. */
async function read(name: string, args: Record<string, unknown> = {}): Promise<string> {
	const session = skills.createSession({ snapshot: skills.registry.snapshot() });
	return (await session.call(name, args, { cwd: folder })).output;
}

test('B10: whatever skills are named, their tools have names of 1 to 64 safe characters, no two alike, and lead back', () => {
	const name = fc.oneof(
		fc.string({ unit: 'grapheme', maxLength: 90 }),
		fc.stringMatching(/^[a-z_@.]{0,70}$/),
		fc.constantFrom('a@1.0', 'a__1_0', 'a__1_0_2', 'x'.repeat(64), `${'x'.repeat(64)}y`, '__proto__', 'constructor')
	);
	fc.assert(
		fc.property(fc.array(name, { maxLength: 30 }), (given) => {
			const names = createToolNames(given);
			const wires = given.map((each) => names.toWire(each));
			for (const wire of wires) expect(wire).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
			expect(new Set(wires).size).toBe(new Set(given).size);
			expect(wires.map((wire) => names.fromWire(wire))).toEqual(given);
		}),
		{ numRuns: 1000 }
	);
});

test('C5: each different tag that holds a term is one point, not one for all of them and not one for a repeat', () => {
	const points = (tags: string[], query = 'pdf') => searchSkills([skillOf('x', { tags, body: '' })], query)[0]?.score;
	expect(points(['pdf'])).toBe(1);
	expect(points(['pdf', 'pdf-forms', 'my pdf'])).toBe(3);
	expect(points(['pdf', 'PDF', 'other'])).toBe(1);
	expect(points(['pdf-forms'], 'pdf forms pdf PDF')).toBe(2);
});

test('C5: no more than 25 are found, best first, equals by name; triggers and instructions count less than a tag', () => {
	const many = Array.from({ length: 40 }, (_, index) =>
		skillOf(`s${String(index).padStart(2, '0')}`, { description: index === 30 ? 'pdf' : '', tags: ['pdf'], body: '' })
	);
	const found = searchSkills(many, 'pdf').map(({ skill }) => skill.name);
	expect([found.length, ...found.slice(0, 3)]).toEqual([25, 's30', 's00', 's01']);
	const [tagged, triggered, told] = [{ tags: ['tide'] }, { triggers: ['tide'] }, { body: 'tide' }].map(
		(changes) => searchSkills([skillOf('x', { description: '', body: '', ...changes })], 'tide')[0]?.score ?? 0
	);
	expect(tagged).toBeGreaterThan(triggered ?? 0);
	expect(triggered).toBeGreaterThan(told ?? 0);
	expect(told).toBeGreaterThan(0);
});

describe.each<[string, string, (path: string, offset?: number) => Record<string, unknown>]>([
	['ours', 'read_skill_file', (path, offset) => ({ skill: 'demo', path, offset })],
	['drover', 'skill_resource', (resource, offset) => ({ name: 'demo', resource, offset })],
	['Agent Zero', 'skills_tool', (file_path, offset) => ({ method: 'read_file', skill_name: 'demo', file_path, offset })]
])('a file, read in the words of %s', (_, tool, argumentsOf) => {
	test('C6, C7: one that is too long comes in pieces, and each names the next', async () => {
		let whole = '';
		let pieces = 0;
		for (let offset: number | undefined = 0; offset !== undefined; pieces += 1) {
			const text = await read(tool, argumentsOf('references/long.md', offset));
			const [, piece = '', next] = /^([^]*?)(?:\n\n\[[^\]]* offset (\d+)[^\]]*\])?$/.exec(text) ?? [];
			whole += piece;
			offset = next === undefined ? undefined : Number(next);
		}
		expect(pieces).toBe(2);
		expect(whole).toBe(FILES['demo/references/long.md']);
	});
	test('C6, C7: a NUL in the first 4 KB is refused, not decoded; a later one is only a character, which no model is sent', async () => {
		const refused = await read(tool, argumentsOf('assets/logo.png'));
		expect(refused).toContain('it’s a binary file');
		expect(refused).not.toContain('PNG');
		expect(await read(tool, argumentsOf('assets/late.bin'))).toHaveLength(5000);
	});
	test('C9: a link that leaves the folder is refused, with a hint', async () => {
		const refused = await read(tool, argumentsOf('references/out.md'));
		expect(refused).toContain('it’s a link to a file outside the skill');
		expect(refused).toContain(
			'Only text files of the skill can be read. Use a path from its folder, e.g. references/forms.md'
		);
		expect(refused).not.toContain('SECRET');
	});
});

test('C7, C8: no folder is listed as a file, nor a link to one; what is nested is listed by its path', async () => {
	const spec = skills.registry.snapshot().skills.find(({ name }) => name === 'demo');
	const resources = await listSkillResources(spec ?? { dir: '' });
	expect(resources).toMatchObject({ scripts: ['fail.sh', 'warn.sh'], assets: ['late.bin', 'logo.png'], other: [] });
	for (const text of [
		await read('skill_resource', { name: 'demo' }),
		await read('read_skill_file', { skill: 'demo' })
	]) {
		const lines = text.split('\n');
		expect(lines).toContain('- scripts/office/unpack.py');
		for (const folder of ['scripts', 'scripts/office', 'scripts/linked', 'references', 'data']) {
			expect(lines).not.toContain(`- ${folder}`);
		}
	}
});

test('C10: Agent Zero lists 80 files, and says how many more there are', async () => {
	const text = await read('skills_tool', { method: 'load', skill_name: 'many' });
	expect(text.match(/^- /gm)).toHaveLength(80);
	expect(text).toMatch(/\n… and 11 more$/);
});

test('C13: a script that fails gives both streams and its exit code, whoever’s words it is run in', async () => {
	const run = { skill: 'demo', script: 'fail.sh' };
	const inAgentZero = { method: 'execute_script', skill_name: 'demo', script_path: 'scripts/fail.sh' };
	const drover = skills.createSession({ snapshot: skills.registry.snapshot(), dialect: 'drover' });
	for (const text of [
		await read('use_skill', run),
		await read('skills_tool', inAgentZero),
		await read('demo@1.0.0', { script: 'fail.sh' }),
		(await drover.call('use_skill', run, { cwd: folder })).output
	]) {
		expect(text).toContain('half');
		expect(text).toContain('broken');
		expect(text).toMatch(/exit ?code["\s:]+3/i);
	}
});

test('C13: what a script that succeeds wrote to stderr is read as well', async () => {
	expect(await read('use_skill', { skill: 'demo', script: 'warn.sh' })).toContain('careful');
	const inAgentZero = { method: 'execute_script', skill_name: 'demo', script_path: 'scripts/warn.sh' };
	expect(await read('skills_tool', inAgentZero)).toContain('careful');
});

test.each([
	['load_skill', { skill: 'ghost' }],
	['read_skill_file', { skill: 'demo', path: 'ghost.md' }],
	['read_skill_file', { skill: 'demo', path: '../secret.txt' }],
	['read_skill_file', { skill: 'demo', path: 'assets/logo.png' }],
	['use_skill', { skill: 'demo', script: 'ghost.sh' }],
	['use_skill', { skill: 'demo', script: '../fail.sh' }],
	['use_skill', { skill: 'demo', script: 'data/x.csv' }],
	['use_skill', { skill: 'demo', tool: 'ghost' }],
	['nothing_of_the_kind', {}],
	['skills_tool', { method: 'dance' }]
])('C15: the failure of %s %j has a type, a message and a hint', async (name, args) => {
	expect(await skills.handleToolCall(name, args)).toMatchObject({
		success: false,
		error: expect.stringMatching(/^[A-Z]\w+$/) as string,
		message: expect.stringMatching(/\S/) as string,
		hint: expect.stringMatching(/\S/) as string
	});
});
