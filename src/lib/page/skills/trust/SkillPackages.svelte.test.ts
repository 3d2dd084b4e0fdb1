import { expect, test, vi } from 'vitest';
import { page } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { SAMPLE_SPACE, samplePackages } from '../../../../../tests/support/sample-skills.ts';
import { ApiError } from '../../request.ts';
import SkillPackages from './SkillPackages.svelte';

const LACKING = [{ name: 'python-docx', isDeclared: true, isFound: false }];
async function open(client = samplePackages(), lacking = LACKING) {
	const onchange = vi.fn();
	const screen = await render(SkillPackages, { client, skillId: 'installed/demo', lacking, onchange });
	return { client, onchange, screen };
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
	await expect.element(page.getByText('All skills’ packages: 42 MB of 2,048 MB used')).toBeVisible();
	await page.getByTestId('install-packages').click();
	await expect.element(page.getByTestId('packages-space')).not.toBeInTheDocument();
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
	expect(client.removePackages).toHaveBeenCalledExactlyOnceWith('installed/demo', 'pending');
	await expect.element(page.getByText('Stopped. Nothing was installed.')).toBeVisible();
});

test('D46: why it failed is said with what to do, and it can be tried again', async () => {
	const client = samplePackages();
	const problem = {
		type: 'IndexUnreachable',
		message: 'pypi.org can’t be reached.',
		hint: 'Check the connection.',
		from: ['requirements.txt']
	};
	client.getPackages.mockResolvedValue({ installed: null, proposed: null, work: null, problem });
	await open(client);
	await expect.element(page.getByTestId('packages-problem')).toMatchTextContent(/can’t be reached.*Check the conn/s);
	await expect
		.element(page.getByRole('link', { name: 'Edit requirements.txt' }))
		.toHaveAttribute('href', '/skills/edit/installed/demo?file=requirements.txt');
	await page.getByRole('button', { name: 'Try again' }).click();
	expect(client.lookUpPackages).toHaveBeenCalledOnce();
});

test('D46: packages that are gone from the disk are installed again as they were', async () => {
	const client = samplePackages();
	const installed = { digest: 'd9', packages: [], state: 'gone' as const, installedAt: '2026-11-27T10:00:00Z' };
	client.getPackages.mockResolvedValueOnce({
		installed,
		proposed: null,
		space: SAMPLE_SPACE,
		work: null,
		problem: null
	});
	await open(client, []);
	await expect.element(page.getByTestId('packages-space')).toMatchTextContent(/42 MB of 2,048 MB used/);
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

const READY = { state: 'ready' as const, installedAt: '2026-11-27T10:00:00Z' };
const IDLE = { installed: null, proposed: null, work: null, problem: null };

test('D46: a step without a count has no bar, but what is written so far', async () => {
	const client = samplePackages();
	const work = { kind: 'installing' as const, text: 'Unpacking Python packages', bytes: 43_000_000 };
	client.getPackages.mockResolvedValue({ ...IDLE, work });
	await open(client);
	await expect.element(page.getByText('Unpacking Python packages · 43 MB written')).toBeVisible();
	await expect.element(page.getByRole('progressbar')).not.toBeInTheDocument();
});

test('D46: a list that is open doesn’t hide what is installed; removing that takes the list along', async () => {
	const client = samplePackages();
	const installed = { digest: 'd9', packages: [], ...READY };
	const proposed = { digest: 'd1', packages: [] };
	client.getPackages.mockResolvedValueOnce({ ...IDLE, installed, proposed });
	await open(client, []);
	await expect.element(page.getByTestId('packages-proposed')).toBeVisible();
	await page.getByTestId('packages-installed').click();
	await page.getByRole('button', { name: 'Remove packages' }).click();
	await expect.element(page.getByTestId('packages-installed')).not.toBeInTheDocument();
	expect(client.removePackages).toHaveBeenCalledExactlyOnceWith('installed/demo', 'installed');
});

test('D46: a guess that no index has isn’t offered again, and is said', async () => {
	const client = samplePackages();
	const installed = { digest: 'd9', packages: [], notFound: ['pyside6'], ...READY };
	client.getPackages.mockResolvedValue({ ...IDLE, installed });
	await open(client, [{ name: 'pyside6', isDeclared: false, isFound: false }]);
	await page.getByTestId('packages-installed').click();
	await expect.element(page.getByText('Not in the index, so probably no packages: pyside6')).toBeVisible();
	await expect.element(page.getByTestId('look-up-packages')).not.toBeInTheDocument();
});

test('D46: what was changed in another tab is read again with the list of what is needed', async () => {
	const client = samplePackages();
	const installed = { digest: 'd9', packages: [], ...READY };
	client.getPackages.mockResolvedValueOnce({ ...IDLE, installed });
	const { screen, onchange } = await open(client, []);
	await expect.element(page.getByTestId('packages-installed')).toBeVisible();
	await screen.rerender({ lacking: LACKING, revision: 2 });
	await expect.element(page.getByTestId('look-up-packages')).toBeVisible();
	await expect.element(page.getByTestId('packages-installed')).not.toBeInTheDocument();
	expect(onchange).toHaveBeenCalledExactlyOnceWith(false);
});

test('D46: what a step lacked and is installed already is not asked for again', async () => {
	const client = samplePackages();
	const installed = { digest: 'd9', packages: [], ...READY };
	client.getPackages.mockResolvedValue({ ...IDLE, installed });
	client.lookUpPackages.mockResolvedValueOnce({
		...IDLE,
		installed,
		work: { kind: 'looking-up', text: 'Looking up' }
	} as never);
	const onchange = vi.fn();
	const also = [{ ecosystem: 'python' as const, name: 'lxml' }];
	await render(SkillPackages, { client, skillId: 'installed/demo', lacking: [], also, onchange });
	await vi.waitFor(() => expect(onchange).toHaveBeenCalledExactlyOnceWith(true));
	await expect.element(page.getByTestId('packages-proposed')).not.toBeInTheDocument();
});

test('D46: “Not now” and “Stop” in a tab that is behind leave what another tab has installed', async () => {
	const client = samplePackages();
	const installed = { digest: 'd1', packages: [], ...READY };
	client.getPackages.mockResolvedValueOnce({ ...IDLE, proposed: { digest: 'd1', packages: [] } });
	client.removePackages.mockResolvedValue({ ...IDLE, installed });
	await open(client, []);
	await page.getByRole('button', { name: 'Not now' }).click();
	await expect.element(page.getByTestId('packages-installed')).toBeVisible();
	expect(client.removePackages).toHaveBeenCalledExactlyOnceWith('installed/demo', 'pending');
});
