/** What the sandbox tests need of a machine. Tests install nothing: `.ci/run` does, and without it they are skipped. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian's packages, with a file that each of them brings; which one of the paths depends on the release. */
const PACKAGES = {
	bubblewrap: ['bwrap'],
	podman: ['podman'],
	// Not crun: it does not start on machines where both versions of cgroups are mounted.
	runc: ['runc'],
	// The first process of a container, for `--init`.
	catatonit: ['catatonit', '/usr/libexec/podman/catatonit']
} satisfies Record<string, string[]>;

export const TEST_PACKAGES = Object.keys(PACKAGES) as (keyof typeof PACKAGES)[];

/** Beside PATH, which may be short. */
const FOLDERS = ['/usr/bin', '/usr/sbin'];

/** What a test may need: bubblewrap, or all that a container takes. */
export type Need = 'bubblewrap' | 'containers';

const NEEDS: Record<Need, (keyof typeof PACKAGES)[]> = {
	bubblewrap: ['bubblewrap'],
	containers: ['podman', 'runc', 'catatonit']
};

/** For `skipIf`: does this machine lack it? */
export function lacks(need: Need): boolean {
	return missingPackages().some((name) => NEEDS[need].includes(name));
}

/** Packages that are not on this machine. */
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
