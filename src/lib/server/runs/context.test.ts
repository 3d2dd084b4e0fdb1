import { afterEach, describe, expect, test } from 'vitest';
import { call, hang, response, status, text, type Reply } from '../../../../tests/support/model-server.ts';
import { createRunRig, folded, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import type { RunCompaction, RunContext, RunEvent } from '../../shared/events.ts';
import { LEFT_OUT_OUTPUT } from '../agent/compaction.ts';

type Item = Record<string, unknown> & { type: string };

let rig: RunRig;
afterEach(() => rig.close());

const SKILLS = {
	'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/long.sh`. Always whisper.',
	// 6,000 characters, counted as 1,500 tokens.
	'demo/scripts/long.sh': 'printf "%s" "$1"; head -c 6000 /dev/zero | tr "\\0" x\n'
};

/** The smallest context allowed: it leaves about 2,400 tokens for the conversation. */
async function start(script: Reply[], options: RigOptions = {}): Promise<void> {
	rig = await createRunRig(script, { skills: SKILLS, contextTokens: 4000, ...options });
}
const bodyOf = (request: number) => rig.server.requests[request - 1]!.body;
const sent = (request: number) => bodyOf(request).input as Item[];
const sentText = (request: number) => JSON.stringify(sent(request));
const outputs = (request: number) =>
	sent(request).flatMap(({ type, output }) => (type === 'function_call_output' ? [String(output)] : []));
const isSummaryRequest = (request: number) => sentText(request).includes('Summarise the conversation above');
const named = <Value>(list: RunEvent[], name: string) =>
	list.flatMap((event) => (event.type === 'CUSTOM' && event.name === name ? [event.value as Value] : []));
const compactions = (list: RunEvent[]) => named<RunCompaction>(list, 'run.compaction');
const contexts = (list: RunEvent[]) => named<RunContext>(list, 'run.context');
const total = ({ limit: _limit, ...parts }: RunContext) => Object.values(parts).reduce((sum, part) => sum + part, 0);
const load = () => call('load_skill', { skill: 'demo' });
const print = (mark: string) => call('use_skill', { skill: 'demo', script: 'long.sh', args: [mark] });
const long = (tokens: number, mark: string) => `${mark} ${'word '.repeat((tokens * 4) / 5)}`;

describe('F7: a run whose results fill the context', () => {
	test('leaves out the old ones, and shows that it did; what the model has not answered yet is sent whole', async () => {
		await start([print('one'), print('two'), print('three'), text('Done.')]);
		const { runId, list } = await rig.run('go');
		expect(outputs(3).map((output) => output === LEFT_OUT_OUTPUT)).toEqual([true, false]);
		expect(outputs(4).map((output) => output === LEFT_OUT_OUTPUT)).toEqual([true, true, false]);
		expect(outputs(4)[2]).toContain('three');

		expect(compactions(list)).toMatchObject([
			{ removedResults: 1, summarizedMessages: 0, summary: '' },
			{ removedResults: 1, summarizedMessages: 0, summary: '' }
		]);
		for (const { tokensBefore, tokensAfter } of compactions(list)) {
			expect(tokensBefore).toBeGreaterThan(3000);
			expect(tokensAfter).toBeLessThanOrEqual(3000);
		}
		const answer = await rig.answer(runId);
		expect(answer.parts.filter(({ type }) => type === 'compaction')).toHaveLength(2);
		expect(answer).toEqual(folded(answer, list));
		rig.server.assertDone();
	});

	test('leaves them out in the turns after it, too: each request begins with the one before', async () => {
		await start([print('one'), print('two'), print('three'), text('Done.'), text('More.')]);
		await rig.run('go');
		await rig.run('and now?');
		expect(sent(5).slice(0, sent(4).length)).toEqual(sent(4));
		expect(outputs(5).map((output) => output === LEFT_OUT_OUTPUT)).toEqual([true, true, false]);
		rig.server.assertDone();
	});

	test('keeps the instructions of a skill word by word', async () => {
		await start([load(), print('one'), print('two'), text('Done.')]);
		await rig.run('go');
		expect(outputs(4)[0]).toBe(outputs(2)[0]);
		expect(outputs(4)[0]).toContain('Always whisper.');
		expect(outputs(4)[1]).toBe(LEFT_OUT_OUTPUT);
	});

	test('tells at each step what the context is made of', async () => {
		await start([load(), print('one'), text('Done.')]);
		const { runId, list } = await rig.run('go');
		const [first, loaded, used] = contexts(list) as [RunContext, RunContext, RunContext];
		expect(contexts(list)).toHaveLength(3);
		expect(first).toMatchObject({ limit: 4000, skills: 0, results: 0 });
		for (const part of ['system', 'catalog', 'tools', 'messages'] as const) expect(first[part]).toBeGreaterThan(0);
		expect(loaded.skills).toBe(Math.ceil(JSON.stringify(sent(2).at(-1)).length / 4));
		expect(used).toMatchObject({ skills: loaded.skills, system: first.system, catalog: first.catalog });
		expect(used.results).toBeGreaterThan(1500);
		expect((await rig.answer(runId)).context).toEqual(used);
	});
});

describe('F7: a conversation that outgrows the context', () => {
	/** Two turns that nearly fill the context. */
	const talk = [text(long(900, 'FIRST')), text(long(900, 'SECOND'))];
	async function fill(script: Reply[], options: RigOptions = {}): Promise<void> {
		await start([...talk, ...script], options);
		await rig.run('question one');
		await rig.run('question two');
	}
	const third = long(700, 'question three');

	test('goes on from a summary that the model writes, and people see it', async () => {
		await fill([text('They talked about words.'), text('Fine.')]);
		const { runId, list } = await rig.run(third);
		expect(isSummaryRequest(3)).toBe(true);
		expect(bodyOf(3).tool_choice).toBe(bodyOf(2).tool_choice);
		expect(sent(3).slice(0, sent(2).length)).toEqual(sent(2));
		expect(bodyOf(3)).toMatchObject({ instructions: bodyOf(2).instructions, tools: bodyOf(2).tools });

		expect(sentText(4)).toContain('They talked about words.');
		expect(sentText(4)).not.toContain('FIRST');
		expect(sent(4).at(-1)).toMatchObject({ role: 'user', content: [{ text: third }] });
		const [made] = compactions(list);
		expect(compactions(list)).toHaveLength(1);
		expect(made).toMatchObject({ removedResults: 0, summarizedMessages: 4, summary: 'They talked about words.' });
		expect(made!.tokensAfter).toBe(total(contexts(list)[0]!));
		expect((await rig.answer(runId)).parts.map(({ type }) => type)).toEqual(['compaction', 'text']);
		expect(await rig.store.compactions.list('c')).toEqual([
			{ messageId: (await rig.answer('run-2')).id, summary: 'They talked about words.' }
		]);
		rig.server.assertDone();
	});

	test('asks for the summary of a transcript if the conversation itself was too long after all', async () => {
		await fill([status(413, { error: { message: 'Too long' } }), text('They talked about words.'), text('Fine.')]);
		const { list } = await rig.run(third);
		expect(isSummaryRequest(4)).toBe(true);
		expect(bodyOf(4)).not.toHaveProperty('tools');
		expect(sentText(4)).toContain('User: question one');
		expect(sentText(4)).toContain('Assistant: FIRST');
		expect(sentText(4)).not.toContain('Today is');
		expect(compactions(list)).toMatchObject([{ summary: 'They talked about words.' }]);
		rig.server.assertDone();
	});

	test('pays for the summary like for any step', async () => {
		const paid = (usage: object, ...words: string[]) => response([text(...words)], { usage });
		await fill([
			paid({ input_tokens: 100, output_tokens: 10, cost: 0.5 }, 'Summary.'),
			paid({ input_tokens: 7, output_tokens: 3, cost: 0.25 }, 'Fine.')
		]);
		const { runId } = await rig.run(third);
		expect((await rig.answer(runId)).usage).toMatchObject({ inputTokens: 107, outputTokens: 13, cost: 0.75 });
	});

	test('starts from the stored summary the next time, without asking for another', async () => {
		await fill([text('They talked about words.'), text('Fine.'), text('Good.')]);
		await rig.run(third);
		const { list } = await rig.run('question four');
		expect(compactions(list)).toEqual([]);
		expect(sentText(5)).toContain('They talked about words.');
		expect(sentText(5)).toContain('question three');
		expect(sentText(5)).not.toContain('question one');
		rig.server.assertDone();
	});

	test('is summarised again, the first summary included', async () => {
		await fill([text('SUMMARY ONE'), text(long(900, 'THIRD')), text('SUMMARY TWO'), text('Good.'), text('Well.')]);
		await rig.run(third);
		const { list } = await rig.run(long(900, 'question four'));
		expect(isSummaryRequest(5)).toBe(true);
		expect(sentText(5)).toContain('SUMMARY ONE');
		expect(sentText(5)).toContain('THIRD');
		expect(compactions(list)).toMatchObject([{ summarizedMessages: 6, summary: 'SUMMARY TWO' }]);
		await rig.run('question five');
		expect(sentText(7)).toContain('SUMMARY TWO');
		expect(sentText(7)).not.toContain('SUMMARY ONE');
		rig.server.assertDone();
	});

	test('keeps the skills that were loaded in what the summary stands for, in this run and in later ones', async () => {
		await start([load(), ...talk, text('SUMMARY'), text('Fine.'), text('Good.')]);
		await rig.run('question one');
		const instructions = outputs(2)[0]!;
		await rig.run('question two');
		await rig.run(third);
		expect(isSummaryRequest(4)).toBe(true);
		await rig.run('question four');
		for (const request of [5, 6]) {
			expect(sent(request).slice(0, 3)).toEqual([
				expect.objectContaining({
					role: 'user',
					content: [{ type: 'input_text', text: expect.stringContaining('SUMMARY') }]
				}),
				expect.objectContaining({ type: 'function_call', name: 'load_skill', call_id: 'call_1' }),
				{ type: 'function_call_output', call_id: 'call_1', output: instructions }
			]);
		}
		rig.server.assertDone();
	});

	test('goes on without its beginning when no summary can be had, says so, and asks again the next time', async () => {
		await fill([
			status(402, { error: { code: 402, message: 'No credits' } }),
			text('Fine.'),
			text('SUMMARY'),
			text('Good.')
		]);
		const { runId, list } = await rig.run(third);
		expect(sentText(4)).toContain('The first 4 messages were left out');
		expect(sentText(4)).not.toContain('No credits');
		expect(sentText(4)).not.toContain('FIRST');
		expect(compactions(list)).toMatchObject([
			{ summarizedMessages: 4, summary: expect.stringMatching(/^The first 4 messages were left out.*No credits/) }
		]);
		expect(await rig.answer(runId)).toMatchObject({ status: 'complete', error: null });
		expect(await rig.store.compactions.list('c')).toEqual([]);
		await rig.run('question four');
		expect(isSummaryRequest(5)).toBe(true);
		rig.server.assertDone();
	});

	test('can be stopped while the summary is written: the request is closed and nothing is stored', async () => {
		await fill([hang({ type: 'response.created' })]);
		const { runId } = await rig.ask(third);
		const request = await rig.server.received(3);
		await rig.runner.stop(runId);
		await request.closed;
		expect(request.isAborted).toBe(true);
		const list = (await rig.events(runId)).map(({ event }) => event);
		expect(list.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
		expect(compactions(list)).toEqual([]);
		expect(await rig.store.compactions.list('c')).toEqual([]);
		rig.server.assertDone();
	});

	test('shows the wait when the summary is asked for again', async () => {
		await fill([status(503, { error: { code: 503, message: 'busy' } }), text('SUMMARY'), text('Fine.')]);
		const { list } = await rig.run(third);
		const order = list.flatMap((event) => (event.type === 'CUSTOM' ? [event.name] : []));
		expect(order.indexOf('run.retry')).toBeGreaterThan(-1);
		expect(order.indexOf('run.retry')).toBeLessThan(order.indexOf('run.compaction'));
		rig.server.assertDone();
	});

	test('uses a summary only in the branches that hold what it stands for', async () => {
		await fill([text('SUMMARY'), text('Fine.'), text('Good.'), text('Other.')]);
		await rig.run(third);
		await rig.run('question three, edited', { after: (await rig.answer('run-2')).id });
		expect(sentText(5)).toContain('SUMMARY');
		await rig.run('question two, edited', { after: (await rig.answer('run-1')).id });
		expect(sentText(6)).not.toContain('SUMMARY');
		expect(sentText(6)).toContain('FIRST');
		rig.server.assertDone();
	});

	test('that is too long by its newest message alone is sent, and the server says what is wrong', async () => {
		const refusal = status(400, { error: { code: 'context_length_exceeded', message: 'Too many words' } });
		await start([refusal]);
		const { runId, list } = await rig.run(long(9000, 'all of this'));
		expect(compactions(list)).toEqual([]);
		expect(list.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'context_length_exceeded' });
		expect((await rig.answer(runId)).error?.message).toContain('Too many words');
		rig.server.assertDone();
	});
});

describe('F7: the length of the context', () => {
	test('is the model’s own where its server tells', async () => {
		await start([text('a')], { contextTokens: 128_000, models: [{ id: 'test/model', context_length: 9000 }] });
		expect(contexts((await rig.run('go')).list)).toMatchObject([{ limit: 9000 }]);
	});

	test('is the configured one where it does not', async () => {
		await start([text('a')], { contextTokens: 5000, models: [{ id: 'other/model', context_length: 9000 }] });
		expect(contexts((await rig.run('go')).list)).toMatchObject([{ limit: 5000 }]);
	});
});
