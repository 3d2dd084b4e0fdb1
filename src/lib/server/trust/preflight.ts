/** Which programs and Python modules scripts would find: on this machine, or in a container's image (FEATURES F3). */
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SkillNeeds } from '../../shared/skills.ts';
import { removeFolder } from '../foreign-folders.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { findNeeds, type ReadText } from '../skills/needs/needs.ts';
import { declaredVariables, isReservedVariable } from '../skills/needs/variables.ts';
import { readSkillFile } from '../skills/read/files.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import { createInterpreters, programsOnPath } from '../skills/run/interpreters.ts';
import { type Skill, SkillError } from '../skills/types.ts';
import type { Vault } from './vault.ts';

export interface LookupOptions {
	/** Where scripts run. */
	sandbox: Sandbox;
	/** Runs a program of this machine as it is, to ask it something. */
	host: Pick<Sandbox, 'run'>;
	/** The PATH variable. */
	path: string;
}

export interface Lookup {
	/** Those that are there. */
	binaries(names: readonly string[]): Promise<Set<string>>;
	pythonModules(names: readonly string[]): Promise<Set<string>>;
}

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

const LIST_PROGRAMS = 'for name; do command -v -- "$name" >/dev/null 2>&1 && printf "%s\\n" "$name"; done; :';
/** A package may bear another name than its module; nothing of the module itself is run. */
const LIST_MODULES = `
import sys
from importlib.metadata import distribution
from importlib.util import find_spec
def is_there(name):
    for find in (find_spec, distribution):
        try:
            if find(name) is not None:
                return True
        except Exception:
            pass
    return False
for name in sys.argv[1:]:
    if is_there(name):
        print(name)
`;

export function createLookup({ sandbox, host, path }: LookupOptions): Lookup {
	const { programs } = sandbox;
	if (programs) {
		const ask = (file: string, args: string[]) => askInside(sandbox, file, args);
		return {
			binaries: (names) => listed(names, () => ask(programs.shell, ['-c', LIST_PROGRAMS, 'sh', ...names])),
			pythonModules: (names) => listed(names, () => ask(programs.python, ['-c', LIST_MODULES, ...names]))
		};
	}
	const interpreters = createInterpreters({ host, sandbox, path });
	const findPython = () => interpreters.python().catch(() => null);
	return {
		async binaries(names) {
			const isThere = async (name: string): Promise<boolean> => {
				// Scripts have this very Node, and the Python that was found.
				if (name === 'node') return true;
				return name === 'python3' ? (await findPython()) !== null : isOnPath(name, path);
			};
			const found = await Promise.all(names.map(isThere));
			return new Set(names.filter((_, index) => found[index]));
		},
		pythonModules: (names) =>
			listed(names, async () => {
				const python = await findPython();
				if (!python) return '';
				const { stdout } = await host.run({
					file: python.file,
					args: [...python.args, '-I', '-c', LIST_MODULES, ...names],
					// Modules of the user's home are out of a script's reach, which has a home of its own.
					env: { PATH: path, HOME: '/nonexistent' },
					cwd: '/',
					timeoutMs: TIMEOUT_MS,
					maxOutputBytes: MAX_OUTPUT_BYTES
				});
				return stdout;
			})
	};
}

async function listed(names: readonly string[], ask: () => Promise<string>): Promise<Set<string>> {
	if (names.length === 0) return new Set();
	const lines = new Set((await ask()).split(/\r?\n/));
	return new Set(names.filter((name) => lines.has(name)));
}

async function askInside(sandbox: Sandbox, file: string, args: string[]): Promise<string> {
	const workspace = await realpath(await mkdtemp(join(tmpdir(), 'skill-lookup-')));
	try {
		const folders = { workspace };
		const { stdout } = await sandbox.run({
			file,
			args,
			env: {},
			cwd: sandbox.locate(folders).workspace,
			folders,
			timeoutMs: TIMEOUT_MS,
			maxOutputBytes: MAX_OUTPUT_BYTES
		});
		return stdout;
	} finally {
		await removeFolder(workspace);
	}
}

async function isOnPath(name: string, path: string): Promise<boolean> {
	if (!/^[\w.+-]+$/.test(name)) return false;
	const first = await programsOnPath(name, path).next();
	return first.done !== true;
}

// What a skill needs, and whether it is there: shown before it is run (FEATURES F3).

export interface Preflight {
	/** Reads the skill's files and asks for programs and modules; values of variables are never in it. */
	needsOf(skill: Skill): Promise<SkillNeeds>;
	/** Variables that it requires and nobody has set. One question to the database: cheap before every run. */
	missingVariables(skill: Skill): Promise<string[]>;
}

export interface PreflightOptions {
	vault: Pick<Vault, 'list'>;
	/** Variables that the operator offers to the skills that declare them. */
	offered: Readonly<Record<string, string>>;
	lookup: Lookup;
	/** Milliseconds, from anywhere on. */
	now?: () => number;
}

/** What was found is believed so long: somebody who installs what is missing wants to see it. */
const KEPT_MS = 20_000;
const MAX_KEPT = 500;

export function createPreflight({
	vault,
	offered,
	lookup,
	now = () => performance.now()
}: PreflightOptions): Preflight {
	const binaries = remember((names) => lookup.binaries(names), now);
	const modules = remember((names) => lookup.pythonModules(names), now);

	const readVariables = async (skill: Skill) => {
		const stored = await vault.list(skillIdOf(skill));
		const isOffered = (name: string) => Object.hasOwn(offered, name);
		return {
			stored,
			setBy(name: string, isDeclared: boolean): 'secret' | 'operator' | null {
				if (stored.some((variable) => variable.name === name && variable.problem === null)) return 'secret';
				return isDeclared && isOffered(name) ? 'operator' : null;
			}
		};
	};

	return {
		async needsOf(skill) {
			const [found, { stored, setBy }] = await Promise.all([findNeeds(skill, readerOf(skill)), readVariables(skill)]);
			const [programs, libraries] = await Promise.all([
				binaries(found.binaries.map(({ name }) => name)),
				modules(found.pythonModules.map(({ name }) => name))
			]);
			// What is stored and no longer asked for is given all the same, so it is shown.
			const more = stored.filter(({ name }) => !found.variables.some((variable) => variable.name === name));
			const variables = [
				...found.variables,
				...more.map(({ name }) => ({ name, isDeclared: false, isOptional: false }))
			];
			return {
				binaries: found.binaries.map((need) => ({ ...need, isFound: programs.has(need.name) })),
				pythonModules: found.pythonModules.map((need) => ({ ...need, isFound: libraries.has(need.name) })),
				variables: variables
					.filter(({ name }) => !isReservedVariable(name))
					.map(({ name, isDeclared, isOptional }) => {
						const by = setBy(name, isDeclared);
						const problem = stored.find((variable) => variable.name === name)?.problem;
						return { name, isDeclared, isOptional, isSet: by !== null, setBy: by, problem: problem ?? undefined };
					})
			};
		},
		async missingVariables(skill) {
			const required = declaredVariables(skill).filter(
				({ name, isOptional }) => !isOptional && !isReservedVariable(name)
			);
			if (required.length === 0) return [];
			const { setBy } = await readVariables(skill);
			return required.map(({ name }) => name).filter((name) => setBy(name, true) === null);
		}
	};
}

/** Asks for all that it does not know at once, and keeps the answers for a while. */
function remember(
	ask: (names: readonly string[]) => Promise<Set<string>>,
	now: () => number
): (names: readonly string[]) => Promise<Set<string>> {
	const answers = new Map<string, { isFound: boolean; at: number }>();
	return async (names) => {
		const known = new Map(names.map((name) => [name, answers.get(name)]));
		const unknown = names.filter((name) => (known.get(name)?.at ?? -Infinity) + KEPT_MS <= now());
		const found = unknown.length > 0 ? await ask(unknown) : new Set<string>();
		if (answers.size + unknown.length > MAX_KEPT) answers.clear();
		for (const name of unknown) answers.set(name, { isFound: found.has(name), at: now() });
		return new Set(names.filter((name) => (unknown.includes(name) ? found.has(name) : known.get(name)?.isFound)));
	};
}

function readerOf(skill: Skill): ReadText {
	return async (path, maxBytes) => {
		try {
			return (await readSkillFile(skill.dir, path, { limit: maxBytes })).text;
		} catch (error) {
			// No text, or gone meanwhile: it says nothing of what is needed.
			if (error instanceof SkillError) return null;
			throw error;
		}
	};
}
