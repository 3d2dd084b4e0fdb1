/** `openrouter-skills validate|doctor|list|show|search|create <dir>`: the library on a command line (FEATURES E21). */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { strictIssues } from '../doctor/mend.ts';
import { skillFiles } from '../make/templates.ts';
import { SkillError } from '../types.ts';
import { doctor, findSkill, listSkills, readSkills, searchSkills, type Shown, showSkill, UsageError } from './read.ts';

/** What a command printed, and the code to end with: 0 done, 1 something is wrong with the skills, 2 a wrong call. */
export interface CliResult {
	exitCode: 0 | 1 | 2;
	stdout: string;
	stderr: string;
}

/** A command that another part of the program brings. */
export interface CliCommand {
	/** Its line in the list of commands. */
	usage: string;
	/** Options that take a text. */
	options: readonly string[];
	run(
		dir: string,
		values: Readonly<Record<string, unknown>>
	): Promise<{ text: string; json: unknown; hasErrors: boolean }>;
}

const usageOf = (extra: Readonly<Record<string, CliCommand>>) => `Usage: openrouter-skills <command> <dir> …

  validate <dir>                  list every problem as file:line; exit 1 on errors
  doctor <dir> [name] [--fix]     show problems with a diff of the fix; --fix applies it and keeps the old file
  list <dir>                      list skills, and why some are broken
  show <dir> <name>               show one skill: details, files, instructions
  search <dir> <words>…           find skills, best match first
  create <dir> <name> --description "…"   create a skill
${Object.values(extra)
	.map(({ usage }) => `  ${usage}\n`)
	.join('')}
<dir> is a folder of skills, or for validate, doctor and show also the folder of one skill.

Options: --json (not for create), --help`;

/** Runs one command. Never throws for what a user can do wrong. */
export async function runCli(
	argv: readonly string[],
	extra: Readonly<Record<string, CliCommand>> = {}
): Promise<CliResult> {
	const usage = usageOf(extra);
	const more = Object.values(extra).flatMap(({ options }) => options);
	try {
		const { values, positionals } = parseArgs({
			args: [...argv],
			allowPositionals: true,
			options: {
				json: { type: 'boolean', default: false },
				help: { type: 'boolean', short: 'h', default: false },
				description: { type: 'string' },
				...Object.fromEntries(more.map((name) => [name, { type: 'string' as const }])),
				fix: { type: 'boolean', default: false }
			}
		});
		const [command, dir, ...rest] = positionals;
		if (values.help || command === undefined) return { exitCode: values.help ? 0 : 2, ...out(usage, values.help) };
		if (dir === undefined) throw new UsageError(`“${command}” needs a folder.`);
		switch (command) {
			case 'validate': {
				const { text, json, hasErrors } = await validate(dir);
				return { exitCode: hasErrors ? 1 : 0, ...out(values.json ? toJson(json) : text) };
			}
			case 'doctor': {
				const { text, json, hasErrors } = await doctor(dir, rest[0], values.fix);
				return { exitCode: hasErrors ? 1 : 0, ...out(values.json ? toJson(json) : text) };
			}
			case 'list': {
				const { text, json } = await listSkills(dir);
				return { exitCode: 0, ...out(values.json ? toJson(json) : text) };
			}
			case 'show': {
				const { text, json } = showSkill(await findSkill(dir, rest[0]));
				return { exitCode: 0, ...out(values.json ? toJson(json) : text) };
			}
			case 'search': {
				if (rest.length === 0) throw new UsageError('“search” needs words to search for.');
				const { text, json } = await searchSkills(dir, rest.join(' '));
				return { exitCode: 0, ...out(values.json ? toJson(json) : text) };
			}
			case 'create': {
				if (rest[0] === undefined) throw new UsageError('“create” needs a name for the skill.');
				return { exitCode: 0, ...out(await createSkill(dir, rest[0], values.description)) };
			}
			default: {
				const found = Object.hasOwn(extra, command) ? extra[command] : undefined;
				if (!found) throw new UsageError(`Unknown command “${command}”.`);
				const { text, json, hasErrors } = await found.run(dir, values);
				return { exitCode: hasErrors ? 1 : 0, ...out(values.json ? toJson(json) : text) };
			}
		}
	} catch (error) {
		const isUsage = error instanceof UsageError || (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS');
		if (!isUsage) return { exitCode: 1, ...out((error as Error).message, false) };
		return { exitCode: 2, ...out(`${(error as Error).message}\n\n${usage}`, false) };
	}
}

function out(text: string, isResult = true): Pick<CliResult, 'stdout' | 'stderr'> {
	const line = text.endsWith('\n') ? text : `${text}\n`;
	return { stdout: isResult ? line : '', stderr: isResult ? '' : line };
}

function toJson(value: unknown): string {
	return JSON.stringify(value, null, '\t');
}

// `create`: a new skill folder that passes `validate` as it is.

/** Says what was made. Nothing is ever overwritten. @throws UsageError */
async function createSkill(dir: string, name: string, description: string | undefined): Promise<string> {
	if (description === undefined)
		throw new UsageError('“create” needs --description "what it does and when to use it".');
	const folder = join(dir, name);
	try {
		const files = skillFiles({ name, description });
		await mkdir(dir, { recursive: true });
		await mkdir(folder);
		for (const [path, text] of Object.entries(files)) {
			await mkdir(dirname(join(folder, path)), { recursive: true });
			await writeFile(join(folder, path), text, { flag: 'wx' });
		}
		return [`Created ${folder}:`, ...Object.keys(files).map((path) => `  ${join(folder, path)}`)].join('\n');
	} catch (error) {
		if (error instanceof SkillError) throw new UsageError([error.message, error.hint].filter(Boolean).join(' '));
		if ((error as NodeJS.ErrnoException).code === 'EEXIST')
			throw new Error(`“${folder}” already exists. Nothing was changed.`, { cause: error });
		throw error;
	}
}

// `validate`: every fault of a folder of skills by the strict rules, with file and line.

/** What the standard forbids is an error here, though the app would load it with a warning. */
async function validate(dir: string): Promise<Shown & { hasErrors: boolean }> {
	const skills = await readSkills(dir);
	const checked = skills.map((skill) => ({ skill, issues: strictIssues(skill) }));
	const lines = checked.flatMap(({ skill, issues }) =>
		issues.map(({ severity, field, message, file, line, fix }) => {
			const path = file === undefined ? skill.path : join(skill.dir, file);
			const place = `${relative(process.cwd(), path) || path}:${line ?? 1}`;
			return `${place}: ${severity} ${field}: ${message}${fix ? ` (write: ${fix})` : ''}`;
		})
	);
	const all = checked.flatMap(({ issues }) => issues);
	const errors = all.filter(({ severity }) => severity === 'error').length;
	const count = `${skills.length} skill${skills.length === 1 ? '' : 's'}, ${errors} error${errors === 1 ? '' : 's'}, ${all.length - errors} warning${all.length - errors === 1 ? '' : 's'}`;
	return {
		text: [...lines, skills.length === 0 ? `No SKILL.md found in ${dir}.` : count].join('\n'),
		json: checked.map(({ skill, issues }) => ({ name: skill.name, path: skill.path, issues })),
		hasErrors: errors > 0 || skills.length === 0
	};
}
