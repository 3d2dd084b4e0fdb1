import { beforeEach, describe, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { userEvent } from 'vitest/browser';
import { createFakeClient, type FakeClient } from '../../../../tests/support/fake-client.ts';
import '../../../app.css';
import { ApiError } from '../../chat/api-error.ts';
import { ChatSession } from '../../chat/session.svelte.ts';
import Composer from './Composer.svelte';

const listener = { runStarted: () => {}, runEnded: () => {}, titled: () => {} };
let client: FakeClient;
let session: ChatSession;

beforeEach(() => {
	sessionStorage.clear();
	client = createFakeClient();
	session = new ChatSession('conversation', client, listener);
});

describe('the keyboard', () => {
	test('Enter sends, and empties the box', async () => {
		const screen = await render(Composer, { session });
		const input = screen.getByTestId('composer-input');
		await input.fill('hello');
		await userEvent.keyboard('{Enter}');
		await expect.element(input).toHaveValue('');
		expect(client.started.map(({ messages }) => messages[0]?.content)).toEqual(['hello']);
	});

	test('Shift+Enter makes a new line, and the box grows to eight lines at most', async () => {
		const screen = await render(Composer, { session });
		const input = screen.getByTestId('composer-input');
		await input.fill('one');
		const height = input.element().clientHeight;
		await userEvent.keyboard('{Shift>}{Enter}{/Shift}two');
		await expect.element(input).toHaveValue('one\ntwo');
		expect(input.element().clientHeight).toBeGreaterThan(height);
		await input.fill('line\n'.repeat(40));
		expect(input.element().clientHeight).toBeLessThanOrEqual(200);
		expect(client.started).toEqual([]);
	});

	test.each([
		['isComposing', { isComposing: true }],
		['keyCode 229', { keyCode: 229 }]
	])('an Enter that picks a word of an input method does not send (%s)', async (_name, init) => {
		const screen = await render(Composer, { session });
		const input = screen.getByTestId('composer-input');
		await input.fill('にほん');
		input
			.element()
			.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...init }));
		await expect.element(input).toHaveValue('にほん');
		expect(client.started).toEqual([]);
	});

	test('nothing is sent of an empty box', async () => {
		const screen = await render(Composer, { session });
		await screen.getByTestId('composer-input').fill('  \n ');
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByTestId('send')).toBeDisabled();
		expect(client.started).toEqual([]);
	});
});

test('a message that could not be sent comes back into the box with the reason', async () => {
	client.startFailures.push(new ApiError('unavailable', 'The server is starting.', { hint: 'Wait a moment.' }));
	const screen = await render(Composer, { session });
	await screen.getByTestId('composer-input').fill('precious words');
	await screen.getByTestId('send').click();
	await expect.element(screen.getByTestId('send-error')).toHaveTextContent('The server is starting. Wait a moment.');
	await expect.element(screen.getByTestId('composer-input')).toHaveValue('precious words');
});

describe('while a run is under way', () => {
	const QUEUED = { id: 'q1', text: 'and then?', files: [], createdAt: '2026-01-01T00:00:00.000Z' };
	const setup = async () => {
		const screen = await render(Composer, { session });
		await screen.getByTestId('composer-input').fill('first');
		await screen.getByTestId('send').click();
		await expect.element(screen.getByTestId('stop')).toBeVisible();
		return screen;
	};

	test('F14: Enter puts the message into the queue, and the answer can be stopped', async () => {
		const screen = await setup();
		await screen.getByTestId('composer-input').fill('second');
		await expect.element(screen.getByTestId('composer-note')).toMatchTextContent(/^Enter puts this in the queue/);
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByTestId('queued-message')).toMatchTextContent(/^second/);
		await expect.element(screen.getByTestId('composer-input')).toHaveValue('');
		expect(client.calls).toEqual([['enqueue', { id: expect.any(String), text: 'second', files: [] }]]);
		expect(client.started).toHaveLength(1);
		await screen.getByTestId('stop').click();
		expect(client.stopped).toEqual([client.started[0]?.runId]);
		client.sources[0]?.send([{ type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'cancelled' } }]);
		await expect.element(screen.getByTestId('send')).toBeVisible();
		await expect.element(screen.getByTestId('queue')).toMatchTextContent(/^1 message waits until you send it\. second/);
	});

	test('F14: a message that waits can be edited, sent at once and removed', async () => {
		const screen = await setup();
		session.queue.items = [QUEUED, { ...QUEUED, id: 'q2', text: 'other' }];
		const row = screen.getByTestId('queued-message').first();
		await row.getByTestId('queue-edit').click();
		await screen.getByTestId('edit-input').fill('and then what?');
		await userEvent.keyboard('{Enter}');
		await expect.element(row).toMatchTextContent(/^and then what\?/);
		await row.getByTestId('queue-send').click();
		await screen.getByTestId('queued-message').last().getByTestId('queue-remove').click();
		await expect.element(screen.getByText('other')).not.toBeInTheDocument();
		expect(client.calls).toEqual([
			['editQueued', 'q1', 'and then what?'],
			['sendQueued', 'q1'],
			['removeQueued', 'q2']
		]);
	});

	test('F14: Escape ends the edit of a message that waits, and nothing else', async () => {
		const screen = await setup();
		session.queue.items = [QUEUED];
		await screen.getByTestId('queue-edit').click();
		await screen.getByTestId('edit-input').fill('something else');
		await userEvent.keyboard('{Escape}');
		await expect.element(screen.getByTestId('queued-message')).toMatchTextContent(/^and then\?/);
		expect(client.calls).toEqual([]);
		expect(client.stopped).toEqual([]);
	});

	test('a message that the queue did not take is back in the box', async () => {
		const screen = await setup();
		client.callFailures.push(new ApiError('conflict', '50 messages wait already.'));
		await screen.getByTestId('composer-input').fill('one more');
		await screen.getByTestId('queue-add').click();
		await expect.element(screen.getByTestId('send-error')).toHaveTextContent('50 messages wait already.');
		await expect.element(screen.getByTestId('composer-input')).toHaveValue('one more');
		await expect.element(screen.getByTestId('queued-message')).not.toBeInTheDocument();
	});
});

describe('files', () => {
	const csv = (name: string): File => new File(['a,b\n1,2\n'], name, { type: 'text/csv' });

	test('are uploaded at once, and go with the message', async () => {
		const screen = await render(Composer, { session });
		await screen.getByTestId('file-input').upload([csv('sales.csv'), csv('sales.csv')]);
		await expect.element(screen.getByTestId('attachment').first()).toHaveAttribute('data-state', 'uploading');
		await screen.getByTestId('composer-input').fill('analyse');
		await expect.element(screen.getByTestId('send')).toBeDisabled();
		client.uploads[0]?.progress(0.5);
		await expect.element(screen.getByText('50 %')).toBeVisible();
		for (const upload of client.uploads) upload.finish();
		await screen.getByTestId('send').click();
		await expect.element(screen.getByTestId('attachment')).not.toBeInTheDocument();
		expect(client.started[0]?.messages[0]?.metadata).toEqual({ files: ['sales.csv', 'sales (2).csv'] });
	});

	test('that could not be uploaded say why, and can be tried again or removed', async () => {
		const screen = await render(Composer, { session });
		await screen.getByTestId('file-input').upload(csv('a.csv'));
		await expect.element(screen.getByTestId('attachment')).toBeVisible();
		client.uploads[0]?.fail(new ApiError('too_large', 'a.csv is too large.'));
		await expect.element(screen.getByText('a.csv is too large.')).toBeVisible();
		await screen.getByRole('button', { name: 'Upload a.csv again' }).click();
		expect(client.uploads).toHaveLength(2);
		await screen.getByRole('button', { name: 'Remove a.csv' }).click();
		await expect.element(screen.getByTestId('attachment')).not.toBeInTheDocument();
	});

	test('can be dropped anywhere on the page, and pasted', async () => {
		const screen = await render(Composer, { session });
		const data = new DataTransfer();
		data.items.add(csv('dropped.csv'));
		document.body.dispatchEvent(new DragEvent('dragenter', { dataTransfer: data, bubbles: true }));
		await expect.element(screen.getByTestId('drop-overlay')).toBeVisible();
		document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
		await expect.element(screen.getByTestId('drop-overlay')).not.toBeInTheDocument();
		const pasted = new DataTransfer();
		pasted.items.add(csv('pasted.csv'));
		const input = screen.getByTestId('composer-input').element();
		input.dispatchEvent(new ClipboardEvent('paste', { clipboardData: pasted, bubbles: true, cancelable: true }));
		await expect.poll(() => client.uploads.map(({ path }) => path)).toEqual(['dropped.csv', 'pasted.csv']);
	});
});

test('a draft and its files are still there after the page was loaded again', async () => {
	const screen = await render(Composer, { session });
	await screen.getByTestId('file-input').upload(new File(['x'], 'a.txt'));
	await expect.poll(() => client.uploads).toHaveLength(1);
	client.uploads[0]?.finish();
	await screen.getByTestId('composer-input').fill('half a though');
	await expect.element(screen.getByTestId('send')).toBeEnabled();
	await screen.unmount();
	const again = await render(Composer, { session: new ChatSession('conversation', client, listener) });
	await expect.element(again.getByTestId('composer-input')).toHaveValue('half a though');
	await expect.element(again.getByTestId('attachment')).toHaveAttribute('data-state', 'ready');
});
