import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page, userEvent } from 'vitest/browser';
import '../../../app.css';
import type { MessageActions } from './message-groups.ts';
import { emptyAnswer, type Message } from '../../shared/message.ts';
import UsageFooter from './UsageFooter.svelte';

const usage = {
	model: 'a/one',
	inputTokens: 1234,
	outputTokens: 56,
	cachedTokens: 1000,
	reasoningTokens: 20,
	cost: 0.0042
};
const message: Message = {
	...emptyAnswer('a', 'run 1', '2026-01-01T00:00:00Z'),
	parts: [{ type: 'text', id: 't', text: '# As it was **written**' }],
	status: 'complete',
	usage
};
const actions = () => {
	const all = { retryWith: vi.fn(), retry: vi.fn(), fork: vi.fn(), remove: vi.fn(), isLocked: false, isEditing: false };
	return all as typeof all & MessageActions;
};
const models = Array.from({ length: 20 }, (_, index) => ({ id: `a/m${index}`, name: `Model ${index}` }));
models.push({ id: 'a/one', name: 'The one' });

describe('F14: the footer of an answer', () => {
	test('tells what it has used, in a line', async () => {
		const screen = await render(UsageFooter, { conversationId: 'c1', message, actions: actions() });
		await expect
			.element(screen.getByTestId('usage'))
			.toHaveTextContent('a/one · 1,234 in · 56 out · 1,000 cached · 20 reasoning · $0.0042');
	});

	test('and more when asked, with the time that the run took', async () => {
		const run = { startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:00:12.400Z' };
		const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json(run));
		const screen = await render(UsageFooter, { conversationId: 'c1', message, actions: actions() });
		await screen.getByTestId('answer-menu').click();
		await page.getByTestId('figures-toggle').click();
		await expect
			.element(screen.getByTestId('answer-figures'))
			.toMatchTextContent(/Cost \$0\.0042\s*Total time 12\.4 s/);
		expect(fetched).toHaveBeenCalledExactlyOnceWith('/api/runs/run%201', expect.anything());
		fetched.mockRestore();
	});

	test('F16: says that it was marked as not good, and what for if it used a skill', async () => {
		const loaded = { skill: 'demo', description: '', path: '', tokens: 1 };
		const step = { type: 'tool', id: 'l', name: 'load_skill', arguments: '{}', status: 'done', loaded } as const;
		const screen = await render(UsageFooter, { conversationId: 'c1', message, actions: actions() });
		await expect.element(screen.getByTestId('disliked')).not.toBeInTheDocument();
		const ran = { skill: 'eval_code', version: '', script: '', argv: [], output: [], files: [] } as never;
		const builtin = {
			type: 'tool',
			id: 'b',
			name: 'eval_code',
			arguments: '{}',
			status: 'done',
			execution: ran
		} as const;
		await screen.rerender({ message: { ...message, isDisliked: true, parts: [builtin, ...message.parts] } });
		await expect.element(screen.getByTestId('disliked')).toHaveTextContent('Marked as not a good answer.');
		await screen.rerender({ message: { ...message, isDisliked: true, parts: [step, ...message.parts] } });
		await expect
			.element(screen.getByTestId('disliked'))
			.toHaveTextContent('Marked as not a good answer. When you improve a skill that it used, the model reads it.');
	});

	test('asks another model, found by a part of its name, by keyboard', async () => {
		const all = actions();
		const screen = await render(UsageFooter, { conversationId: 'c1', message, actions: all, models });
		(screen.getByTestId('retry-with').element() as HTMLElement).focus();
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByRole('combobox', { name: 'Search models' })).toHaveFocus();
		await expect.element(screen.getByText('The one')).not.toBeInTheDocument();
		await userEvent.keyboard('model 17');
		expect(screen.getByTestId('retry-model').elements()).toHaveLength(1);
		await userEvent.keyboard('{ArrowDown}{Enter}');
		expect(all.retryWith).toHaveBeenCalledExactlyOnceWith('a/m17');
		await expect.element(screen.getByTestId('retry-model')).not.toBeInTheDocument();
	});

	test('what is written before the list of models is there is in its field; a press beside it takes the focus', async () => {
		const screen = await render(UsageFooter, { conversationId: 'c1', message, actions: actions(), models });
		const button = screen.getByTestId('retry-with').element() as HTMLElement;
		button.click();
		for (const key of ['m', '1', '7'])
			button.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
		await expect.element(screen.getByTestId('retry-search')).toHaveValue('m17');
		expect(screen.getByTestId('retry-model').elements()).toHaveLength(1);
		const field = document.body.appendChild(document.createElement('textarea'));
		field.style.cssText = 'position: fixed; right: 0; bottom: 0';
		await userEvent.click(field);
		await expect.element(screen.getByTestId('retry-search')).not.toBeInTheDocument();
		expect(document.activeElement).toBe(field);
		field.remove();
	});

	test('reads the models when they are asked for', async () => {
		const all = { ...actions(), loadModels: vi.fn() };
		const screen = await render(UsageFooter, { conversationId: 'c1', message, actions: all });
		await screen.getByTestId('retry-with').click();
		expect(all.loadModels).toHaveBeenCalledOnce();
		await expect.element(screen.getByText('Loading models…')).toBeVisible();
		await screen.rerender({ models: models.slice(0, 2) });
		await screen.getByRole('option', { name: 'Model 1 a/m1' }).click();
		expect(all.retryWith).toHaveBeenCalledExactlyOnceWith('a/m1');
	});

	test('offers no other model where none is known', async () => {
		const screen = await render(UsageFooter, { conversationId: 'c1', message, actions: actions() });
		await expect.element(screen.getByTestId('retry-with')).not.toBeInTheDocument();
	});

	test('F2: tells why these skills, when somebody asks', async () => {
		const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(() => new Promise(() => undefined));
		const screen = await render(UsageFooter, { conversationId: 'c1', message, actions: actions() });
		await expect.element(screen.getByTestId('why')).not.toBeInTheDocument();
		await screen.getByTestId('answer-menu').click();
		await page.getByRole('menuitem', { name: 'Why these skills?' }).click();
		await expect.element(screen.getByTestId('why')).toBeInTheDocument();
		await screen.getByTestId('answer-menu').click();
		await page.getByRole('menuitem', { name: 'Hide skill details' }).click();
		await expect.element(screen.getByTestId('why')).not.toBeInTheDocument();
		fetched.mockRestore();
	});

	test('copies the text as it was written', async () => {
		const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
		const screen = await render(UsageFooter, { conversationId: 'c1', message, actions: actions() });
		await screen.getByRole('button', { name: 'Copy answer' }).click();
		expect(copied).toHaveBeenCalledExactlyOnceWith('# As it was **written**');
		copied.mockRestore();
	});
});
