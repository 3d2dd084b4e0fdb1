import { describe, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { groupParts, type GroupBlock } from './step-groups.ts';
import type { Execution, Part, ToolPart } from '../../shared/message.ts';
import StepGroup from './StepGroup.svelte';
import { eventually } from '../../../../tests/support/eventually.ts';

const execution: Execution = {
	...{ skill: 'sums', script: 'add.py', args: [], sandbox: 'process', output: [], files: [] },
	...{ exitCode: 0, durationMs: 1000 }
};
const step = (id: string, change: Partial<ToolPart> = {}): ToolPart => ({
	type: 'tool',
	id,
	name: 'use_skill',
	arguments: '{"skill":"sums","script":"add.py"}',
	status: 'done',
	execution,
	...change
});
const answer: Part = { type: 'text', id: 't', text: 'Three.' };

function groupOf(parts: Part[]): GroupBlock {
	const found = groupParts(parts).find((block) => block.type === 'group');
	if (!found) throw new Error('there is no group');
	return found;
}
const props = (parts: Part[], isRunning = false) => ({ group: groupOf(parts), conversationId: 'c', isRunning });

describe('F14: steps that are followed by the answer', () => {
	test('are one line, which opens and closes', async () => {
		const screen = await render(StepGroup, props([step('a'), step('b'), answer]));
		const fold = screen.getByRole('button', { name: 'Used 1 skill · 2 steps · 2.0 s' });
		await expect.element(fold).toHaveAttribute('aria-expanded', 'false');
		expect(screen.getByTestId('step').elements()).toHaveLength(0);
		await fold.click();
		await expect.element(fold).toHaveAttribute('aria-expanded', 'true');
		expect(screen.getByTestId('step').elements()).toHaveLength(2);
		await fold.click();
		expect(screen.getByTestId('step').elements()).toHaveLength(0);
	});

	test('fold with its first words, so that these stay where they are, and stay as the reader leaves them', async () => {
		const screen = await render(StepGroup, props([step('a'), step('b')], true));
		await expect.element(screen.getByTestId('step-fold')).not.toBeInTheDocument();
		await screen.rerender(props([step('a'), step('b'), answer], true));
		expect(screen.getByTestId('step').elements()).toHaveLength(0);
		expect(screen.getByTestId('step-fold').elements()).toHaveLength(1);
		await screen.getByTestId('step-fold').click();
		await screen.rerender(props([step('a'), step('b'), { ...answer, text: 'Three. More.' } as Part], false));
		await expect.element(screen.getByTestId('step-fold')).toHaveAttribute('aria-expanded', 'true');
	});

	test('say which skills were used, and which were only read', async () => {
		const read = (skill: string) =>
			step(skill, {
				name: 'load_skill',
				execution: undefined,
				loaded: { skill, description: '', path: '', tokens: 1 }
			});
		const screen = await render(StepGroup, props([read('sums'), read('texts'), step('a'), answer]));
		await expect
			.element(screen.getByTestId('step-fold'))
			.toHaveTextContent('Used 1 skill · read 1 more · 3 steps · 1.0 s');
		await screen.rerender(props([read('sums'), read('texts'), answer]));
		await expect.element(screen.getByTestId('step-fold')).toHaveTextContent('Read 2 skills · 2 steps');
	});

	test('do not hide one that failed, and count it', async () => {
		const failed = step('b', { status: 'failed', execution: { ...execution, exitCode: 1 } });
		const screen = await render(StepGroup, props([step('a'), failed, step('c'), answer]));
		await expect
			.element(screen.getByRole('button', { name: 'Used 1 skill · 3 steps · 1 failed · 3.0 s' }))
			.toBeVisible();
		const shown = screen.getByTestId('step').elements();
		expect(shown.map((element) => element.getAttribute('data-status'))).toEqual(['failed']);
	});

	test('leave their files to the answer, which shows each once; until then they have no pictures', async () => {
		const made = (bytes: number) => ({ execution: { ...execution, files: [{ path: 'out.png', bytes }] } });
		const steps = [step('a', made(5)), step('b', made(900))];
		const screen = await render(StepGroup, props(steps, true));
		expect(screen.getByTestId('file-card').elements()).toHaveLength(2);
		expect(screen.getByRole('img').elements()).toHaveLength(0);
		await screen.rerender(props([...steps, answer], true));
		expect(screen.getByTestId('file-card').elements()).toHaveLength(0);
		expect(groupParts([...steps, answer])[1]).toMatchObject({ files: [{ path: 'out.png', bytes: 900 }] });
	});
});

test('a single step is a row, and a second does not make it another', async () => {
	const screen = await render(StepGroup, props([step('a'), answer]));
	await expect.element(screen.getByTestId('step-fold')).not.toBeInTheDocument();
	await screen.getByTestId('step-toggle').click();
	const row = screen.getByTestId('step').element();
	await screen.rerender(props([step('a'), step('b')]));
	expect(screen.getByTestId('step').first().element()).toBe(row);
	await expect.element(screen.getByTestId('step-body')).toBeVisible();
});

test('F14: of a thousand steps the first and the last are rows, and all of them when asked', async () => {
	const parts = Array.from({ length: 1000 }, (_, index) => step(`s${index}`));
	const screen = await render(StepGroup, props(parts, true));
	expect(screen.getByTestId('step').elements()).toHaveLength(40);
	expect(screen.getByTestId('step-body').elements()).toHaveLength(0);
	await screen.getByRole('button', { name: 'Show 960 more steps' }).click();
	await eventually(() => expect(screen.getByTestId('step').elements()).toHaveLength(1000));
});
