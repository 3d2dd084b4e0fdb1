/** Installed packages in every sandbox: found, and not to be changed. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEnvironments } from '../../src/lib/server/packages/environments.ts';
import { removeFolder } from '../../src/lib/server/foreign-folders.ts';
import { createBubblewrapSandbox } from '../../src/lib/server/sandbox/bubblewrap.ts';
import { findContainerRuntime } from '../../src/lib/server/sandbox/container-runtime.ts';
import { createContainerSandbox } from '../../src/lib/server/sandbox/container.ts';
import { createProcessSandbox } from '../../src/lib/server/sandbox/process.ts';
import type { Sandbox } from '../../src/lib/server/sandbox/sandbox.ts';
import { createExecutor, type Executor } from '../../src/lib/server/skills/executor.ts';
import { packageNamed } from '../../src/lib/server/skills/needs/packages.ts';
import { readScriptArguments } from '../../src/lib/server/skills/run/environment.ts';
import { createInterpreters } from '../../src/lib/server/skills/run/interpreters.ts';
import type { Skill, SkillTool } from '../../src/lib/server/skills/types.ts';
import { createLookup } from '../../src/lib/server/trust/preflight.ts';
import { makeContainerImage, TEST_IMAGE } from '../support/container-image.ts';
import { openPackageIndex, type PackageIndex } from '../support/package-index.ts';
import { lacks } from '../support/sandbox-packages.ts';
import { openWithRunner } from './open.ts';

const BACKENDS = {
	process: { isMissing: false, open: () => openWithRunner((launcher) => createProcessSandbox({ launcher })) },
	bubblewrap: {
		isMissing: lacks('bubblewrap'),
		open: () => openWithRunner((launcher) => createBubblewrapSandbox({ launcher }))
	},
	container: {
		isMissing: lacks('containers'),
		open: () =>
			openWithRunner(async (launcher) => {
				const { runtime, reasons } = await findContainerRuntime('podman', { launcher, host: process.env });
				if (!runtime) throw new Error(reasons.join('\n'));
				await makeContainerImage(runtime.file);
				const images = { one: TEST_IMAGE, allowed: [] };
				return createContainerSandbox({ launcher, runtime, images, owner: `test-${randomUUID()}` });
			})
	}
} satisfies Record<string, { isMissing: boolean; open(): Promise<Sandbox> }>;

let dir: string;
let index: PackageIndex;
let host: Sandbox;
beforeAll(async () => {
	dir = await realpath(await mkdtemp(join(tmpdir(), 'packages-')));
	await mkdir(join(dir, 'skill'));
	host = await openWithRunner((launcher) => createProcessSandbox({ launcher }));
	index = await openPackageIndex(
		[
			{
				name: 'tiny-lib',
				code: 'NAME = "tiny"\ndef main():\n    print("ran")\n',
				programs: { tiny: 'tiny_lib:main' }
			}
		],
		[
			{
				name: 'left',
				dependencies: { right: '^1.0.0' },
				files: { 'index.js': "exports.name = require('right').name;" }
			},
			{ name: 'right', files: { 'index.js': "exports.name = 'right';" } },
			{ name: 'modern', files: { 'index.mjs': "export const name = 'modern';" }, more: { exports: './index.mjs' } }
		]
	);
});
afterAll(async () => {
	await index.close();
	await host.close();
	await removeFolder(dir);
});

const put = (name: string, text: string) => writeFile(join(dir, 'skill', name), text, { mode: 0o755 });
const skill = () =>
	({ name: 'demo', source: 'x', dir: join(dir, 'skill'), metadata: {}, extra: {}, scripts: [] }) as unknown as Skill;
const context = () => ({ cwd: join(dir, 'work') });
const run = async (executor: Executor, name: string, text: string): Promise<string> => {
	await put(name, text);
	const result = await executor.runScript(skill(), name, readScriptArguments([]), context());
	return `${result.stdout}${result.stderr}`.trim();
};

for (const [name, { isMissing, open }] of Object.entries(BACKENDS)) {
	describe.skipIf(isMissing)(name, () => {
		let sandbox: Sandbox;
		let executor: Executor;
		/** The folder of the environment. */
		let environment: string;
		beforeAll(async () => {
			sandbox = await open();
			const path = process.env.PATH ?? '';
			const interpreters = createInterpreters({ host, sandbox: host, path });
			const lookup = createLookup({ sandbox, host, path });
			const environments = createEnvironments({
				...index,
				folder: join(dir, name),
				maxBytes: 64 * 1024 * 1024,
				hosts: [],
				findPython: () => interpreters.python(),
				target: () => lookup.foreignPython(),
				environment: { PATH: path, HOME: dir }
			});
			const wanted = [
				packageNamed('python', 'tiny-lib'),
				packageNamed('javascript', 'left'),
				packageNamed('javascript', 'modern')
			];
			const lock = await environments.lookUp(wanted.filter((each) => each !== null));
			await environments.install(lock);
			environment = join(dir, name, lock.digest);
			executor = createExecutor({
				sandbox,
				hostSandbox: host,
				timeoutMs: 60_000,
				maxOutputBytes: 20_480,
				env: {},
				host: { packagesOf: () => environments.open(lock) }
			});
			return async () => {
				await executor.close();
				await sandbox.close();
				await rm(join(dir, 'work'), { recursive: true, force: true });
			};
		});

		test('D46: scripts and handlers in Python and JavaScript find the packages, and so do programs they start', async () => {
			expect(await run(executor, 'a.py', 'import tiny_lib; print(tiny_lib.NAME)')).toBe('tiny');
			expect(await run(executor, 'a.cjs', "console.log(require('left').name)")).toBe('right');
			expect(await run(executor, 'a.mjs', "import { name } from 'modern'; console.log(name)")).toBe('modern');
			const nested =
				"const { execFileSync } = require('node:child_process');\n" +
				`process.stdout.write(execFileSync(process.execPath, ['-e', "console.log(require('left').name)"]));`;
			expect(await run(executor, 'b.cjs', nested)).toBe('right');
			expect(await run(executor, 'c.sh', 'tiny')).toBe('ran');
			await put('tool.py', 'import tiny_lib\ndef handler(args):\n    return tiny_lib.NAME\n');
			const tool = { name: 'answer', description: 'x', script: 'tool.py', inputSchema: {} } satisfies SkillTool;
			expect(await executor.runTool(skill(), tool, {}, context())).toMatchObject({ value: 'tiny' });
			await put('tool.mjs', "import { name } from 'modern';\nexport default () => name;\n");
			const other = { ...tool, script: 'tool.mjs' };
			expect(await executor.runTool(skill(), other, {}, context())).toMatchObject({ value: 'modern' });
			const program = "require('node:child_process').execFileSync('tiny', { stdio: 'inherit' });\n";
			expect(await run(executor, 'f.cjs', program)).toBe('ran');
		});

		test('D46: a script cannot change the packages of the next one', async () => {
			const file = join(environment, 'python', 'tiny_lib.py');
			const before = await readFile(file, 'utf8');
			// As root in no sandbox, nothing is read-only; no sandbox but `process` runs scripts as root.
			const isRoot = name === 'process' && execFileSync('id', ['-u'], { encoding: 'utf8' }).trim() === '0';
			const output = await run(executor, 'd.py', `import tiny_lib; open(tiny_lib.__file__, 'w').write('evil')`);
			if (isRoot) return;
			expect(output).toMatch(/PermissionError|Read-only file system/);
			expect(await readFile(file, 'utf8')).toBe(before);
		});

		test('D46: installing gives a script no network', async () => {
			const code = `import urllib.request\ntry:\n    urllib.request.urlopen('${index.npmRegistry}left', timeout=5)\n    print('reached')\nexcept Exception as error:\n    print('refused')\n`;
			const output = await run(executor, 'e.py', code);
			expect(output).toBe(sandbox.isolation.network ? 'refused' : 'reached');
		});
	});
}
