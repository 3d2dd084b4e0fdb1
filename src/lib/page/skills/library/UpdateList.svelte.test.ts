import { expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { createFakeRegistry } from '../../../../../tests/support/fake-registry.ts';
import { sampleStaged } from '../../../../../tests/support/sample-skills.ts';
import { ApiError } from '../../request.ts';
import type { OutdatedSkill } from '../../../shared/install.ts';
import UpdateList from './UpdateList.svelte';

const skill = (name: string, state: OutdatedSkill['state'], message = ''): OutdatedSkill => ({
	...{ skillId: `installed/${name}`, name, version: '1.0.0', state, message }
});

test('E28: what is outdated comes first, and is fetched to be looked at; a source that is silent says so', async () => {
	const client = createFakeRegistry();
	client.listOutdated.mockResolvedValue([
		skill('fresh', 'current'),
		skill('lost', 'unknown', 'github.com did not answer.'),
		skill('old', 'outdated', 'There is a newer commit.')
	]);
	const onstaged = vi.fn();
	const onchecked = vi.fn();
	const screen = await render(UpdateList, { client, onstaged, onchecked });
	await expect
		.element(screen.getByTestId('updates-status'))
		.toMatchTextContent(/1 update available\s*1 skill can’t be checked\./);
	expect(onchecked).toHaveBeenLastCalledWith(['installed/old']);
	const rows = screen.getByTestId('update');
	await expect.element(rows.nth(0)).toMatchTextContent(/old.*There is a newer commit\..*Review update/s);
	const rest = (name: string) => screen.getByRole('region', { name });
	await expect.element(rest('Up to date')).toMatchTextContent(/fresh/);
	await expect.element(rest('Can’t be checked')).toMatchTextContent(/lost.*did not answer/s);
	expect(screen.getByRole('button', { name: /Review update/ }).elements()).toHaveLength(1);
	client.stageUpdate.mockRejectedValueOnce(new ApiError('unavailable', 'The address did not answer.'));
	await screen.getByRole('button', { name: 'Review update of old' }).click();
	await expect.element(screen.getByTestId('update-error')).toMatchTextContent(/did not answer/);
	client.stageUpdate.mockResolvedValueOnce(sampleStaged({ id: 'u1' }));
	await screen.getByRole('button', { name: 'Review update of old' }).click();
	expect(onstaged).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id: 'u1' }));
});

test.each([
	['current', 'current', /^All skills are up to date$/],
	['current', 'unknown', /No updates found\s*1 skill can’t be checked\./],
	['unknown', 'unknown', /^None of these skills can be checked for updates$/],
	['current', 'uploaded', /^All skills are up to date$/],
	['uploaded', 'uploaded', /^Nothing to update$/]
] as const)('E28: of skills that are %s and %s it says no more than is known', async (one, other, words) => {
	const client = createFakeRegistry();
	client.listOutdated.mockResolvedValue([skill('one', one), skill('other', other)]);
	const screen = await render(UpdateList, { client, onstaged: vi.fn() });
	await expect.element(screen.getByTestId('updates-status')).toMatchTextContent(words);
});

test('E28: what was uploaded is no problem: it says how it is updated', async () => {
	const client = createFakeRegistry();
	client.listOutdated.mockResolvedValue([skill('zipped', 'uploaded', 'Uploaded.')]);
	const screen = await render(UpdateList, { client, onstaged: vi.fn() });
	const group = screen.getByRole('region', { name: 'Updated by hand' });
	await expect.element(group).toMatchTextContent(/nowhere to check.*Install a newer copy.*zipped/s);
	await expect
		.element(group.getByRole('link', { name: 'Install a newer copy' }))
		.toHaveAttribute('href', '/skills/install');
	expect(screen.getByTestId('updates-status').element().textContent).not.toContain('can’t be checked');
});
