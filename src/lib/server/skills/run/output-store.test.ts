import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../../tests/support/folder.ts';
import { createOutputStore } from './execution-result.ts';
import { createSkillsProvider, type SkillsProvider } from '../provider.ts';
import type { SkillExecutionResult } from '../types.ts';

test('D11: what is kept is read piece by piece, and no character is cut', () => {
	const store = createOutputStore();
	const text = 'a€😀'.repeat(50);
	const id = store.save({ stdout: text, stderr: 'of the other stream' });
	for (const limit of [1, 2, 3, 4, 5, 7, 100]) {
		let read = '';
		for (let offset: number | null = 0; offset !== null;) {
			const page = store.read(id, { offset, limit });
			read += page?.text ?? '';
			offset = page?.nextOffset ?? null;
		}
		expect(read, `${limit} bytes at a time`).toBe(text);
	}
	expect(store.read(id, { stream: 'stderr', offset: 3 })).toMatchObject({ text: 'the other stream', totalBytes: 19 });
	expect(store.read('ghost')).toBeNull();
});

test('D11: with too much of it the oldest goes', () => {
	const store = createOutputStore(100);
	const [first, second, third] = ['x', 'y', 'z'].map((letter) =>
		store.save({ stdout: letter.repeat(20), stderr: letter.repeat(20) })
	);
	expect(store.read(first ?? '')).toBeNull();
	expect([store.read(second ?? '')?.text[0], store.read(third ?? '')?.text[0]]).toEqual(['y', 'z']);
});

describe('through the provider', () => {
	const folder = emptyFolder();
	let skills: SkillsProvider;
	beforeEach(async () => {
		const demo = join(folder, 'skills/demo');
		await putFile(demo, 'SKILL.md', '---\nname: demo\ndescription: Demo.\n---\n');
		await putFile(demo, 'long.sh', 'seq -f "line %05g" 20000\n');
		await putFile(demo, 'errors.sh', 'echo fine; seq -f "error %05g" 20000 >&2; exit 1\n');
		await putFile(demo, 'both.sh', 'seq 1 9000; seq 1 9000 >&2\n');
		await putFile(demo, 'short.sh', 'echo hi\n');
		await putFile(demo, 'huge.sh', 'seq 1 500000\n');
		await putFile(demo, 'big.mjs', 'export default () => "é".repeat(200_000);');
		await putFile(demo, 'tools.json', JSON.stringify([{ name: 'big', description: 'Big.', script: 'big.mjs' }]));
		skills = await createSkillsProvider(join(folder, 'skills'), { cwd: join(folder, 'work') });
	});
	afterEach(async () => {
		await skills.close();
	});
	const use = async (script: string) =>
		(await skills.handleToolCall('use_skill', { skill: 'demo', script })) as SkillExecutionResult;
	const readAll = (id: string, stream: 'stdout' | 'stderr') => {
		let whole = '';
		for (let offset: number | null = 0; offset !== null;) {
			const page = skills.readOutput(id, { stream, offset });
			whole += page?.text ?? '';
			offset = page?.nextOffset ?? null;
		}
		return whole;
	};
	const openSession = () => {
		const session = skills.createSession({ snapshot: skills.registry.snapshot(), loaded: ['demo'] });
		return async (name: string, args: Record<string, unknown> = {}) =>
			(await session.call(name, args, { cwd: join(folder, 'work') })).output;
	};

	test('D11: of a long output the model has 20,480 bytes, and the whole can be paged through', async () => {
		const { stdout, truncated, outputId = '' } = await use('long.sh');
		expect(truncated).toBe(true);
		expect(stdout).toContain('[output truncated]');
		expect(readAll(outputId, 'stdout').split('\n')).toHaveLength(20_001);
		expect((await use('short.sh')).outputId).toBeUndefined();
	});
	test('D11: both streams are kept, also when stderr alone was cut and the script failed', async () => {
		const { stdout, success, outputId = '' } = await use('errors.sh');
		expect([stdout, success]).toEqual(['fine\n', false]);
		expect(readAll(outputId, 'stderr').split('\n')).toHaveLength(20_001);
		expect(readAll(outputId, 'stdout')).toBe('fine\n');
	});
	test('D11: of each stream no more than 1 MB is kept: its head and its tail', async () => {
		const { outputId = '' } = await use('huge.sh');
		const kept = readAll(outputId, 'stdout');
		expect(Buffer.byteLength(kept)).toBe(1024 * 1024 + '\n[output truncated]\n'.length);
		expect(kept).toMatch(/^1\n2\n[^]*499999\n500000\n$/);
	});
	test('D11, C6: the model reads the part that was left out with its next calls, in either of two ways', async () => {
		const ask = openSession();
		const shown = JSON.parse(await ask('use_skill', { skill: 'demo', script: 'long.sh' })) as Record<string, string>;
		expect(shown.stdout).not.toContain('line 10000');
		const [, script = '', start = ''] = /script “(output:[^”]+)” and args \["(\d+)"\]/.exec(shown.more ?? '') ?? [];
		let whole = '';
		for (let offset: string | undefined = start; offset !== undefined;) {
			const page: string = await ask('use_skill', { skill: 'demo', script, args: [offset] });
			expect(Buffer.byteLength(page)).toBeLessThan(20_600);
			whole += page.replace(/\n\n\[bytes [^\]]*\]$/, '');
			offset = /continue with offset (\d+)\]$/.exec(page)?.[1];
		}
		const all = Array.from({ length: 20_000 }, (_, index) => `line ${String(index + 1).padStart(5, '0')}\n`).join('');
		const [head = ''] = (shown.stdout ?? '').split('\n[output truncated]\n');
		expect(head + whole).toBe(all);
		const piece = await ask('read_skill_file', { skill: 'demo', path: script, offset: 11 * 9999, limit: 10 });
		expect(piece).toBe('line 10000\n\n[bytes 109989 to 109999 of 220000; continue with offset 109999]');
	});
	test('D11: where both streams were cut the model is told of both', async () => {
		const ask = openSession();
		const { more = '' } = JSON.parse(await ask('use_skill', { skill: 'demo', script: 'both.sh' })) as { more?: string };
		const [, path = '', offset = ''] = /Likewise “(output:[^”]+:stderr)” from (\d+)/.exec(more) ?? [];
		expect(await ask('read_skill_file', { skill: 'demo', path, offset: Number(offset) })).toMatch(/^\d+\n\d+\n/);
		expect(JSON.parse(await ask('use_skill', { skill: 'demo', script: 'short.sh' }))).not.toHaveProperty('more');
	});
	test('D11: of a long answer the model has the ends, and reads the rest likewise', async () => {
		const ask = openSession();
		const output = await ask('big');
		expect(Buffer.byteLength(output)).toBeLessThan(21_000);
		expect(output).toContain('[output truncated]');
		expect(output.isWellFormed()).toBe(true);
		const [, script = '', start = ''] = /script “(output:[^”]+)” and args \["(\d+)"\]/.exec(output) ?? [];
		expect(await ask('use_skill', { skill: 'demo', script, args: [start] })).toMatch(/^é{10240}\n\n\[bytes /);
		await skills.handleToolCall('load_skill', { skill: 'demo' });
		const answer = (await skills.handleToolCall('big', {})) as SkillExecutionResult;
		expect(answer.value).toBe('é'.repeat(200_000));
		expect(readAll(answer.outputId ?? '', 'stdout')).toBe(JSON.stringify(answer.value));
	});
	test.each([
		['output:ghost', [], 'FileNotFound'],
		['output:', [], 'FileNotFound'],
		['output:x:other', [], 'InvalidArgs'],
		['output:x', ['-1'], 'InvalidArgs'],
		['output:x', ['start'], 'InvalidArgs']
	])('D11, D13: %s from %j is a typed error that says what to do', async (script, args, error) => {
		expect(await skills.handleToolCall('use_skill', { skill: 'demo', script, args })).toMatchObject({ error });
	});
});
