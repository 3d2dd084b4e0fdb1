/**
 * The backend that every machine has: a plain process in a group of its own (FEATURES D10, D11). On Linux, where the
 * system lets it, in namespaces as well: then there is no network, and no process survives the call. Files are not
 * isolated, ever.
 */
import { constants as fs } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { wrapWithForwarder } from './forwarder.ts';
import { createLauncher } from './launch/launch.ts';
import type { Launcher, LaunchSpec } from './launch/launcher.ts';
import { createSandboxBase, type Execution, MARKER } from './running.ts';
import { DEFAULT_LIMITS, type Sandbox, type SandboxLimits, type SandboxProgram } from './sandbox.ts';
import { endMarked } from './workspace.ts';

const PROBE_MS = 10_000;
/** Where system programs are, whatever PATH says. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

export interface ProcessSandboxOptions {
	launcher?: Launcher;
	/** The most that any program may have. */
	limits?: SandboxLimits;
	/** See `ownerOf` of leftovers.ts. */
	owner?: string;
	/** What to try, best first; by default everything that the platform could have. */
	ways?: readonly ProcessWay[];
}

/** One way of starting a process: in which namespaces, and whether its resources are limited. */
export interface ProcessWay {
	namespaces: Namespaces;
	hasLimits: boolean;
}

const WAYS: readonly ProcessWay[] = [
	{ namespaces: 'own', hasLimits: true },
	{ namespaces: 'shared-proc', hasLimits: true },
	{ namespaces: 'own', hasLimits: false },
	{ namespaces: 'none', hasLimits: true },
	{ namespaces: 'none', hasLimits: false }
];

/**
 * Plain processes; `name` is `process`. Which way works is found at the first run, by running; until then `isolation`
 * claims nothing.
 */
export function createProcessSandbox(options: ProcessSandboxOptions = {}): Sandbox {
	const { launcher = createLauncher(), limits = DEFAULT_LIMITS } = options;
	const isRoot = process.getuid?.() === 0;
	let way: ProcessWay = { namespaces: 'none', hasLimits: false };
	let probing: Promise<void> | null = null;

	const probe = async () => {
		const tools = await findTools();
		const program = { file: tools.shell ?? '/bin/sh', args: ['-c', 'exit 42'], env: {}, cwd: '/' };
		const execution: Execution = { id: 'probe', limits, marker: 'probe', stdin: 'closed' };
		for (const candidate of process.platform === 'linux' ? (options.ways ?? WAYS) : []) {
			const spec = commandLine(program, execution, candidate, tools, isRoot);
			const launched = spec && launcher.launch(spec, 'closed');
			const result = await launched?.begin({ timeoutMs: PROBE_MS, maxOutputBytes: 1000 }, undefined);
			if (result?.exitCode !== 42) continue;
			way = candidate;
			return tools;
		}
		return tools;
	};
	let found: Tools = {};
	const ready = () => (probing ??= probe().then((tools) => void (found = tools)));

	return createSandboxBase({
		name: 'process',
		launcher,
		limits,
		owner: options.owner,
		isolation: () => ({
			files: false,
			network: way.namespaces !== 'none',
			processes: way.namespaces === 'own',
			// The number of processes of root has no limit, and outside a namespace it is that of the user.
			limits: way.hasLimits && way.namespaces !== 'none' && !isRoot
		}),
		async toLaunch(program, execution) {
			await Promise.all([ready(), checkProgram(program)]);
			const spec = commandLine(program, execution, way, found, isRoot);
			if (!spec) throw new Error('The programs that limit a script are missing.');
			return spec;
		},
		async onEnd({ marker }, { ended, exitCode }) {
			if (way.namespaces !== 'none')
				return ended === 'spawn-failed' ? undefined : readShellCode(exitCode, constants.signals);
			// What left the group on purpose still has the environment that it was given.
			await endMarked((found) => found === marker);
		},
		onClose: options.launcher ? undefined : () => launcher.close()
	});
}

interface Tools {
	shell?: string;
	unshare?: string;
	prlimit?: string;
}

/** The command line of the host; null when a program for it is missing. */
function commandLine(
	program: SandboxProgram,
	{ limits, marker }: Execution,
	{ namespaces, hasLimits }: ProcessWay,
	{ shell, unshare, prlimit }: Tools,
	isRoot: boolean
): LaunchSpec | null {
	const { proxySocket: socket } = program;
	const env = program.env;
	let { file, args } = socket ? wrapWithForwarder(program, { node: process.execPath, socket }) : program;
	if (hasLimits) {
		if (!prlimit) return null;
		const given = rlimitArguments(program.file, limits, { isNode: socket !== undefined });
		// Outside a namespace of its own it would count all processes of this user.
		const own = given.filter((limit) => namespaces !== 'none' || !limit.startsWith('--nproc='));
		args = [...own, '--', file, ...args];
		file = prlimit;
	}
	if (namespaces !== 'none') {
		if (!unshare || !shell) return null;
		const user = isRoot ? 'none' : socket ? 'root' : 'same';
		({ file, args } = wrapWithUnshare({ file, args, env }, { unshare, shell, namespaces, user }));
	}
	return { file, args, env: { ...env, [MARKER]: marker }, cwd: program.cwd, end: { kind: 'group' } };
}

/** What a program around it would report as an exit code. */
async function checkProgram({ file, args, cwd }: SandboxProgram): Promise<void> {
	if ([file, cwd, ...args].some((text) => text.includes('\0')))
		throw new Error('An argument contains a NUL character.');
	if (!(await stat(cwd)).isDirectory()) throw new Error(`ENOTDIR: not a directory, '${cwd}'`);
	await access(file, fs.X_OK);
}

async function findTools(): Promise<Tools> {
	const [shell, unshare, prlimit] = await Promise.all(['sh', 'unshare', 'prlimit'].map(findTool));
	return { shell, unshare, prlimit };
}

async function findTool(name: string): Promise<string | undefined> {
	for (const folder of [...SYSTEM_FOLDERS, ...(process.env.PATH ?? '').split(delimiter)]) {
		if (!folder.startsWith('/')) continue;
		const path = join(folder, name);
		const isThere = await access(path, fs.X_OK).then(
			() => true,
			() => false
		);
		if (isThere) return path;
	}
	return undefined;
}

// Namespaces of Linux around a plain process: no network, no view of other processes, and what it starts ends with it,
// also a daemon (SANDBOX, `process`). Files are as they were.

/**
 * The first process inside is not the script itself, for that one ignores signals without a handler. It waits for the
 * script and passes its exit code on; asked to end, it leaves what the script started the time to tidy up.
 */
const FIRST = [
	'for name in $1; do unset "$name"; done; shift',
	`asked=; trap 'asked=1' TERM`,
	// Of a program that was killed a shell says “Killed” on its standard error, which the program never did: it is not theirs.
	'exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); code=$?',
	'if [ "$asked" ]; then while kill -0 -1; do sleep 0.05; done 2>/dev/null; fi',
	'exit $code'
].join('\n');

/** What a shell adds to the environment by itself. */
const SHELL_VARIABLES = ['PWD', 'OLDPWD', 'SHLVL'];

/** Which namespaces there are: `own` means a /proc of its own as well. */
export type Namespaces = 'none' | 'shared-proc' | 'own';

export interface UnshareOptions {
	/** Absolute paths. */
	unshare: string;
	shell: string;
	namespaces: Exclude<Namespaces, 'none'>;
	/** Where the caller is not root a user namespace is needed; `root` in it is who may bring its loopback up. */
	user: 'none' | 'same' | 'root';
}

/** The program that runs `file` in namespaces of its own; the exit code is its own, or 128 and the signal. */
function wrapWithUnshare(
	{ file, args, env }: { file: string; args: string[]; env: Record<string, string> },
	{ unshare, shell, namespaces, user }: UnshareOptions
): { file: string; args: string[] } {
	const users = { none: [], same: ['--map-current-user'], root: ['--map-root-user'] }[user];
	const own = namespaces === 'own' ? ['--mount-proc'] : [];
	const forget = [MARKER, ...SHELL_VARIABLES.filter((name) => !(name in env))].join(' ');
	return {
		file: unshare,
		args: [
			...users,
			'--pid',
			'--net',
			'--ipc',
			'--uts',
			...own,
			'--fork',
			'--kill-child',
			'--',
			shell,
			'-c',
			FIRST,
			'sh',
			forget,
			file,
			...args
		]
	};
}

/** A shell's exit code as what it stands for. */
function readShellCode(
	exitCode: number | null,
	signals: Record<string, number>
): { exitCode: null; signal: string } | undefined {
	const signal = Object.entries(signals).find(([, number]) => exitCode === 128 + number)?.[0];
	return signal ? { exitCode: null, signal } : undefined;
}

// The limits of one process as arguments of `prlimit` (SANDBOX, Limits).

const MB = 1024 * 1024;
const GB = 1024 * MB;
/**
 * V8 reserves 512 MB of addresses for code in each isolate, and RLIMIT_DATA counts them, used or not: without this much
 * Node 24 does not start. It is room for the main thread and two workers.
 */
const NODE_RESERVATION = 3 * 512 * MB;

/**
 * `--data=… --as=… …`, to go before `--` and the program. RLIMIT_DATA is exact for Python; any other program may be Node
 * or start it (a shell script does), so it has Node's reservation on top. RLIMIT_AS is for what DATA misses: shared memory.
 * @param file the program
 * @param isNode whether Node runs whatever the program is: the forwarder of a proxy does
 */
export function rlimitArguments(file: string, limits: SandboxLimits, { isNode = false } = {}): string[] {
	const isPython = !isNode && /^python[\d.]*$/.test(basename(file));
	const { memoryBytes } = limits;
	const data = isPython ? memoryBytes : memoryBytes + NODE_RESERVATION;
	const addresses = isPython ? Math.max(GB, 2 * memoryBytes) : Math.max(4 * GB, 2 * GB + 2 * memoryBytes);
	return [
		`--data=${data}`,
		`--as=${addresses}`,
		`--fsize=${limits.fileBytes}`,
		`--nofile=${limits.openFiles}`,
		`--nproc=${limits.processes}`,
		`--cpu=${limits.cpuSeconds}`,
		'--core=0'
	];
}
