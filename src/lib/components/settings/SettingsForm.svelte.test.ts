import { describe, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { createFakeRegistry } from '../../../../tests/support/fake-registry.ts';
import { ApiError } from '../../chat/api-error.ts';
import type { Settings } from '../../shared/settings.ts';
import SettingsForm from './SettingsForm.svelte';

const settingsOf = (more: Partial<Settings> = {}): Settings => ({
	...{ skillsEnabled: true, canEnableSkills: true, skillsProvider: 'skillssh', hasSkillsmpApiKey: false },
	...{ autoMaxSkills: 5, autoMinScore: 3 },
	...more
});

async function setup(settings: Settings = settingsOf()) {
	const client = createFakeRegistry();
	client.getSettings.mockResolvedValue(settings);
	client.changeSettings.mockImplementation(async ({ skillsmpApiKey, ...patch }) => ({
		...settings,
		...(patch as Partial<Settings>),
		hasSkillsmpApiKey: skillsmpApiKey !== undefined ? skillsmpApiKey !== null : settings.hasSkillsmpApiKey
	}));
	const screen = await render(SettingsForm, { client });
	return { screen, client };
}

describe('E11: the master switch', () => {
	test('is saved at once; a change that is refused is taken back and says why', async () => {
		const { screen, client } = await setup();
		const toggle = screen.getByTestId('skills-enabled');
		await toggle.click();
		expect(client.changeSettings).toHaveBeenCalledExactlyOnceWith({ skillsEnabled: false });
		await expect.element(screen.getByTestId('settings-status')).toHaveTextContent('Saved.');
		await expect.element(toggle).not.toBeChecked();
		client.changeSettings.mockRejectedValueOnce(new ApiError('unavailable', 'The database is busy.'));
		await toggle.click();
		await expect.element(screen.getByTestId('settings-error')).toMatchTextContent(/The database is busy/);
		await expect.element(toggle).not.toBeChecked();
	});

	test('that the environment keeps off cannot be moved, and says who can', async () => {
		const { screen } = await setup(settingsOf({ skillsEnabled: false, canEnableSkills: false }));
		await expect.element(screen.getByTestId('skills-enabled')).toBeDisabled();
		await expect.element(screen.getByTestId('switch-about')).toMatchTextContent(/SKILLS_ENABLED=false/);
	});
});

describe('E1: the catalogs', () => {
	test('the active one is chosen; one that is refused is not shown as chosen', async () => {
		const { screen, client } = await setup();
		await screen.getByTestId('provider-github').click();
		expect(client.changeSettings).toHaveBeenLastCalledWith({ skillsProvider: 'github' });
		client.changeSettings.mockRejectedValueOnce(new ApiError('unavailable', 'Not now.'));
		await screen.getByTestId('provider-skillsmp').click();
		await expect.element(screen.getByTestId('settings-error')).toBeVisible();
		await expect.element(screen.getByTestId('provider-skillsmp')).not.toBeChecked();
		await expect.element(screen.getByTestId('provider-github')).toBeChecked();
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
		await expect.element(screen.getByTestId('key-about')).toMatchTextContent(/A key is stored/);
		await expect.element(field).toHaveValue('');
		expect(document.body.innerHTML).not.toContain('sk_live_skillsmp_1');
		await screen.getByTestId('remove-key').click();
		expect(client.changeSettings).toHaveBeenLastCalledWith({ skillsmpApiKey: null });
		await expect.element(screen.getByTestId('key-about')).toMatchTextContent(/Without a key/);
	});
});

test('B8: limits are whole numbers in range, and stay typed while something else is saved', async () => {
	const { screen, client } = await setup();
	await screen.getByTestId('auto-max').fill('51');
	await expect
		.element(screen.getByRole('alert'))
		.toHaveTextContent('The most skills must be a whole number from 0 to 50.');
	await expect.element(screen.getByTestId('save-limits')).toBeDisabled();
	await screen.getByTestId('auto-max').fill('7');
	await screen.getByTestId('provider-github').click();
	await expect.element(screen.getByTestId('settings-status')).toHaveTextContent('Saved.');
	await expect.element(screen.getByTestId('auto-max')).toHaveValue('7');
	await screen.getByTestId('save-limits').click();
	expect(client.changeSettings).toHaveBeenLastCalledWith({ autoMaxSkills: 7, autoMinScore: 3 });
});
