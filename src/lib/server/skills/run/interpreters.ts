/** Finds the program for a script, once: by extension, inline dependencies or shebang (D5, D6). */
import { stat } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, posix, win32 } from 'node:path';
import type { Sandbox, SandboxPrograms } from '../../sandbox/sandbox.ts';
import { isExecutable, readHead } from '../read/files.ts';
import { SkillError } from '../types.ts';

export interface Program {
	/** Absolute path, or a name inside the container's image. */
	file: string;
	args: string[];
	/** Host files and folders it needs, which a sandbox must show. */
	runtime: string[];
}

export interface Interpreters {
	/**
	 * Program and arguments to put before a script; `hasPackages`: they are installed, so nothing else fetches them.
	 * @throws SkillError UnsupportedScriptType | MissingCommand | MissingDependency
	 */
	resolve(scriptPath: string, options?: { hasPackages?: boolean }): Promise<Program>;
	/** @throws SkillError MissingCommand */
	python(): Promise<Program>;
	node(): Program;
	/** Folders to put before a PATH so that scripts find the interpreters, and what a sandbox must show for them. */
	onPath(): Promise<{ folders: string[]; runtime: string[] }>;
}

export interface InterpreterOptions {
	/** Runs a program of this computer without isolation, to ask where it is. */
	host: Pick<Sandbox, 'run'>;
	/** Where scripts will run. */
	sandbox: Pick<Sandbox, 'programs' | 'isolation'>;
	/** The PATH variable. */
	path: string;
	/** True if this Node runs TypeScript. */
	runsTypeScript?: boolean;
}

/** Skills don't say whether their modules are CommonJS. Node detects it and needn't warn. */
const QUIET = '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON';

/** Looks up programs on the PATH. Caches those found; missing ones may be installed later. */
export function createInterpreters({
	host,
	sandbox,
	path,
	runsTypeScript = Boolean(process.features.typescript)
}: InterpreterOptions): Interpreters {
	const found = new Map<string, Promise<Program | null>>();
	const find = (name: string): Promise<Program | null> => {
		let program = found.get(name);
		if (!program) {
			program = name === 'python3' ? findPython(host, path) : findOnPath(name, path);
			found.set(name, program);
			void program.then((file) => file ?? found.delete(name));
		}
		return program;
	};
	const need = async (name: string): Promise<Program> => {
		const program = await find(name);
		if (program) return program;
		throw missing(name);
	};
	const node: Program = { file: process.execPath, args: [QUIET], runtime: [process.execPath] };
	if (sandbox.programs) return createImageInterpreters(sandbox.programs);
	return {
		python: () => need('python3'),
		node: () => node,
		async onPath() {
			const programs = [node, await find('python3')].filter((program) => program !== null);
			return {
				folders: programs.map(({ file }) => dirname(file)),
				runtime: programs.flatMap(({ runtime }) => runtime)
			};
		},
		async resolve(scriptPath, { hasPackages = false } = {}) {
			switch (extname(scriptPath)) {
				case '.js':
				case '.mjs':
				case '.cjs':
					return node;
				case '.ts':
					if (runsTypeScript) return node;
					throw new SkillError(
						'MissingDependency',
						`Node ${process.versions.node} can’t run this TypeScript script.`,
						'Start the server with Node 22.18 or newer, or use a .js file.'
					);
				case '.sh':
				case '.bash':
					return fromWindows(await need('bash'), scriptPath);
				case '.py': {
					// PEP 723: the script declares its dependencies; uv, if installed, fetches them over the network.
					const isInline = !hasPackages && (await readHead(scriptPath, 4096)).includes('# /// script');
					const uv = isInline && !sandbox.isolation.network ? await find('uv') : null;
					return uv ? { ...uv, args: ['run', '--script'] } : need('python3');
				}
				default:
					return byShebang(scriptPath, need);
			}
		}
	};
}

/** Interpreters of a container image, by name: only the image knows their paths. */
function createImageInterpreters({ node, python, shell }: SandboxPrograms): Interpreters {
	const named = (file: string): Program => ({ file, args: [], runtime: [] });
	const inImage = async (name: string): Promise<Program> =>
		named(/^(ba)?sh$/.test(name) ? shell : /^python3?$/.test(name) ? python : name === 'node' ? node : name);
	return {
		python: async () => named(python),
		node: () => named(node),
		onPath: async () => ({ folders: [], runtime: [] }),
		async resolve(scriptPath) {
			if (/\.([cm]?js|ts)$/.test(scriptPath)) return named(node);
			if (scriptPath.endsWith('.py')) return named(python);
			if (/\.(ba)?sh$/.test(scriptPath)) return fromWindows(named(shell), scriptPath);
			return byShebang(scriptPath, inImage, named);
		}
	};
}

/** The script is `$0`. What it does with its own path works, too. */
const WITHOUT_RETURNS = `eval "$(tr -d '\\r' <"$0" | sed 's/\${BASH_SOURCE\\[0\\]}/$0/g')"`;

/** Shells take the carriage returns of Windows for a part of the commands, unlike other interpreters. */
async function fromWindows(shell: Program, scriptPath: string): Promise<Program> {
	// Commands in a skill's instructions have no file.
	const head = await readHead(scriptPath, 4096).catch(() => '');
	return head.includes('\r\n') ? { ...shell, args: ['-c', WITHOUT_RETURNS] } : shell;
}

/** `absolute` resolves a program given by path; by default it must exist on this computer. */
async function byShebang(
	scriptPath: string,
	need: (name: string) => Promise<Program>,
	absolute?: (path: string) => Program
): Promise<Program> {
	const named = readShebang(await readHead(scriptPath, 256));
	if (!named || !(await isExecutable(scriptPath))) {
		throw new SkillError(
			'UnsupportedScriptType',
			'This type of file can’t be run.',
			'Use .py, .js, .mjs, .cjs, .ts, .sh or .bash, or an executable file that starts with #!.'
		);
	}
	const { program, args } = named;
	if (!/[/\\]/.test(program)) return { ...(await need(program)), args };
	if (absolute) return { ...absolute(program), args };
	if (!isAbsolute(program) || !(await isExecutable(program))) throw missing(program);
	return { file: program, args, runtime: [program] };
}

/**
 * Parses a shebang: a program by path, or by name (`env bash`), or null. On Windows, Unix paths count as names, and
 * programs that only `cmd.exe` can run as none.
 */
export function readShebang(
	head: string,
	platform: NodeJS.Platform = process.platform
): { program: string; args: string[] } | null {
	const [, file, rest = ''] = /^#![ \t]*(\S+)(?:[ \t]+(.*))?/.exec(head) ?? [];
	if (file === undefined) return null;
	const words = rest.split(/[ \t\r]+/).filter(Boolean);
	if (/(^|\/)env$/.test(file)) {
		const [program = 'sh', ...args] = words.filter((word) => word !== '-S');
		return { program, args };
	}
	if (platform !== 'win32') return { program: file, args: words };
	if (/\.(cmd|bat)$/i.test(file)) return null;
	return { program: file.startsWith('/') ? posix.basename(file) : file, args: words };
}

async function findOnPath(name: string, path: string): Promise<Program | null> {
	for await (const file of programsOnPath(name, path)) return { file, args: [], runtime: [file] };
	return null;
}

/** Those that exist and are executable. */
export async function* programsOnPath(name: string, path: string): AsyncGenerator<string, void, undefined> {
	for (const candidate of candidatesOnPath(name, path)) {
		const entry = await stat(candidate).catch(() => null);
		if (entry?.isFile() && (await isExecutable(candidate))) yield candidate;
	}
}

/**
 * Possible paths of a program, in PATH order, without relative folders, which would be looked up in the workspace. On
 * Windows only `.exe` counts: the `.cmd` files of npm or pyenv need a shell, which scripts never get.
 */
export function candidatesOnPath(name: string, path: string, platform: NodeJS.Platform = process.platform): string[] {
	const isWindows = platform === 'win32';
	const { delimiter, isAbsolute, join } = isWindows ? win32 : posix;
	return path
		.split(delimiter)
		.map((folder) => (isWindows ? folder.replace(/^"(.*)"$/, '$1') : folder))
		.filter((folder) => isAbsolute(folder))
		.map((folder) => join(folder, isWindows ? `${name}.exe` : name));
}

/**
 * `python3` may be a shim that a sandbox doesn't show, so each is asked for the real path. Links in the answer aren't
 * resolved: they make up a virtual environment.
 */
async function findPython(host: Pick<Sandbox, 'run'>, path: string): Promise<Program | null> {
	const question =
		'import sys; assert sys.version_info[0] == 3; print(sys.executable, sys.prefix, sys.base_prefix, sep="\\n")';
	for (const name of ['python3', 'python']) {
		for await (const shim of programsOnPath(name, path)) {
			const { stdout, exitCode } = await host.run({
				file: shim,
				args: ['-c', question],
				env: { PATH: path, HOME: process.env.HOME ?? '/' },
				cwd: '/',
				timeoutMs: 10_000,
				maxOutputBytes: 4096
			});
			if (exitCode !== 0) continue;
			const [program = '', ...prefixes] = stdout.trim().split(/\r?\n/);
			const file = isAbsolute(program) && (await isExecutable(program)) ? program : shim;
			return { file, args: [], runtime: [...new Set([file, ...prefixes.filter(isAbsolute)])] };
		}
	}
	return null;
}

/** `program`: a name, or a path in a script's first line. */
function missing(program: string): SkillError {
	const lack = { kind: 'command', name: basename(program) } as const;
	return new SkillError('MissingCommand', ...lackOf(program), lack);
}

/** Message and hint for a program that isn't there. */
export function lackOf(program: string): [message: string, hint: string] {
	return [
		`The script needs the program ${program}, which isn’t installed.`,
		'Whoever runs the server can install it. Say so, or do it without the program.'
	];
}
