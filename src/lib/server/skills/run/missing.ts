/** Tells what a failed script lacked, by the end of its output: a package, a program, a variable or a host (D13). */
import type { SandboxResult } from '../../sandbox/sandbox.ts';
import { covers, parseDomain } from '../needs/hosts.ts';
import { findNeeds, type FoundNeeds, readerOf } from '../needs/needs.ts';
import { moduleOf, packageOf } from '../needs/packages.ts';
import { isReservedVariable } from '../needs/variables.ts';
import type { Missing, Skill, SkillErrorType } from '../types.ts';
import { lackOf, programsOnPath } from './interpreters.ts';

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
	/** Allowed hosts that the proxy couldn’t reach, as `host:port`. */
	unreached?: readonly string[];
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
	{ exitCode, stdout, stderr }: Pick<SandboxResult, 'exitCode' | 'stdout' | 'stderr'>
): Promise<Explained | Omit<Explained, 'missing'> | Pick<Explained, 'hint'> | null> {
	const { skill } = run;
	const text = `${stderr.slice(-MAX_TEXT)}\n${(run.message ?? '').slice(0, MAX_TEXT)}`.replaceAll('\r', '');
	let known: FoundNeeds | undefined;
	// A file that can't be read hides a hint, not the failure.
	const needs = async () => (known ??= await findNeeds(skill, readerOf(skill)).catch(() => NOTHING));
	// Many scripts print their errors as results. There, only what the skill's own files name is believed.
	const said = [...endOf(stdout.slice(-MAX_TEXT).replaceAll('\r', '')), ...endOf(text)];
	const missing =
		missingPackage(text, skill) ??
		(await missingCommand(text, exitCode, needs)) ??
		(said.some(saysMissing) ? await namedNeed(said, await needs(), run.env) : null) ??
		refusedHost(run.refused) ??
		(run.isCutOff && isUnresolved(text) ? hostOf(text, await needs()) : null);
	if (missing) return { ...sentencesOf(missing, skill.name), missing };
	if (run.isCutOff && isUnresolved(text)) return withoutNetwork(skill.name);
	const far = run.unreached?.at(-1)?.replace(/:(80|443)$/, '');
	// The proxy's own words; or a script's, which name the host.
	if (far !== undefined && (/\b502\b|Bad Gateway|\btunnel/i.test(text) || endOf(text).join('\n').includes(far)))
		return outOfReach(far);
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
	const python =
		last(text, `(?:ModuleNotFoundError|ImportError|python[\\d.]*): No module named '?${MODULE}'?`) ??
		last(text, `Missing optional dependency '${MODULE}'`) ??
		last(text, 'tree builder with the features you requested: (lxml|html5lib)\\b');
	// A dotted name means that the package is there, and its part isn't; these are shared by many.
	if (python && (!python.includes('.') || /^(google|azure)\./.test(python))) {
		const isOwn = files.some((file) => file.split('/').some((part) => part === python || part === `${python}.py`));
		const found = isOwn ? null : packageOf('python', python);
		if (found) return { kind: 'package', ecosystem: 'python', name: found.name, module: python };
	}
	const node = last(text, `Cannot find (?:package|module) '${MODULE}'`);
	const found = node && packageOf('javascript', node);
	return found && node ? { kind: 'package', ecosystem: 'javascript', name: found.name, module: node } : null;
}

/** A program that one of the skill's packages brings, such as uvicorn, is that package. */
async function missingCommand(
	text: string,
	exitCode: number | null,
	needs: () => Promise<FoundNeeds>
): Promise<Missing | null> {
	// Also of a shell that the script started.
	const isUnknown = exitCode === 127 || /\b(?:exit |exit code |returned )?status:? 127\b|\bexit code 127\b/.test(text);
	const name =
		(isUnknown &&
			(last(text, `(?:^|: |\\n)${PROGRAM}: (?:command )?not found`) ??
				last(text, `env: [‘'"]?${PROGRAM}[’'"]?: No such file`))) ||
		// What bash says last, whatever the script ended with.
		last(endOf(text).at(-1) ?? '', `: line \\d+: ${PROGRAM}: command not found$`) ||
		last(text, `\\bspawn(?:Sync)? ${PROGRAM} ENOENT`) ||
		// Python says the same of a file that isn't there.
		(/\bin (?:_execute_child|create_subprocess_exec)\b/.test(text) &&
			last(text, `FileNotFoundError: \\[Errno 2\\] No such file or directory: '${PROGRAM}'`));
	if (!name) return null;
	const bringer = (await needs()).packages.find((each) => each.name === name);
	return bringer ? ofNeed(bringer) : { kind: 'command', name };
}

/** A variable, package or program that the skill needs, where the end of the output says that it isn't there. */
async function namedNeed(said: readonly string[], needs: FoundNeeds, env: FailedRun['env']): Promise<Missing | null> {
	for (const line of said.filter(saysMissing).reverse()) {
		const words = new Set(line.match(/[A-Za-z0-9_][\w.+-]{0,127}/g)?.map((word) => word.replace(/[.-]+$/, '')));
		const variable = needs.variables.find(({ name }) => words.has(name) && !env[name] && !isReservedVariable(name));
		if (variable) return { kind: 'variable', name: variable.name };
		const named = lacksPackage(line) ? needs.packages.find((each) => isNamed(each, words, line)) : undefined;
		if (named) return ofNeed(named);
		if (!lacksProgram(line)) continue;
		for (const { name } of needs.binaries) {
			if (!words.has(name) || /^(node|python3?|bash|sh)$/.test(name)) continue;
			if (!(await isOnPath(name, env.PATH))) return { kind: 'command', name };
		}
	}
	return null;
}

function ofNeed({ ecosystem, name }: FoundNeeds['packages'][number]): Missing {
	return { kind: 'package', ecosystem, name, module: ecosystem === 'python' ? moduleOf(name) : name };
}

/** By its own name, or by the module that a script imports. Of the packages that share a module, none can be told. */
function isNamed({ name }: FoundNeeds['packages'][number], words: ReadonlySet<string>, line: string): boolean {
	return words.has(name) || words.has(moduleOf(name)) || (name.startsWith('@') && line.includes(name));
}

function lacksPackage(line: string): boolean {
	return /\bnot installed\b|n[’']t installed\b|\b(?:please|must|to) install\b|\binstall (?:it |them )?with\b|\b(?:pip3?|npm|uv|yarn|pnpm)\b.{0,20} (?:install|add|i) |\bNo module named\b|\bmissing (?:optional )?dependenc|\bCannot find (?:module|package)\b/i.test(
		line
	);
}

function lacksProgram(line: string): boolean {
	return /\bnot found\b|n[o’']t installed\b|\bplease install\b|\bnot available\b|\b(?:not|n[’']t) (?:in|on) (?:your |the )?PATH\b|\b(?:cannot|can[’']t|could not|couldn[’']t) find\b|\bis required\b|No such file or directory: '/i.test(
		line
	);
}

async function isOnPath(name: string, path: string | undefined): Promise<boolean> {
	// A container's is its image's.
	if (path === undefined) return false;
	for await (const _program of programsOnPath(name, path)) return true;
	return false;
}

function saysMissing(line: string): boolean {
	return (
		lacksPackage(line) ||
		lacksProgram(line) ||
		/\bKeyError: '|\bnot (?:set|defined|provided)\b|n[’']t (?:set|defined)\b|\bunset\b|\bmissing\b|\brequired?s?\b|\bplease (?:set|provide|export)\b|\bunbound variable\b|\bmust (?:be )?set\b|\bset it\b|: parameter null/i.test(
			line
		)
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
	return /\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b|fetch failed|name resolution|Name or service not known|getaddrinfo failed|could not resolve|unable to resolve|Failed to resolve|Network is unreachable/i.test(
		text
	);
}

/** The host in the error; else the last one that the skill's files name, too; else the only one that they name. */
function hostOf(text: string, { hosts }: FoundNeeds): Missing | null {
	const named =
		last(text, `(?:ENOTFOUND|EAI_AGAIN|resolve(?: host(?: address)?)?:?|host=) ?[‘'"]?([\\w.-]{3,253})`) ??
		last(
			text,
			`(?<![\\w.@-])([\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,8}) (?:can[’']t|cannot|could not|couldn[’']t) be (?:reached|resolved)`
		);
	const { domain } = parseDomain(named?.replace(/\.$/, '') ?? '');
	const words =
		endOf(text)
			.join('\n')
			.match(/(?<![\w.-])[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g) ?? [];
	const known = words.findLast((word) => hosts.some(({ name }) => covers(name, word)));
	const name = domain ?? known ?? (hosts.length === 1 ? hosts[0]?.name : undefined);
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
		case 'command': {
			const [message, hint] = lackOf(missing.name);
			return { error: 'MissingCommand', message, hint };
		}
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

function outOfReach(host: string): Omit<Explained, 'missing'> {
	return {
		error: 'ExecutionFailed',
		message: `${host} is allowed, but this server couldn’t reach it.`,
		hint: 'Check the address, or the connection of the server.'
	};
}

/** Which host it wanted can't be told. */
function withoutNetwork(skill: string): Omit<Explained, 'missing'> {
	return {
		error: 'HostNotAllowed',
		message: 'This skill has no network.',
		hint: `A person can allow hosts on the page of the skill “${skill}”. Say so, and which host it needs.`
	};
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
