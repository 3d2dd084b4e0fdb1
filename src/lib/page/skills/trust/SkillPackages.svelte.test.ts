import { expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { samplePackages } from '../../../../../tests/support/sample-skills.ts';
import { ApiError } from '../../request.ts';
import SkillPackages from './SkillPackages.svelte';

async function open(client = samplePackages(), isMissing = true) {
	const onchange = vi.fn();
	await render(SkillPackages, { client, skillId: 'installed/demo', isMissing, onchange });
	return { client, onchange };
}

test('D46: one consent shows names, versions, sources and the size; then they are installed, and can be removed', async () => {
	const { client, onchange } = await open();
	await page.getByRole('button', { name: 'Install packages…' }).click();
	await expect.element(page.getByText('Install 2 packages, over 1.2 kB?')).toBeVisible();
	const rows = page.getByTestId('package').elements();
	expect(rows.map((row) => [...row.children].map((cell) => cell.textContent.trim()))).toEqual([
		['lxml', '5.3.0', 'pypi.org', '1.2 kB'],
		['python-docx', '1.1.2', 'a folder on the server', '']
	]);
	await page.getByTestId('install-packages').click();
	await expect.element(page.getByTestId('packages-installed')).toMatchTextContent(/2 packages installed/);
	expect(client.installPackages).toHaveBeenCalledExactlyOnceWith('installed/demo', 'd1');
	expect(onchange).toHaveBeenLastCalledWith(true);
	await page.getByTestId('packages-installed').click();
	await page.getByRole('button', { name: 'Remove packages' }).click();
	await vi.waitFor(() => expect(onchange).toHaveBeenLastCalledWith(false));
});

test('D46: while it goes on, it says what it does and can be stopped', async () => {
	const client = samplePackages();
	const work = { kind: 'installing' as const, text: 'Downloading lxml', done: 1, of: 4 };
	client.getPackages.mockResolvedValue({ installed: null, proposed: null, work, problem: null });
	await open(client);
	await expect.element(page.getByText('Downloading lxml · 2 of 4')).toBeVisible();
	await expect.element(page.getByRole('progressbar')).toHaveAttribute('value', '1');
	await page.getByRole('button', { name: 'Stop' }).click();
	expect(client.removePackages).toHaveBeenCalledExactlyOnceWith('installed/demo');
});

test('D46: why it failed is said with what to do, and it can be tried again', async () => {
	const client = samplePackages();
	const problem = { type: 'IndexUnreachable', message: 'pypi.org can’t be reached.', hint: 'Check the connection.' };
	client.getPackages.mockResolvedValue({ installed: null, proposed: null, work: null, problem });
	await open(client);
	await expect.element(page.getByTestId('packages-problem')).toMatchTextContent(/can’t be reached.*Check the conn/s);
	await page.getByRole('button', { name: 'Try again' }).click();
	expect(client.lookUpPackages).toHaveBeenCalledOnce();
});

test('D46: packages that are gone from the disk are installed again as they were', async () => {
	const client = samplePackages();
	const installed = { digest: 'd9', packages: [], state: 'gone' as const, installedAt: '2026-11-27T10:00:00Z' };
	client.getPackages.mockResolvedValueOnce({ installed, proposed: null, work: null, problem: null });
	await open(client, false);
	await page.getByRole('button', { name: /again$/ }).click();
	expect(client.installPackages).toHaveBeenCalledExactlyOnceWith('installed/demo', 'd9');
});

test('D46: a request that fails is told, and what goes on is asked for again', async () => {
	const client = samplePackages();
	client.getPackages.mockRejectedValueOnce(new ApiError('unavailable', 'You’re offline.'));
	await open(client);
	await expect.element(page.getByTestId('packages-error')).toMatchTextContent(/offline/);
	await page.getByRole('button', { name: 'Try again' }).click();
	await expect.element(page.getByTestId('look-up-packages')).toBeVisible();
});
