/** What finding and following a library of skills costs, each thing beside the file calls that it cannot do without. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRegistry } from '../src/lib/server/skills/registry/registry.ts';
import { createScanner, scanRoots } from '../src/lib/server/skills/read/scanner.ts';
import { medians, rowOfTimes, timed, type Row } from './measure.ts';

/**
 * Scans once in a process of its own: milliseconds, longest wait of the event loop, bytes of heap a skill. `few` is a
 * library of some skills, read before `root` where the memory counts and the time does not: what the code itself takes
 * is then there already.
 */
export async function measureFirstScan(root: string, few?: string): Promise<void> {
	if (few !== undefined) await createScanner([few]).scan();
	globalThis.gc?.();
	const before = process.memoryUsage().heapUsed;
	const delay = monitorEventLoopDelay({ resolution: 1 });
	const scanner = createScanner([root]);
	delay.enable();
	const start = performance.now();
	const skills = await scanner.scan();
	const ms = performance.now() - start;
	delay.disable();
	globalThis.gc?.();
	const bytes = (process.memoryUsage().heapUsed - before) / skills.length;
	console.log(JSON.stringify({ ms, blockedMs: delay.max / 1e6, bytes }));
	await scanner.scan(); // what it holds is held until here
}

export async function benchLibrary(): Promise<Row[]> {
	return [...(await benchSize(1000)), ...(await benchSize(10_000))];
}

async function benchSize(count: number): Promise<Row[]> {
	const root = await mkdtemp(join(tmpdir(), 'openrouter-skills-bench-'));
	const few = await mkdtemp(join(tmpdir(), 'openrouter-skills-bench-'));
	try {
		for (let index = 0; index < count; index += 1) await writeSkill(root, `skill-${index}`);
		const rounds = count > 1000 ? 3 : 7;
		const scan = () => timed(() => scanRoots([root]));
		const read = () => timed(() => readAll(root));
		const rows = [
			rowOfTimes(
				`scan of ${count} skills, warm`,
				'a synchronous read of the same files',
				await medians(rounds, [scan, read])
			)
		];

		const first = [];
		for (let round = 0; round < 3; round += 1) first.push(await firstScan(root));
		first.sort((a, b) => a.ms - b.ms);
		const { ms, blockedMs } = first[1] ?? { ms: NaN, blockedMs: NaN };
		for (let index = 0; index < 300; index += 1) await writeSkill(few, `skill-${index}`);
		const { bytes } = await firstScan(root, few);
		const [floor = NaN] = await medians(1, [read]);
		rows.push(rowOfTimes(`the same, the first in a new process`, 'a synchronous read of the same files', [ms, floor]));
		rows.push(rowOfTimes(`the same: longest block of the event loop`, 'the goal', [blockedMs, 50]));
		rows.push({
			name: `heap a skill, of ${count}`,
			value: `${Math.round(bytes)} B`,
			floorName: 'the goal',
			floor: '2048 B',
			ratio: bytes / 2048
		});

		const scanner = createScanner([root]);
		await scanner.scan();
		const rescan = () => timed(() => scanner.scan());
		const stat = () => timed(() => statAll(root, count));
		rows.push(
			rowOfTimes(
				`rescan of ${count} skills by their times`,
				'a `stat` of the same files and folders',
				await medians(7, [rescan, stat])
			)
		);
		rows.push(await benchChange(root, count));
		return rows;
	} finally {
		await rm(root, { recursive: true, force: true });
		await rm(few, { recursive: true, force: true });
	}
}

async function benchChange(root: string, count: number): Promise<Row> {
	const registry = await createRegistry([root], { watch: true });
	let version = 0;
	const change = async (): Promise<number> => {
		const changed = new Promise((resolve) => {
			const leave = registry.onChange(() => resolve(leave()));
		});
		const text = `---\nname: skill-7\ndescription: Version ${(version += 1)}.\n---\n`;
		return timed(async () => {
			await writeFile(join(root, 'skill-7/SKILL.md'), text);
			await changed;
		});
	};
	try {
		const [ms] = await medians(7, [change]);
		return rowOfTimes(`one of ${count} skills changes: until the library has it`, 'the quiet that is waited for', [
			ms ?? NaN,
			20
		]);
	} finally {
		await registry.close();
	}
}

function readAll(root: string): void {
	for (const entry of readdirSync(root, { recursive: true, withFileTypes: true }))
		if (entry.isFile()) readFileSync(join(entry.parentPath, entry.name));
}

function statAll(root: string, count: number): void {
	for (let index = 0; index < count; index += 1)
		for (const path of ['', '/SKILL.md', '/scripts']) statSync(`${root}/skill-${index}${path}`);
}

async function firstScan(root: string, few?: string): Promise<{ ms: number; blockedMs: number; bytes: number }> {
	const file = fileURLToPath(import.meta.url);
	const script = `import(${JSON.stringify(file)}).then((bench) => bench.measureFirstScan(...${JSON.stringify([root, ...(few === undefined ? [] : [few])])}))`;
	const child = spawn(process.execPath, ['--expose-gc', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
	let text = '';
	child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
	await once(child, 'close');
	return JSON.parse(text) as { ms: number; blockedMs: number; bytes: number };
}

async function writeSkill(root: string, name: string): Promise<void> {
	await mkdir(join(root, name, 'scripts'), { recursive: true });
	const head = `---\nname: ${name}\ndescription: Says hello, as ${name}.\n---\n`;
	await writeFile(join(root, name, 'SKILL.md'), `${head}\n# Use\n\nRun \`scripts/hello.sh\`.\n`);
	await writeFile(join(root, name, 'scripts/hello.sh'), 'echo hello\n');
}
