import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSizeOf, LEFT_OUT_OUTPUT, planCompaction, totalTokens, type CompactionPlan } from './compaction.ts';
import type { ResponseItem } from './model.ts';

const user = (content: string): ResponseItem => ({ type: 'message', role: 'user', content });
const said = (content: string): ResponseItem => ({ type: 'message', role: 'assistant', content });
const thought: ResponseItem = { type: 'reasoning', id: 'r', summary: [], encrypted_content: 'x' };
const called = (call_id: string): ResponseItem => ({
	type: 'function_call',
	id: `fc_${call_id}`,
	call_id,
	name: 'f',
	arguments: '{}'
});
const result = (call_id: string, output: string): ResponseItem => ({ type: 'function_call_output', call_id, output });
const skill = (call_id: string, length: number): ResponseItem =>
	result(call_id, `<skill_content name="${call_id}">${'s'.repeat(length)}</skill_content>`);
const long = (tokens: number): string => 'x'.repeat(tokens * 4);

const sizeOf = createSizeOf();
const isUser = (item: ResponseItem) => item.role === 'user';

function plan(input: ResponseItem[], room: number, isQuestion = isUser): CompactionPlan {
	return planCompaction(input, { room, sizeOf, isQuestion });
}
const isLeftOut = (item: ResponseItem | undefined) => item?.output === LEFT_OUT_OUTPUT;

/** A conversation with a 1,000-token result in each turn and little else. */
function turns(count: number): ResponseItem[] {
	return Array.from({ length: count }, (_, index) => `c${index}`).flatMap((id) => [
		user(`question ${id}`),
		thought,
		called(id),
		result(id, long(1000)),
		said(`answer ${id}`)
	]);
}

describe('F7: a history that fits', () => {
	test('is left as it is, to the token', () => {
		const input = [...turns(3), user('go')];
		const { kept, ...rest } = plan(input, totalTokens(input, sizeOf));
		expect(kept).toEqual(input);
		expect(kept.every((item, index) => item === input[index])).toBe(true);
		expect(rest).toEqual({ covered: [], carried: [], removedResults: 0, summaryTokens: 0 });
		expect(plan(input, totalTokens(input, sizeOf) - 1).removedResults).toBeGreaterThan(0);
	});
});

describe('F7: the size of an item', () => {
	test('is measured once', () => {
		let measured = 0;
		const item = { type: 'message', toJSON: () => (measured += 1) };
		const sizes = createSizeOf();
		expect(sizes(item)).toBe(sizes(item));
		expect(measured).toBe(1);
	});

	test('is that of a skill’s instructions only where a call gave them, not where somebody quotes them', () => {
		expect(sizeOf(skill('s', 1)).isSkill).toBe(true);
		expect(sizeOf(user('<skill_content name="s">')).isSkill).toBe(false);
	});
});

describe('F7: old results', () => {
	test('are left out first, the oldest before all others, with a sentence that says so', () => {
		const input = [...turns(8), user('go')];
		const { kept, covered, removedResults } = plan(input, 7000);
		const outputs = kept.filter(({ type }) => type === 'function_call_output');
		expect(covered).toEqual([]);
		expect(outputs.map(isLeftOut)).toEqual([true, true, true, true, true, true, false, false]);
		expect(removedResults).toBe(6);
		expect(outputs[0]).toEqual(result('c0', LEFT_OUT_OUTPUT));
		expect(kept.map(({ type }) => type)).toEqual(input.map(({ type }) => type));
	});

	test('go until half of the room is free, so that the next steps find the beginning unchanged', () => {
		const first = plan([...turns(8), user('go')], 7000);
		const more = [...first.kept, ...turns(3).slice(1)];
		expect(plan(more, 7000)).toMatchObject({ removedResults: 0, kept: more });
	});

	test('stay when a quarter of the room would not be free without them: the beginning is covered at once, and not at the next step', () => {
		const talk = Array.from({ length: 5 }, (_, index) => [user(`${index}`), said(long(1000))]).flat();
		const { covered, kept, removedResults } = plan([...talk, ...turns(2), user('go')], 7000);
		expect(removedResults).toBe(0);
		expect(covered.length).toBeGreaterThan(0);
		expect(totalTokens(kept, sizeOf)).toBeLessThanOrEqual(5250);
		// With too little to summarize, only results can be dropped.
		const short = plan(
			[
				user('hi'),
				said(long(300)),
				user(long(5000)),
				called('a'),
				result('a', long(2000)),
				called('b'),
				result('b', 'b')
			],
			7000
		);
		expect(short).toMatchObject({ covered: [], removedResults: 1 });
	});

	test('stay when they are as short as the sentence', () => {
		const input = [called('a'), result('a', 'ok'), said(long(100)), called('b'), result('b', long(100)), said('so')];
		const { kept } = plan([user('go'), ...input], 200);
		expect(kept[2]).toBe(input[1]);
		expect(isLeftOut(kept[5])).toBe(true);
	});

	test('stay when they are of the newest step, all of them', () => {
		const newest = [called('x'), called('y'), result('x', long(900)), result('y', long(900))];
		const { kept, removedResults } = plan([user('go'), called('a'), result('a', long(900)), ...newest], 1000);
		expect(isLeftOut(kept[2])).toBe(true);
		expect(kept.slice(3)).toEqual(newest);
		expect(removedResults).toBe(1);
	});

	test('of a step that was not answered stay when the model is told to go on', () => {
		const goOn = user('go on');
		const input = [user('go'), called('a'), result('a', long(900)), called('b'), result('b', long(900)), goOn];
		const { kept } = plan(input, 1000, (item) => item === input[0]);
		expect([kept[2], kept[4]].map(isLeftOut)).toEqual([true, false]);
	});

	test('stay when they are the instructions of a skill', () => {
		const loaded = skill('s', 4000);
		const { kept } = plan([user('hi'), called('s'), loaded, ...turns(2), user('go')], 1500);
		expect(kept).toContain(loaded);
	});
});

describe('F7: the beginning of a history', () => {
	const talk = (count: number) =>
		Array.from({ length: count }, (_, index) => [user(`question ${index}`), said(long(1000))]).flat();

	test('is covered up to a question when there are no results to leave out', () => {
		const input = [...talk(8), user('go')];
		const { covered, kept, summaryTokens } = plan(input, 6000);
		expect([...covered, ...kept]).toEqual(input);
		expect(isUser(kept[0]!)).toBe(true);
		// Half the space is free again, and no more of the conversation was dropped than needed.
		expect(totalTokens(kept, sizeOf) + summaryTokens).toBeLessThanOrEqual(3000);
		expect(summaryTokens).toBe(750);
		expect(totalTokens(input.slice(covered.length - 2), sizeOf) + summaryTokens).toBeGreaterThan(3000);
	});

	test('is cut before no message that is not a question', () => {
		const input = [...talk(4), user('go'), called('a'), result('a', 'x'), user('go on')];
		const { kept } = plan(input, 1000, (item) => isUser(item) && item !== input.at(-1));
		expect(kept[0]).toEqual(user('go'));
	});

	test('is kept up to the newest question even when that is too long by itself', () => {
		const newest = user(long(5000));
		const { covered, kept } = plan([...talk(2), newest], 1000);
		expect(covered).toHaveLength(4);
		expect(kept).toEqual([newest]);
	});

	test('is given a summary as short as the newest question leaves room for', () => {
		const newest = user(long(7500));
		const { kept, summaryTokens } = plan([...talk(4), newest], 8000);
		expect(kept).toEqual([newest]);
		expect(totalTokens(kept, sizeOf) + summaryTokens).toBe(8000);
	});

	test('is not covered when that would save nothing', () => {
		const input = [user('hi'), said('hello'), user(long(5000))];
		expect(plan(input, 1000)).toMatchObject({ covered: [], kept: input, summaryTokens: 0 });
		// A skill's instructions are kept, so they save nothing either.
		const skilled = [user('hi'), called('s'), skill('s', 4000), user(long(5000))];
		expect(plan(skilled, 1000)).toMatchObject({ covered: [], kept: skilled, summaryTokens: 0 });
	});

	test('leaves the calls that loaded skills, without the id that binds them to their reasoning', () => {
		const loaded = [thought, called('s'), called('o'), skill('s', 100), result('o', 'other')];
		const { covered, carried } = plan([user('hi'), ...loaded, ...talk(8), user('go')], 3000);
		expect(covered).toEqual(expect.arrayContaining(loaded));
		const { id: _id, ...call } = called('s');
		expect(carried).toEqual([call, skill('s', 100)]);
	});

	test('takes no result with it of a later call that has the same id', () => {
		const again = [user('go'), called('a'), result('a', 'new')];
		const { covered, kept } = plan([user('hi'), called('a'), result('a', 'old'), said(long(2000)), ...again], 1000);
		expect(covered).toHaveLength(4);
		expect(kept).toEqual(again);
	});

	test('takes with it the result of its call, wherever that came', () => {
		const late = result('a', 'late');
		const { covered, kept } = plan([user('hi'), called('a'), said(long(2000)), user('go'), late], 1000);
		expect(covered).toHaveLength(3);
		expect(kept).toEqual([user('go')]);
	});
});

describe('F7: whatever the history', () => {
	const tokens = fc.integer({ min: 0, max: 1500 });
	const step = fc.record({
		think: fc.boolean(),
		say: fc.option(tokens),
		calls: fc.array(fc.record({ isSkill: fc.boolean(), size: tokens }), { maxLength: 3 })
	});
	const turn = fc.record({ question: tokens, steps: fc.array(step, { maxLength: 3 }) });
	const history = fc
		.record({
			turns: fc.array(turn, { minLength: 1, maxLength: 6 }),
			end: fc.constantFrom('question', 'step', 'go on')
		})
		.map(({ turns: list, end }) => {
			let count = 0;
			const items = list.flatMap(({ question, steps }) => [
				user(long(question)),
				...steps.flatMap(({ think, say, calls }) => {
					const made = calls.map((made) => ({ ...made, id: `c${(count += 1)}` }));
					return [
						...(think ? [{ ...thought }] : []),
						...(say === null ? [] : [said(long(say))]),
						...made.map(({ id }) => called(id)),
						...made.map(({ id, isSkill, size }) => (isSkill ? skill(id, size * 4) : result(id, long(size))))
					];
				})
			]);
			const goOn = user('go on');
			return { items: [...items, ...(end === 'step' ? [] : [end === 'question' ? user('newest') : goOn])], goOn };
		});

	test('calls keep their results, skills and the newest question stay, and it fits if anything could make it fit', () => {
		fc.assert(
			fc.property(history, fc.integer({ min: -100, max: 8000 }), ({ items, goOn }, room) => {
				const isQuestion = (item: ResponseItem) => isUser(item) && item !== goOn;
				const { covered, carried, kept, removedResults, summaryTokens } = plan(items, room, isQuestion);
				const sent = [...carried, ...kept];

				const ids = (type: string) => sent.filter((item) => item.type === type).map((item) => item.call_id);
				expect(ids('function_call').toSorted()).toEqual(ids('function_call_output').toSorted());
				for (const [index, item] of sent.entries()) {
					if (item.type !== 'function_call_output') continue;
					expect(
						sent.findIndex((other) => other.type === 'function_call' && other.call_id === item.call_id)
					).toBeLessThan(index);
				}
				expect(sent.filter((item) => sizeOf(item).isSkill)).toEqual(items.filter((item) => sizeOf(item).isSkill));
				const newest = items.findLastIndex(isQuestion);
				expect(kept).toContain(items[newest]);
				expect(items.slice(0, covered.length)).toEqual(covered);
				expect(kept.filter(isLeftOut)).toHaveLength(removedResults);

				const total = totalTokens(sent, sizeOf) + (covered.length > 0 ? summaryTokens : 0);
				expect(total).toBeLessThanOrEqual(Math.max(totalTokens(items, sizeOf), room) + (covered.length > 0 ? 200 : 0));
				if (total <= room) return;
				// It doesn't fit, so nothing that could be dropped may be left: neither results …
				const isModels = (item: ResponseItem) => item.type !== 'function_call_output' && item !== goOn;
				const old = kept.slice(0, kept.findLastIndex(isModels));
				const isLong = (item: ResponseItem) =>
					item.type === 'function_call_output' && !sizeOf(item).isSkill && sizeOf(item).tokens > 60;
				expect(old.filter((item) => isLong(item) && !isLeftOut(item))).toEqual([]);
				// … nor messages before the newest question, unless a summary would be just as long.
				const before = items.slice(covered.length, newest).filter((item) => !sizeOf(item).isSkill);
				expect(totalTokens(before, sizeOf)).toBeLessThanOrEqual(covered.length === 0 ? 200 : 0);
			}),
			{ numRuns: 300 }
		);
	});
});
