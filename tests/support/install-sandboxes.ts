/**
 * Installs what the sandbox tests need and this machine lacks, where that is possible: root on a machine with apt-get.
 * Its default export is a Vitest `globalSetup`.
 */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { promisify } from 'node:util';

/** A file that each of Debian's packages brings; which one of the paths depends on the release. */
const PACKAGES: Record<string, string[]> = {
	bubblewrap: ['/usr/bin/bwrap'],
	podman: ['/usr/bin/podman'],
	// Not crun: it does not start on machines where both versions of cgroups are mounted.
	runc: ['/usr/sbin/runc', '/usr/bin/runc'],
	// The first process of a container, for `--init`.
	catatonit: ['/usr/libexec/podman/catatonit', '/usr/bin/catatonit']
};

const run = promisify(execFile);

export default async function setup(): Promise<void> {
	await installSandboxes();
}

/** Installs what is missing, says so in one line, and returns what is missing still. */
export async function installSandboxes(): Promise<string[]> {
	const missing = missingPackages();
	if (missing.length === 0) return [];
	if (process.getuid?.() !== 0 || !isExecutable('/usr/bin/apt-get')) {
		console.log(`Sandbox tests: not on this machine: ${missing.join(', ')} (installing needs root and apt-get).`);
		return missing;
	}
	const failure = await install(missing);
	const left = missingPackages();
	const installed = missing.filter((name) => !left.includes(name));
	console.log(
		[
			'Sandbox tests:',
			installed.length > 0 ? `installed ${installed.join(', ')}.` : '',
			left.length > 0 ? `Not on this machine: ${left.join(', ')} (${failure ?? 'not in these packages'}).` : ''
		]
			.filter(Boolean)
			.join(' ')
	);
	return left;
}

/** Packages of the list that are not on this machine. */
export function missingPackages(): string[] {
	return Object.keys(PACKAGES).filter((name) => !PACKAGES[name]?.some(isExecutable));
}

/** Null, or the last line that apt-get said. */
async function install(packages: string[]): Promise<string | null> {
	const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, timeout: 300_000 };
	try {
		await run('/usr/bin/apt-get', ['update', '-qq'], options);
		await run('/usr/bin/apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], options);
		return null;
	} catch (error) {
		return (error as Error).message.trim().split('\n').at(-1) ?? '';
	}
}

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
