import { BUNDLED_SKILLS } from '../../src/lib/server/skill-admin/skill-counts.ts';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { load, FAILSAFE_SCHEMA } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { readEvals } from '../../src/lib/server/evals/evals-file.ts';
import { runSkill, SKILLS } from './run-skill.ts';

const names = readdirSync(SKILLS);

interface FrontMatter {
	name: string;
	description: string;
	compatibility?: string;
	metadata?: Record<string, unknown>;
}

function readSkill(name: string): { frontMatter: FrontMatter; body: string; commands: string[] } {
	const text = readFileSync(join(SKILLS, name, 'SKILL.md'), 'utf8');
	const [, front = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
	const commands = [...body.matchAll(/^```\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n'));
	return { frontMatter: load(front, { schema: FAILSAFE_SCHEMA }) as FrontMatter, body, commands };
}

const commands = names.flatMap((skill) =>
	readSkill(skill).commands.map((line) => ({ skill, line, script: `${skill}/${line.split(' ')[0]}` }))
);
const scripts = [...new Set(commands.map(({ script }) => script))];

describe('bundled skills', () => {
	it('E33: they are those that the list of skills calls bundled, discord, weather and count-words among them', () => {
		expect(names.toSorted()).toEqual(BUNDLED_SKILLS);
	});

	it.each(names)('A6, A9, A12, A13: the front matter of %s keeps the rules of the standard', (name) => {
		const { frontMatter, body } = readSkill(name);
		expect(frontMatter.name).toBe(name);
		expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
		expect(frontMatter.description).toMatch(/Use when/);
		expect(frontMatter.description.length).toBeLessThanOrEqual(1024);
		expect((frontMatter.compatibility ?? 'x').length).toBeLessThanOrEqual(500);
		for (const value of Object.values(frontMatter.metadata ?? {})) expect(value).toBeTypeOf('string');
		expect(body.split('\n').length).toBeLessThan(500);
	});

	it.each(names)('%s has evals that the app can read, and their files are there', async (name) => {
		const { cases, triggers, problem } = await readEvals({ dir: join(SKILLS, name), name });
		expect(problem).toBeNull();
		expect(cases.length).toBeGreaterThan(0);
		expect(triggers.length).toBeGreaterThan(0);
		const checks = cases.flatMap(({ expectations }) => expectations.map(({ check }) => check?.kind));
		expect(checks).toContain('skillLoaded');
		for (const file of cases.flatMap(({ files }) => files))
			expect(statSync(join(SKILLS, name, file)).isFile()).toBe(true);
	});

	it.each(commands)('$skill: the documented command "$line" starts with a script of the skill', ({ script }) => {
		expect(statSync(join(SKILLS, script)).isFile()).toBe(true);
	});

	it.each(scripts)('%s answers --help on standard output with code 0', async (script) => {
		const help = await runSkill(script, ['--help']);
		expect(help).toMatchObject({ exitCode: 0, stderr: '' });
		expect(help.stdout).toMatch(/usage:/i);
	});

	it.each(scripts)('%s called without arguments says how on standard error and ends with code 2', async (script) => {
		const run = await runSkill(script, []);
		expect(run).toMatchObject({ exitCode: 2, stdout: '' });
		expect(run.stderr).toMatch(/usage:/i);
	});

	it('D48: no skill holds anything but text written for it', () => {
		const files = readdirSync(SKILLS, { recursive: true, encoding: 'utf8' });
		expect(files.filter((file) => /__pycache__|\.pyc$|\.env|node_modules/.test(file))).toEqual([]);
	});
});
