import { describe, expect, test } from 'vitest';
import type { Part, ToolPart, ToolStatus } from '../../shared/message.ts';
import { groupParts, staysInSight, summarise } from './step-groups.ts';

let count = 0;
const step = (change: Partial<ToolPart> = {}): ToolPart => ({
	...{ type: 'tool', id: `c${count++}`, name: 'use_skill', arguments: '{}', status: 'done' },
	...change
});
const text = (value = 'Here it is.'): Part => ({ type: 'text', id: `t${count++}`, text: value });
const thought = (): Part => ({ type: 'reasoning', id: `r${count++}`, text: 'Hm.', done: true });

/** `S` is a step, `T` a text, `R` a thought; brackets are a group, with `!` if it may fold. */
function shape(parts: Part[]): string {
	const letter = (part: Part): string => ({ tool: 'S', text: 'T', reasoning: 'R', compaction: 'C' })[part.type];
	return groupParts(parts)
		.map((block) =>
			block.type === 'part'
				? letter(block.part)
				: `[${block.items.map(({ part }) => letter(part)).join('')}]${block.isOver ? '!' : ''}`
		)
		.join('');
}

describe('the parts of an answer', () => {
	test.each([
		[[], ''],
		[[text()], 'T'],
		[[step()], '[S]'],
		[[step(), text()], '[S]T'],
		[[step(), step()], '[SS]'],
		[[step(), step(), text()], '[SS]!T'],
		[[step(), step(), text(' \n')], '[SS]T'],
		[[step(), step(), text('')], '[SS]'],
		[[thought(), step(), thought(), step(), thought(), text()], 'R[SRS]!RT'],
		[[text(), step(), step(), text(), step(), step(), step()], 'T[SS]!T[SSS]'],
		[[step(), thought(), text(), step()], '[S]RT[S]']
	] satisfies [Part[], string][])('%# are grouped as steps and what is between', (parts, wanted) => {
		expect(shape(parts)).toBe(wanted);
	});

	test('keep their places: each part is there once, in order, under its own index', () => {
		const parts = [thought(), step(), thought(), step(), text(), step(), thought()];
		const flat = groupParts(parts).flatMap((block) => (block.type === 'part' ? [block] : block.items));
		expect(flat.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6]);
		expect(flat.every(({ index, part }) => parts[index] === part)).toBe(true);
	});

	test('that come later do not move the groups before them', () => {
		const parts = [step(), step(), text(), step(), thought(), step(), text()];
		for (let end = 1; end < parts.length; end++) {
			const groups = groupParts(parts.slice(0, end)).flatMap((block) => (block.type === 'group' ? block.index : []));
			const later = groupParts(parts).flatMap((block) => (block.type === 'group' ? block.index : []));
			expect(later.slice(0, groups.length)).toEqual(groups);
		}
	});
});

test.each([
	['waiting', true],
	['failed', true],
	['interrupted', true],
	['done', false],
	['cancelled', false],
	['running', false]
] satisfies [ToolStatus, boolean][])('a step that is %s stays in sight: %s', (status, stays) => {
	expect(staysInSight(step({ status }))).toBe(stays);
});

test('a denied step has not failed', () => {
	const approval = { interruptId: 'i', skill: 's', script: 'x', args: [], reason: '', digest: '' };
	const denied = step({ status: 'failed', approval: { ...approval, decision: { choice: 'deny' } } });
	expect(staysInSight(denied)).toBe(false);
	expect(summarise([denied, step({ status: 'failed' })]).failed).toBe(1);
});

test('F14: the line tells skills that ran once, those that were only read apart, all steps, and the time of what was run', () => {
	const execution = { skill: 'a', script: 'x', args: [], sandbox: 'process', output: [], files: [] };
	const loaded = { skill: 'a', description: '', path: '', tokens: 1 };
	expect(summarise([step({ loaded }), step({ execution: { ...execution, durationMs: 1200 } })])).toEqual({
		...{ used: 1, read: 0, steps: 2, failed: 0, durationMs: 1200 }
	});
	const others = ['b', 'c'].map((skill) => step({ loaded: { ...loaded, skill } }));
	expect(summarise([...others, step({ execution })])).toMatchObject({ used: 1, read: 2 });
	expect(summarise(others)).toMatchObject({ used: 0, read: 2 });
	expect(summarise([step()])).toMatchObject({ used: 0, read: 0, durationMs: null });
	// A command in an editor's terminal is no skill.
	expect(summarise([step({ execution: { ...execution, skill: 'editor_run' } })])).toMatchObject({
		used: 0,
		steps: 1
	});
});
