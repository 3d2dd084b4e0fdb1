import { expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import type { MissingNeed as Missing, SkillNeeds } from '../../shared/skills.ts';
import { sampleDetail, sampleExecution, samplePackages } from '../../../../tests/support/sample-skills.ts';
import { ApiError } from '../request.ts';
import { lacksOf } from '../executions/executions.svelte.ts';
import MissingNeed from './MissingNeed.svelte';

const NEEDS: SkillNeeds = { binaries: [], packages: [], hosts: [], variables: [], skills: [] };

async function open(missing: Missing, sandbox = 'bubblewrap') {
	const onfixed = vi.fn();
	const client = {
		getExecution: vi.fn(async () => sampleExecution({ skillId: 'installed/demo' })),
		getSkill: vi.fn(async () => sampleDetail({ network: { declared: [], granted: ['a.example'] } })),
		changeSkill: vi.fn(async (_id: string, _patch: unknown) => sampleDetail()),
		saveSecrets: vi.fn(async (_id: string, _secrets: Record<string, string | null>) => NEEDS),
		...samplePackages()
	};
	const screen = await render(MissingNeed, { missing, executionId: 'e1', sandbox, onfixed, client });
	return { screen, client, onfixed };
}

test('D13: a host that was refused is allowed beside those that are, for the skill that ran, and then it runs again', async () => {
	const { screen, client, onfixed } = await open({ kind: 'host', name: 'api.open-meteo.com' });
	await screen.getByRole('button', { name: 'Allow api.open-meteo.com' }).click();
	await vi.waitFor(() => expect(onfixed).toHaveBeenCalledOnce());
	expect(client.getExecution).toHaveBeenCalledWith('e1');
	expect(client.changeSkill).toHaveBeenCalledWith('installed/demo', { network: ['a.example', 'api.open-meteo.com'] });
});

test('D13: a host that was allowed since isn’t offered once more', async () => {
	const { screen, client, onfixed } = await open({ kind: 'host', name: 'a.example' });
	await expect.element(screen.getByTestId('fixed')).toHaveTextContent('Allowed.');
	await expect.element(screen.getByTestId('fix-missing')).not.toBeInTheDocument();
	expect(client.changeSkill).not.toHaveBeenCalled();
	expect(onfixed).not.toHaveBeenCalled();
});

test('D13: a refusal is shown, and nothing runs', async () => {
	const { screen, client, onfixed } = await open({ kind: 'host', name: 'a.io' });
	client.changeSkill.mockRejectedValueOnce(new ApiError('forbidden', 'Only the operator may do this.'));
	await screen.getByRole('button', { name: 'Allow a.io' }).click();
	await expect.element(screen.getByTestId('fix-missing-error')).toMatchTextContent(/Only the operator/);
	expect(onfixed).not.toHaveBeenCalled();
});

test('D13: a variable that is missing is set here, and then it runs again', async () => {
	const { screen, client, onfixed } = await open({ kind: 'variable', name: 'DISCORD_TOKEN' });
	await screen.getByRole('button', { name: 'Set DISCORD_TOKEN' }).click();
	await screen.getByLabelText('DISCORD_TOKEN', { exact: true }).fill('hush-hush');
	await screen.getByRole('button', { name: 'Save and run again' }).click();
	await vi.waitFor(() => expect(onfixed).toHaveBeenCalledOnce());
	expect(client.saveSecrets).toHaveBeenCalledWith('installed/demo', { DISCORD_TOKEN: 'hush-hush' });
	await expect.element(screen.getByTestId('secret-value')).not.toBeInTheDocument();
	await expect.element(screen.getByTestId('fixed')).toHaveTextContent('Saved.');
	await expect.element(screen.getByTestId('fixed')).toHaveFocus();
});

test('D13: what to install for a program is said for those that are well known; for others nothing is guessed', async () => {
	const known = await open({ kind: 'command', name: 'pdftoppm' });
	await expect.element(known.screen.getByText('sudo apt install poppler-utils')).toBeVisible();
	await known.screen.unmount();
	const other = await open({ kind: 'command', name: 'evil-tool' });
	await expect
		.element(other.screen.getByTestId('fix-missing'))
		.toHaveTextContent('Install evil-tool on the server, then run this again.');
	await other.screen.unmount();
	const inside = await open({ kind: 'command', name: 'pdftoppm' }, 'container');
	await expect
		.element(inside.screen.getByTestId('fix-missing'))
		.toHaveTextContent('Add pdftoppm to the container’s image, then run this again.');
});

test('D13, D46: a package that is missing is shown with what comes along, installed after one consent, and then it runs again', async () => {
	const { screen, client, onfixed } = await open({
		kind: 'package',
		ecosystem: 'python',
		name: 'python-docx',
		module: 'docx'
	});
	await screen.getByRole('button', { name: 'Install python-docx' }).click();
	await vi.waitFor(() =>
		expect(client.lookUpPackages).toHaveBeenCalledWith('installed/demo', {
			also: [{ ecosystem: 'python', name: 'python-docx' }]
		})
	);
	await expect.element(screen.getByText('Install 2 packages, over 1.2 kB?')).toBeVisible();
	expect(client.installPackages).not.toHaveBeenCalled();
	await screen.getByRole('button', { name: 'Install 2 packages' }).click();
	await vi.waitFor(() => expect(onfixed).toHaveBeenCalledOnce());
	expect(client.installPackages).toHaveBeenCalledWith('installed/demo', 'd1');
	await expect.element(screen.getByTestId('skill-packages')).not.toBeInTheDocument();
	await expect.element(screen.getByTestId('fixed')).toHaveTextContent('Installed.');
	await expect.element(screen.getByTestId('fixed')).toHaveFocus();
	await expect.element(screen.getByTestId('fix-missing')).not.toBeInTheDocument();
	await screen.rerender({ again: sampleExecution({ status: 'success' }) });
	await expect.element(screen.getByTestId('fixed')).toHaveTextContent('Installed. Ran again: succeeded.');
});

test('D13: what a rerun still lacks is offered again; what only the rerun lacks is another need', async () => {
	const missing: Missing = { kind: 'host', name: 'a.io' };
	const { screen } = await open(missing);
	await screen.rerender({ again: sampleExecution({ status: 'error', missing }) });
	await expect.element(screen.getByRole('button', { name: 'Allow a.io' })).toBeVisible();
	const other = sampleExecution({ status: 'error', missing: { kind: 'variable', name: 'A_KEY' } });
	await screen.rerender({ again: other });
	await expect.element(screen.getByTestId('fixed')).toHaveTextContent('Allowed.');
	expect(lacksOf(missing, other).map(({ name }) => name)).toEqual(['a.io', 'A_KEY']);
	expect(lacksOf(missing, sampleExecution({ missing }))).toEqual([missing]);
	expect(lacksOf(undefined, null)).toEqual([]);
});
