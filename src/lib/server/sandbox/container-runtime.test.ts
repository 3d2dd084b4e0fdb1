import { execFileSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { makeContainerImage } from '../../../../tests/support/container-image.ts';
import { OWNER_LABEL } from './container-arguments.ts';
import { findContainerRuntime, sweepContainers, type ContainerRuntime } from './container-runtime.ts';
import { createLauncher } from './launch/launch.ts';
import { ownerOf } from './workspace.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const launcher = createLauncher();
const path = process.env.PATH ?? '';
const folder = emptyFolder();
afterAll(() => launcher.close());

/** Creates a program in the folder. */
async function program(name: string, script: string): Promise<void> {
	await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
	await chmod(join(folder, name), 0o755);
}

describe('D34: the runtime', () => {
	const NO_DAEMON = `[ "$1" = --version ] && echo "Docker version 28" && exit
		echo "Cannot connect to the Docker daemon" >&2; exit 1`;

	test.skipIf(lacks('containers'))(
		'a client whose daemon does not answer is passed over, and its reason kept',
		async () => {
			await program('docker', NO_DAEMON);
			const { runtime, reasons } = await findContainerRuntime('auto', {
				launcher,
				host: { ...process.env, PATH: `${folder}:${path}` }
			});
			expect(runtime).toMatchObject({ kind: 'podman', isRootless: process.getuid?.() !== 0 });
			expect(runtime?.file).toMatch(/^\/.*\/podman$/);
			expect(reasons).toEqual(['docker can’t be used: Cannot connect to the Docker daemon']);
		}
	);
	test('one that was asked for by name is not replaced by the other', async () => {
		await program('docker', NO_DAEMON);
		const host = { ...process.env, PATH: `${folder}:${path}` };
		expect(await findContainerRuntime('docker', { launcher, host })).toEqual({
			runtime: null,
			reasons: ['docker can’t be used: Cannot connect to the Docker daemon']
		});
	});
	test('where there is none, both reasons are told; a relative PATH and folders of that name count for nothing', async () => {
		const host = { PATH: `.::${folder}` };
		expect(await findContainerRuntime('auto', { launcher, host })).toEqual({
			runtime: null,
			reasons: ['docker can’t be used: It isn’t on the PATH.', 'podman can’t be used: It isn’t on the PATH.']
		});
	});
	test('a docker that answers is taken, with what it says of its rights', async () => {
		await program(
			'docker',
			`[ "$1" = --version ] && echo "Docker version 28" || echo '["name=seccomp","name=rootless"]'`
		);
		const host = { PATH: folder, DOCKER_HOST: 'unix:///x.sock', HTTPS_PROXY: 'http://user:secret@proxy', HOME: '/h' };
		expect((await findContainerRuntime('auto', { launcher, host })).runtime).toEqual({
			file: join(folder, 'docker'),
			kind: 'docker',
			isRootless: true,
			env: { PATH: folder, DOCKER_HOST: 'unix:///x.sock', HOME: '/h' }
		});
	});
	test('D34: one that hangs and is deaf to SIGTERM is given up, with what to do, and the other is taken; both are asked at once', async () => {
		const deaf = `trap '' TERM; echo $$ >> "${join(folder, 'asked')}"; while :; do sleep 0.1; done`;
		await program('docker', deaf);
		await program('podman', '[ "$1" = --version ] && echo "podman version 5.4.1" || echo false');
		const host = { PATH: `${folder}:/usr/bin:/bin` };
		const hung =
			'docker can’t be used: It didn’t respond within 5 s. It may be stuck: restart it, or choose another one';
		const found = await findContainerRuntime('auto', { launcher, host });
		expect(found.runtime).toMatchObject({ file: join(folder, 'podman'), kind: 'podman' });
		expect(found.reasons).toEqual([`${hung} with SKILLS_SANDBOX_RUNTIME.`]);
		// If the first call gets no answer, there's no second one, and no process is left.
		const asked = (await readFile(join(folder, 'asked'), 'utf8')).trim().split('\n');
		expect(asked).toHaveLength(1);
		expect(() => process.kill(Number(asked[0]), 0)).toThrow('ESRCH');

		await program('podman', `[ "$1" = --version ] && echo "podman version 5.4.1" && exit; ${deaf}`);
		const { reasons } = await findContainerRuntime('podman', { launcher, host });
		expect(reasons).toEqual([`${hung.replace('docker', 'podman')} with SKILLS_SANDBOX_RUNTIME.`]);
	});
	test('podman under docker’s name is podman', async () => {
		await program('docker', `[ "$1" = --version ] && echo "podman version 5.4.1" || echo false`);
		expect((await findContainerRuntime('auto', { launcher, host: { PATH: folder } })).runtime).toMatchObject({
			file: join(folder, 'docker'),
			kind: 'podman',
			isRootless: false
		});
	});
});

describe.skipIf(lacks('containers'))('D33: sweeping', () => {
	let runtime: ContainerRuntime;
	let image: string;
	beforeAll(async () => {
		const found = await findContainerRuntime('podman', { launcher, host: process.env });
		if (!found.runtime) throw new Error(found.reasons.join('\n'));
		({ runtime } = found);
		image = await makeContainerImage(runtime.file);
	});

	test('at start what an earlier start left is removed, running or not; another folder’s and this start’s own stay', async () => {
		const [dataDir, otherDir] = [join(folder, 'data'), join(folder, 'other')];
		const limits = ['--ulimit', 'nofile=256:256', '--ulimit', 'nproc=32768:32768'];
		const make = (command: 'create' | 'run', owner: string) =>
			execFileSync(runtime.file, [
				...[command, ...(command === 'run' ? ['--detach'] : []), '--network', 'none', ...limits],
				...['--label', `${OWNER_LABEL}=${owner}`, image, 'sh', '-c', `trap '' TERM; sleep 987; sleep 987`]
			]);
		make('run', ownerOf(dataDir, 'first'));
		make('create', ownerOf(dataDir, 'second'));
		make('create', ownerOf(dataDir, 'third'));
		make('create', ownerOf(otherDir, 'first'));
		const live = async () => new Set(['first', 'second', 'third']);
		expect(await sweepContainers(launcher, runtime, { dataDir, startId: 'third', live })).toBe(0);
		expect(await sweepContainers(launcher, runtime, { dataDir, startId: 'third' })).toBe(2);
		expect(await sweepContainers(launcher, runtime, { dataDir, startId: 'third' })).toBe(0);
		expect(await sweepContainers(launcher, runtime, { dataDir, startId: 'fourth' })).toBe(1);
		expect(await sweepContainers(launcher, runtime, { dataDir: otherDir, startId: 'second' })).toBe(1);
	});
	test('a runtime that fails is an error with its words', async () => {
		await program('podman', 'echo broken >&2; exit 1');
		const broken = { ...runtime, file: join(folder, 'podman') };
		await expect(sweepContainers(launcher, broken, { dataDir: folder, startId: 'x' })).rejects.toThrow(
			'Couldn’t list old containers: broken'
		);
	});
});
