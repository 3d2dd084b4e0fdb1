/** What each backend adds to starting a script: bash, python and node, cold and warm, against a bare spawn by turns. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createBubblewrapSandbox } from '../src/lib/server/sandbox/bubblewrap.ts';
import { findContainerRuntime } from '../src/lib/server/sandbox/container-runtime.ts';
import { createContainerSandbox } from '../src/lib/server/sandbox/container.ts';
import type { Launcher } from '../src/lib/server/sandbox/launch/launcher.ts';
import { createProcessSandbox } from '../src/lib/server/sandbox/process.ts';
import { createSpawner } from '../src/lib/server/sandbox/launch/spawner.ts';
import type { Sandbox } from '../src/lib/server/sandbox/sandbox.ts';
import { createInterpreters } from '../src/lib/server/skills/run/interpreters.ts';
import { createSkillsProvider, type SkillsProvider } from '../src/lib/server/skills/provider.ts';
import { makeContainerImage } from '../tests/support/container-image.ts';
import { percentile, timed, type Row } from './measure.ts';

const ROUNDS = 40;
/** Containers take their time. */
const CONTAINER_ROUNDS = 10;
/** Long enough for a Node to start on a busy machine. */
const SPARE_MS = 300;
const PARALLEL = 50;

const SCRIPTS = { bash: 'hello.sh', python: 'hello.py', node: 'hello.mjs' };
const TEXTS = { 'hello.sh': 'echo hello\n', 'hello.py': 'print("hello")\n', 'hello.mjs': 'console.log("hello");\n' };

const runner = join(import.meta.dirname, '../src/lib/server/sandbox/launch/runner.ts');

export async function benchSandboxes(): Promise<Row[]> {
	const root = await realpath(await mkdtemp(join(tmpdir(), 'openrouter-skills-bench-')));
	await mkdir(join(root, 'skills/hello'), { recursive: true });
	await writeFile(join(root, 'skills/hello/SKILL.md'), '---\nname: hello\ndescription: Says hello.\n---\n');
	for (const [name, text] of Object.entries(TEXTS)) await writeFile(join(root, 'skills/hello', name), text);
	const programs = await findPrograms();
	const rows: Row[] = [];
	for (const create of [createProcessSandbox, createBubblewrapSandbox, createPodman]) {
		const launcher = createSpawner({ entry: runner });
		const sandbox = await create({ launcher });
		if (!sandbox) {
			await launcher.close();
			continue;
		}
		const skills = await createSkillsProvider(join(root, 'skills'), { cwd: join(root, 'work'), sandbox });
		try {
			rows.push(...(await benchBackend(sandbox, skills, programs, root)));
		} finally {
			await skills.close();
			await sandbox.close();
			await launcher.close();
		}
	}
	await rm(root, { recursive: true, force: true });
	return rows;
}

/** Null where there is no podman. */
async function createPodman({ launcher }: { launcher: Launcher }): Promise<Sandbox | null> {
	const { runtime } = await findContainerRuntime('podman', { launcher, host: process.env });
	if (!runtime) return null;
	const images = { one: await makeContainerImage(runtime.file), allowed: [] };
	return createContainerSandbox({ launcher, runtime, images });
}

async function benchBackend(
	sandbox: Sandbox,
	skills: SkillsProvider,
	programs: Record<keyof typeof SCRIPTS, string>,
	root: string
): Promise<Row[]> {
	const cold = Object.entries(SCRIPTS).map(([language, script]) => ({
		name: `${sandbox.name}, ${language}, cold`,
		floorName: `a bare spawn of ${language}`,
		// With text for standard input, no Node that waits is used.
		run: () => use(skills, script, { args: { said: 'hello' }, arg_style: 'json' }),
		bare: () => spawnBare(programs[language as keyof typeof SCRIPTS], join(root, 'skills/hello', script))
	}));
	const warm = {
		name: `${sandbox.name}, node, warm`,
		floorName: 'a bare spawn of node',
		run: async () => {
			await setTimeout(sandbox.name === 'container' ? 5 * SPARE_MS : SPARE_MS);
			return use(skills, SCRIPTS.node, { args: [] });
		},
		bare: () => spawnBare(programs.node, join(root, 'skills/hello', SCRIPTS.node))
	};
	const rows: Row[] = [];
	for (const { name, floorName, run, bare } of [...cold, warm]) {
		const rounds = sandbox.name === 'container' ? CONTAINER_ROUNDS : ROUNDS;
		const [times, floors] = await byTurns(rounds, run, bare);
		for (const [share, label] of [
			[0.5, 'p50'],
			[0.99, 'p99']
		] as const) {
			const [ms, floor] = [percentile(times, share), percentile(floors, share)];
			rows.push(rowOf(`${name}: ${label}`, ms, floorName, floor));
		}
	}
	const atOnce = (task: () => Promise<number>) => timed(() => Promise.all(Array.from({ length: PARALLEL }, task)));
	const all = await atOnce(() => use(skills, SCRIPTS.bash, { args: [] }));
	const bare = await atOnce(() => spawnBare(programs.bash, join(root, 'skills/hello', SCRIPTS.bash)));
	rows.push(rowOf(`${sandbox.name}: ${PARALLEL} scripts of bash at once`, all, 'as many bare spawns', bare));
	return rows;
}

async function byTurns(
	rounds: number,
	run: () => Promise<number>,
	bare: () => Promise<number>
): Promise<[number[], number[]]> {
	const times: [number[], number[]] = [[], []];
	for (let round = -2; round < rounds; round += 1) {
		const pair = [await run(), await bare()] as const;
		if (round >= 0) pair.forEach((ms, index) => times[index]?.push(ms));
	}
	return times;
}

async function use(skills: SkillsProvider, script: string, more: Record<string, unknown>): Promise<number> {
	const start = performance.now();
	const result = await skills.handleToolCall('use_skill', { skill: 'hello', script, ...more });
	const ms = performance.now() - start;
	if (!JSON.stringify(result).includes('hello\\n')) throw new Error(`the script failed: ${JSON.stringify(result)}`);
	return ms;
}

function spawnBare(program: string, script: string): Promise<number> {
	return timed(async () => {
		const child = spawn(program, [script], { stdio: ['ignore', 'pipe', 'pipe'] });
		child.stdout.resume();
		child.stderr.resume();
		await once(child, 'close');
	});
}

async function findPrograms(): Promise<Record<keyof typeof SCRIPTS, string>> {
	const host = createProcessSandbox();
	const isolation = { files: false, network: false, processes: false, limits: false };
	const interpreters = createInterpreters({ host, sandbox: { isolation }, path: process.env.PATH ?? '' });
	const bash = await interpreters.resolve('hello.sh');
	const python = await interpreters.python();
	await host.close();
	return { bash: bash.file, python: python.file, node: process.execPath };
}

function rowOf(name: string, ms: number, floorName: string, floor: number): Row {
	return { name, value: `${ms.toFixed(1)} ms`, floorName, floor: `${floor.toFixed(1)} ms`, ratio: ms / floor };
}
