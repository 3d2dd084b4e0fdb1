/** `openrouter-skills validate|doctor|list|show|search|create <dir>`: the library on a command line (E21). */
import { mkdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { strictIssues } from '../doctor/doctor.ts';
import { skillFiles } from '../make/templates.ts';
import { writeFiles } from '../make/workshop.ts';
import { SkillError } from '../types.ts';
import {
	checkMarketplace,
	count,
	doctor,
	findSkill,
	foldersRead,
	listSkills,
	readSkills,
	searchSkills,
	type Shown,
	showSkill,
	UsageError
} from './read.ts';

/** Output and exit code of a command: 0 done, 1 problems with the skills, 2 wrong usage. */
export interface CliResult {
	exitCode: 0 | 1 | 2;
	stdout: string;
	stderr: string;
}

/** A command from another part of the program. */
export interface CliCommand {
	/** Its line in the help. */
	usage: string;
	/** Names of its text options. */
	options: readonly string[];
	/** Names of its options without a value. */
	flags?: readonly string[];
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

/** Runs one command. Never throws for user errors. */
export async function runCli(
	argv: readonly string[],
	extra: Readonly<Record<string, CliCommand>> = {}
): Promise<CliResult> {
	const usage = usageOf(extra);
	const more = Object.values(extra).flatMap(({ options, flags = [] }) => [
		...options.map((name) => [name, { type: 'string' as const }] as const),
		...flags.map((name) => [name, { type: 'boolean' as const }] as const)
	]);
	try {
		const { values, positionals } = parseArgs({
			args: [...argv],
			allowPositionals: true,
			options: {
				json: { type: 'boolean', default: false },
				help: { type: 'boolean', short: 'h', default: false },
				description: { type: 'string' },
				...Object.fromEntries<{ type: 'string' | 'boolean' }>(more),
				fix: { type: 'boolean', default: false }
			}
		});
		const [command, dir, ...rest] = positionals;
		if (values.help || command === undefined) return { exitCode: values.help ? 0 : 2, ...out(usage, values.help) };
		if (dir === undefined) throw new UsageError(`“${command}” needs a folder.`);
		const print = ({ text, json, hasErrors = false }: Shown & { hasErrors?: boolean }): CliResult => {
			return { exitCode: hasErrors ? 1 : 0, ...out(values.json ? JSON.stringify(json, null, '\t') : text) };
		};
		switch (command) {
			case 'validate':
				return print(await validate(dir));
			case 'doctor':
				return print(await doctor(dir, rest[0], values.fix));
			case 'list':
				return print(await listSkills(dir));
			case 'show':
				return print(showSkill(await findSkill(dir, rest[0])));
			case 'search':
				if (rest.length === 0) throw new UsageError('“search” needs words to search for.');
				return print(await searchSkills(dir, rest.join(' ')));
			case 'create':
				if (rest[0] === undefined) throw new UsageError('“create” needs a name for the skill.');
				return { exitCode: 0, ...out(await createSkill(dir, rest[0], values.description)) };
			default: {
				const found = Object.hasOwn(extra, command) ? extra[command] : undefined;
				if (!found) throw new UsageError(`Unknown command “${command}”.`);
				return print(await found.run(dir, values));
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

// `create`: a new skill folder that passes `validate`.

/** Returns a list of the created files. Never overwrites. @throws UsageError */
async function createSkill(dir: string, name: string, description: string | undefined): Promise<string> {
	if (description === undefined)
		throw new UsageError('“create” needs --description "what it does and when to use it".');
	const folder = join(dir, name);
	try {
		const files = skillFiles({ name, description });
		await mkdir(dir, { recursive: true });
		await mkdir(folder);
		await writeFiles(folder, files);
		return [`Created ${folder}:`, ...Object.keys(files).map((path) => `  ${join(folder, path)}`)].join('\n');
	} catch (error) {
		if (error instanceof SkillError) throw new UsageError([error.message, error.hint].filter(Boolean).join(' '));
		if ((error as NodeJS.ErrnoException).code === 'EEXIST')
			throw new Error(`“${folder}” already exists. Nothing was changed.`, { cause: error });
		throw error;
	}
}

// `validate`: all issues of a folder of skills by the strict rules, with file and line.

/** Violations of the standard are errors here, though the app loads them with a warning. */
async function validate(dir: string): Promise<Shown & { hasErrors: boolean }> {
	const skills = await readSkills(dir);
	const plugins = await checkMarketplace(dir, skills);
	const checked = [
		...skills.map((skill) => ({ name: skill.name, path: skill.path, issues: strictIssues(skill) })),
		...(plugins ? [{ name: 'marketplace.json', ...plugins }] : [])
	];
	const lines = checked.flatMap((skill) =>
		skill.issues.map(({ severity, field, message, file, line, fix }) => {
			const path = file === undefined ? skill.path : join(dirname(skill.path), file);
			const place = `${relative(process.cwd(), path) || path}:${line ?? 1}`;
			return `${place}: ${severity} ${field}: ${message}${fix ? ` (write: ${fix})` : ''}`;
		})
	);
	const all = checked.flatMap(({ issues }) => issues);
	const errors = all.filter(({ severity }) => severity === 'error').length;
	const counts = [count(skills.length, 'skill'), count(errors, 'error'), count(all.length - errors, 'warning')];
	return {
		text: [
			...lines,
			...foldersRead(dir, skills),
			skills.length === 0 ? `No SKILL.md found in ${dir}.` : counts.join(', ')
		].join('\n'),
		json: checked,
		hasErrors: errors > 0 || skills.length === 0
	};
}
