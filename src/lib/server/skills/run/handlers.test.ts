import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../../tests/support/folder.ts';
import { createSkillsProvider, defineSkill, type SkillsProvider, type SkillsProviderOptions } from '../provider.ts';
import type { ExecutionEnd, ExecutionStart } from './execution-host.ts';
import type { SkillEvent, SkillExecutionResult } from '../types.ts';

const folder = emptyFolder();
const opened: SkillsProvider[] = [];
afterEach(async () => {
	await Promise.all(opened.splice(0).map((provider) => provider.close()));
});

async function open(options: SkillsProviderOptions = {}): Promise<SkillsProvider> {
	const provider = await createSkillsProvider(folder, options);
	opened.push(provider);
	return provider;
}

/** A skill with one tool that names a handler. */
async function put(handler: string): Promise<void> {
	const dir = join(folder, 'reverse-text');
	await putFile(dir, 'SKILL.md', '---\nname: reverse-text\ndescription: Reverses a text.\n---\nReverse it.\n');
	const tool = {
		name: 'reverse_text',
		description: 'Reverses a text.',
		handler,
		parameters: { text: { type: 'string' } }
	};
	await writeFile(join(dir, 'tools.json'), JSON.stringify([tool]));
}

function call(provider: SkillsProvider, input: Record<string, unknown>, signal?: AbortSignal) {
	const events: SkillEvent[] = [];
	const session = provider.createSession({ snapshot: provider.registry.snapshot(), dialect: 'full' });
	const operation = { kind: 'tool', skill: 'reverse-text', tool: 'reverse_text', args: input } as const;
	const caller = { apiKeyId: 'key', sessionId: 'session' };
	const context = {
		cwd: folder,
		caller,
		onEvent: (event: SkillEvent) => events.push(event),
		...(signal ? { signal } : {})
	};
	return session.perform(operation, context).then(({ result }) => ({ result: result as SkillExecutionResult, events }));
}

const reverse = ({ text }: Record<string, unknown>) => ({ reversed: [...String(text)].reverse().join('') });

test('D37: a handler that was registered by name is called with checked input and who asks; its answer is the result', async () => {
	await put('reverse');
	const provider = await open();
	const asked: unknown[] = [];
	provider.registerHandler('reverse', (input, { apiKeyId, sessionId, cwd }) => {
		asked.push({ apiKeyId, sessionId, cwd });
		return reverse(input);
	});
	const { result, events } = await call(provider, { text: 'abc' });
	expect(result).toMatchObject({ success: true, value: { reversed: 'cba' }, exitCode: 0 });
	expect(asked).toEqual([{ apiKeyId: 'key', sessionId: 'session', cwd: folder }]);
	expect(events.map(({ type }) => type)).toEqual(['started', 'finished']);
	expect(events[0]).toMatchObject({ sandbox: 'direct', script: 'reverse', tool: 'reverse_text' });
	expect((await call(provider, { text: 7 })).result).toMatchObject({ success: false, error: 'InvalidArgs' });
});

test('D37: a handler that nobody has registered is an error that names it and those there are, never its text run', async () => {
	await put('process.exit(1)');
	const { result } = await call(await open({ handlers: { echo: (input) => input } }), { text: 'x' });
	expect(result).toMatchObject({ error: 'HandlerNotFound', hint: expect.stringContaining('echo') as string });
	expect(result.message).toContain('process.exit(1)');
});

test('D37, D38: a handler that throws, takes too long, is stopped or answers no JSON is a failed call like any other', async () => {
	await put('bad');
	const ends: ExecutionEnd[] = [];
	const starts: ExecutionStart[] = [];
	const recorder = {
		started: async (start: ExecutionStart) => void starts.push(start),
		running: async () => undefined,
		finished: async (_id: string, end: ExecutionEnd) => void ends.push(end)
	};
	const provider = await open({ timeout: 100, host: { recorder } });
	const signals: AbortSignal[] = [];
	const behave = (handler: () => unknown) =>
		provider.registerHandler('bad', (_input, { signal }) => {
			signals.push(signal);
			return handler();
		});
	const circle: Record<string, unknown> = {};
	circle.self = circle;

	behave(() => {
		throw new Error('it broke');
	});
	expect((await call(provider, { text: '' })).result).toMatchObject({ error: 'ExecutionFailed', message: 'it broke' });
	behave(() => new Promise(() => undefined));
	expect((await call(provider, { text: '' })).result).toMatchObject({ error: 'ExecutionTimeout' });
	expect(signals.at(-1)?.aborted).toBe(true);
	const stop = new AbortController();
	const stopped = call(provider, { text: '' }, stop.signal);
	stop.abort();
	expect((await stopped).result).toMatchObject({ error: 'Cancelled' });
	behave(() => circle);
	expect((await call(provider, { text: '' })).result).toMatchObject({ error: 'ExecutionFailed' });
	behave(() => undefined);
	expect((await call(provider, { text: '' })).result).toMatchObject({ success: true, value: null });
	expect(ends.map(({ status }) => status)).toEqual(['error', 'timeout', 'error', 'error', 'success']);
	expect(starts[0]).toMatchObject({
		skillId: `${provider.registry.snapshot().skills[0]?.source}/reverse-text`,
		sandbox: 'direct'
	});
});

test('D38, D10: the time limit of a handler is the skill’s, else the host’s, as a script’s is', async () => {
	await put('wait');
	const front = '---\nname: reverse-text\ndescription: Reverses a text.\nmetadata:\n  timeout: 150ms\n---\nx\n';
	await writeFile(join(folder, 'reverse-text/SKILL.md'), front);
	const provider = await open({ timeout: 5000 });
	provider.registerHandler('wait', () => new Promise(() => undefined));
	expect((await call(provider, { text: '' })).result).toMatchObject({
		error: 'ExecutionTimeout',
		message: 'The handler ran for 150 ms and was stopped.'
	});
});

test('E11: while execution is switched off, no handler is called', async () => {
	await put('reverse');
	const provider = await open({ isEnabled: () => false, handlers: { reverse } });
	expect((await call(provider, { text: 'x' })).result).toMatchObject({ error: 'SkillsDisabled' });
});

test('E35: a skill made of a function is listed, loaded and called like one of a folder', async () => {
	const skill = defineSkill({
		name: 'reverse-text',
		version: '2.1.0',
		description: 'Reverses a text.',
		instructions: 'Call reverse_text.',
		schema: { input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
		handler: reverse
	});
	await put('other');
	const provider = await open({ skills: [skill] });
	expect(provider.systemPrompt).toContain('reverse-text');
	expect(await provider.handleToolCall('load_skill', { skill: 'reverse-text' })).toContain('Call reverse_text.');
	expect((await call(provider, { text: 'abc' })).result).toMatchObject({ value: { reversed: 'cba' } });
	expect((await call(provider, {})).result).toMatchObject({ error: 'InvalidArgs' });
	expect(provider.registry.snapshot().shadowed).toHaveLength(1);
	const files = await provider.handleToolCall('read_skill_file', { skill: 'reverse-text', path: 'SKILL.md' });
	expect(files).toMatchObject({ error: 'FileNotFound' });
});

test.each([
	[{ name: 'Not a name' }, /name/],
	[{ version: '1' }, /version/],
	[{ description: ' ' }, /description/],
	[{ schema: { input: { type: 'string' } } }, /schema\.input/]
])('E35: a definition with %j is refused where it is made', (change, reason) => {
	const good = { name: 'demo', description: 'Demo.', schema: { input: { type: 'object' } }, handler: () => null };
	expect(() => defineSkill({ ...good, ...change })).toThrow(reason);
});

test('E13: what is recorded of a long answer is not cut within a character, and F3: has no stored value in it', async () => {
	await put('long');
	const ends: ExecutionEnd[] = [];
	const recorder = {
		started: async () => undefined,
		running: async () => undefined,
		finished: async (_id: string, end: ExecutionEnd) => void ends.push(end)
	};
	const provider = await open({ host: { recorder, secretsOf: async () => ({ KEY: 'stored-value' }) } });
	// After the opening quote, the 20,000th UTF-16 unit is the first half of the last character.
	provider.registerHandler('long', () => `${'a'.repeat(19_998)}🧪`);
	await call(provider, { text: 'x' });
	provider.registerHandler('long', () => {
		throw new Error('stored-value isn’t supported here.');
	});
	const { result } = await call(provider, { text: 'the stored-value' });
	expect(ends[0]?.output.isWellFormed()).toBe(true);
	expect(ends[0]?.output).toHaveLength(19_999);
	expect(ends[1]?.message).toBe('[redacted] isn’t supported here.');
	expect(result.message).toBe('[redacted] isn’t supported here.');
});
