import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createOutputStore } from './output-store.ts';
import { createSkillsProvider } from './provider.ts';
import type { SkillExecutionResult } from './types.ts';

test('D11: what is kept is read piece by piece, and no character is cut', () => {
	const store = createOutputStore();
	const text = 'a€😀'.repeat(50);
	const id = store.save(text);
	for (const limit of [1, 2, 3, 4, 5, 7, 100]) {
		let read = '';
		for (let offset: number | null = 0; offset !== null;) {
			const page = store.read(id, { offset, limit });
			read += page?.text ?? '';
			offset = page?.nextOffset ?? null;
		}
		expect(read, `${limit} bytes at a time`).toBe(text);
	}
	expect(store.read('ghost')).toBeNull();
});

test('D11: with too much of it the oldest goes', () => {
	const store = createOutputStore(100);
	const [first, second, third] = ['x', 'y', 'z'].map((letter) => store.save(letter.repeat(40)));
	expect(store.read(first ?? '')).toBeNull();
	expect([store.read(second ?? '')?.text[0], store.read(third ?? '')?.text[0]]).toEqual(['y', 'z']);
});

test('D11: of a long output the model has 20,480 bytes, and a megabyte can be paged through', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'output-'));
	await mkdir(join(folder, 'skills/demo'), { recursive: true });
	await writeFile(join(folder, 'skills/demo/SKILL.md'), '---\nname: demo\ndescription: Demo.\n---\n');
	await writeFile(join(folder, 'skills/demo/long.sh'), 'for i in $(seq 1 20000); do echo "line $i"; done\n');
	await writeFile(join(folder, 'skills/demo/short.sh'), 'echo hi\n');
	await writeFile(join(folder, 'skills/demo/big.mjs'), 'export default () => "é".repeat(200_000);');
	await writeFile(
		join(folder, 'skills/demo/tools.json'),
		JSON.stringify([{ name: 'big', description: 'Big.', script: 'big.mjs' }])
	);
	const skills = await createSkillsProvider(join(folder, 'skills'), { cwd: join(folder, 'work') });
	const use = async (script: string) =>
		(await skills.handleToolCall('use_skill', { skill: 'demo', script })) as SkillExecutionResult;
	try {
		const { stdout, truncated, outputId = '' } = await use('long.sh');
		expect(truncated).toBe(true);
		expect(stdout).toContain('[output truncated]');
		let whole = '';
		for (let offset: number | null = 0; offset !== null;) {
			const page = skills.readOutput(outputId, { offset });
			whole += page?.text ?? '';
			offset = page?.nextOffset ?? null;
		}
		expect(whole.split('\n')).toHaveLength(20_001);
		expect((await use('short.sh')).outputId).toBeUndefined();

		const session = skills.createSession({ snapshot: skills.registry.snapshot(), loaded: ['demo'] });
		const { output, result } = await session.call('big', {}, { cwd: join(folder, 'work') });
		expect((result as SkillExecutionResult).value).toHaveLength(200_000);
		expect(Buffer.byteLength(output)).toBeLessThan(21_000);
		expect(output).toContain('[output truncated]');
		expect(output.isWellFormed()).toBe(true);
	} finally {
		await skills.close();
		await rm(folder, { recursive: true, force: true });
	}
});
