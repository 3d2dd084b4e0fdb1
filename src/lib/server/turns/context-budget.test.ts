import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../shared/events.ts';
import { emptyAnswer, type Message } from '../../shared/message.ts';
import { LEFT_OUT_OUTPUT } from '../agent/compaction.ts';
import { toInput, type HistoryMessage } from '../agent/history.ts';
import type { FunctionTool, Model, ModelEvent, ModelRequest, ResponseItem } from '../agent/model.ts';
import { sanitiseInput } from '../models/responses/items.ts';
import type { Compaction, Compactions } from '../store/chat/queue.ts';
import { createContextBudget, type ContextBudgetOptions } from './context-budget.ts';

const TOOLS: FunctionTool[] = [{ type: 'function', name: 'f', description: 'x'.repeat(400), parameters: {} }];
const SUMMARY = 'S'.repeat(20_000);
const completed: ModelEvent = { type: 'completed', items: [], usage: null, incompleteReason: null };

/** A model that only writes summaries, and too long ones. */
function summarizer(events: ModelEvent[] = [{ type: 'text.delta', key: 't', delta: SUMMARY }, completed]) {
	const requests: ModelRequest[] = [];
	const model: Model = {
		id: 'test/model',
		async *stream(request) {
			requests.push(request);
			yield* events;
		}
	};
	return { model, requests };
}

function memory(): Compactions & { list(): Promise<Compaction[]> } {
	const stored = new Map<string, Compaction>();
	return {
		put: async (_conversationId, compaction) => void stored.set(compaction.messageId, compaction),
		list: async () => [...stored.values()]
	};
}

function budgetOf(options: Partial<ContextBudgetOptions>) {
	return createContextBudget({
		model: summarizer().model,
		contextTokens: 4000,
		instructions: 'You are a helpful assistant.',
		catalog: '',
		conversationId: 'c',
		compactions: memory(),
		signal: new AbortController().signal,
		...options
	});
}

async function fitted(budget: ReturnType<typeof budgetOf>, input: ResponseItem[]) {
	const events: RunEvent[] = [];
	const steps = budget.fit(input, TOOLS, () => undefined);
	for (;;) {
		const { done, value } = await steps.next();
		if (done) return { input: value, events };
		events.push(value);
	}
}

const long = (tokens: number) => 'x'.repeat(tokens * 4);
const tokensOf = (items: readonly ResponseItem[]) =>
	items.reduce((sum, item) => sum + Math.ceil(JSON.stringify(item).length / 4), 0);
const isSkill = (item: ResponseItem) => String(item.output).startsWith('<skill_content');
const names = (events: RunEvent[]) => events.map((event) => (event.type === 'CUSTOM' ? event.name : event.type));

function question(id: string, text: string): HistoryMessage {
	const message: Message = {
		...emptyAnswer(id, '', ''),
		role: 'user',
		status: 'complete',
		parts: [{ type: 'text', id, text }]
	};
	return { message, items: null, model: null };
}
function answer(id: string, items: ResponseItem[]): HistoryMessage {
	return { message: { ...emptyAnswer(id, 'r', ''), status: 'complete' }, items, model: 'test/model' };
}
const said = (text: string): ResponseItem => ({
	type: 'message',
	role: 'assistant',
	content: [{ type: 'output_text', text }]
});
const called = (id: string, output: string): ResponseItem[] => [
	{ type: 'function_call', id: `fc_${id}`, call_id: id, name: 'f', arguments: '{}' },
	{ type: 'function_call_output', call_id: id, output }
];
const GO_ON: ResponseItem = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] };

/** Turns of 900 tokens each. */
const talk = (count: number): HistoryMessage[] =>
	Array.from({ length: count }, (_, index) => [
		question(`q${index}`, `question ${index}`),
		answer(`a${index}`, [said(long(900))])
	]).flat();

describe('F7: the context budget', () => {
	test('tells what the context is made of when that has changed, and only then', async () => {
		const budget = budgetOf({});
		const input = [GO_ON];
		expect(names((await fitted(budget, input)).events)).toEqual(['run.context']);
		expect((await fitted(budget, input)).events).toEqual([]);
		expect(names((await fitted(budget, [...input, said('more')])).events)).toEqual(['run.context']);
	});

	test('compacts once: the next step finds what the last one made', async () => {
		const { model, requests } = summarizer();
		const budget = budgetOf({ model });
		const input = toInput(await budget.shorten([...talk(4), question('q', 'go')]), model.id);
		const first = await fitted(budget, input);
		expect(names(first.events)).toEqual(['run.compaction', 'run.context']);
		const second = await fitted(budget, [...first.input, ...called('c', 'ok')]);
		expect(names(second.events)).toEqual(['run.context']);
		expect(requests).toHaveLength(1);
	});

	/** Its beginning gets summarized and fits into one request. */
	const outgrown = [...talk(3), question('q', long(900))];

	test('a summary is asked for with everything that a step has, so that it is read from the cache', async () => {
		const { model, requests } = summarizer();
		const budget = budgetOf({ model, contextTokens: 4400, web: ['search'], effort: 'high' });
		const input = toInput(await budget.shorten(outgrown), model.id);
		await fitted(budget, input);
		const { input: asked, ...rest } = requests[0]!;
		expect(rest).toMatchObject({
			...{ instructions: 'You are a helpful assistant.', tools: TOOLS, toolChoice: 'auto' },
			...{ web: ['search'], effort: 'high', sessionId: 'c' }
		});
		expect(asked.slice(0, -1)).toEqual(input.slice(0, -1));
	});

	test('what a model says before it calls a tool is no summary: it is asked for one of a transcript, which no cache needs to keep', async () => {
		const calls: ModelEvent = { type: 'call.done', callId: 'c', name: 'f', arguments: '{}' };
		const { model, requests } = summarizer([
			{ type: 'text.delta', key: 't', delta: 'I look first.' },
			calls,
			completed
		]);
		const compactions = memory();
		const budget = budgetOf({ model, contextTokens: 4400, compactions });
		const { input } = await fitted(budget, toInput(await budget.shorten(outgrown), model.id));
		expect(requests.map(({ tools, sessionId }) => [tools.length, sessionId])).toEqual([
			[1, 'c'],
			[0, '']
		]);
		expect(JSON.stringify(input)).not.toContain('I look first.');
		expect(await compactions.list()).toEqual([]);
	});

	test('never summarises a summary alone, however long the newest question is', async () => {
		const { model, requests } = summarizer();
		const compactions = memory();
		const history = [...talk(3), question('q', long(9000))];
		for (const _run of [1, 2]) {
			const budget = budgetOf({ model, compactions });
			const { input } = await fitted(budget, toInput(await budget.shorten(history), model.id));
			await fitted(budget, input);
			expect(input).toHaveLength(2);
		}
		expect(requests).toHaveLength(1);
	});

	test('never summarises a summary alone, however long the answer becomes', async () => {
		const { model, requests } = summarizer();
		const budget = budgetOf({ model });
		const history = [...talk(4), question('q', long(1000))];
		const first = await fitted(budget, toInput(await budget.shorten(history), model.id));
		const more = [...first.input, ...called('c', long(5000))];
		expect((await fitted(budget, more)).input.length).toBe(4);
		expect(requests).toHaveLength(1);
	});

	test('a summary up to the newest message itself, of another branch, is not used', async () => {
		const compactions = memory();
		await compactions.put('c', { messageId: 'q1', summary: 'of all' }, '');
		const budget = budgetOf({ compactions });
		const history = [...talk(1), question('q1', 'retried')];
		expect(await budget.shorten(history)).toEqual(history);
	});

	test('an answer that is gone on with keeps its question', async () => {
		const budget = budgetOf({});
		const asked = question('q', 'the question');
		const begun = answer('a', [...called('old', long(900)), ...called('new', long(900)), said(long(900))]);
		const input = toInput(await budget.shorten([...talk(2), asked, begun]), 'test/model');
		const { input: sent } = await fitted(budget, [...input, GO_ON]);
		expect(sent[1]).toEqual(toInput([asked], 'test/model')[0]);
		expect(sent.slice(-2)).toEqual([said(long(900)), GO_ON]);
	});

	test('the summariser is shown no more than fits the model, and its summary is cut to its share', async () => {
		const { model, requests } = summarizer();
		const budget = budgetOf({ model });
		const history = [question('q0', long(30_000)), answer('a0', [said(long(30_000))]), question('q', 'go')];
		const { input } = await fitted(budget, toInput(await budget.shorten(history), model.id));
		expect(tokensOf(requests[0]!.input) + requests[0]!.instructions.length / 4).toBeLessThan(3000);
		expect(tokensOf(input)).toBeLessThan(600);
		expect(JSON.stringify(input[0])).toContain('SSS');
	});

	test.each<[string, ModelEvent[]]>([
		['a failure', [{ type: 'failed', error: { code: 'unreachable', message: 'No network.' }, items: [] }]],
		['an answer of nothing', [{ type: 'text.delta', key: 't', delta: ' \n' }, completed]]
	])('%s in place of a summary leaves a sentence, and nothing is stored', async (_name, events) => {
		const compactions = memory();
		const { model } = summarizer(events);
		const budget = budgetOf({ model, compactions });
		const { input } = await fitted(budget, toInput(await budget.shorten([...talk(4), question('q', 'go')]), model.id));
		expect(JSON.stringify(input[0])).toMatch(/The first \d messages were left out/);
		expect(await compactions.list()).toEqual([]);
	});

	test('a model whose length is slow to be known does not hold up a stop', async () => {
		const stop = new AbortController();
		const model = { ...summarizer().model, contextTokens: () => new Promise<null>(() => undefined) };
		const pending = fitted(budgetOf({ model, signal: stop.signal }), [GO_ON]);
		stop.abort();
		expect((await pending).input).toEqual([GO_ON]);
	});
});

describe('F7: whatever the conversation', () => {
	const tokens = fc.integer({ min: 0, max: 1200 });
	const step = fc.record({
		thinks: fc.boolean(),
		calls: fc.array(fc.record({ loads: fc.boolean(), size: tokens }), { maxLength: 2 }),
		says: fc.option(tokens)
	});
	const turns = fc.array(fc.record({ asks: tokens, steps: fc.array(step, { maxLength: 2 }) }), {
		minLength: 1,
		maxLength: 8
	});

	function historyOf(
		list: {
			asks: number;
			steps: { thinks: boolean; calls: { loads: boolean; size: number }[]; says: number | null }[];
		}[]
	) {
		let count = 0;
		return list.flatMap(({ asks, steps }, turn) => {
			const items = steps.flatMap(({ thinks, calls, says }) => [
				...(thinks ? [{ type: 'reasoning', id: `r${(count += 1)}`, summary: [], encrypted_content: 'x' }] : []),
				...calls.flatMap(({ loads, size }) => {
					const output = loads ? `<skill_content name="s">${long(size)}</skill_content>` : long(size);
					return called(`c${(count += 1)}`, output);
				}),
				...(says === null ? [] : [said(`${(count += 1)} ${long(says)}`)])
			]);
			return [question(`q${turn}`, `${turn} ${long(asks)}`), answer(`a${turn}`, items)];
		});
	}

	test('what is sent is whole, holds skills and the newest question, and fits if it can; so does the next turn from what was stored', async () => {
		await fc.assert(
			fc.asyncProperty(turns, fc.integer({ min: 1000, max: 20_000 }), async (list, contextTokens) => {
				const compactions = memory();
				const all = historyOf(list);
				const runs = [all.slice(0, -1), [...all, question('last', 'the last one')]];
				for (const history of runs) {
					const { model, requests } = summarizer();
					const budget = budgetOf({ model, contextTokens, compactions });
					const shortened = toInput(await budget.shorten(history), model.id);
					const { input: sent } = await fitted(budget, shortened);

					const original = toInput(history, model.id);
					const ids = (type: string) => sent.filter((item) => item.type === type).map((item) => item.call_id);
					expect(ids('function_call')).toEqual(ids('function_call_output'));
					// If sanitizing changed anything, the budget would have broken something.
					expect(sanitiseInput(sent)).toEqual(sent);
					expect(sent.filter(isSkill)).toEqual(original.filter(isSkill));
					expect(sent).toContainEqual(original.findLast(({ role }) => role === 'user'));

					const fixed = Math.ceil(JSON.stringify(TOOLS).length / 4) + 7;
					const room = contextTokens - Math.min(Math.floor(contextTokens / 4), 16_000) - fixed;
					if (tokensOf(shortened) <= room) expect({ sent, requests }).toEqual({ sent: shortened, requests: [] });
					if (tokensOf(sent) <= room) continue;
					// It can't fit: all removable results are gone, and all that can be summarized is one summary.
					const results = sent.filter((item) => item.type === 'function_call_output' && !isSkill(item));
					const last = sent.at(-1)!;
					for (const item of results) {
						expect(item.output === LEFT_OUT_OUTPUT || tokensOf([item]) < 60 || item === last).toBe(true);
					}
					const newest = sent.findLastIndex(({ role }) => role === 'user');
					const summary = Math.min(Math.max(Math.floor(room / 8), 200), 2000);
					const ofSkills = sent.slice(0, newest).filter(isSkill);
					expect(tokensOf(sent.slice(0, newest)) - tokensOf(ofSkills)).toBeLessThanOrEqual(
						summary + ofSkills.length * 30
					);
				}
			}),
			{ numRuns: 150 }
		);
	});
});
