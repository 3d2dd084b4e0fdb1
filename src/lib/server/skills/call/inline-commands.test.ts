import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../../tests/support/folder.ts';
import type { ExecutionHost, ExecutionStart } from '../run/execution-host.ts';
import { createSkillsProvider, type SkillsProvider } from '../provider.ts';
import { digestOfFolder } from '../read/skill-tree.ts';

const BODY = [
	'Today is !`echo monday`, said the clock.',
	'!`sed -n 2p "$SKILL_DIR/SKILL.md"`',
	'Fails: !`echo why >&2; exit 3`',
	'Not one:!`echo no` nor ``!`echo no` `` here.',
	'Many: !`seq 1 100000`'
].join('\n');

const folder = emptyFolder();
let skills: SkillsProvider;
beforeEach(async () => {
	await putFile(folder, 'skills/demo/SKILL.md', `---\nname: demo\ndescription: Demo.\n---\n${BODY}\n`);
});
afterEach(async () => {
	await skills.close();
});

async function load(host: ExecutionHost, isEnabled = true): Promise<string> {
	const cwd = join(folder, 'work');
	skills = await createSkillsProvider(join(folder, 'skills'), { cwd, host, isEnabled: () => isEnabled });
	return String(await skills.handleToolCall('load_skill', { skill: 'demo' }));
}

test('D45: a command in the instructions is text, unless the host lets it run', async () => {
	for (const host of [{}, { mayRunInline: async () => null }]) {
		expect(await load(host)).toContain('Today is !`echo monday`, said the clock.');
		await skills.close();
	}
	await load({});
});

test('D45: where the host lets it, what it printed stands in its place, and it is recorded as any execution', async () => {
	const started: ExecutionStart[] = [];
	const text = await load({
		mayRunInline: async () => ({ digest: null }),
		recorder: {
			started: async (start) => void started.push(start),
			running: async () => {},
			finished: async () => {}
		}
	});
	expect(text).toContain('Today is monday, said the clock.\nname: demo\n');
	expect(text).toContain('Fails: [echo why >&2; exit 3: SKILL.md ended with exit code 3. why]');
	expect(text).toContain('Not one:!`echo no` nor');
	expect(text).toMatch(/Many: 1\n2\n(.|\n)*…/);
	expect(text.length).toBeLessThan(10_000);
	expect(started[0]).toMatchObject({ skill: 'demo', script: 'SKILL.md', argv: ['echo monday'] });
});

test('D45: commands of instructions that the files hold no more do not run', async () => {
	const path = join(folder, 'skills/demo/SKILL.md');
	const host: ExecutionHost = {
		// Called after the library has read the instructions, when the files are checked.
		async mayRunInline() {
			await writeFile(path, '---\nname: demo\ndescription: Demo.\n---\nHarmless.\n');
			return { digest: await digestOfFolder(join(folder, 'skills/demo')) };
		}
	};
	const text = await load(host);
	expect(text).toContain('[echo monday: The files of “demo” just changed, so nothing was run.');
	expect(text).not.toContain('Today is monday,');
});

test('D45, E11: with execution switched off, nothing runs, and the instructions say why', async () => {
	const text = await load({ mayRunInline: async () => ({ digest: null }) }, false);
	expect(text).toContain('[echo monday: Skills are turned off on this server.]');
});

test('E11: with execution switched off no script and no tool runs; skills can still be read', async () => {
	await writeFile(join(folder, 'skills/demo/run.sh'), 'touch ran');
	const tool = { name: 'go', description: 'Go.', script: 'run.sh' };
	await writeFile(join(folder, 'skills/demo/tools.json'), JSON.stringify([tool]));
	expect(await load({}, false)).toContain('Today is');
	expect(await skills.handleToolCall('use_skill', { skill: 'demo', script: 'run.sh' })).toMatchObject({
		success: false,
		error: 'SkillsDisabled'
	});
	expect(await skills.handleToolCall('go', {})).toMatchObject({ success: false, error: 'SkillsDisabled' });
});
