/** Tells what a failed script lacked, by the end of its output: a package, a program, a variable or a host (D13). */
import type { SandboxResult } from '../../sandbox/sandbox.ts';
import { parseDomain } from '../needs/hosts.ts';
import { findNeeds, type FoundNeeds, readerOf } from '../needs/needs.ts';
import { packageOf } from '../needs/packages.ts';
import { isReservedVariable } from '../needs/variables.ts';
import type { Missing, Skill, SkillErrorType } from '../types.ts';

export interface FailedRun {
	skill: Skill;
	/** What the process was given. */
	env: Readonly<Record<string, string>>;
	/** Its sandbox has no network but the proxy. */
	isCutOff: boolean;
	/** Its sandbox limits the addresses that it can reserve. */
	isBounded: boolean;
	/** Connections that the proxy refused, as `host:port`. */
	refused: readonly string[];
	/** The message of a handler that failed; otherwise the output says it all. */
	message?: string;
}

export interface Explained {
	error: SkillErrorType;
	message: string;
	hint: string;
	missing: Missing;
}

/** Nothing before the end is read: the last error is what ended the script. */
const MAX_TEXT = 8 * 1024;
const MAX_LINES = 8;
const NOTHING: FoundNeeds = { binaries: [], packages: [], hosts: [], variables: [] };
const PROGRAM = '([A-Za-z0-9][\\w.+-]{0,63})';
const MODULE = '([@\\w][\\w.@/-]{0,200})';

/**
 * Null if it can't be told, or the script failed for another reason. The script chooses its output, so this is a hint:
 * nothing may be installed, set or allowed by it without a person who sees what it is.
 */
export async function findMissing(
	run: FailedRun,
	{ exitCode, stderr }: SandboxResult
): Promise<Explained | Pick<Explained, 'hint'> | null> {
	const { skill } = run;
	const text = `${stderr.slice(-MAX_TEXT)}\n${(run.message ?? '').slice(0, MAX_TEXT)}`.replaceAll('\r', '');
	let known: FoundNeeds | undefined;
	// A file that can't be read hides a hint, not the failure.
	const needs = async () => (known ??= await findNeeds(skill, readerOf(skill)).catch(() => NOTHING));
	const missing =
		missingPackage(text, skill) ??
		missingCommand(text, exitCode) ??
		(saysMissing(text) ? namedNeed(text, await needs(), run.env) : null) ??
		refusedHost(run.refused) ??
		(run.isCutOff && isUnresolved(text) ? hostOf(text, await needs()) : null);
	if (missing) return { ...sentencesOf(missing, skill.name), missing };
	const isTooLow = run.isBounded && skill.metadata['virtual-memory'] === undefined && lacksAddresses(text);
	return isTooLow ? { hint: ADDRESSES } : null;
}

const ADDRESSES =
	'A browser reserves more memory than it uses. Add “virtual-memory: 1tb” to the skill’s metadata. It needs 200 processes, too (SKILLS_MAX_PROCESSES).';

/** Chromium ends with SIGTRAP and no word; without `--no-sandbox` it does so, too, but says that. */
function lacksAddresses(text: string): boolean {
	const hasTrapped = /\bSIGTRAP\b|Trace\/breakpoint trap/.test(text) && /chrom(e|ium)/i.test(text);
	return hasTrapped && !text.includes('No usable sandbox');
}

function missingPackage(text: string, { files }: Skill): Missing | null {
	const python = last(text, `(?:ModuleNotFoundError|ImportError|python[\\d.]*): No module named '?${MODULE}'?`);
	// A dotted name means that the package is there, and its part isn't; `google` is shared by many.
	if (python && (!python.includes('.') || python.startsWith('google.'))) {
		const isOwn = files.some((file) => file.split('/').some((part) => part === python || part === `${python}.py`));
		const found = isOwn ? null : packageOf('python', python);
		if (found) return { kind: 'package', ecosystem: 'python', name: found.name, module: python };
	}
	const node = last(text, `Cannot find (?:package|module) '${MODULE}'`);
	const found = node && packageOf('javascript', node);
	return found && node ? { kind: 'package', ecosystem: 'javascript', name: found.name, module: node } : null;
}

function missingCommand(text: string, exitCode: number | null): Missing | null {
	const name =
		(exitCode === 127 &&
			(last(text, `(?:^|: |\\n)${PROGRAM}: (?:command )?not found`) ??
				last(text, `env: [‘'"]?${PROGRAM}[’'"]?: No such file`))) ||
		last(text, `\\bspawn(?:Sync)? ${PROGRAM} ENOENT`) ||
		// Python says the same of a file that isn't there.
		(/\bin (?:_execute_child|create_subprocess_exec)\b/.test(text) &&
			last(text, `FileNotFoundError: \\[Errno 2\\] No such file or directory: '${PROGRAM}'`));
	return name ? { kind: 'command', name } : null;
}

/** A variable or program that the skill needs, where the end of the output says that it isn't there. */
function namedNeed(text: string, needs: FoundNeeds, env: FailedRun['env']): Missing | null {
	const lines = endOf(text).filter(saysMissing).reverse();
	for (const line of lines) {
		const words = new Set(line.match(/[A-Za-z0-9_][\w.+-]{0,127}/g)?.map((word) => word.replace(/[.-]+$/, '')));
		const variable = needs.variables.find(({ name }) => words.has(name) && !env[name] && !isReservedVariable(name));
		if (variable) return { kind: 'variable', name: variable.name };
		const program = needs.binaries.find(({ name }) => words.has(name) && !/^(node|python3?|bash|sh)$/.test(name));
		if (program && /not found|n[o’']t installed|please install/i.test(line))
			return { kind: 'command', name: program.name };
	}
	return null;
}

function saysMissing(text: string): boolean {
	return /\bKeyError: '|\bnot (?:found|set|installed|defined|provided)\b|n[’']t (?:set|installed|defined)\b|\bunset\b|\bmissing\b|\brequired?s?\b|\bplease (?:set|install)\b|\bunbound variable\b|\bmust (?:be )?set\b|\bset it\b|: parameter null/i.test(
		endOf(text).join('\n')
	);
}

function refusedHost(refused: readonly string[]): Missing | null {
	for (const each of refused) {
		const { domain } = parseDomain(each.replace(/:(80|443)$/, ''));
		// Only what was asked for is proposed, though a script may ask for “*.example.org”.
		if (domain?.startsWith('*') === false) return { kind: 'host', name: domain };
	}
	return null;
}

function isUnresolved(text: string): boolean {
	return /ENOTFOUND|EAI_AGAIN|ENETUNREACH|fetch failed|name resolution|Name or service not known|getaddrinfo failed|could not resolve|unable to resolve|Failed to resolve|Network is unreachable/i.test(
		text
	);
}

/** The host in the error; else the only one that the skill's files name. */
function hostOf(text: string, { hosts }: FoundNeeds): Missing | null {
	const named = last(text, `(?:ENOTFOUND|EAI_AGAIN|resolve(?: host(?: address)?)?:?|host=) ?[‘'"]?([\\w.-]{3,253})`);
	const { domain } = parseDomain(named?.replace(/\.$/, '') ?? '');
	const name = domain ?? (hosts.length === 1 ? hosts[0]?.name : undefined);
	return name === undefined ? null : { kind: 'host', name };
}

function sentencesOf(missing: Missing, skill: string): Omit<Explained, 'missing'> {
	const onPage = `on the page of the skill “${skill}”`;
	switch (missing.kind) {
		case 'package': {
			const language = missing.ecosystem === 'python' ? 'Python' : 'JavaScript';
			return {
				error: 'MissingPackage',
				message: `The script needs the ${language} package ${missing.name}, which isn’t installed.`,
				hint: `A person can install it ${onPage}. Say so, or do it without the package.`
			};
		}
		case 'command':
			return {
				error: 'MissingCommand',
				message: `The script needs the program ${missing.name}, which isn’t installed.`,
				hint: 'Whoever runs the server can install it. Say so, or do it without the program.'
			};
		case 'host':
			return {
				error: 'HostNotAllowed',
				message: `The script isn’t allowed to reach ${missing.name}.`,
				hint: `A person can allow it ${onPage}. Say so; another address of the same service doesn’t help.`
			};
		case 'variable':
			return {
				error: 'MissingVariable',
				message: `The script needs the variable ${missing.name}, which isn’t set.`,
				hint: `A person can set it ${onPage}. Say so, and don’t ask for its value here.`
			};
	}
}

function endOf(text: string): string[] {
	return text
		.split('\n')
		.filter((line) => line.trim() !== '')
		.slice(-MAX_LINES)
		.map((line) => line.slice(0, 500));
}

/** The first group of the last match. */
function last(text: string, pattern: string): string | undefined {
	return Array.from(text.matchAll(new RegExp(pattern, 'g'))).at(-1)?.[1];
}
