import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { createBubblewrapSandbox } from './bubblewrap.ts';
import { bubblewrapReason, detectSandbox, type DetectOptions, type NamespaceHost } from './detect.ts';
import { createLauncher } from './launch/launch.ts';
import type { Launcher } from './launch/launcher.ts';
import { createSandboxBase } from './running.ts';
import type { Sandbox } from './sandbox.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';

let launcher: Launcher;
const tempDir = emptyFolder();
beforeEach(() => {
	launcher = createLauncher();
});
afterEach(async () => {
	await launcher.close();
	expect(readdirSync(tempDir)).toEqual([]);
});

/** Plain processes under another name. */
const plain = (name: 'process' | 'container'): Sandbox =>
	createSandboxBase({
		name,
		isolation: { files: false, network: false, processes: false, limits: false },
		launcher,
		toLaunch: ({ file, args, env, cwd }) => ({ file, args, env, cwd, end: { kind: 'group' } })
	});

const detect = (options: Partial<DetectOptions>) =>
	detectSandbox({
		wanted: 'auto',
		createProcess: () => plain('process'),
		createBubblewrap: () => createBubblewrapSandbox({ launcher }),
		createContainer: () => plain('container'),
		tempDir,
		...options
	});

const missing = () => createBubblewrapSandbox({ launcher, bwrap: '/usr/bin/no-bwrap' });
/** A program that exists and starts, but isn't a sandbox. */
const broken = () => createBubblewrapSandbox({ launcher, bwrap: '/bin/true' });

describe('SANDBOX Backends: SKILLS_SANDBOX', () => {
	test('a backend asked for by name that does not work stops the start, with reason and remedy, and nothing takes its place', async () => {
		const words = /SKILLS_SANDBOX=bubblewrap doesn’t work here: .*no-bwrap.*SKILLS_SANDBOX=auto/;
		await expect(detect({ wanted: 'bubblewrap', createBubblewrap: missing })).rejects.toThrow(words);
		await expect(detect({ wanted: 'bubblewrap', createBubblewrap: broken })).rejects.toThrow(
			'SKILLS_SANDBOX=bubblewrap'
		);
		const createContainer = () => {
			throw new Error('There is neither docker nor podman.');
		};
		await expect(detect({ wanted: 'container', createContainer })).rejects.toThrow(
			'SKILLS_SANDBOX=container doesn’t work here: There is neither docker nor podman. Fix that'
		);
	});
	test('“auto” tries by running: a bubblewrap that is there but does not sandbox is not taken, and that is said', async () => {
		for (const createBubblewrap of [missing, broken]) {
			const { sandbox, notes } = await detect({ createBubblewrap });
			expect(sandbox.name).toBe('process');
			expect(notes).toHaveLength(1);
			expect(notes[0]).toMatch(/^Scripts can read files on this computer, because bubblewrap/);
		}
	});
	test.skipIf(lacks('bubblewrap'))(
		'“auto” takes bubblewrap where it works, and does not look at containers',
		async () => {
			const createContainer = () => {
				throw new Error('not asked for');
			};
			const { sandbox, notes } = await detect({ createContainer });
			expect(sandbox.name).toBe('bubblewrap');
			expect(notes).toEqual([]);
		}
	);
	test.skipIf(lacks('bubblewrap')).each(['process', 'bubblewrap', 'container'] as const)(
		'%s is what was asked for',
		async (wanted) => {
			expect((await detect({ wanted })).sandbox.name).toBe(wanted);
		}
	);
	test('nothing that works stops the start', async () => {
		const createProcess = () => {
			throw new Error('No processes.');
		};
		await expect(detect({ createBubblewrap: missing, createProcess })).rejects.toThrow(
			'No sandbox works here. bubblewrap'
		);
	});
	test('SANDBOX pitfall 6: a server that is process 1 is told to start with --init', async () => {
		expect((await detect({ wanted: 'process', pid: 1 })).notes).toEqual([expect.stringContaining('--init')]);
		expect((await detect({ wanted: 'process', pid: 7 })).notes).toEqual([]);
	});
});

describe('SANDBOX pitfall 9: the reason why bubblewrap does not work, in words', () => {
	const host: NamespaceHost = {
		isRoot: false,
		isContainer: false,
		restrictsByAppArmor: false,
		hasUserNamespaces: true
	};
	const refused = 'bwrap: No permissions to create new namespace, likely because the kernel does not allow it';
	const uidMap = 'bwrap: setting up uid map: Permission denied';
	test.each<[string, Partial<NamespaceHost>, RegExp]>([
		['bwrap: Unknown option --disable-userns', {}, /0\.8 or newer/],
		[
			"bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
			{ isContainer: true },
			/systempaths=unconfined \(Podman: unmask=ALL\)$/
		],
		[uidMap, { restrictsByAppArmor: true }, /Ubuntu 24\.04.*profile/],
		['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', { restrictsByAppArmor: true }, /AppArmor/],
		[refused, { hasUserNamespaces: false }, /unprivileged_userns_clone=1/],
		[refused, { isContainer: true }, /seccomp=unconfined/],
		[
			refused,
			{ isContainer: true, isRoot: true },
			/run the server in it as a user other than root, with --security-opt seccomp=unconfined --security-opt systempaths=unconfined/
		],
		[refused, {}, /the kernel blocks namespaces for bubblewrap/],
		['spawn /usr/bin/bwrap ENOENT', {}, /ENOENT/],
		['', {}, /without a message/]
	])('%s, on %j', (said, facts, words) => {
		expect(bubblewrapReason(said, { ...host, ...facts })).toMatch(words);
	});
});
