/** `openrouter-skills validate|doctor|list|show|search|create <dir>`: the library on a command line (E21). */
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, relative, basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { strictIssues, applyFixes, diagnose, type Diagnosis } from '../doctor/doctor.ts';
import { skillFiles } from '../make/templates.ts';
import { writeFiles } from '../make/workshop.ts';
import { SkillError, type BrokenSkill, type Skill, type SkillIssue } from '../types.ts';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { z } from 'zod';
import { lineDiff } from '../doctor/words.ts';
import { scoreSkill } from '../find/scores.ts';
import { createSkillIndex } from '../find/skill-index.ts';
import { estimateTokens } from '../../../shared/characters.ts';
import { SKILL_FILES } from '../read/folder-walk.ts';
import { scanRoots } from '../read/scanner.ts';

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

// The commands `list`, `show`, `search` and `doctor`.

/** Output for people and for programs. */
interface Shown {
	text: string;
	json: unknown;
}

/** The skills of a folder of skills, or the one skill whose folder it is. */
export async function readSkills(dir: string): Promise<(Skill | BrokenSkill)[]> {
	const folder = resolve(dir);
	const entry = await stat(folder).catch(() => null);
	if (!entry?.isDirectory()) throw new UsageError(`Folder not found: “${dir}”.`);
	const isSkill = SKILL_FILES.some((name) => existsSync(join(folder, name)));
	if (!isSkill) return scanRoots([folder], { withHidden: true });
	return (await scanRoots([dirname(folder)], { withHidden: true })).filter((skill) => skill.dir === folder);
}

// The list of plugins in a collection, as Claude Code reads it.

/** Relative to the collection. */
const MARKETPLACE = '.claude-plugin/marketplace.json';
const marketplace = z.object({
	metadata: z.object({ pluginRoot: z.string().optional() }).optional(),
	plugins: z.array(
		z.object({
			name: z.string(),
			/** A folder, or a place elsewhere. */
			source: z.union([z.string(), z.looseObject({})]),
			skills: z.union([z.string().transform((path) => [path]), z.array(z.string())]).optional()
		})
	)
});

/** What the list of plugins names and isn't there; null without a list. */
async function checkMarketplace(
	dir: string,
	skills: readonly (Skill | BrokenSkill)[]
): Promise<{ path: string; issues: SkillIssue[] } | null> {
	const path = join(resolve(dir), MARKETPLACE);
	if (!existsSync(path)) return null;
	const issues: SkillIssue[] = [];
	const issue = (field: string, message: string, severity: SkillIssue['severity'] = 'error') =>
		issues.push({ field, message, severity });
	const read = marketplace.safeParse(parsed(path));
	for (const { path: at } of read.error?.issues ?? [])
		issue(at.join('.') || '_', 'isn’t what a list of plugins has here');
	const real = (folder: string) => (existsSync(folder) ? realpathSync(folder) : folder);
	const dirs = skills.map((skill) => real(skill.dir));
	const { metadata: shared, plugins = [] } = read.data ?? {};
	const root = resolve(dir, shared?.pluginRoot ?? '.');
	for (const { name, source, skills: named = [] } of plugins) {
		if (typeof source !== 'string') {
			issue(name, 'is in another place, so its skills aren’t checked', 'warning');
			continue;
		}
		const folder = join(root, source);
		if (!existsSync(folder)) issue(name, `has no folder ${source}`);
		else
			for (const wanted of named.map((each) => join(folder, each))) {
				if (dirs.some((found) => `${found}/`.startsWith(`${real(wanted)}/`))) continue;
				issue(name, `names ${relative(resolve(dir), wanted)}, which has no skill`);
			}
	}
	return { path, issues };
}

function parsed(path: string): unknown {
	try {
		return JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
	} catch {
		return null;
	}
}

/** One line per folder with skills, for a collection that has several. */
function foldersRead(dir: string, skills: readonly (Skill | BrokenSkill)[]): string[] {
	const folders = [...new Set(skills.map((skill) => dirname(skill.dir)))];
	if (folders.length < 2) return [];
	return folders.map((folder) => {
		const found = skills.filter((skill) => dirname(skill.dir) === folder).map((skill) => basename(skill.dir));
		return `Read ${count(found.length, 'skill')} in ${relative(resolve(dir), folder) || '.'}: ${found.join(', ')}`;
	});
}

async function listSkills(dir: string): Promise<Shown> {
	const skills = await readSkills(dir);
	const lines = skills.map((skill) => {
		const problem = skill.issues[0]?.message ?? 'unknown reason';
		return `${skill.name}  ${skill.status === 'broken' ? `BROKEN: ${problem}` : skill.description}`;
	});
	const broken = skills.filter((skill) => skill.status === 'broken').length;
	const count = `${skills.length - broken} ready${broken > 0 ? `, ${broken} broken` : ''}`;
	return { text: [...lines, count].join('\n'), json: skills.map(summary) };
}

/** @throws UsageError naming the skills there are */
export async function findSkill(dir: string, name: string | undefined): Promise<Skill | BrokenSkill> {
	const skills = await readSkills(dir);
	if (name === undefined && skills.length === 1 && skills[0]) return skills[0];
	const found = skills.find((skill) => skill.name === name || basename(skill.dir) === name);
	if (found) return found;
	const names = skills.map((skill) => skill.name).join(', ') || '(none)';
	throw new UsageError(
		name === undefined ? `Which skill? Available: ${names}` : `No skill named “${name}”. Available: ${names}`
	);
}

function showSkill(skill: Skill | BrokenSkill): Shown {
	const issues = skill.issues.map(({ severity, field, message }) => `  ${severity} ${field}: ${message}`);
	if (skill.status === 'broken') {
		return { text: [`${skill.name} (broken)`, skill.path, ...issues].join('\n'), json: skill };
	}
	const facts = [
		['Description', skill.description],
		['Path', skill.path],
		['License', skill.license],
		['Compatibility', skill.compatibility],
		['Tools', skill.tools.map((tool) => tool.name).join(', ')],
		['Files', skill.files.join(', ')],
		['Tokens', String(estimateTokens(skill.body))]
	].flatMap(([label, value]) => (value ? [`${label}: ${value}`] : []));
	return { text: [skill.name, ...facts, ...issues, '', skill.body].join('\n'), json: skill };
}

async function searchSkills(dir: string, query: string): Promise<Shown> {
	const ready = (await readSkills(dir)).filter((skill) => skill.status === 'ready');
	const found = createSkillIndex(ready)
		.rank(query, 25)
		.map(({ skill }) => ({ skill, ...scoreSkill(query, skill) }));
	const lines = found.map(({ skill, score }) => `${String(score).padStart(3)}  ${skill.name}  ${skill.description}`);
	return {
		text: lines.length > 0 ? lines.join('\n') : `No skills match “${query}”.`,
		json: found.map(({ skill, score, signals }) => ({ ...summary(skill), score, signals }))
	};
}

function summary(skill: Skill | BrokenSkill): Record<string, unknown> {
	const { name, description, status, path, issues } = skill;
	return { name, description, status, path: relative(process.cwd(), path), issues };
}

// `doctor`: the problems of skills, with a diff of the fixes; `--fix` applies them (F1).

/** `failure` says why a skill couldn't be fixed. */
interface Treated extends Diagnosis {
	failure?: string;
}

async function doctor(dir: string, name: string | undefined, fixes: boolean): Promise<Shown & { hasErrors: boolean }> {
	const skills = name === undefined ? await readSkills(dir) : [await findSkill(dir, name)];
	const treated: Treated[] = [];
	for (const skill of skills) treated.push(await treat(skill, fixes));
	const issues = treated.flatMap((each) => each.issues);
	const errors = issues.filter(({ severity }) => severity === 'error').length;
	const fixable = treated.filter(({ fixed }) => fixed !== null).length;
	const failures = treated.filter(({ failure }) => failure !== undefined).length;
	const counts = [count(skills.length, 'skill'), count(errors, 'error'), count(issues.length - errors, 'warning')];
	const advice =
		fixable > 0 && !fixes ? `\nRun again with --fix to fix ${count(fixable, 'file')}. The old text is kept.` : '';
	const end = skills.length === 0 ? `No SKILL.md found in ${dir}.` : counts.join(', ') + advice;
	return {
		text: [...treated.flatMap(linesOf), end].join('\n'),
		json: treated.map((diagnosis) => ({
			...diagnosis,
			issues: diagnosis.issues.map(({ after: _after, ...issue }) => issue)
		})),
		hasErrors: errors > 0 || failures > 0 || skills.length === 0
	};
}

async function treat(skill: Skill | BrokenSkill, fixes: boolean): Promise<Treated> {
	const { name, status, path, dir, issues } = skill;
	// A folder that can't be searched has no SKILL.md to fix.
	if (path === dir) {
		const found = issues.map((issue) => ({ ...issue, fixId: null, after: null }));
		return { name, status, path, issues: found, fixed: null, digest: '' };
	}
	const diagnosis = await diagnose(dir);
	if (!fixes || !diagnosis.fixed) return diagnosis;
	try {
		return await applyFixes(dir, { digest: diagnosis.digest });
	} catch (error) {
		return { ...diagnosis, failure: (error as Error).message };
	}
}

function linesOf({ path, issues, fixed, keptAs, failure }: Treated): string[] {
	const place = relative(process.cwd(), path) || path;
	const found = issues.map(({ severity, field, message, file, line, fixId }) => {
		const end = fixId === null ? '' : ` [fix available: ${fixId}]`;
		const where = file === undefined ? place : join(dirname(place), file);
		return `${where}:${line ?? 1}: ${severity} ${field}: ${message}${end}`;
	});
	return [
		...(keptAs ? [`${place}: fixed, old text kept in ${keptAs}`] : []),
		...(failure === undefined ? [] : [`${place}: not fixed: ${failure}`]),
		...found,
		...(fixed ? lineDiff(fixed.before, fixed.after).map((line) => `    ${line}`) : [])
	];
}

function count(number: number, noun: string): string {
	return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Wrong usage of a command: exit code 2. */
export class UsageError extends Error {
	override readonly name = 'UsageError';
}
