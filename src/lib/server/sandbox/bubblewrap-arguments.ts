/** The command line of bubblewrap for one program: a pure function of what was found out before. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { rlimitArguments } from './process.ts';
import type { SandboxLimits } from './sandbox.ts';

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
		'--unshare-pid',
		'--unshare-net',
		'--unshare-ipc',
		'--unshare-uts',
		'--unshare-cgroup-try',
		'--new-session',
		'--die-with-parent',
		'--hostname',
		'sandbox',
		'--info-fd',
		String(fds.info),
		...(fds.seccomp === null ? [] : ['--seccomp', String(fds.seccomp)]),
		...view.system.flatMap((mount) =>
			mount.kind === 'bind'
				? show('--ro-bind', mount.path, mount.path)
				: [...above(mount.path), '--symlink', mount.target, mount.path]
		),
		...fds.files.flatMap(({ path, fd }) => [...above(path), '--perms', '0444', '--file', String(fd), path]),
		...view.hidden.flatMap((path) => ['--perms', '0755', '--size', '65536', '--tmpfs', path]),
		'--proc',
		'/proc',
		'--ro-bind',
		'/proc/sys',
		'/proc/sys',
		'--dev',
		'/dev',
		...emptyFolder('/dev/shm', limits.fileBytes),
		'--remount-ro',
		'/dev',
		...emptyFolder('/tmp', limits.fileBytes),
		...view.runtime.flatMap((path) => show('--ro-bind', path, path)),
		...(view.skill === undefined ? [] : show('--ro-bind', view.skill, SKILL)),
		...(view.workspace === undefined ? [] : show('--bind', view.workspace, WORKSPACE)),
		...(view.proxySocket === undefined ? [] : show('--ro-bind', view.proxySocket, PROXY_SOCKET)),
		// They are in memory and without a size: nothing can be put there.
		...[...view.hidden, '/'].flatMap((path) => ['--remount-ro', path]),
		'--chdir',
		view.cwd,
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
					tools.setpriv,
					'--reuid',
					String(uid),
					'--regid',
					String(gid),
					'--clear-groups',
					'--inh-caps=-all',
					'--bounding-set=-all',
					'--no-new-privs'
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

// What of the host's system a program in bubblewrap sees, read-only, and which folders it must never be shown.

export type SystemMount =
	/** Seen at its own path, read-only. */
	| { kind: 'bind'; path: string }
	/** A link inside, as the host has it: `/bin` → `usr/bin`. */
	| { kind: 'link'; path: string; target: string };

/** A file that is made for the sandbox. */
export interface SystemFile {
	path: string;
	text: string;
}

/** `/usr/local` is in `/usr`; `/nix/store` holds the programs of NixOS. */
const FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'];
/** Of /etc only what programs look for; never the whole, which has passwords, keys and configured secrets. */
const ETC = [
	'alternatives',
	'crypto-policies',
	'fonts',
	'ld.so.cache',
	'ld-musl-x86_64.path',
	'localtime',
	'magic',
	'mime.types',
	'os-release',
	'pki/ca-trust/extracted',
	'pki/tls/certs',
	'protocols',
	'services',
	'ssl/certs',
	'ssl/cert.pem',
	'ssl/openssl.cnf',
	'timezone'
].map((name) => `/etc/${name}`);

/** Never shown as a whole, nor anything above them. */
const PROTECTED = ['/etc', '/home', '/root', '/var', '/run', '/tmp', '/proc', '/sys', '/dev', '/boot', '/srv', '/opt'];

/** The parts of the system that this host has, to be looked up once at the start. */
export function systemMounts(): SystemMount[] {
	return [...FOLDERS, ...ETC].flatMap((path): SystemMount[] => {
		const entry = lstatSync(path, { throwIfNoEntry: false });
		if (!entry) return [];
		if (!entry.isSymbolicLink()) return [{ kind: 'bind', path }];
		// A link out of what is mounted would dangle inside: then its file stands in its place.
		const target = realpathSync(path);
		const isSeen = FOLDERS.some((folder) => isWithin(target, folder));
		return isSeen ? [{ kind: 'link', path, target: readlinkSync(path) }] : [{ kind: 'bind', path }];
	});
}

/** The user of the sandbox in the files where programs look names up; no name is resolved by the network. */
export function systemFiles({ uid, gid }: { uid: number; gid: number }): SystemFile[] {
	const users = [
		...(uid === 0 ? [] : ['root:x:0:0:root:/:/usr/sbin/nologin']),
		`skill:x:${uid}:${gid}:skill:/workspace:/bin/sh`,
		...(uid === 65534 ? [] : ['nobody:x:65534:65534:nobody:/:/usr/sbin/nologin'])
	];
	const groups = [
		...(gid === 0 ? [] : ['root:x:0:']),
		`skill:x:${gid}:`,
		...(gid === 65534 ? [] : ['nogroup:x:65534:'])
	];
	const lines = (texts: string[]) => `${texts.join('\n')}\n`;
	return [
		{ path: '/etc/passwd', text: lines(users) },
		{ path: '/etc/group', text: lines(groups) },
		{ path: '/etc/hosts', text: lines(['127.0.0.1 localhost', '::1 localhost']) },
		{ path: '/etc/nsswitch.conf', text: lines(['passwd: files', 'group: files', 'hosts: files', 'services: files']) }
	];
}

/**
 * Refuses a folder whose mount would show what is not for scripts.
 * @param path a real path
 * @param hidden the server's own folders, as real paths
 * @throws Error naming the path
 */
export function refuseExposing(path: string, hidden: readonly string[]): void {
	const shown = [...PROTECTED, homedir(), ...hidden].find((protectedPath) => isWithin(protectedPath, path));
	if (path === '/') throw new Error('The root folder can’t be shared with a script.');
	if (shown === path || dirname(path) === '/home') throw new Error(`${path} can’t be shared with a script as a whole.`);
	if (shown) throw new Error(`${path} can’t be shared with a script: it contains ${shown}.`);
}

/** Is a path a folder, or in it? Both absolute and without `.`, `..` and a slash at the end. */
export function isWithin(path: string, folder: string): boolean {
	return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

/** The folders above a path, from the top, without `/`. */
export function foldersAbove(path: string): string[] {
	const above = dirname(path);
	return above === '/' || above === '.' ? [] : [...foldersAbove(above), above];
}
