/**
 * The backend without requirements: a plain process in its own process group (D10, D11). On Linux it also uses
 * namespaces if allowed, so that there is no network and no process survives the call. It never isolates files.
 */
import { constants as fs } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { wrapWithForwarder } from './forwarder.ts';
import { createLauncher } from './launch/launch.ts';
import type { Launcher, LaunchSpec } from './launch/launcher.ts';
import { firstExecutable } from './launch/start-program.ts';
import { createSandboxBase, type Execution, MARKER } from './running.ts';
import { DEFAULT_LIMITS, type Sandbox, type SandboxLimits, type SandboxProgram } from './sandbox.ts';
import { endMarked } from './workspace.ts';

const PROBE_MS = 10_000;
/** Searched before PATH. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

export interface ProcessSandboxOptions {
	launcher?: Launcher;
	/** Maximum for any program. */
	limits?: SandboxLimits;
	/** See `ownerOf` in workspace.ts. */
	owner?: string;
	/** Ways to try, best first. Default: all of them. */
	ways?: readonly ProcessWay[];
}

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

/** The backend `process`. It finds out at the first run which way works; until then `isolation` is all false. */
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
			// RLIMIT_NPROC doesn’t apply to root, and outside a namespace it counts all of the user’s processes.
			limits: way.hasLimits && way.namespaces !== 'none' && !isRoot
		}),
		async toLaunch(program, execution) {
			await Promise.all([ready(), checkProgram(program)]);
			const spec = commandLine(program, execution, way, found, isRoot);
			if (!spec) throw new Error('The programs that limit a script are missing.');
			return spec;
		},
		async onEnd({ marker }, { ended, exitCode }) {
			if (way.namespaces !== 'none') {
				return ended === 'spawn-failed' ? undefined : readShellCode(exitCode, constants.signals);
			}
			// Processes that left the group still have the marker in their environment.
			await endMarked((found) => found === marker);
		},
		onClose: options.launcher ? undefined : () => launcher.close()
	});
}

interface Tools {
	shell?: string;
	unshare?: string;
	prlimit?: string;
	setpriv?: string;
}

/** The host’s command line; null if a tool for it is missing. */
function commandLine(
	program: SandboxProgram,
	{ limits, marker }: Execution,
	{ namespaces, hasLimits }: ProcessWay,
	{ shell, unshare, prlimit, setpriv }: Tools,
	isRoot: boolean
): LaunchSpec | null {
	const { proxySocket: socket } = program;
	const env = program.env;
	let { file, args } = socket ? wrapWithForwarder(program, { node: process.execPath, socket }) : program;
	if (hasLimits) {
		if (!prlimit) return null;
		const given = rlimitArguments(program.file, limits, { isNode: socket !== undefined });
		// Outside a namespace, it would count all of the user’s processes.
		const own = given.filter((limit) => namespaces !== 'none' || !limit.startsWith('--nproc='));
		args = [...own, '--', file, ...args];
		file = prlimit;
	}
	if (namespaces !== 'none') {
		if (!unshare || !shell) return null;
		({ file, args } = wrapWithUnshare({ file, args, env }, { unshare, shell, setpriv, namespaces, isRoot }));
	}
	return { file, args, env: { ...env, [MARKER]: marker }, cwd: program.cwd, end: { kind: 'group' } };
}

/** Checks what a wrapper would otherwise report as an exit code. */
async function checkProgram({ file, args, cwd }: SandboxProgram): Promise<void> {
	if ([file, cwd, ...args].some((text) => text.includes('\0')))
		throw new Error('An argument contains a NUL character.');
	if (!(await stat(cwd)).isDirectory()) throw new Error(`ENOTDIR: not a directory, '${cwd}'`);
	await access(file, fs.X_OK);
}

async function findTools(): Promise<Tools> {
	const folders = [
		...SYSTEM_FOLDERS,
		...(process.env.PATH ?? '').split(delimiter).filter((path) => path.startsWith('/'))
	];
	const [shell, unshare, prlimit, setpriv] = await Promise.all(
		['sh', 'unshare', 'prlimit', 'setpriv'].map((name) => firstExecutable(folders.map((folder) => join(folder, name))))
	);
	return { shell, unshare, prlimit, setpriv };
}

// Linux namespaces around a plain process: no network but its own loopback, no access to other processes, and its daemons end with it
// (SANDBOX, `process`). Files aren’t isolated.

/** Bring loopback up, which `unshare --net` leaves down; the first that is installed is enough. */
export const RAISE_LOOPBACK = [
	'/sbin/ip link set lo up',
	'/usr/bin/ip link set lo up',
	// SIOCSIFFLAGS with IFF_UP. Debian's base system has perl but no ip.
	`/usr/bin/perl -e 'socket(my $s, 2, 2, 0) or exit 1; my $r = pack("a16 s x22", "lo", 1); ioctl($s, 0x8914, $r) or exit 1'`
];

/**
 * The first process of a PID namespace ignores signals without a handler, so it isn’t the script. It waits for the script
 * and passes its exit code on. On SIGTERM it waits for the script’s children to clean up.
 */
const FIRST = [
	`{ ${RAISE_LOOPBACK.join(' || ')}; } >/dev/null 2>&1`,
	'for name in $1; do unset "$name"; done; shift',
	`asked=; trap 'asked=1' TERM`,
	// A shell prints “Killed” to stderr for a killed program; descriptor 3 keeps that out of the output.
	'exec 3>&2 2>/dev/null; (exec "$@" 2>&3 3>&-); code=$?',
	'if [ "$asked" ]; then while kill -0 -1; do sleep 0.05; done 2>/dev/null; fi',
	'exit $code'
].join('\n');

const SHELL_VARIABLES = ['PWD', 'OLDPWD', 'SHLVL'];

/** `own` includes its own /proc. */
export type Namespaces = 'none' | 'shared-proc' | 'own';

/**
 * Wraps a program in namespaces. The exit code is the program’s, or 128 plus the signal. Callers other than root need a
 * user namespace; its capabilities are for the first process alone, which needs one to bring loopback up.
 */
function wrapWithUnshare(
	{ file, args, env }: { file: string; args: string[]; env: Record<string, string> },
	{
		unshare,
		shell,
		setpriv,
		namespaces,
		isRoot
	}: Required<Pick<Tools, 'unshare' | 'shell'>> & Pick<Tools, 'setpriv'> & { namespaces: Namespaces; isRoot: boolean }
): { file: string; args: string[] } {
	const users = isRoot ? [] : ['--map-current-user', ...(setpriv ? ['--keep-caps'] : [])];
	const own = namespaces === 'own' ? ['--mount-proc'] : [];
	const drop = isRoot || !setpriv ? [] : [setpriv, '--ambient-caps=-all', '--inh-caps=-all', '--'];
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
			...drop,
			file,
			...args
		]
	};
}

/** Decodes a shell’s exit code of 128 plus a signal. */
function readShellCode(
	exitCode: number | null,
	signals: Record<string, number>
): { exitCode: null; signal: string } | undefined {
	const signal = Object.entries(signals).find(([, number]) => exitCode === 128 + number)?.[0];
	return signal ? { exitCode: null, signal } : undefined;
}

// Process limits as arguments of `prlimit` (SANDBOX, Limits).

const MB = 1024 * 1024;
const GB = 1024 * MB;
/**
 * V8 reserves 512 MB of address space for code per isolate, and RLIMIT_DATA counts it, so Node 24 needs this much to
 * start. Enough for the main thread and two workers.
 */
const NODE_RESERVATION = 3 * 512 * MB;

/**
 * Returns `--data=… --as=… …`. RLIMIT_DATA is exact for Python. Other programs may be or start Node, so they get its
 * reservation on top, and so does a Python that asks for address space: it starts a browser. RLIMIT_AS limits what DATA doesn’t count: shared memory.
 * @param isNode whether Node runs in any case, as for the proxy forwarder
 */
export function rlimitArguments(file: string, limits: SandboxLimits, { isNode = false } = {}): string[] {
	const { memoryBytes, virtualBytes = 0 } = limits;
	const isPython = !isNode && virtualBytes === 0 && /^python[\d.]*$/.test(basename(file));
	const data = isPython ? memoryBytes : memoryBytes + NODE_RESERVATION;
	const addresses = isPython ? Math.max(GB, 2 * memoryBytes) : Math.max(4 * GB, 2 * GB + 2 * memoryBytes, virtualBytes);
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
