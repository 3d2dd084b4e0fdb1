/** What the sandbox tests need on a machine. Tests install nothing: `.ci/run` does; without it they're skipped. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian packages, each with a file it installs; its path depends on the release. */
const PACKAGES = {
	bubblewrap: ['bwrap'],
	podman: ['podman'],
	// Not crun: it doesn't start where both cgroup versions are mounted.
	runc: ['runc'],
	// The container's first process, for `--init`.
	catatonit: ['catatonit', '/usr/libexec/podman/catatonit']
} satisfies Record<string, string[]>;

export const TEST_PACKAGES = Object.keys(PACKAGES) as (keyof typeof PACKAGES)[];

/** Searched besides PATH, which may be short. */
const FOLDERS = ['/usr/bin', '/usr/sbin'];

/** bubblewrap, or everything containers need. */
export type Need = 'bubblewrap' | 'containers';

const NEEDS: Record<Need, (keyof typeof PACKAGES)[]> = {
	bubblewrap: ['bubblewrap'],
	containers: ['podman', 'runc', 'catatonit']
};

/** For `skipIf`: is it missing on this machine? */
export function lacks(need: Need): boolean {
	return missingPackages().some((name) => NEEDS[need].includes(name));
}

/** Packages missing on this machine. */
export function missingPackages(): (keyof typeof PACKAGES)[] {
	const folders = [...(process.env.PATH ?? '').split(delimiter), ...FOLDERS].filter(Boolean);
	return TEST_PACKAGES.filter(
		(name) =>
			!PACKAGES[name].some((file) =>
				file.startsWith('/') ? isExecutable(file) : folders.some((folder) => isExecutable(join(folder, file)))
			)
	);
}

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
