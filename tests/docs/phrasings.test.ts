/** The cases that demo mode is measured with can be met: every command is run and prints what its case claims. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { runCli } from '../../src/lib/server/skills/cli/run-cli.ts';
import { temporaryFolder } from '../skills/run-skill.ts';

const folder = join(import.meta.dirname, '../fixtures/phrasings');

const texts = z.array(z.string().min(1)).min(1);
const outcome = z.union([
	z.strictObject({ output: texts }),
	z.strictObject({ answer: texts }),
	z.enum(['ask', 'nothing'])
]);
const phrasing = z.strictObject({
	skill: z.string().nullable(),
	says: z.union([z.string().min(1), texts]),
	files: z.record(z.string(), z.string()).optional(),
	right: outcome,
	alsoRight: outcome.optional(),
	command: z.union([texts, z.strictObject({ tool: z.string(), input: z.record(z.string(), z.unknown()) })]).optional()
});
type Phrasing = z.infer<typeof phrasing>;

/** Itself: version managers put a program before it that takes longer than most of the scripts. */
const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
const INTERPRETERS: Record<string, string> = {
	'.py': python,
	'.sh': 'bash',
	'.mjs': process.execPath
};
/** Calls the default export of the module in the first argument with the JSON from stdin. */
const CALL = `
	const { text } = await import('node:stream/consumers');
	const module = await import(process.argv[1]);
	console.log(await module.default(JSON.parse(await text(process.stdin))));`;

const read = (name: string): Phrasing[] =>
	z.array(phrasing).parse(JSON.parse(readFileSync(join(folder, name), 'utf8')));
const table = read('table.json');
const heldApart = read('held-apart.json');
const fresh = read('fresh.json');
const nearMisses = read('near-misses.json');
const skills = readdirSync(join(folder, 'skills'));
const heldApartSkills = readdirSync(join(folder, 'skills-held-apart'));
const skillsOf = (cases: Phrasing[]) => new Set(cases.flatMap(({ skill }) => skill ?? []));

describe('the phrasings of the built-in responder', () => {
	test('there are at least 120 in the table, over at least 12 skills, and half as many held apart', () => {
		expect(table.length).toBeGreaterThanOrEqual(120);
		expect([...skillsOf(table)].sort()).toEqual(skills);
		expect(skills.length).toBeGreaterThanOrEqual(12);
		expect(heldApart.length / table.length).toBeGreaterThan(0.4);
		const all = [...table, ...nearMisses, ...heldApart, ...fresh].map(({ says }) => JSON.stringify(says));
		expect(new Set(all).size).toBe(all.length);
	});

	test('a near miss is to be asked about, or fits no skill', () => {
		expect(nearMisses.length).toBeGreaterThanOrEqual(60);
		expect(nearMisses.filter(({ skill, right }) => right !== (skill === null ? 'nothing' : 'ask'))).toEqual([]);
		expect([...skillsOf(nearMisses)].filter((name) => !skills.includes(name))).toEqual([]);
	});

	test('no skill that is held apart is in the table, and each has its cases', () => {
		expect(heldApartSkills.filter((name) => skills.includes(name) || skillsOf(table).has(name))).toEqual([]);
		expect([...skillsOf(heldApart)].sort()).toEqual([...skills, ...heldApartSkills].sort());
	});

	test('a fifth asks for something that must be asked, and for some no skill fits', () => {
		const all = [...table, ...heldApart];
		const share = (right: string) => all.filter((one) => one.right === right).length / all.length;
		expect(share('ask')).toBeGreaterThan(0.18);
		expect(share('nothing')).toBeGreaterThan(0.04);
		expect(all.filter(({ skill, right }) => (skill === null) !== (right === 'nothing'))).toEqual([]);
		expect(all.filter(({ right, command }) => typeof right === 'string' && command)).toEqual([]);
	});

	test.each(['skills', 'skills-held-apart', 'skills-traps'])('the validator finds no error in %s', async (name) => {
		expect(await runCli(['validate', join(folder, name)])).toMatchObject({
			exitCode: 0,
			stdout: expect.stringContaining(' 0 errors') as string
		});
	});

	test.each([
		['table.json', table],
		['held-apart.json', heldApart],
		['fresh.json', fresh]
	])('each output that %s claims is printed by the command beside it', async (_name, cases) => {
		const workspaces = await temporaryFolder();
		const faults = cases.flatMap((one, index) => {
			const expected = typeof one.right === 'object' && 'output' in one.right ? one.right.output : null;
			if (!expected) return [];
			const workspace = join(workspaces, String(index));
			mkdirSync(workspace);
			for (const [name, content] of Object.entries(one.files ?? {})) writeFileSync(join(workspace, name), content);
			const { status, stdout, stderr } = run(one, workspace);
			const isMet = status === 0 && expected.every((text) => stdout.includes(text));
			return isMet ? [] : [{ says: one.says, expected, stdout, stderr }];
		});
		expect(faults).toEqual([]);
	});
});

function run({ skill, command }: Phrasing, cwd: string): { status: number | null; stdout: string; stderr: string } {
	const roots = ['skills', 'skills-held-apart', '../../../skills'].map((each) => join(folder, each, skill!));
	const root = roots.find((each) => existsSync(each))!;
	if (!command) throw new Error(`A case of ${skill} has an output and no command.`);
	const env = { PATH: process.env.PATH, LANG: 'C.UTF-8', PYTHONDONTWRITEBYTECODE: '1' };
	if (Array.isArray(command)) {
		const [script = '', ...args] = command;
		return spawnSync(interpreterOf(script), [join(root, script), ...args], { cwd, env, encoding: 'utf8' });
	}
	const tools = JSON.parse(readFileSync(join(root, 'tools.json'), 'utf8')) as { name: string; script: string }[];
	const script = join(root, tools.find(({ name }) => name === command.tool)!.script);
	const args = extname(script) === '.py' ? [script] : ['--input-type=module', '-e', CALL, script];
	return spawnSync(interpreterOf(script), args, { cwd, env, input: JSON.stringify(command.input), encoding: 'utf8' });
}

function interpreterOf(script: string): string {
	const interpreter = INTERPRETERS[extname(script)];
	if (!interpreter) throw new Error(`No interpreter is known for ${script}.`);
	return interpreter;
}
