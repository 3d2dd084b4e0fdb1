import { beforeEach, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { userEvent } from 'vitest/browser';
import { createFakeClient } from '../../../../tests/support/fake-client.ts';
import {
	createFakeConversations,
	sampleConversation,
	type FakeConversations
} from '../../../../tests/support/fake-conversations.ts';
import '../../../app.css';
import { ChatApp } from '../app/app.svelte.ts';
import { ApiError } from '../request.ts';
import DeletedChats from './DeletedChats.svelte';

let server: FakeConversations;
let app: ChatApp;

beforeEach(() => localStorage.clear());

async function setup(ids: readonly string[]) {
	server = createFakeConversations();
	server.deleted = ids.map((id) => sampleConversation(id));
	app = new ChatApp(createFakeClient(), undefined, { conversations: server, go: () => {} });
	return render(DeletedChats, { app });
}

test('F14: deleted chats say when they were deleted and when they are gone; a restored one is a link and in the list', async () => {
	const screen = await setup(['a', 'b']);
	const rows = screen.getByTestId('deleted-chat');
	await expect
		.element(rows.first())
		.toMatchTextContent(/Title of b\s*Deleted just now · gone for good\s+in (29|30) days/);
	await screen.getByRole('button', { name: 'Restore Title of b' }).click();
	await expect.element(screen.getByTestId('deleted-status')).toMatchTextContent(/Restored “Title of b”/);
	await expect.element(screen.getByRole('link', { name: 'Open chat' })).toHaveAttribute('href', '/c/b');
	await expect.element(screen.getByRole('button', { name: 'Restore Title of a' })).toHaveFocus();
	expect(app.conversations.list.map(({ id }) => id)).toEqual(['b']);
	await userEvent.keyboard('{Enter}');
	await expect.element(screen.getByTestId('no-deleted-chats')).toMatchTextContent(/^No deleted chats/);
	await expect.element(screen.getByTestId('deleted-chats')).toHaveFocus();
});

test('F14: one goes for good only after a second word, and the focus stays in the list', async () => {
	const screen = await setup(['a', 'b']);
	await screen.getByRole('button', { name: 'Delete Title of b forever' }).click();
	await expect.element(screen.getByTestId('confirm-delete')).toBeVisible();
	await userEvent.keyboard('{Escape}');
	await expect.element(screen.getByTestId('delete-dialog')).not.toBeInTheDocument();
	await expect.element(screen.getByRole('button', { name: 'Delete Title of b forever' })).toHaveFocus();
	expect(server.calls).toEqual([]);
	await userEvent.keyboard('{Enter}');
	await screen.getByTestId('confirm-delete').click();
	await expect.element(screen.getByTestId('delete-dialog')).not.toBeInTheDocument();
	expect(server.calls).toEqual([['delete for good', 'b']]);
	await expect.element(screen.getByTestId('deleted-chat')).toMatchTextContent(/Title of a/);
	await expect.element(screen.getByRole('button', { name: 'Restore Title of a' })).toHaveFocus();
});

test('F14: what another tab has restored or deleted for good meanwhile is said, and leaves the list', async () => {
	const screen = await setup(['a', 'b']);
	await expect.element(screen.getByRole('button', { name: 'Restore Title of b' })).toBeVisible();
	const gone = new ApiError('not_found', 'This chat can’t be restored: it was deleted permanently.');
	server.deleted = server.deleted.filter(({ id }) => id !== 'b');
	server.failures.push(gone);
	await screen.getByRole('button', { name: 'Restore Title of b' }).click();
	await expect.element(screen.getByTestId('deleted-error')).toMatchTextContent(/deleted permanently/);
	await expect.element(screen.getByTestId('deleted-chat')).toMatchTextContent(/Title of a/);
	server.deleted = [];
	await app.conversations.refresh();
	await expect.element(screen.getByTestId('no-deleted-chats')).toMatchTextContent(/^No deleted chats/);
});

test('F14: what the server can’t be asked for can be asked again', async () => {
	server = createFakeConversations();
	server.failures.push(new ApiError('unavailable', 'The server is busy.'));
	app = new ChatApp(createFakeClient(), undefined, { conversations: server, go: () => {} });
	const screen = await render(DeletedChats, { app });
	await screen.getByRole('button', { name: 'Try again' }).click();
	await expect.element(screen.getByTestId('no-deleted-chats')).toMatchTextContent(/^No deleted chats/);
});

test('F14: a restored chat takes along the notice that offered to undo its deletion', async () => {
	const screen = await setup([]);
	server.all = [sampleConversation('a')];
	await app.actions.remove(sampleConversation('a'));
	expect(app.toasts.list).toHaveLength(1);
	server.deleted = [sampleConversation('a')];
	await app.conversations.deleted.refresh();
	await screen.getByRole('button', { name: 'Restore Title of a' }).click();
	await expect.poll(() => app.toasts.list).toEqual([]);
});

test('F14: all go for good at once after a second word; what the server refuses is said, and the rest stays', async () => {
	const screen = await setup(['a', 'b']);
	await screen.getByTestId('empty-chats').click();
	expect(server.calls).toEqual([]);
	server.failures.push(new ApiError('unavailable', 'The server is busy.'));
	await screen.getByTestId('confirm-delete').click();
	await expect.element(screen.getByTestId('delete-dialog')).toMatchTextContent(/busy/);
	await screen.getByTestId('confirm-delete').click();
	await expect.element(screen.getByTestId('no-deleted-chats')).toMatchTextContent(/^No deleted chats/);
	expect(server.deleted).toEqual([]);
});

test('F14: all go for good at once after a second word; one that can’t be deleted is named and stays', async () => {
	const screen = await setup(['a', 'b', 'c']);
	await screen.getByTestId('empty-chats').click();
	expect(server.calls).toEqual([]);
	const remove = server.deleteTrashedConversation;
	server.deleteTrashedConversation = (id) =>
		id === 'c' ? Promise.reject(new ApiError('unavailable', 'The disk is full.')) : remove(id);
	await screen.getByTestId('confirm-delete').click();
	await expect.element(screen.getByRole('alert')).toMatchTextContent(/Title of c.*disk is full\. Deleted 2 of 3\./);
	await expect.element(screen.getByTestId('deleted-chat')).toMatchTextContent(/Title of c/);
});
