import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { createFakeAccount, settingsOf } from '../../../../tests/support/fake-account.ts';
import { Account } from '../models/account.svelte.ts';
import PresetsSection from './PresetsSection.svelte';

const PRESET = { name: 'Shared', icon: null, model: null, effort: null, instructions: 'Do this.', approval: null };

async function setup() {
	const client = createFakeAccount(settingsOf());
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
