/** What the skill library adds to reading files and starting processes. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createSkillsProvider } from '../src/lib/server/skills/provider.ts';
import { medians, rowOfTimes, timed, type Row } from './measure.ts';

/** Long enough for a Node to start on a busy machine. */
const SPARE_MS = 400;

export async function benchScript(): Promise<Row> {
	const root = await mkdtemp(join(tmpdir(), 'openrouter-skills-bench-'));
	await writeSkill(root, 'hello');
	const script = join(root, 'hello/scripts/hello.sh');
	const skills = await createSkillsProvider(root, { cwd: join(root, 'hello') });
	const call = { skill: 'hello', script: 'scripts/hello.sh', args: [] };
	const viaSkill = (): Promise<number> =>
		timed(async () => {
			const result = await skills.handleToolCall('use_skill', call);
			if (!JSON.stringify(result).includes('hello')) throw new Error(`the script failed: ${JSON.stringify(result)}`);
		});
	const bare = (): Promise<number> =>
		timed(async () => {
			const child = spawn('/bin/bash', [script], { stdio: ['ignore', 'pipe', 'pipe'] });
			child.stdout.resume();
			child.stderr.resume();
			await once(child, 'close');
		});
	try {
		await skills.handleToolCall('load_skill', { skill: 'hello' });
		return rowOfTimes(
			'`use_skill` of a script that says hello (30 runs)',
			'a bare spawn of it',
			await medians(30, [viaSkill, bare])
		);
	} finally {
		await skills.close();
		await rm(root, { recursive: true, force: true });
	}
}

async function writeSkill(root: string, name: string): Promise<void> {
	await mkdir(join(root, name, 'scripts'), { recursive: true });
	const head = `---\nname: ${name}\ndescription: Says hello, as ${name}.\n---\n`;
	await writeFile(join(root, name, 'SKILL.md'), `${head}\n# Use\n\nRun \`scripts/hello.sh\`.\n`);
	await writeFile(join(root, name, 'scripts/hello.sh'), 'echo hello\n');
}

/** A JavaScript handler in the Node that waits, against a Node that is started for the same. */
export async function benchHandler(): Promise<Row> {
	const root = await mkdtemp(join(tmpdir(), 'openrouter-skills-bench-'));
	const handler = join(root, 'hello/hello.mjs');
	await mkdir(join(root, 'hello'));
	await writeFile(join(root, 'hello/SKILL.md'), '---\nname: hello\ndescription: Says hello.\n---\n');
	await writeFile(handler, "export default () => 'hello';\n");
	await writeFile(
		join(root, 'hello/tools.json'),
		JSON.stringify([{ name: 'hello', description: 'Hello.', script: 'hello.mjs' }])
	);
	const skills = await createSkillsProvider(root, { cwd: root });
	const program = `console.log((await import(${JSON.stringify(handler)})).default())`;
	const warm = async (): Promise<number> => {
		// The next spare has to be up: what is measured is a call that somebody makes a moment after the last one.
		await setTimeout(SPARE_MS);
		return timed(async () => {
			const result = await skills.handleToolCall('hello', {});
			if (!JSON.stringify(result).includes('hello')) throw new Error(`the handler failed: ${JSON.stringify(result)}`);
		});
	};
	const cold = (): Promise<number> =>
		timed(async () => {
			const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
				stdio: ['ignore', 'pipe', 'pipe']
			});
			child.stdout.resume();
			child.stderr.resume();
			await once(child, 'close');
		});
	try {
		await skills.handleToolCall('load_skill', { skill: 'hello' });
		const times = await medians(20, [warm, cold]);
		return rowOfTimes('a JavaScript handler in the Node that waits (20 runs)', 'a Node started for the same', times);
	} finally {
		await skills.close();
		await rm(root, { recursive: true, force: true });
	}
}
