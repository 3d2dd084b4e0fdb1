import { beforeEach, describe, expect, test, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { createFakeAccount, modelOf } from '../../../../tests/support/fake-account.ts';
import type { ModelInfo } from '../../shared/models.ts';
import { Account } from './account.svelte.ts';
import ModelList from './ModelList.svelte';

beforeEach(() => localStorage.clear());

const SEES = { takes: ['image'], gives: [], takesTools: true, price: { input: 3, output: 15, cached: 0.3 } };

async function open(data: ModelInfo[]) {
	const client = createFakeAccount();
	client.listModels.mockResolvedValue({ data, baseUrl: 'https://openrouter.ai/api/v1', problem: null });
	const account = new Account(client, () => undefined);
	await account.models.load();
	account.open();
	const onpick = vi.fn();
	const screen = await render(ModelList, { account, selected: null, onpick });
	const ids = () =>
		screen
			.getByTestId('model-option')
			.elements()
			.map((option) => option.getAttribute('data-id'));
	return { screen, account, onpick, ids };
}

describe('F11: the list of models', () => {
	test('of a server that only tells ids has neither filters nor invented facts', async () => {
		const { screen, ids } = await open([modelOf('qwen3:8b'), modelOf('gemma')]);
		expect(ids()).toEqual(['', 'qwen3:8b', 'gemma']);
		expect(screen.getByTestId('model-need').elements()).toEqual([]);
		expect(screen.getByTestId('model-price').elements()).toEqual([]);
		await screen.getByTestId('model-info').first().click();
		await expect.element(screen.getByTestId('model-facts')).toMatchTextContent(/only tells the ID/);
	});

	test('has the default model once, by its name, and lists it where one searches', async () => {
		const { screen, ids, onpick } = await open([modelOf('a'), modelOf('openrouter/auto', { name: 'Auto Router' })]);
		await expect.poll(ids).toEqual(['', 'a']);
		const first = screen.getByTestId('model-option').first();
		await expect.element(first).toMatchTextContent(/Auto Router\s*Default/);
		await expect.element(first).toHaveAttribute('aria-current', 'true');
		await screen.getByTestId('model-search').fill('router');
		await expect.poll(ids).toEqual(['openrouter/auto', 'router']);
		await screen.getByTestId('model-search').fill('');
		await first.click();
		expect(onpick).toHaveBeenCalledWith(null);
	});

	test('is narrowed by what a model can do and costs', async () => {
		const { screen, ids } = await open([
			modelOf('sees', SEES),
			modelOf('cheap', { takes: [], price: { input: 0.1, output: 0.2 } }),
			modelOf('free', { ...SEES, price: { input: 0, output: 0 } })
		]);
		const pictures = screen.getByRole('button', { name: 'Pictures' });
		await pictures.click();
		await expect.element(pictures).toHaveAttribute('aria-pressed', 'true');
		expect(ids()).toEqual(['sees', 'free']);
		await screen.getByTestId('model-price').selectOptions('Free');
		expect(ids()).toEqual(['free']);
		await pictures.click();
		await screen.getByTestId('model-price').selectOptions('Up to $0.5 in');
		expect(ids()).toEqual(['cheap', 'free']);
	});

	test('begins with favorites, then those chosen last, as this browser keeps them', async () => {
		localStorage.setItem('favorite-models', '["b", 7, "gone"]');
		localStorage.setItem('recent-models', 'not JSON');
		const { account, ids, screen, onpick } = await open(['a', 'b', 'c'].map((id) => modelOf(id)));
		expect(ids()).toEqual(['', 'b', 'a', 'c']);
		await screen.getByRole('option', { name: 'c' }).click();
		expect(onpick).toHaveBeenLastCalledWith('c');
		await vi.waitFor(() => expect(ids()).toEqual(['', 'b', 'c', 'a']));
		expect(new Account(createFakeAccount(), () => undefined).recent).toEqual(['c']);
		for (let number = 0; number < 9; number++) account.use(`m${number}`);
		expect(account.recent).toHaveLength(5);
	});

	test('shows by the keyboard what is known of a model, beside another one', async () => {
		const here = { answers: 12, firstTokenMs: 1200, tokensPerSecond: 84.6 };
		const { screen, account, onpick } = await open([
			modelOf('a', { ...SEES, here }),
			modelOf('b', { takesTools: false })
		]);
		await expect.element(screen.getByRole('option', { name: /^a / })).toMatchTextContent(/85 tokens\/s here/);
		await expect.element(screen.getByRole('option', { name: /^b No tool/ })).not.toMatchTextContent(/here/);
		await userEvent.keyboard('{ArrowDown}');
		await expect.element(screen.getByTestId('model-details')).toHaveTextContent('Details of a');
		await userEvent.tab();
		await expect.element(screen.getByTestId('model-details')).toHaveFocus();
		await userEvent.keyboard('{Enter}');
		const facts = screen.getByTestId('model-facts');
		await expect.element(facts).toMatchTextContent(/Input, per 1M *\$3.*Cached input *\$0.3.*text, pictures/);
		await expect.element(screen.getByRole('button', { name: 'All models' })).toHaveFocus();
		await screen.getByTestId('favorite').click();
		expect(account.favorites).toEqual(['a']);
		await screen.getByTestId('compare-with').selectOptions('b');
		await expect.element(facts).toMatchTextContent(/Tools *Yes *Through text/);
		await expect
			.element(facts)
			.toMatchTextContent(/First word here *1.2 s *Unknown *Speed here *85 tokens\/s *Unknown/);
		await expect.element(facts).toMatchTextContent(/Input, per 1M *\$3 *Unknown/);
		await screen.getByRole('button', { name: 'Use b' }).click();
		expect(onpick).toHaveBeenLastCalledWith('b');
		await screen.getByRole('button', { name: 'All models' }).click();
		await expect.element(screen.getByTestId('model-search')).toHaveFocus();
	});
});
