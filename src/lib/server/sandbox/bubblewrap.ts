/**
 * The backend that isolates by namespaces: a read-only system, the skill at `/skill`, the workspace at `/workspace`, no
 * network and no other processes (FEATURES D10, D14, D33; SANDBOX, bubblewrap pitfalls).
 *
 * Variables of the program reach bubblewrap by a descriptor, and bubblewrap itself has an empty environment: nothing of the
 * server's, and no secret, is in a process list or in the environment of the first process inside.
 */
import { accessSync, constants } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import {
	bubblewrapArguments,
	type BubblewrapTools,
	type BubblewrapView,
	isWithin,
	limitedCommand,
	PROXY_SOCKET,
	refuseExposing,
	SKILL,
	systemFiles,
	type SystemMount,
	systemMounts,
	WORKSPACE
} from './bubblewrap-arguments.ts';
import { wrapWithForwarder } from './forwarder.ts';
import type { Launcher, LaunchFd, LaunchSpec } from './launch/launcher.ts';
import { createSandboxBase } from './running.ts';
import type { Sandbox, SandboxFolders, SandboxLimits, SandboxProgram } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';
import { giveWorkspace, workspaceUid } from './workspace.ts';

export interface BubblewrapOptions {
	launcher: Launcher;
	/** The most that any program may have. */
	limits?: SandboxLimits;
	/** Absolute path of bubblewrap 0.8 or newer; looked for when missing. */
	bwrap?: string;
	/** Absolute path of the Node that forwards to a proxy; this process's when missing. */
	node?: string;
	/** The server's own folders (the app, its data): covered where they lie in a shown part of the system, and never shown as a whole. */
	hidden?: readonly string[];
	/** The user that bubblewrap is started as; this process's when missing. */
	user?: { uid: number; gid: number };
}

/** What is the same for every program. */
interface Host {
	bwrap: string;
	node: string;
	tools: BubblewrapTools;
	system: readonly SystemMount[];
	hidden: readonly string[];
	filter: Buffer | null;
	/** null where the server is root: then each workspace has a user of its own. */
	user: { uid: number; gid: number } | null;
}

/** Where programs of the system are; a PATH may hold a folder that others write to. */
const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

/**
 * Programs in bubblewrap; `name` is `bubblewrap`. That it is made says little: `detectSandbox` tries whether it works.
 * @throws Error in words for the operator when a program that it needs is missing
 */
export function createBubblewrapSandbox(options: BubblewrapOptions): Sandbox {
	const user = options.user ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
	const host: Host = {
		bwrap: options.bwrap ?? find('bwrap', 'bubblewrap'),
		node: options.node ?? process.execPath,
		tools: {
			setpriv: find('setpriv', 'util-linux'),
			prlimit: find('prlimit', 'util-linux'),
			choom: findProgram('choom')
		},
		system: systemMounts(),
		hidden: options.hidden ?? [],
		filter: seccompFilter(),
		user: user.uid === 0 ? null : user
	};
	return createSandboxBase({
		name: 'bubblewrap',
		isolation: { files: true, network: true, processes: true, limits: true },
		launcher: options.launcher,
		limits: options.limits,
		locate: (folders) => ({ skill: folders.skill === undefined ? undefined : SKILL, workspace: WORKSPACE }),
		toLaunch: (program, { limits }) => toLaunch(program, limits, host),
		onEnd: (_execution, { exitCode, stdout, stderr }) => {
			// They speak only when the program was not reached: to the caller it was never started.
			const isOwn = /^(bwrap|choom|setpriv|prlimit): [^\n]+\n$/.test(stderr) && stdout === '';
			if (!isOwn || ![1, 126, 127].includes(exitCode ?? 0)) return;
			return { ended: 'spawn-failed', exitCode: null, spawnError: stderr.trim() };
		}
	});
}

async function toLaunch(program: SandboxProgram, limits: SandboxLimits, host: Host): Promise<LaunchSpec> {
	refuseNul(program);
	const { folders, proxySocket } = program;
	const hidden = await realPaths(host.hidden);
	const user = host.user ?? userOf(folders);
	const runtime = await runtimeOf(
		[...(program.runtime ?? []), ...(proxySocket === undefined ? [] : [host.node])],
		host,
		hidden
	);
	const shown = await shownFolders(folders, hidden);
	if (!host.user && folders) await prepareForUser(shown, user.uid, limits);

	const files = systemFiles(user);
	// Descriptor 3 is the arguments, 4 the info; from 5 on the filter, where there is one, and the files.
	const firstFile = host.filter ? 6 : 5;
	const view: BubblewrapView = {
		isRoot: host.user === null,
		...user,
		system: host.system,
		hidden: hidden.filter((path) => isSystem(path, host)),
		runtime,
		...shown,
		proxySocket,
		cwd: program.cwd,
		env: program.env,
		limits,
		fds: {
			info: 4,
			seccomp: host.filter ? 5 : null,
			files: files.map(({ path }, index) => ({ path, fd: firstFile + index }))
		}
	};
	const started =
		proxySocket === undefined ? program : wrapWithForwarder(program, { node: host.node, socket: PROXY_SOCKET });
	return {
		file: host.bwrap,
		args: ['--args', '3', '--', ...limitedCommand(started, view, host.tools)],
		env: {},
		cwd: '/',
		fds: [
			data(`${bubblewrapArguments(view).join('\0')}\0`),
			{ kind: 'info' },
			...(host.filter ? [data(host.filter)] : []),
			...files.map(({ text }) => data(text))
		],
		end: { kind: 'inner' }
	};
}

/** Arguments are separated by NUL: one in a value would be the way to options of bubblewrap. */
function refuseNul({ file, args, env, cwd, folders, runtime, proxySocket }: SandboxProgram): void {
	const texts = [file, ...args, ...Object.entries(env).flat(), cwd, ...(runtime ?? []), proxySocket ?? ''];
	if ([...texts, folders?.skill ?? '', folders?.workspace ?? ''].some((text) => text.includes('\0')))
		throw new Error('An argument, variable or path contains a NUL character.');
}

function userOf(folders: SandboxFolders | undefined): { uid: number; gid: number } {
	const uid = workspaceUid(folders?.workspace ?? '');
	return { uid, gid: uid };
}

/** Real paths of the folders; what does not exist is refused, as is what would show too much. */
async function shownFolders(
	folders: SandboxFolders | undefined,
	hidden: readonly string[]
): Promise<Pick<BubblewrapView, 'skill' | 'workspace'>> {
	if (!folders) return {};
	const workspace = await realpath(folders.workspace);
	const skill = folders.skill === undefined ? undefined : await realpath(folders.skill);
	for (const path of [workspace, skill]) if (path !== undefined) refuseExposing(path, hidden);
	return { workspace, skill };
}

/** A program's own files: at their own path and at their real one, as far as the system's mounts do not show them. */
async function runtimeOf(paths: readonly string[], host: Host, hidden: readonly string[]): Promise<string[]> {
	const all = new Set<string>();
	for (const path of paths) {
		const real = await realpath(path);
		for (const shown of [path, real]) {
			const isThere = isSystem(shown, host) && !hidden.some((folder) => isWithin(shown, folder));
			if (isThere) continue;
			refuseExposing(real, hidden);
			refuseExposing(shown, hidden);
			all.add(shown);
		}
	}
	// A folder before what is in it, which it would cover.
	return [...all].sort();
}

function isSystem(path: string, { system }: Host): boolean {
	return system.some((mount) => isWithin(path, mount.path));
}

/** The user inside owns the workspace, but reads the skill as anybody. */
async function prepareForUser(
	{ skill, workspace }: Pick<BubblewrapView, 'skill' | 'workspace'>,
	uid: number,
	limits: SandboxLimits
): Promise<void> {
	if (skill !== undefined && ((await stat(skill)).mode & 0o005) !== 0o005)
		throw new Error(`The user that runs scripts can’t read ${skill}. Make it readable: chmod -R o+rX ${skill}`);
	if (workspace !== undefined) await giveWorkspace(workspace, uid, 2 * limits.workspaceFiles);
}

/** Of those that exist. */
async function realPaths(paths: readonly string[]): Promise<string[]> {
	const found: string[] = [];
	for (const path of paths) {
		try {
			found.push(await realpath(path));
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
		}
	}
	return found;
}

function data(content: string | Buffer): LaunchFd {
	return { kind: 'data', base64: Buffer.from(content).toString('base64') };
}

function find(name: string, packageName: string): string {
	const path = findProgram(name);
	if (path) return path;
	throw new Error(`${name} isn’t installed (package ${packageName})`);
}

function findProgram(name: string): string | null {
	return PROGRAM_FOLDERS.map((folder) => `${folder}/${name}`).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		// It is not there, or not for us: the next folder may have it.
		return false;
	}
}
