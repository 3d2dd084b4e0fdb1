/** Turns a model's arguments into argv, environment and stdin of a process (D2–D4). */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { removeFolder } from '../../foreign-folders.ts';
import type { Sandbox, SandboxLimits } from '../../sandbox/sandbox.ts';
import { declaredVariables } from '../needs/variables.ts';
import { type Skill, SkillError } from '../types.ts';
import type { SkillPackages } from './execution-host.ts';

/** `positional`: values in order; `named`: `--key value`; `env`: only variables; `json`: the object on stdin. */
export type ArgStyle = 'positional' | 'named' | 'env' | 'json';

export interface ScriptInput {
	argv: string[];
	/** `SKILL_ARG_<KEY>` for every key of an object, in every style (D4). */
	env: Record<string, string>;
	/** Text for stdin, which is closed without it. */
	input?: string;
}

const STYLES = ['positional', 'named', 'env', 'json'] as const satisfies ArgStyle[];

/**
 * `args` is a list of texts (S0), or an object passed as `style` says (S2), in which null skips a key and other values
 * become JSON. @throws SkillError InvalidArgs
 */
export function readScriptArguments(args: unknown, style?: unknown): ScriptInput {
	if (args === undefined || args === null) return { argv: [], env: {}, input: style === 'json' ? '{}' : undefined };
	if (Array.isArray(args))
		return { argv: args.map((value: unknown, index) => textOf(value, `args[${index}]`)), env: {} };
	if (typeof args !== 'object')
		throw new SkillError('InvalidArgs', '“args” must be a list of text values, or an object.');
	const chosen = readStyle(style);
	const entries = Object.entries(args).filter(([, value]) => value !== null && value !== undefined);
	const values = entries.map(([key, value]): [string, string] => [key, textOf(value, `args.${key}`, true)]);
	const env = Object.fromEntries(values.map(([key, text]) => [variableOf(key), text]));
	switch (chosen) {
		case 'positional':
			return { argv: values.map(([, text]) => text), env };
		case 'named':
			return { argv: entries.flatMap(([key, value]) => namedArguments(key, value)), env };
		case 'env':
			return { argv: [], env };
		case 'json':
			return { argv: [], env, input: JSON.stringify(args) };
	}
}

function readStyle(style: unknown): ArgStyle {
	if (style === undefined || style === null) return 'positional';
	const known = STYLES.find((each) => each === style);
	if (known) return known;
	throw new SkillError('InvalidArgs', `“arg_style” must be one of ${STYLES.join(', ')}, not ${JSON.stringify(style)}.`);
}

/** `--key value`; a list repeats the key. */
function namedArguments(key: string, value: unknown): string[] {
	if (!/^[A-Za-z0-9_][\w.-]*$/.test(key)) {
		throw new SkillError('InvalidArgs', `“${key.slice(0, 50)}” isn’t a valid option name.`);
	}
	const values: unknown[] = Array.isArray(value) ? value : [value];
	return values.flatMap((each) => [`--${key}`, textOf(each, `args.${key}`, true)]);
}

/** `input-pdf` → `SKILL_ARG_INPUT_PDF`. */
function variableOf(key: string): string {
	return `SKILL_ARG_${key.toUpperCase().replace(/[^A-Z0-9_]/g, '_')}`;
}

function textOf(value: unknown, field: string, allowsObjects = false): string {
	const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
	if (!isPlain && !(allowsObjects && typeof value === 'object')) {
		throw new SkillError('InvalidArgs', `“${field}” must be text.`, 'Pass each argument as one item of the list.');
	}
	const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
	if (text.includes('\0')) throw new SkillError('InvalidArgs', `“${field}” contains a NUL character.`);
	return text;
}

// Builds a script's environment from scratch, so that no secret of the server is in it by accident (D14).

/** Copied from the host; none holds a secret or changes how programs start. */
const FROM_HOST = ['PATH', 'TZ', 'SystemRoot'] as const;
const LOCALE = ['LANG', 'LC_ALL', 'LC_CTYPE'] as const;

/** The server's secrets, and variables that change which code runs. */
const NEVER_INHERITED =
	/^(OPENROUTER_|DATABASE_URL$|DATABASE_DIRECT_URL$|ADMIN_TOKEN$|SECRETS_KEY$|NODE_|npm_|LD_|DYLD_|PYTHON|BASH_ENV$|BASH_FUNC|ENV$|SHELLOPTS$|PS4$|HOME$|TMPDIR$|TEMP$|TMP$|LANG$|LC_)/i;

export interface EnvironmentOptions {
	skill: Skill;
	/** The skill's folder and the working folder, as the process sees them. */
	folders: { skill: string; workspace: string };
	packages?: SkillPackages | null;
	/** Replaces the host's PATH; null for an image, which has its own. */
	path?: string | null;
	/** The host's environment. */
	host: Readonly<Record<string, string | undefined>>;
	/** The operator's variables, for skills that declare them. */
	offered: Readonly<Record<string, string>>;
	/** Also copies the rest of the host's environment, except `NEVER_INHERITED`; for programs written for S0. */
	inherit?: boolean;
}

export function buildEnvironment({
	skill,
	folders,
	packages = null,
	path,
	host,
	offered,
	inherit = false
}: EnvironmentOptions): Record<string, string> {
	const environment = localeOf(host);
	const inherited = inherit ? Object.keys(host).filter((name) => !NEVER_INHERITED.test(name)) : [];
	for (const name of [...FROM_HOST, ...inherited]) {
		const value = host[name];
		if (value) environment[name] = value;
	}
	for (const { name } of declaredVariables(skill)) {
		const value = Object.hasOwn(offered, name) ? offered[name] : undefined;
		if (value !== undefined) environment[name] = value;
	}
	const own = path === undefined ? environment.PATH : path;
	delete environment.PATH;
	// An empty part would be the working folder.
	if (typeof own === 'string') environment.PATH = [...(packages?.bin ?? []), ...(own ? [own] : [])].join(delimiter);
	// For the Node processes that a script starts; its own gets the file with the call.
	if (packages?.register) environment.NODE_OPTIONS = `--require "${packages.register}"`;
	return {
		...environment,
		SKILL_DIR: folders.skill,
		CLAUDE_SKILL_DIR: folders.skill,
		PYTHONPATH: [folders.skill, ...(packages?.python ? [packages.python] : [])].join(delimiter),
		// Show output as it is written, and don't change the skill's folder by running it.
		PYTHONUNBUFFERED: '1',
		PYTHONDONTWRITEBYTECODE: '1',
		PYTHONIOENCODING: 'utf-8',
		// Where there's no network, npx would otherwise wait until the run's limit.
		npm_config_fetch_retry_mintimeout: '500',
		npm_config_fetch_retry_maxtimeout: '2000'
	};
}

/** The host's locale if its text is UTF-8. */
export function localeOf(host: EnvironmentOptions['host']): Record<string, string> {
	const isUtf8 = /utf-?8/i.test(host.LC_ALL || host.LC_CTYPE || host.LANG || '');
	const names = LOCALE.filter((name) => isUtf8 && host[name]);
	return { LANG: 'C.UTF-8', ...Object.fromEntries(names.map((name) => [name, host[name] ?? ''])) };
}

/**
 * The folder of one run for what programs leave in a home or as temporary files. It isn't the workspace, where profiles
 * and caches would be taken for results.
 */
export interface Scratch {
	env: Record<string, string>;
	/** Never throws. */
	remove(): Promise<void>;
}

/** Every sandbox that isolates files has an empty /tmp. */
export async function openScratch({
	isolation,
	temporaryFolder = tmpdir()
}: Pick<Sandbox, 'isolation' | 'temporaryFolder'>): Promise<Scratch> {
	const path = isolation.files ? '/tmp' : await mkdtemp(join(temporaryFolder, 'skill-'));
	return {
		env: { HOME: path, TMPDIR: path, TEMP: path, TMP: path },
		// What a script made unremovable is left to the system, which cleans its temporary folder.
		remove: async () => (isolation.files ? undefined : removeFolder(path).catch(() => undefined))
	};
}

// Limits of a skill's processes: what the skill asks for, up to the host's maximum (D10; pure).

/** Longest timeout a call may ask for (D10). */
export const MAX_TIMEOUT_MS = 300_000;

const UNITS: Record<string, number> = { ms: 0.001, s: 1, m: 60, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3, tb: 1024 ** 4 };

/** `metadata` keys that set limits, and the unit of a plain number. */
const REQUESTS: { key: string; limit: Exclude<keyof SandboxLimits, 'virtualBytes'>; unit: number }[] = [
	{ key: 'memory', limit: 'memoryBytes', unit: 1024 ** 2 },
	{ key: 'processes', limit: 'processes', unit: 1 },
	{ key: 'file-size', limit: 'fileBytes', unit: 1024 ** 2 },
	{ key: 'open-files', limit: 'openFiles', unit: 1 },
	{ key: 'cpu', limit: 'cpuSeconds', unit: 1 }
];

/** Takes no memory, so the host has no setting for it. */
const MAX_VIRTUAL_BYTES = 4 * 1024 ** 4;

/**
 * Limits of a skill, at most the host's: `metadata.memory`, `processes`, `file-size`, `open-files`, `cpu` (seconds). Only
 * `virtual-memory` may be more than usual.
 */
export function limitsOf({ metadata }: Pick<Skill, 'metadata'>, most: SandboxLimits): SandboxLimits {
	const limits = { ...most };
	for (const { key, limit, unit } of REQUESTS) {
		const requested = readAmount(metadata[key], unit);
		if (requested !== null) limits[limit] = Math.max(1, Math.min(most[limit], Math.floor(requested)));
	}
	const virtual = readAmount(metadata['virtual-memory'], 1024 ** 2);
	return virtual === null ? limits : { ...limits, virtualBytes: Math.min(virtual, MAX_VIRTUAL_BYTES) };
}

/** Timeout in milliseconds: the call's, else `metadata.timeout` (`90s`, `2m`, seconds), else the default. */
export function timeoutOf({ metadata }: Pick<Skill, 'metadata'>, asked: number | undefined, standard: number): number {
	const requested = readAmount(metadata.timeout, 1);
	return Math.min(asked ?? (requested === null ? standard : Math.max(100, requested * 1000)), MAX_TIMEOUT_MS);
}

function readAmount(text: string | undefined, unit: number): number | null {
	const match = /^\s*(\d{1,12}(?:\.\d{1,6})?)\s*([a-z]{0,2})\s*$/i.exec(text ?? '');
	if (!match) return null;
	const factor = match[2] ? UNITS[match[2].toLowerCase()] : unit;
	return factor === undefined ? null : Number(match[1]) * factor;
}
