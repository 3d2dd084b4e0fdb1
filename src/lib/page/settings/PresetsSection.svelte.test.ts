import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { createFakeAccount, modelSettingsOf, settingsOf } from '../../../../tests/support/fake-account.ts';
import type { ModelRouting } from '../../shared/models.ts';
import { Account } from '../models/account.svelte.ts';
import PresetsSection from './PresetsSection.svelte';

const PRESET = {
	name: 'Shared',
	icon: null,
	model: null,
	effort: null,
	instructions: 'Do this.',
	routing: null,
	approval: null
};

async function setup(routing: ModelRouting = {}) {
	const client = createFakeAccount(settingsOf({ model: modelSettingsOf({ routing }) }));
	const account = new Account(client, () => undefined);
	await account.settings.load();
	const screen = await render(PresetsSection, { account, skills: ['demo'] });
	const pick = async (text: string): Promise<void> => {
		await screen.getByTestId('preset-file').upload(new File([text], 'a.json', { type: 'application/json' }));
	};
	return { screen, client, pick };
}

test('a preset is made in the form and saved under an id that programs can name', async () => {
	const { screen, client } = await setup();
	await screen.getByTestId('preset-add').click();
	await screen.getByTestId('preset-save').click();
	await expect.element(screen.getByTestId('preset-problem')).toMatchTextContent(/^name /);
	await screen.getByTestId('preset-name').fill('Code Review!');
	await screen.getByRole('checkbox', { name: 'demo' }).click();
	await screen.getByRole('checkbox', { name: 'Web search' }).click();
	await screen.getByTestId('preset-asks').click();
	await screen.getByTestId('preset-save').click();
	const chosen = { skills: ['demo'], web: ['search'], approval: 'ask' };
	const saved = { ...PRESET, name: 'Code Review!', instructions: '', ...chosen };
	expect(client.changeSettings).toHaveBeenCalledExactlyOnceWith({ presets: { 'code-review': saved } });
	await expect.element(screen.getByTestId('presets')).toMatchTextContent(/preset:code-review/);
});

test('a preset has fallbacks and providers of its own, and takes back nothing that the settings ask of all', async () => {
	const { screen, client } = await setup({ zdr: true });
	await screen.getByTestId('preset-add').click();
	await screen.getByTestId('preset-name').fill('Fast');
	await expect.element(screen.getByTestId('preset-routing-line')).toHaveTextContent('As in the settings');
	await screen.getByTestId('preset-routing').click();
	await expect.element(screen.getByTestId('zdr')).toBeChecked();
	await expect.element(screen.getByTestId('zdr')).toBeDisabled();
	await screen.getByTestId('fallback').first().fill('b/two');
	await screen.getByTestId('provider-sort').selectOptions('Fastest first');
	await screen.getByTestId('save-routing').click();
	await expect.element(screen.getByTestId('preset-routing-line')).toHaveTextContent('Fallback b/two · Fastest first');
	await screen.getByTestId('preset-save').click();
	const routing = { fallbacks: ['b/two'], sort: 'throughput' };
	expect(client.changeSettings).toHaveBeenCalledExactlyOnceWith({
		presets: { fast: { ...PRESET, name: 'Fast', instructions: '', skills: [], web: null, routing } }
	});
});

test('a file fills the form, names skills that are missing, and saves nothing', async () => {
	const { screen, client, pick } = await setup();
	const preset = { ...PRESET, skills: ['demo', 'not-here'] };
	await pick(JSON.stringify({ format: 'openrouter-skills/preset', version: 1, preset }));
	await expect.element(screen.getByTestId('preset-from-file')).toBeVisible();
	await expect.element(screen.getByTestId('preset-form')).toMatchTextContent(/not-here \(not installed\)/);
	await expect.element(screen.getByTestId('preset-instructions')).toHaveValue('Do this.');
	expect(client.changeSettings).not.toHaveBeenCalled();
});

test.each([
	[
		'less safety',
		JSON.stringify({
			format: 'openrouter-skills/preset',
			version: 1,
			preset: { ...PRESET, skills: [], approval: 'auto' }
		})
	],
	[
		'another version',
		JSON.stringify({ format: 'openrouter-skills/preset', version: 2, preset: { ...PRESET, skills: [] } })
	],
	['wrong types', JSON.stringify({ format: 'openrouter-skills/preset', version: 1, preset: [] })],
	['100 KB', 'x'.repeat(100_000)],
	['no JSON', '{']
])('a file with %s is refused in a sentence', async (_what, text) => {
	const { screen, pick } = await setup();
	await pick(text);
	await expect.element(screen.getByTestId('preset-file-problem')).toMatchTextContent(/preset/);
	await expect.element(screen.getByTestId('preset-form')).not.toBeInTheDocument();
});
