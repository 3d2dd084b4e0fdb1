/** What of the host's system a program in bubblewrap sees, read-only, and which folders it must never be shown. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';

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
	if (path === '/') throw new Error('The whole file system cannot be shown to a script.');
	if (shown === path || dirname(path) === '/home') throw new Error(`${path} cannot be shown to a script as a whole.`);
	if (shown) throw new Error(`${path} cannot be shown to a script: it holds ${shown}.`);
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
