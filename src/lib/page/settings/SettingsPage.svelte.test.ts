import { describe, expect, test, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { createFakeAccount, modelOf, modelSettingsOf, settingsOf } from '../../../../tests/support/fake-account.ts';
import { ThemeChoice } from '../app/theme.svelte.ts';
import { Account } from '../models/account.svelte.ts';
import { ApiError } from '../request.ts';
import type { Settings } from '../../shared/settings.ts';
import { SETTINGS_SECTIONS } from './settings-form.svelte.ts';
import SettingsPage from './SettingsPage.svelte';

async function setup(
	settings: Settings = settingsOf(),
	prepare?: (client: ReturnType<typeof createFakeAccount>) => void
) {
	const client = createFakeAccount(settings);
	prepare?.(client);
	let changes = 0;
	const account = new Account(client, () => changes++);
	const onshortcuts = vi.fn();
	const screen = await render(SettingsPage, { account, theme: new ThemeChoice(), login: false, onshortcuts });
	await expect.element(screen.getByTestId('connect')).toBeEnabled();
	const connect = async (): Promise<void> => {
		await screen.getByTestId('connect').click();
		await expect.element(screen.getByTestId('connect-model')).toBeVisible();
	};
	return { screen, client, account, connect, onshortcuts, changes: () => changes };
}

const NO_FACTS = { label: null, limit: null, remaining: null, used: null, credits: null, models: null };

describe('E11: the master switch', () => {
	test('is saved at once; a change that is refused is taken back and says why', async () => {
		const { screen, client } = await setup();
		const toggle = screen.getByTestId('skillsEnabled');
		await toggle.click();
		expect(client.changeSettings).toHaveBeenCalledExactlyOnceWith({ skillsEnabled: false });
		await expect.element(screen.getByTestId('settings-status')).toHaveTextContent('Saved');
		await expect.element(toggle).not.toBeChecked();
		client.changeSettings.mockRejectedValueOnce(new ApiError('unavailable', 'The database is busy.'));
		await toggle.click();
		await expect.element(screen.getByTestId('settings-error')).toMatchTextContent(/The database is busy/);
		await expect.element(toggle).not.toBeChecked();
	});

	test('that the environment keeps off cannot be moved, and says who can', async () => {
		const { screen } = await setup(settingsOf({ skillsEnabled: false, canEnableSkills: false }));
		await expect.element(screen.getByTestId('skillsEnabled')).toBeDisabled();
		await expect.element(screen.getByTestId('skillsEnabled-about')).toMatchTextContent(/SKILLS_ENABLED=false/);
	});
});

test('F12: the palette finds every setting by its name', async () => {
	const { screen } = await setup();
	for (const { id, rows } of SETTINGS_SECTIONS) {
		const labels = screen.container.querySelectorAll(`#${id} label[for$=-field]:not(.sr-only)`);
		expect([...labels].map(({ textContent }) => textContent)).toEqual(rows);
	}
});

test('custom instructions are saved when the field is left; too long ones are not, and it says how many there are', async () => {
	const { screen, client } = await setup(settingsOf({ instructions: 'Be brief.' }));
	const field = screen.getByTestId('custom-instructions');
	await expect.element(field).toHaveValue('Be brief.');
	await field.fill('x'.repeat(8001));
	await userEvent.tab();
	await expect.element(screen.getByTestId('settings-error')).toMatchTextContent(/at most 8,000 .* 8,001/);
	expect(client.changeSettings).not.toHaveBeenCalled();
	await field.fill('Be kind.');
	await userEvent.tab();
	expect(client.changeSettings).toHaveBeenCalledExactlyOnceWith({ instructions: 'Be kind.' });
	await expect.element(screen.getByTestId('settings-error')).not.toBeInTheDocument();
});

test('automatic titles are on, and are turned off at once; a change that is refused is taken back', async () => {
	const { screen, client } = await setup();
	const toggle = screen.getByTestId('autoTitles');
	await expect.element(toggle).toBeChecked();
	client.changeSettings.mockRejectedValueOnce(new ApiError('unavailable', 'The database is busy.'));
	await toggle.click();
	await expect.element(screen.getByTestId('settings-error')).toMatchTextContent(/The database is busy/);
	await expect.element(toggle).toBeChecked();
	await toggle.click();
	expect(client.changeSettings).toHaveBeenLastCalledWith({ autoTitles: false });
	await expect.element(toggle).not.toBeChecked();
});

test('web tools of new chats are switches', async () => {
	const { screen, client } = await setup(settingsOf({ web: ['search'] }));
	await expect.element(screen.getByRole('checkbox', { name: 'Web search' })).toBeChecked();
	await screen.getByRole('checkbox', { name: 'Date and time' }).click();
	expect(client.changeSettings).toHaveBeenLastCalledWith({ web: ['search', 'date'] });
});

describe('E1: the catalogs', () => {
	test('the active one is chosen; one that is refused is not shown as chosen', async () => {
		const { screen, client } = await setup();
		const provider = screen.getByTestId('skills-provider');
		await provider.selectOptions('github');
		expect(client.changeSettings).toHaveBeenLastCalledWith({ skillsProvider: 'github' });
		client.changeSettings.mockRejectedValueOnce(new ApiError('unavailable', 'Not now.'));
		await provider.selectOptions('skillsmp');
		await expect.element(screen.getByTestId('settings-error')).toMatchTextContent(/Not now/);
		await expect.element(provider).toHaveValue('github');
	});

	test('the key goes in and never comes out; it stays typed when it is refused, and can be removed', async () => {
		const { screen, client } = await setup();
		const field = screen.getByTestId('skillsmp-key');
		await field.fill('short');
		await expect.element(screen.getByTestId('save-key')).toBeDisabled();
		await field.fill('sk_live_skillsmp_1');
		client.changeSettings.mockRejectedValueOnce(new ApiError('invalid_input', 'Too odd.'));
		await screen.getByTestId('save-key').click();
		await expect.element(field).toHaveValue('sk_live_skillsmp_1');
		await screen.getByTestId('save-key').click();
		await expect.element(screen.getByTestId('key-about')).toMatchTextContent(/^Saved/);
		await expect.element(field).toHaveValue('');
		expect(document.body.innerHTML).not.toContain('sk_live_skillsmp_1');
		await screen.getByTestId('remove-key').click();
		expect(client.changeSettings).toHaveBeenLastCalledWith({ skillsmpApiKey: null });
		await expect
			.element(screen.getByTestId('key-about'))
			.toMatchTextContent(/^Optional\. SkillsMP .+ is a public catalog/);
	});
});

test('B8: limits are whole numbers in range, and stay typed while something else is saved', async () => {
	const { screen, client } = await setup();
	const most = screen.getByTestId('auto-max');
	await most.fill('51');
	await expect.element(screen.getByRole('alert')).toHaveTextContent('Enter a whole number from 0 to 50.');
	await screen.getByTestId('skills-provider').selectOptions('github');
	await expect.element(screen.getByTestId('settings-status')).toHaveTextContent('Saved');
	await expect.element(most).toHaveValue('51');
	expect(client.changeSettings).toHaveBeenCalledExactlyOnceWith({ skillsProvider: 'github' });
	await most.fill('7');
	await userEvent.keyboard('{Enter}');
	await expect.poll(() => client.changeSettings.mock.lastCall).toEqual([{ autoMaxSkills: 7 }]);
	await screen.getByTestId('max-cost').fill('0,5');
	await userEvent.keyboard('{Enter}');
	await expect.poll(() => client.changeSettings.mock.lastCall).toEqual([{ maxCostUsd: 0.5 }]);
	await screen.getByTestId('auto-min').fill('1,000');
	await userEvent.keyboard('{Enter}');
	await expect.poll(() => client.changeSettings.mock.lastCall).toEqual([{ autoMinScore: 1000 }]);
});

describe('UI 10: each setting by itself', () => {
	test('is saved when it is changed, and one that is left as it was is not', async () => {
		const { screen, client } = await setup();
		await screen.getByTestId('auto-max').click();
		await screen.getByTestId('auto-min').fill('8');
		await screen.getByTestId('auto-max').click();
		await expect.poll(() => client.changeSettings.mock.calls).toEqual([[{ autoMinScore: 8 }]]);
	});

	test('can be reset where it differs from the default, and nowhere else', async () => {
		const { screen, client } = await setup(settingsOf({ model: modelSettingsOf({ id: 'acme/large' }) }));
		await expect.element(screen.getByTestId('reset-model')).toBeVisible();
		expect(screen.getByRole('button', { name: /^Reset/ }).elements()).toHaveLength(1);
		await screen.getByTestId('reset-model').click();
		expect(client.changeSettings).toHaveBeenLastCalledWith({ model: null });
	});

	test('two that are changed at once are both saved, and the refusal of one stays beside it', async () => {
		const { screen, client } = await setup();
		client.changeSettings.mockRejectedValueOnce(new ApiError('invalid_input', 'Too odd.'));
		await screen.getByTestId('auto-max').fill('7');
		// Leaving the field saves it.
		await screen.getByTestId('skillsEnabled').click();
		await expect
			.poll(() => client.changeSettings.mock.calls)
			.toEqual([[{ autoMaxSkills: 7 }], [{ skillsEnabled: false }]]);
		await expect.element(screen.getByTestId('settings-error')).toMatchTextContent(/Too odd/);
		await expect.element(screen.getByTestId('auto-max')).toHaveValue('7');
	});

	test('the shortcuts are in their own dialog', async () => {
		const { screen, onshortcuts } = await setup();
		await screen.getByTestId('show-shortcuts').click();
		expect(onshortcuts).toHaveBeenCalledOnce();
	});
});

describe('F11: the server of the model', () => {
	test('is any address, tested before it is saved; it answers with its first model', async () => {
		const model = modelSettingsOf({ keyFrom: 'settings' });
		const { screen, client, connect, account } = await setup(settingsOf({ model }));
		const moved = modelSettingsOf({ baseUrl: 'http://127.0.0.1:11434/v1', canSignIn: false });
		client.changeSettings.mockResolvedValue(settingsOf({ model: moved }));
		client.listModels.mockResolvedValue({
			...{ data: [modelOf('qwen3'), modelOf('llama4')], baseUrl: moved.baseUrl, problem: null }
		});
		await connect();
		await screen.getByRole('tab', { name: 'My own server' }).click();
		const field = screen.getByTestId('base-url');
		await field.fill('ftp://example.org');
		await expect.element(screen.getByTestId('panel-own').getByTestId('connect-now')).toBeDisabled();
		await expect.element(field).toHaveAttribute('aria-invalid', 'true');
		await field.fill('http://user:pass@127.0.0.1/v1');
		await expect.element(screen.getByTestId('panel-own').getByTestId('connect-now')).toBeDisabled();
		// Without a scheme, as people type it.
		await field.fill('127.0.0.1:11434/v1/');
		await expect.element(screen.getByTestId('base-url-warning')).toBeVisible();
		client.checkKey.mockResolvedValue({ ...NO_FACTS, isValid: true, message: 'It works: 2 models.' });
		await screen.getByTestId('panel-own').getByTestId('connect-now').click();
		await expect.element(screen.getByTestId('key-status')).toMatchTextContent(/It works/);
		expect(client.checkKey).toHaveBeenCalledExactlyOnceWith({ baseUrl: 'http://127.0.0.1:11434/v1' });
		expect(client.changeSettings.mock.calls).toEqual([
			[{ modelBaseUrl: 'http://127.0.0.1:11434/v1', model: null }],
			[{ model: 'qwen3' }]
		]);
		expect(account.works).toBe(true);
	});

	test('that does not answer is saved only when somebody insists, and then is not called connected', async () => {
		const { screen, client, connect, account } = await setup();
		await connect();
		await screen.getByRole('tab', { name: 'My own server' }).click();
		await screen.getByTestId('base-url').fill('http://127.0.0.1:9/v1');
		const moved = modelSettingsOf({ baseUrl: 'http://127.0.0.1:9/v1', canSignIn: false });
		client.changeSettings.mockResolvedValue(settingsOf({ model: moved }));
		client.checkKey.mockResolvedValue({ ...NO_FACTS, isValid: false, message: 'Couldn’t connect to 127.0.0.1:9.' });
		await screen.getByTestId('panel-own').getByTestId('connect-now').click();
		await expect.element(screen.getByTestId('key-status')).toMatchTextContent(/Couldn’t connect/);
		expect(client.changeSettings).not.toHaveBeenCalled();
		await screen.getByTestId('save-anyway').click();
		await expect.element(screen.getByTestId('connect-model')).not.toBeInTheDocument();
		expect(client.changeSettings).toHaveBeenCalledExactlyOnceWith({
			modelBaseUrl: 'http://127.0.0.1:9/v1',
			model: null
		});
		expect(account.works).toBe(false);
		await expect.element(screen.getByTestId('connection')).toHaveTextContent('Last test of 127.0.0.1:9 failed');
	});

	test('goes back to the operator’s, after a question, with the model that only it had', async () => {
		const model = modelSettingsOf({ baseUrl: 'http://127.0.0.1:1234/v1' });
		const { screen, client } = await setup(settingsOf({ model }));
		await screen.getByRole('button', { name: 'Disconnect' }).click();
		expect(client.changeSettings).not.toHaveBeenCalled();
		await screen.getByTestId('confirm-delete').click();
		expect(client.changeSettings).toHaveBeenLastCalledWith({ modelBaseUrl: null, model: null });
	});

	test('on this machine is offered with its models, and answers when it is chosen', async () => {
		const { connect, screen, client, changes } = await setup(settingsOf(), (fake) =>
			fake.findLocalServers.mockResolvedValue([
				{ name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', models: ['qwen3', 'llama4'] }
			])
		);
		await connect();
		await screen.getByRole('tab', { name: 'My own server' }).click();
		await screen.getByTestId('local-server').click();
		expect(client.changeSettings).toHaveBeenLastCalledWith({
			modelBaseUrl: 'http://127.0.0.1:11434/v1',
			model: 'qwen3'
		});
		await expect.poll(changes).toBe(1);
	});
});

describe('UI 2: the key', () => {
	const KEY = 'sk-or-v1-0123456789abcdef';
	const STATUS = {
		...{ isValid: true, message: 'The key works.', label: 'laptop', limit: 20, remaining: 12.5, used: 7.5 },
		...{ credits: { total: 50, used: 10 }, models: 340 }
	};

	test('is tested before it is stored, and tells what is left', async () => {
		const { connect, screen, client } = await setup();
		await connect();
		client.checkKey.mockResolvedValue(STATUS);
		client.changeSettings.mockResolvedValue(settingsOf({ model: modelSettingsOf({ keyFrom: 'settings' }) }));
		await expect.element(screen.getByTestId('connect-now')).toBeDisabled();
		await screen.getByTestId('model-key').fill(KEY);
		await screen.getByTestId('connect-now').click();
		await expect.element(screen.getByTestId('key-facts')).toMatchTextContent(/laptop.*\$40\.00 left/);
		expect(client.checkKey).toHaveBeenCalledExactlyOnceWith({ apiKey: KEY, baseUrl: 'https://openrouter.ai/api/v1' });
		expect(client.changeSettings).toHaveBeenCalledExactlyOnceWith({ modelApiKey: KEY });
		await expect.element(screen.getByTestId('connection')).toHaveTextContent('Connected to openrouter.ai');
		expect(document.body.innerHTML).not.toContain(KEY);
		await screen.getByTestId('connected').click();
		await expect.element(screen.getByTestId('connect-model')).not.toBeInTheDocument();
	});

	test('F9: a page opened later says by the list of models whether the server answers', async () => {
		const settings = settingsOf({ model: modelSettingsOf({ keyFrom: 'settings' }) });
		const { screen } = await setup(settings);
		await expect.element(screen.getByTestId('connection')).toHaveTextContent('Connected to openrouter.ai');
		await screen.unmount();
		const problem = 'openrouter.ai can’t be reached.';
		const later = await setup(settings, (client) =>
			client.listModels.mockResolvedValue({ data: [], baseUrl: settings.model.baseUrl, problem })
		);
		await expect.element(later.screen.getByTestId('connection')).toHaveTextContent(problem);
	});

	test('that is saved is tested again without being typed', async () => {
		const { connect, screen, client } = await setup(settingsOf({ model: modelSettingsOf({ keyFrom: 'settings' }) }));
		await connect();
		client.checkKey.mockRejectedValueOnce(new ApiError('unreachable', 'openrouter.ai can’t be reached.'));
		await screen.getByTestId('connect-now').click();
		await expect.element(screen.getByTestId('key-error')).toMatchTextContent(/can’t be reached/);
		await expect.element(screen.getByTestId('connection')).toHaveTextContent('Last test of openrouter.ai failed');
		expect(screen.getByTestId('save-anyway').elements()).toHaveLength(0);
		client.checkKey.mockResolvedValue(STATUS);
		await screen.getByTestId('connect-now').click();
		await expect.element(screen.getByTestId('connection')).toHaveTextContent('Connected to openrouter.ai');
		expect(client.changeSettings).not.toHaveBeenCalled();
	});

	test('that does not work says so and stays typed', async () => {
		const { connect, screen, client } = await setup();
		await connect();
		client.checkKey.mockResolvedValue({ ...NO_FACTS, isValid: false, message: 'OpenRouter does not know this key.' });
		await screen.getByTestId('model-key').fill(KEY);
		await screen.getByTestId('connect-now').click();
		await expect.element(screen.getByTestId('key-status')).toMatchTextContent(/does not know this key/);
		await expect.element(screen.getByTestId('model-key')).toHaveValue(KEY);
		expect(client.changeSettings).not.toHaveBeenCalled();
	});

	test('with characters that no header carries is refused here', async () => {
		const { connect, screen } = await setup();
		await connect();
		await screen.getByTestId('model-key').fill('sk or ümlaut');
		await expect.element(screen.getByTestId('connect-now')).toBeDisabled();
	});

	test('is removed', async () => {
		const { connect, screen, client } = await setup(settingsOf({ model: modelSettingsOf({ keyFrom: 'settings' }) }));
		await connect();
		await screen.getByTestId('remove-model-key').click();
		expect(client.changeSettings).toHaveBeenLastCalledWith({ modelApiKey: null });
	});

	test('is not needed where one can sign in: a failure of that is said', async () => {
		const { connect, screen, client } = await setup();
		await connect();
		client.startSignIn.mockRejectedValue(new ApiError('unreachable', 'OpenRouter cannot be reached.'));
		await screen.getByTestId('sign-in').click();
		await expect.element(screen.getByTestId('key-error')).toMatchTextContent(/cannot be reached/);
		expect(client.startSignIn).toHaveBeenCalledExactlyOnceWith(`${location.origin}/account/callback`);
	});
});

describe('F11: the model of new conversations', () => {
	test('is found by a part of its name, with the keyboard alone', async () => {
		const { screen, client } = await setup(settingsOf(), (fake) =>
			fake.listModels.mockResolvedValue({
				data: [modelOf('a/one'), modelOf('b/two', { name: 'Two', contextTokens: 128_000, takesTools: false })],
				...{ baseUrl: 'https://openrouter.ai/api/v1', problem: null }
			})
		);
		await screen.getByTestId('choose-model').click();
		const search = screen.getByTestId('model-search');
		await search.fill('two');
		await expect
			.element(screen.getByTestId('model-option').first())
			.toMatchTextContent(/128k context.*uses skills through text/);
		await userEvent.keyboard('{Enter}');
		expect(client.changeSettings).toHaveBeenLastCalledWith({ model: 'b/two' });
	});

	test('can be one that the server does not name', async () => {
		const { screen, client } = await setup();
		await screen.getByTestId('choose-model').click();
		await screen.getByTestId('model-search').fill('my/own:free');
		await screen.getByTestId('model-option').click();
		expect(client.changeSettings).toHaveBeenLastCalledWith({ model: 'my/own:free' });
	});

	test('of hundreds shows the first, and says that there are more', async () => {
		const { screen } = await setup(settingsOf(), (fake) =>
			fake.listModels.mockResolvedValue({
				data: Array.from({ length: 400 }, (_, index) => modelOf(`maker/model-${index}`)),
				...{ baseUrl: 'https://openrouter.ai/api/v1', problem: null }
			})
		);
		await screen.getByTestId('choose-model').click();
		await expect.poll(() => screen.getByTestId('model-option').elements().length).toBe(60);
		await expect.element(screen.getByText('340 more. Type to search.')).toBeVisible();
	});

	test('thinks as long as it is told', async () => {
		const { screen, client } = await setup();
		await screen.getByTestId('effort').selectOptions('high');
		expect(client.changeSettings).toHaveBeenLastCalledWith({ effort: 'high' });
	});
});

test('B16: the limits of a reply are checked here, and each is saved in the unit of the server', async () => {
	const { screen, client } = await setup();
	await screen.getByTestId('max-steps').fill('0');
	await userEvent.keyboard('{Enter}');
	await expect.element(screen.getByRole('alert')).toHaveTextContent('Enter a whole number from 1 to 100.');
	await screen.getByTestId('max-steps').fill('25');
	await screen.getByTestId('max-cost').fill('0.5');
	await screen.getByTestId('max-minutes').fill('10');
	await screen.getByTestId('script-seconds').fill('45');
	await userEvent.keyboard('{Enter}');
	await expect
		.poll(() => client.changeSettings.mock.calls)
		.toEqual([[{ maxSteps: 25 }], [{ maxCostUsd: 0.5 }], [{ maxDurationMs: 600_000 }], [{ scriptTimeoutMs: 45_000 }]]);
});

test('B16: limits that somebody types stay while another setting is saved', async () => {
	const { screen } = await setup();
	await screen.getByTestId('max-steps').fill('700');
	await screen.getByTestId('skills-provider').selectOptions('github');
	await expect.element(screen.getByTestId('settings-status')).toHaveTextContent('Saved');
	await expect.element(screen.getByTestId('max-steps')).toHaveValue('700');
});
