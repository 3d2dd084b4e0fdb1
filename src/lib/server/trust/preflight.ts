/** Finds the programs and packages scripts can use, on this computer or in a container image (F3). */
import { access, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SkillNeeds } from '../../shared/skills.ts';
import { removeFolder } from '../foreign-folders.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { covers } from '../skills/needs/hosts.ts';
import { findNeeds, readerOf } from '../skills/needs/needs.ts';
import { moduleOf } from '../skills/needs/packages.ts';
import { declaredVariables, isReservedVariable } from '../skills/needs/variables.ts';
import { skillIdOf } from '../skills/run/execution-host.ts';
import { createInterpreters, programsOnPath } from '../skills/run/interpreters.ts';
import type { Skill } from '../skills/types.ts';
import type { Vault } from './vault.ts';

export interface LookupOptions {
	/** Where scripts run. */
	sandbox: Sandbox;
	/** Runs a program of this computer without isolation. */
	host: Pick<Sandbox, 'run'>;
	/** The PATH variable. */
	path: string;
}

export interface Lookup {
	/** Those that exist. */
	binaries(names: readonly string[]): Promise<Set<string>>;
	pythonModules(names: readonly string[]): Promise<Set<string>>;
	/** The Python of the container’s image; null if scripts run in this computer’s. */
	foreignPython(): Promise<ForeignPython | null>;
}

export interface ForeignPython {
	/** `3.12` */
	version: string;
	libc: 'glibc' | 'musl';
	/** As Python names it: `x86_64`, `aarch64`. */
	machine: string;
}

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

const LIST_PROGRAMS = 'for name; do command -v -- "$name" >/dev/null 2>&1 && printf "%s\\n" "$name"; done; :';
/** Accepts names of packages too, which may differ from their modules'. Runs none of them. */
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

const DESCRIBE_PYTHON = `
import platform, sysconfig
print(sysconfig.get_python_version())
print('musl' if 'musl' in (sysconfig.get_config_var('HOST_GNU_TYPE') or '') else 'glibc')
print(platform.machine())
`;

export function createLookup({ sandbox, host, path }: LookupOptions): Lookup {
	const { programs } = sandbox;
	if (programs) {
		const ask = (file: string, args: string[]) => askInside(sandbox, file, args);
		return {
			binaries: (names) => listed(names, () => ask(programs.shell, ['-c', LIST_PROGRAMS, 'sh', ...names])),
			pythonModules: (names) => listed(names, () => ask(programs.python, ['-c', LIST_MODULES, ...names])),
			async foreignPython() {
				const lines = (await ask(programs.python, ['-c', DESCRIBE_PYTHON])).split(/\r?\n/);
				const [version = '', libc, machine = ''] = lines;
				return version === '' ? null : { version, libc: libc === 'musl' ? 'musl' : 'glibc', machine };
			}
		};
	}
	const interpreters = createInterpreters({ host, sandbox, path });
	const findPython = () => interpreters.python().catch(() => null);
	return {
		foreignPython: async () => null,
		async binaries(names) {
			const isThere = async (name: string): Promise<boolean> => {
				// Scripts run in this Node, and in the Python that was found.
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
					// Scripts have their own home, without the modules in the user's.
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
	const workspace = await realpath(await mkdtemp(join(sandbox.temporaryFolder ?? tmpdir(), 'skill-lookup-')));
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

// What a skill needs and whether it's there, to show before it runs (F3).

export interface Preflight {
	/** Reads the skill's files, and looks for programs and modules. Never contains values of variables. */
	needsOf(skill: Skill): Promise<SkillNeeds>;
	/** Required variables that nobody has set. One database query, cheap enough before every run. */
	missingVariables(skill: Skill): Promise<string[]>;
}

export interface PreflightOptions {
	vault: Pick<Vault, 'list'>;
	/** The operator's variables, for skills that declare them. */
	offered: Readonly<Record<string, string>>;
	lookup: Lookup;
	/** Hosts that the skill may reach. */
	grantedHosts(skillId: string): Promise<string[]>;
	/** Tells whether a package is installed for the skill; default: none is. */
	installed?(skill: Skill): Promise<(ecosystem: 'python' | 'javascript', name: string) => boolean>;
	/** Other skills that it names. */
	siblingsOf(skill: Skill): SkillNeeds['skills'];
	/** Monotonic clock, in milliseconds. */
	now?: () => number;
}

/** How long results are cached: short, because people who install something want to see it. */
const KEPT_MS = 20_000;
const MAX_KEPT = 500;

export function createPreflight({
	vault,
	offered,
	lookup,
	grantedHosts,
	installed = async () => () => false,
	siblingsOf,
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
			const [found, { stored, setBy }, granted, isOwn] = await Promise.all([
				findNeeds(skill, readerOf(skill)),
				readVariables(skill),
				grantedHosts(skillIdOf(skill)),
				installed(skill)
			]);
			const python = found.packages.filter(({ ecosystem }) => ecosystem === 'python').map(({ name }) => name);
			const [programs, libraries] = await Promise.all([
				binaries(found.binaries.map(({ name }) => name)),
				modules([...new Set(python.flatMap((name) => [name, moduleOf(name)]))])
			]);
			const isBundled = (name: string) =>
				access(join(skill.dir, 'node_modules', name)).then(
					() => true,
					() => false
				);
			const packages = found.packages.map(async (need) => {
				const { ecosystem, name } = need;
				const isInstalled = libraries.has(name) || libraries.has(moduleOf(name));
				const isThere = ecosystem === 'python' ? isInstalled : await isBundled(name);
				return { ...need, isFound: isThere || isOwn(ecosystem, name) };
			});
			const hosts = found.hosts.map((need) => ({
				...need,
				isGranted: granted.some((domain) => covers(domain, need.name))
			}));
			// What was granted stays open, whether or not the skill still names it, so show it.
			const others = granted.filter((domain) => !found.hosts.some(({ name }) => name === domain));
			// Stored variables that are no longer needed are still passed on, so show them.
			const more = stored.filter(({ name }) => !found.variables.some((variable) => variable.name === name));
			const unused = more.map(({ name }) => ({ name, isDeclared: false, isOptional: false, from: [] }));
			const variables = [...found.variables, ...unused];
			return {
				skills: siblingsOf(skill),
				binaries: found.binaries.map((need) => ({ ...need, isFound: programs.has(need.name) })),
				packages: await Promise.all(packages),
				hosts: [...hosts, ...others.map((name) => ({ name, isDeclared: false, from: [], isGranted: true }))],
				variables: variables
					.filter(({ name }) => !isReservedVariable(name))
					.map((need) => {
						const { name, isDeclared } = need;
						const by = setBy(name, isDeclared);
						const problem = stored.find((variable) => variable.name === name)?.problem;
						return { ...need, isSet: by !== null, setBy: by, problem: problem ?? undefined };
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

/** Caches answers for a while, and asks for all unknown names at once. */
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
