import { expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../../app.css';
import { createFakeRegistry } from '../../../../../tests/support/fake-registry.ts';
import { ApiError } from '../../request.ts';
import type { TrashedSkill } from '../../../shared/install.ts';
import TrashList from './TrashList.svelte';

const trashed: TrashedSkill = {
	...{ id: 't1', skillId: 'installed/demo', name: 'demo', version: '1.0.0', path: '/data/skills/demo@1.0.0' },
	...{ removedAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-31T00:00:00.000Z' }
};

async function setup() {
	const client = createFakeRegistry();
	client.listTrash.mockResolvedValueOnce([trashed]).mockResolvedValue([]);
	const onrestored = vi.fn();
	const screen = await render(TrashList, { client, onrestored });
	return { screen, client, onrestored };
}

test('E4: what was removed is restored, and leads to its page', async () => {
	const { screen, client, onrestored } = await setup();
	client.restoreSkill.mockResolvedValue({ skillId: 'installed/demo', name: 'demo', version: '1.0.0' });
	await screen.getByRole('button', { name: 'Restore demo' }).click();
	expect(client.restoreSkill).toHaveBeenCalledExactlyOnceWith('t1');
	await expect
		.element(screen.getByTestId('trash-status'))
		.toMatchTextContent(/Restored demo.*No deleted skills\. They stay here for 30 days\./s);
	await expect
		.element(screen.getByRole('link', { name: 'Open skill' }))
		.toHaveAttribute('href', '/skills/installed/demo');
	await expect.element(screen.getByTestId('trashed-skill')).not.toBeInTheDocument();
	expect(onrestored).toHaveBeenCalledExactlyOnceWith('demo');
});

test('E4: what cannot be restored stays, and says why', async () => {
	const { screen, client, onrestored } = await setup();
	client.listTrash.mockResolvedValue([trashed]);
	client.restoreSkill.mockRejectedValueOnce(new ApiError('conflict', 'There is a skill of this name again.'));
	await screen.getByRole('button', { name: 'Restore demo' }).click();
	await expect.element(screen.getByTestId('trash-error')).toMatchTextContent(/of this name again/);
	await expect.element(screen.getByTestId('trashed-skill')).toBeVisible();
	expect(onrestored).not.toHaveBeenCalled();
});

test('E4: it goes for good only after a second word', async () => {
	const { screen, client } = await setup();
	await screen.getByRole('button', { name: 'Delete demo forever' }).click();
	expect(client.deleteTrashed).not.toHaveBeenCalled();
	await screen.getByTestId('confirm-delete').click();
	expect(client.deleteTrashed).toHaveBeenCalledExactlyOnceWith('t1');
	await expect.element(screen.getByTestId('trash-status')).toMatchTextContent(/No deleted skills/);
});

test('E4: all go for good at once after a second word', async () => {
	const client = createFakeRegistry();
	client.listTrash.mockResolvedValue([trashed, { ...trashed, id: 't2', name: 'other' }]);
	const screen = await render(TrashList, { client, onrestored: vi.fn() });
	await expect
		.element(screen.getByTestId('trashed-skill').first())
		.toMatchTextContent(/Deleted .* ago · gone for good/);
	await screen.getByTestId('empty-skills').click();
	expect(client.deleteTrashed).not.toHaveBeenCalled();
	await screen.getByTestId('confirm-delete').click();
	await expect.element(screen.getByTestId('delete-dialog')).not.toBeInTheDocument();
	expect(client.deleteTrashed.mock.calls).toEqual([['t1'], ['t2']]);
});

test('E4: while all go it says how far it is; one that can’t be deleted is named, and the others go', async () => {
	const client = createFakeRegistry();
	const [other, last] = ['other', 'last'].map((name) => ({ ...trashed, id: name, name })) as [
		TrashedSkill,
		TrashedSkill
	];
	client.listTrash.mockResolvedValue([trashed, other, last]);
	const screen = await render(TrashList, { client, onrestored: vi.fn() });
	await screen.getByTestId('empty-skills').click();
	const held = Promise.withResolvers<undefined>();
	client.deleteTrashed.mockReturnValueOnce(held.promise);
	client.deleteTrashed.mockRejectedValueOnce(new ApiError('unavailable', 'The disk is full.'));
	client.deleteTrashed.mockRejectedValueOnce(new ApiError('not_found', 'Another tab did it.'));
	await screen.getByTestId('confirm-delete').click();
	await expect.element(screen.getByTestId('delete-progress')).toHaveTextContent('Deleting 1 of 3…');
	client.listTrash.mockResolvedValue([other]);
	held.resolve(undefined);
	await expect
		.element(screen.getByRole('alert'))
		.toHaveTextContent('Couldn’t delete “other”: The disk is full. Deleted 2 of 3.');
	expect(client.deleteTrashed).toHaveBeenCalledTimes(3);
	await expect.element(screen.getByTestId('trashed-skill')).toMatchTextContent(/^other/);
});
