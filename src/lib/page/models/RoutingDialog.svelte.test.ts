import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { createFakeAccount, modelOf } from '../../../../tests/support/fake-account.ts';
import type { ModelRouting } from '../../shared/models.ts';
import { Account } from './account.svelte.ts';
import RoutingDialog from './RoutingDialog.svelte';

async function open({ routing = null, usual = null }: Partial<Record<'routing' | 'usual', ModelRouting | null>> = {}) {
	const client = createFakeAccount();
	client.listModels.mockResolvedValue({ data: [modelOf('a/one')], baseUrl: null, problem: null });
	const [onsave, onclose] = [vi.fn(async () => true), vi.fn()];
	const account = new Account(client, () => undefined);
	const screen = await render(RoutingDialog, { account, routing, usual, onsave, onclose });
	return { screen, onsave, onclose, save: () => screen.getByTestId('save-routing').click() };
}

describe('F11: fallbacks and providers', () => {
	test('are saved as they were typed; what is the default is left out', async () => {
		const { screen, save, onsave, onclose } = await open();
		await screen.getByRole('combobox', { name: 'First fallback' }).fill(' b/two ');
		await screen.getByTestId('provider-sort').selectOptions('Cheapest first');
		await screen.getByTestId('provider-only').fill('DeepInfra,  fireworks deepinfra');
		await save();
		const chosen = { fallbacks: ['b/two'], sort: 'price', only: ['deepinfra', 'fireworks'] };
		expect(onsave).toHaveBeenCalledExactlyOnceWith(chosen);
		expect(onclose).toHaveBeenCalledOnce();
	});

	test('of a chat begin with those of the settings, and only what differs is the chat’s own', async () => {
		const usual: ModelRouting = { fallbacks: ['b/two'], zdr: true, sort: 'price' };
		const { screen, save, onsave } = await open({ usual });
		await expect.element(screen.getByTestId('fallback').first()).toHaveValue('b/two');
		await expect.element(screen.getByTestId('zdr')).toBeChecked();
		await save();
		expect(onsave).toHaveBeenLastCalledWith(null);
		await screen.getByTestId('provider-sort').selectOptions('OpenRouter decides');
		await screen.getByTestId('fallback').first().fill('');
		await save();
		expect(onsave).toHaveBeenLastCalledWith({ fallbacks: [], sort: null });
	});

	test('that no request could name are not saved, and a failure is said', async () => {
		const { screen, save, onsave, onclose } = await open({ usual: {}, routing: { zdr: true } });
		await screen.getByTestId('provider-ignore').fill('../etc');
		await save();
		await expect.element(screen.getByTestId('routing-problem')).toHaveTextContent('“../etc” isn’t a valid name.');
		expect(onsave).not.toHaveBeenCalled();
		onsave.mockResolvedValueOnce(false);
		await screen.getByRole('button', { name: 'Use settings' }).click();
		await expect.element(screen.getByTestId('routing-problem')).toHaveTextContent('Couldn’t save. Try again.');
		expect(onclose).not.toHaveBeenCalled();
		await screen.getByRole('button', { name: 'Use settings' }).click();
		expect(onsave).toHaveBeenLastCalledWith(null);
	});
});
