import { expect, test } from 'vitest';
import { emptyAnswer, type Message, type ToolPart } from '../../shared/message.ts';
import { type HistoryMessage, loadedSkills, seenDigests, toInput, unloadedStub, withoutSkills } from './history.ts';

const content = (skill: string) => `<skill_content name="${skill}" digest="d-${skill}">\nDo it.\n</skill_content>`;
const tool = (id: string, name: string, more: Partial<ToolPart> = {}): ToolPart => ({
	...{ type: 'tool', id, name, arguments: '{}', status: 'done' },
	...more
});
const load = (id: string, skill: string, { name = 'load_skill', result = content(skill) } = {}): ToolPart =>
	tool(id, name, { result, loaded: { skill, description: '', path: '', tokens: 3 } });
const callItem = (id: string, name = 'load_skill') => ({
	type: 'function_call',
	call_id: id,
	name,
	arguments: '{}',
	id: `fc_${id}`
});
const outputItem = (id: string, output: string) => ({ type: 'function_call_output', call_id: id, output });

function answer(
	parts: Message['parts'],
	{ items = null as unknown[] | null, createdAt = '2026-01-01T00:00:01.000Z' } = {}
): HistoryMessage {
	return {
		message: { ...emptyAnswer(`m-${createdAt}`, 'run', createdAt), status: 'complete', parts },
		items,
		model: 'test/model'
	};
}

/** `pdf` was unloaded at second 5. */
const unloaded = (skill: string, { createdAt }: Message) =>
	skill === 'pdf' && createdAt < '2026-01-01T00:00:05.000Z' ? unloadedStub(skill) : null;

test('F7: of what is unloaded a sentence is left in the stored items; calls, ids and all else stay as they are', () => {
	const items = [
		{ type: 'reasoning', id: 'r', encrypted_content: 'x' },
		callItem('a'),
		outputItem('a', content('pdf')),
		callItem('b'),
		outputItem('b', content('csv')),
		{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: content('pdf') }] }
	];
	const history = [answer([load('a', 'pdf'), load('b', 'csv')], { items })];
	const [changed] = withoutSkills(history, unloaded);
	expect(changed!.items).toEqual(items.with(2, outputItem('a', unloadedStub('pdf'))));
	expect(loadedSkills([changed!])).toEqual(['csv']);
	expect(seenDigests(toInput([changed!], 'test/model'))).toEqual(['d-csv']);
	expect(history[0]!.items).toEqual(items);
});

test('F7: the same is left where only the parts are there', () => {
	const [changed] = withoutSkills([answer([load('a', 'pdf'), load('b', 'csv')])], unloaded);
	expect(toInput([changed!], 'test/model')).toEqual([
		{ type: 'function_call', call_id: 'a', name: 'load_skill', arguments: '{}' },
		outputItem('a', unloadedStub('pdf')),
		{ type: 'function_call', call_id: 'b', name: 'load_skill', arguments: '{}' },
		outputItem('b', content('csv'))
	]);
});

test.each([
	['skill_load', 'See references/forms.md.\n\n---\nThis skill ships 2 scripts.'],
	['skills_tool', 'Skill: pdf\nContent:\nDo it.'],
	['skills_tool:load', 'Skill: pdf\nContent:\nDo it.'],
	['response', 'Skill: pdf\nContent:\nDo it.'],
	['edit_pdf', content('pdf')],
	['load_skill', 'The skill pdf is loaded already: its instructions are above, and have not changed.']
])('F7: what %s gave goes as well, whatever it looks like', (name, result) => {
	const items = [callItem('a', name), outputItem('a', result)];
	const [changed] = withoutSkills([answer([load('a', 'pdf', { name, result })], { items })], unloaded);
	expect(changed!.items).toEqual([items[0], outputItem('a', unloadedStub('pdf'))]);
});

test('F7: a skill that is loaded again later is loaded, and what a script of it said stays', () => {
	const used = tool('b', 'use_skill', { result: 'ok' });
	const history = [
		answer([load('a', 'pdf'), used], {
			items: [callItem('a'), outputItem('a', content('pdf')), callItem('b', 'use_skill'), outputItem('b', 'ok')]
		}),
		answer([load('c', 'pdf')], {
			items: [callItem('c'), outputItem('c', content('pdf'))],
			createdAt: '2026-01-01T00:00:09.000Z'
		})
	];
	const changed = withoutSkills(history, unloaded);
	expect(loadedSkills(changed)).toEqual(['pdf']);
	expect(changed[0]!.items?.at(-1)).toEqual(outputItem('b', 'ok'));
	expect(changed[1]).toBe(history[1]);
	expect(seenDigests(toInput(changed, 'test/model'))).toEqual(['d-pdf']);
});

test('F7: of calls with the same id only the one that loaded goes', () => {
	const items = [callItem('x', 'use_skill'), outputItem('x', 'ran'), callItem('x'), outputItem('x', content('pdf'))];
	const [changed] = withoutSkills(
		[answer([tool('x', 'use_skill', { result: 'ran' }), load('x', 'pdf')], { items })],
		unloaded
	);
	expect(changed!.items).toEqual(items.with(3, outputItem('x', unloadedStub('pdf'))));
});

test('F7: an answer whose parts are lost is read by its items; a load that was stopped has nothing to take away', () => {
	const items = [callItem('a'), outputItem('a', content('pdf')), callItem('b'), outputItem('b', content('csv'))];
	const [damaged] = withoutSkills([answer([], { items })], unloaded);
	expect(damaged!.items).toEqual(items.with(1, outputItem('a', unloadedStub('pdf'))));
	const stopped = load('a', 'pdf');
	delete stopped.result;
	const [changed] = withoutSkills([answer([stopped])], unloaded);
	expect(changed!.message.parts).toEqual([tool('a', 'load_skill')]);
});

test('F7: what a script printed of a skill’s instructions is no load of it, and items that are none stay', () => {
	const quoted = outputItem('a', `cat:\n${content('pdf')}`);
	const history = [
		answer([], { items: [null, 'x', 7, {}, callItem('a', 'use_skill'), quoted, outputItem('b', 'ran')] })
	];
	expect(withoutSkills(history, unloaded)[0]).toBe(history[0]);
});

test('F7: what has nothing to take away is the same object', () => {
	const history = [answer([load('b', 'csv')], { items: [callItem('b'), outputItem('b', content('csv'))] }), answer([])];
	for (const [index, entry] of withoutSkills(history, unloaded).entries()) expect(entry).toBe(history[index]);
});
