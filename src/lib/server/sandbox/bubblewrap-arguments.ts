/** Builds bubblewrap’s command line, and knows which parts of the host’s system it shows. */
import { lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { rlimitArguments } from './process.ts';
import { type SandboxLimits, sharedMemoryBytes } from './sandbox.ts';

export const SKILL = '/skill';
export const WORKSPACE = '/workspace';
export const PACKAGES = '/packages';
export const PROXY_SOCKET = '/run/proxy.sock';

/** Absolute, checked paths: see `toLaunch` in bubblewrap.ts. */
export interface BubblewrapView {
	/** A root server must not create a user namespace: the program in it would still be uid 0 of the kernel. */
	isRoot: boolean;
	/** The program’s user; the server’s own unless that is root. */
	uid: number;
	gid: number;
	system: readonly SystemMount[];
	/** Folders of the server inside mounted ones: covered by empty folders. */
	hidden: readonly string[];
	/** Host paths mounted at the same path. */
	runtime: readonly string[];
	skill?: string;
	workspace?: string;
	packages?: string;
	proxySocket?: string;
	cwd: string;
	env: Record<string, string>;
	limits: SandboxLimits;
	/** Open descriptors; each file of `files` is read from its own. */
	fds: { info: number; seccomp: number | null; files: readonly { path: string; fd: number }[] };
}

export interface BubblewrapTools {
	setpriv: string;
	prlimit: string;
	/** Makes the out-of-memory killer choose the program before the server; null if not installed. */
	choom: string | null;
}

/** Options for `--args`. The program itself is in bubblewrap’s own arguments. */
export function bubblewrapArguments(view: BubblewrapView): string[] {
	const { fds, limits } = view;
	const made = new Set<string>();
	// bubblewrap would create missing parent folders too, but closed to other users.
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
		...emptyFolder('/dev/shm', sharedMemoryBytes(limits)),
		'--remount-ro',
		'/dev',
		...emptyFolder('/tmp', limits.fileBytes),
		...view.runtime.flatMap((path) => show('--ro-bind', path, path)),
		...(view.skill === undefined ? [] : show('--ro-bind', view.skill, SKILL)),
		...(view.packages === undefined ? [] : show('--ro-bind', view.packages, PACKAGES)),
		...(view.workspace === undefined ? [] : show('--bind', view.workspace, WORKSPACE)),
		...(view.proxySocket === undefined ? [] : show('--ro-bind', view.proxySocket, PROXY_SOCKET)),
		// In memory without a size limit, so read-only.
		...[...view.hidden, '/'].flatMap((path) => ['--remount-ro', path]),
		'--chdir',
		view.cwd,
		...Object.entries(view.env).flatMap(([name, value]) => ['--setenv', name, value])
	];
}

/** Whether the folder already exists, in a system mount or as the cover of a server’s folder. */
function isShown({ system, hidden }: BubblewrapView, folder: string): boolean {
	if (hidden.includes(folder)) return true;
	const isCovered = hidden.some((path) => isWithin(folder, path));
	return !isCovered && system.some(({ kind, path }) => kind === 'bind' && isWithin(folder, path));
}

/** The program behind the wrappers that set its user and limits. */
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

/** The forwarder’s Node threads count as processes. */
const FORWARDER_THREADS = 16;

/**
 * In a user namespace, RLIMIT_NPROC counts this sandbox only, including its first process. Without one it counts the
 * user, which all skills of a workspace share, so it is four times as high.
 */
function processLimit(
	{ processes }: SandboxLimits,
	{ isRoot, proxySocket }: Pick<BubblewrapView, 'isRoot' | 'proxySocket'>
): number {
	const own = processes + 1 + (proxySocket === undefined ? 0 : FORWARDER_THREADS);
	return isRoot ? own * 4 : own;
}

// The parts of the host’s system that a program sees, read-only, and the folders it must never see.

export type SystemMount =
	/** Mounted read-only at its own path. */
	| { kind: 'bind'; path: string }
	/** A link as on the host: `/bin` → `usr/bin`. */
	| { kind: 'link'; path: string; target: string };

/** `/nix/store` holds the programs of NixOS. */
const FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'];
/** Only what programs need: the rest of /etc has passwords, keys and secrets. */
const ETC = `alternatives chromium chromium.d crypto-policies fonts ImageMagick-6 ImageMagick-7 ld.so.cache
	ld-musl-x86_64.path libreoffice localtime magic mime.types os-release paperspecs papersize pki/ca-trust/extracted
	pki/tls/certs protocols services ssl/certs ssl/cert.pem ssl/openssl.cnf texmf timezone`
	.split(/\s+/)
	.map((name) => `/etc/${name}`);
/** What the packages of fonts, TeX and Ghostscript made when they were installed. */
const VAR = ['/var/cache/fontconfig', '/var/lib/ghostscript', '/var/lib/texmf'];
/** Java and Python have the version in the name. */
const VERSIONED = /^(java-\d.*|python3(\.\d+)?)$/;

/** Never mounted as a whole, nor any parent. */
const PROTECTED = ['/etc', '/home', '/root', '/var', '/run', '/tmp', '/proc', '/sys', '/dev', '/boot', '/srv', '/opt'];

/** The parts of the system that exist on this host. Called once, at startup. */
export function systemMounts(): SystemMount[] {
	const versioned = readdirSync('/etc').filter((name) => VERSIONED.test(name));
	return [...FOLDERS, ...ETC, ...versioned.map((name) => `/etc/${name}`), ...VAR].flatMap((path): SystemMount[] => {
		const entry = lstatSync(path, { throwIfNoEntry: false });
		if (!entry) return [];
		if (!entry.isSymbolicLink()) return [{ kind: 'bind', path }];
		// A link to outside the mounts would dangle, so its target is mounted instead.
		const target = realpathSync(path);
		const isSeen = FOLDERS.some((folder) => isWithin(target, folder));
		return isSeen ? [{ kind: 'link', path, target: readlinkSync(path) }] : [{ kind: 'bind', path }];
	});
}

/** Files for name lookups: the sandbox’s user, and no DNS. */
export function systemFiles({ uid, gid }: { uid: number; gid: number }): { path: string; text: string }[] {
	const users = [
		...(uid === 0 ? [] : ['root:x:0:0:root:/:/usr/sbin/nologin']),
		`skill:x:${uid}:${gid}:skill:/tmp:/bin/sh`,
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

/** `path` and `hidden`, the server’s own folders, are real paths. @throws Error naming the path if mounting it would expose private folders */
export function refuseExposing(path: string, hidden: readonly string[]): void {
	const shown = [...PROTECTED, homedir(), ...hidden].find((protectedPath) => isWithin(protectedPath, path));
	if (path === '/') throw new Error('The root folder can’t be shared with a script.');
	if (shown === path || dirname(path) === '/home') throw new Error(`${path} can’t be shared with a script as a whole.`);
	if (shown) throw new Error(`${path} can’t be shared with a script: it contains ${shown}.`);
}

/** Whether a path is the folder or inside it. Both must be absolute and normalised, without a trailing slash. */
export function isWithin(path: string, folder: string): boolean {
	return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

/** Parent folders from the top, without `/`. */
export function foldersAbove(path: string): string[] {
	const above = dirname(path);
	return above === '/' || above === '.' ? [] : [...foldersAbove(above), above];
}
