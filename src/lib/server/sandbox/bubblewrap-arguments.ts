/** The command line of bubblewrap for one program: a pure function of what was found out before. */
import { rlimitArguments } from './rlimits.ts';
import type { SandboxLimits } from './sandbox.ts';
import { foldersAbove, isWithin, type SystemMount } from './system-mounts.ts';

/** Where a program sees its folders, and the way out. */
export const SKILL = '/skill';
export const WORKSPACE = '/workspace';
export const PROXY_SOCKET = '/run/proxy.sock';

/** Everything is absolute and checked: see `viewOf` of bubblewrap.ts. */
export interface BubblewrapView {
	/** A server that is root needs no user namespace, and must not have one: in it a program would still be uid 0 of the kernel. */
	isRoot: boolean;
	/** The user that the program runs as; the server's own where it is not root. */
	uid: number;
	gid: number;
	system: readonly SystemMount[];
	/** Folders of the server that lie within what is shown: covered by empty ones. */
	hidden: readonly string[];
	/** Host paths that are shown at the same path. */
	runtime: readonly string[];
	skill?: string;
	workspace?: string;
	proxySocket?: string;
	cwd: string;
	env: Record<string, string>;
	limits: SandboxLimits;
	/** Numbers of the open descriptors; a file of `files` is read from its own. */
	fds: { info: number; seccomp: number | null; files: readonly { path: string; fd: number }[] };
}

/** Absolute paths of the programs in front of the program. */
export interface BubblewrapTools {
	setpriv: string;
	prlimit: string;
	/** Makes a program that takes too much memory the first to be ended, before the server; null where there is none. */
	choom: string | null;
}

/** What `--args` reads: options alone, as bubblewrap takes the program from its own arguments. */
export function bubblewrapArguments(view: BubblewrapView): string[] {
	const { fds, limits } = view;
	const made = new Set<string>();
	// bubblewrap makes missing folders above a mount as well, but closed to other users.
	const above = (path: string) =>
		foldersAbove(path)
			.filter((folder) => !made.has(folder) && !isShown(view, folder))
			.flatMap((folder) => {
				made.add(folder);
				return ['--perms', '0755', '--dir', folder];
			});
	const show = (option: string, from: string, to: string) => [...above(to), option, from, to];
	const emptyFolder = (path: string, bytes: number) => ['--perms', '1777', '--size', String(bytes), '--tmpfs', path];

	return [
		...(view.isRoot ? [] : ['--unshare-user', '--disable-userns']),
		...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
		...['--new-session', '--die-with-parent', '--hostname', 'sandbox'],
		...['--info-fd', String(fds.info)],
		...(fds.seccomp === null ? [] : ['--seccomp', String(fds.seccomp)]),
		...view.system.flatMap((mount) =>
			mount.kind === 'bind'
				? show('--ro-bind', mount.path, mount.path)
				: [...above(mount.path), '--symlink', mount.target, mount.path]
		),
		...fds.files.flatMap(({ path, fd }) => [...above(path), '--perms', '0444', '--file', String(fd), path]),
		...view.hidden.flatMap((path) => ['--perms', '0755', '--size', '65536', '--tmpfs', path]),
		...['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys'],
		...['--dev', '/dev', ...emptyFolder('/dev/shm', limits.fileBytes), '--remount-ro', '/dev'],
		...emptyFolder('/tmp', limits.fileBytes),
		...view.runtime.flatMap((path) => show('--ro-bind', path, path)),
		...(view.skill === undefined ? [] : show('--ro-bind', view.skill, SKILL)),
		...(view.workspace === undefined ? [] : show('--bind', view.workspace, WORKSPACE)),
		...(view.proxySocket === undefined ? [] : show('--ro-bind', view.proxySocket, PROXY_SOCKET)),
		// They are in memory and without a size: nothing can be put there.
		...[...view.hidden, '/'].flatMap((path) => ['--remount-ro', path]),
		...['--chdir', view.cwd],
		...Object.entries(view.env).flatMap(([name, value]) => ['--setenv', name, value])
	];
}

/** Is the folder there already, as part of a mount of the system or as the empty folder that covers one of the server's? */
function isShown({ system, hidden }: BubblewrapView, folder: string): boolean {
	if (hidden.includes(folder)) return true;
	const isCovered = hidden.some((path) => isWithin(folder, path));
	return !isCovered && system.some(({ kind, path }) => kind === 'bind' && isWithin(folder, path));
}

/** The program with what sets its user and limits in front of it, to go behind `--`. */
export function limitedCommand(
	program: { file: string; args: readonly string[] },
	view: Pick<BubblewrapView, 'isRoot' | 'uid' | 'gid' | 'limits' | 'proxySocket'>,
	tools: BubblewrapTools
): string[] {
	const { isRoot, uid, gid, limits } = view;
	const hasForwarder = view.proxySocket !== undefined;
	return [
		...(tools.choom ? [tools.choom, '-n', '900', '--'] : []),
		...(isRoot
			? [
					...[tools.setpriv, '--reuid', String(uid), '--regid', String(gid), '--clear-groups'],
					...['--inh-caps=-all', '--bounding-set=-all', '--no-new-privs']
				]
			: []),
		tools.prlimit,
		...rlimitArguments(program.file, { ...limits, processes: processLimit(limits, view) }, { isNode: hasForwarder }),
		'--',
		program.file,
		...program.args
	];
}

/** Threads of the forwarder's Node, which count as processes. */
const FORWARDER_THREADS = 16;

/**
 * In a user namespace RLIMIT_NPROC counts this sandbox alone, its first process too. Without one it counts the user, that
 * is the workspace, where several skills may run at once: so it is four times as many for all of them.
 */
function processLimit(
	{ processes }: SandboxLimits,
	{ isRoot, proxySocket }: Pick<BubblewrapView, 'isRoot' | 'proxySocket'>
): number {
	const own = processes + 1 + (proxySocket === undefined ? 0 : FORWARDER_THREADS);
	return isRoot ? own * 4 : own;
}
