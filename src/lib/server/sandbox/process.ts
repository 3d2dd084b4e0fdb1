/**
 * The backend that every machine has: a plain process in a group of its own (FEATURES D10, D11). On Linux, where the
 * system lets it, in namespaces as well: then there is no network, and no process survives the call. Files are not
 * isolated, ever.
 */
import { constants as fs } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { wrapWithForwarder } from './forwarder.ts';
import { createLauncher } from './launch.ts';
import type { Launcher, LaunchSpec } from './launcher.ts';
import { endMarked } from './leftovers.ts';
import { rlimitArguments } from './rlimits.ts';
import { createSandboxBase, MARKER, type Execution } from './running.ts';
import { DEFAULT_LIMITS, type Sandbox, type SandboxLimits, type SandboxProgram } from './sandbox.ts';
import { readShellCode, wrapWithUnshare, type Namespaces } from './unshare.ts';

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
			if (!spec) throw new Error('The programs that limit a process are gone.');
			return spec;
		},
		async onEnd({ marker }, { ended, exitCode }) {
			if (way.namespaces !== 'none')
				return ended === 'spawn-failed' ? undefined : readShellCode(exitCode, constants.signals);
			// What left the group on purpose still has the environment that it was given.
			await endMarked((found) => found === marker);
		},
		...(options.launcher ? {} : { onClose: () => launcher.close() })
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
		throw new Error('An argument has a NUL character in it.');
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
