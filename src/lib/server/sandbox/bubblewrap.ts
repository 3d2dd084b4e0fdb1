/**
 * The bubblewrap backend: a read-only system, the skill at `/skill`, the workspace at `/workspace`, no network and no
 * other processes (D10, D14, D33; SANDBOX, bubblewrap pitfalls).
 *
 * The program’s variables reach bubblewrap through a descriptor, and bubblewrap’s own environment is empty, so that no
 * secret is in a process list or in the environment of the first process inside.
 */
import { accessSync, constants } from 'node:fs';
import { readlink, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
	bubblewrapArguments,
	type BubblewrapTools,
	type BubblewrapView,
	foldersAbove,
	isWithin,
	limitedCommand,
	PACKAGES,
	PROXY_SOCKET,
	refuseExposing,
	SKILL,
	systemFiles,
	type SystemMount,
	systemMounts,
	WORKSPACE
} from './bubblewrap-arguments.ts';
import { ignoring } from '../foreign-folders.ts';
import { wrapWithForwarder } from './forwarder.ts';
import type { Launcher, LaunchFd, LaunchSpec } from './launch/launcher.ts';
import { createSandboxBase } from './running.ts';
import type { Sandbox, SandboxFolders, SandboxLimits, SandboxProgram } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';
import { giveWorkspace, workspaceUid } from './workspace.ts';

export interface BubblewrapOptions {
	launcher: Launcher;
	/** Maximum for any program. */
	limits?: SandboxLimits;
	/** Absolute path of bubblewrap 0.8 or newer. Default: searched. */
	bwrap?: string;
	/** Absolute path of the proxy forwarder’s Node. Default: this process’s. */
	node?: string;
	/** The server’s own folders (the app, its data): covered if inside a mounted folder, and never mounted. */
	hidden?: readonly string[];
	/** The user that starts bubblewrap. Default: this process’s. */
	user?: { uid: number; gid: number };
}

interface Host {
	bwrap: string;
	node: string;
	tools: BubblewrapTools;
	system: readonly SystemMount[];
	hidden: readonly string[];
	filter: Buffer | null;
	/** null if the server is root: then each workspace has its own user. */
	user: { uid: number; gid: number } | null;
}

/** Used instead of PATH, which may contain folders that others can write to. */
const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

/** What is the same on every machine. */
export const BUBBLEWRAP = {
	name: 'bubblewrap',
	isolation: { files: true, network: true, processes: true, limits: true },
	locate: ({ skill, packages }) => ({
		skill: skill === undefined ? undefined : SKILL,
		workspace: WORKSPACE,
		...(packages !== undefined && { packages: PACKAGES })
	})
} as const satisfies Pick<Sandbox, 'name' | 'isolation' | 'locate'>;

/** The backend `bubblewrap`; `detectSandbox` tests whether it works. @throws Error for the operator if a tool is missing */
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
		...BUBBLEWRAP,
		launcher: options.launcher,
		limits: options.limits,
		toLaunch: (program, { limits }) => toLaunch(program, limits, host),
		onEnd: (_execution, { exitCode, stdout, stderr }) => {
			// These tools print errors only if they couldn’t start the program.
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
	// Descriptor 3 holds the arguments, 4 the info, then the filter, if any, and the files.
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

/** Arguments are separated by NUL, so one in a value could inject options. */
function refuseNul({ file, args, env, cwd, folders, runtime, proxySocket }: SandboxProgram): void {
	const texts = [file, ...args, ...Object.entries(env).flat(), cwd, ...(runtime ?? []), proxySocket ?? ''];
	const { skill = '', workspace = '', packages = '' } = folders ?? {};
	if ([...texts, skill, workspace, packages].some((text) => text.includes('\0'))) {
		throw new Error('An argument, variable or path contains a NUL character.');
	}
}

function userOf(folders: SandboxFolders | undefined): { uid: number; gid: number } {
	const uid = workspaceUid(folders?.workspace ?? '');
	return { uid, gid: uid };
}

/** Real paths of the folders. @throws Error if one is missing or would expose too much */
async function shownFolders(
	folders: SandboxFolders | undefined,
	hidden: readonly string[]
): Promise<Pick<BubblewrapView, 'skill' | 'workspace' | 'packages'>> {
	if (!folders) return {};
	const workspace = await realpath(folders.workspace);
	const skill = folders.skill === undefined ? undefined : await realpath(folders.skill);
	const packages = folders.packages === undefined ? undefined : await realpath(folders.packages);
	for (const path of [workspace, skill, packages]) if (path !== undefined) refuseExposing(path, hidden);
	return { workspace, skill, packages };
}

/** The program’s own files that the system mounts don’t show, at their path, their real path and each link between. */
async function runtimeOf(paths: readonly string[], host: Host, hidden: readonly string[]): Promise<string[]> {
	const all = new Set<string>();
	for (const path of paths) {
		const real = await realpath(path);
		for (const shown of [...(await linksOf(path)), real]) {
			const isThere = isSystem(shown, host) && !hidden.some((folder) => isWithin(shown, folder));
			if (isThere) continue;
			refuseExposing(real, hidden);
			refuseExposing(shown, hidden);
			all.add(shown);
		}
	}
	// A folder shows its contents, and a link in it can’t be a mount point: the program of a virtual environment is one.
	return [...all].filter((path) => !foldersAbove(path).some((folder) => all.has(folder))).sort();
}

/** The path, and what it links to step by step: an environment’s `python3` → `python` → the system’s. */
async function linksOf(path: string): Promise<string[]> {
	const target = await readlink(path).catch(ignoring('EINVAL'));
	return target === null ? [path] : [path, ...(await linksOf(resolve(dirname(path), target)))];
}

function isSystem(path: string, { system }: Host): boolean {
	return system.some((mount) => isWithin(path, mount.path));
}

/** The inner user owns the workspace, but reads the skill as “other”. */
async function prepareForUser(
	{ skill, workspace }: Pick<BubblewrapView, 'skill' | 'workspace'>,
	uid: number,
	limits: SandboxLimits
): Promise<void> {
	if (skill !== undefined && ((await stat(skill)).mode & 0o005) !== 0o005) {
		throw new Error(`The user that runs scripts can’t read ${skill}. Make it readable: chmod -R o+rX ${skill}`);
	}
	if (workspace !== undefined) await giveWorkspace(workspace, uid, 2 * limits.workspaceFiles);
}

/** Skips missing paths. */
async function realPaths(paths: readonly string[]): Promise<string[]> {
	const found = await Promise.all(paths.map((path) => realpath(path).catch(ignoring('ENOENT'))));
	return found.filter((path) => path !== null);
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
		return false;
	}
}
