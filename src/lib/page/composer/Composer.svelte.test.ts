import { beforeEach, describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page, userEvent } from 'vitest/browser';
import { createFakeClient, type FakeClient } from '../../../../tests/support/fake-client.ts';
import { sampleSummary } from '../../../../tests/support/sample-skills.ts';
import { createFakeServices, type FakeServices } from '../../../../tests/support/fake-services.ts';
import '../../../app.css';
import { ApiError, unreachable } from '../request.ts';
import type { FolderFile } from '../server.ts';
import { ChatSession } from '../conversation/session.svelte.ts';
import { emptyAnswer, type Message } from '../../shared/message.ts';
import Composer from './Composer.svelte';

const listener = { runStarted: () => {}, runEnded: () => {}, titled: () => {} };
let client: FakeClient;
let services: FakeServices;
let session: ChatSession;

beforeEach(() => {
	localStorage.clear();
	sessionStorage.clear();
	client = createFakeClient();
	services = createFakeServices();
	session = new ChatSession('conversation', client, listener, services);
});

/** The server's copy of the chat: a question and its answer. */
async function openStored(): Promise<void> {
	const question: Message = { ...emptyAnswer('q', '', '', null), role: 'user', runId: null, status: 'complete' };
	const answer: Message = { ...emptyAnswer('a', 'r', '', 'q'), status: 'complete' };
	const time = '2026-01-01T00:00:00.000Z';
	client.conversation = {
		...{ id: 'conversation', title: 'Stored', createdAt: time, updatedAt: time, activeRunId: null, cursor: 0 },
		...{ messages: [question, answer], hasEarlier: false, alternatives: {}, queue: [], usage: null },
		...{ isPinned: false, isArchived: false, isUnread: false, isWaiting: false, model: null, effort: null }
	};
	await session.load();
}

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
		expect(input.element().clientHeight).toBeLessThanOrEqual(8 * 24 + 16);
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

	test('Up in an empty box edits the last message of the user, and in a text does nothing of the kind', async () => {
		await openStored();
		const screen = await render(Composer, { session });
		await screen.getByTestId('composer-input').fill('words');
		await userEvent.keyboard('{ArrowUp}');
		expect(session.history.editedId).toBeNull();
		await screen.getByTestId('composer-input').fill('');
		await userEvent.keyboard('{ArrowUp}');
		expect(session.history.editedId).toBe('q');
	});

	test('a skill that is tried says what it can be asked, until another one is there', async () => {
		const screen = await render(Composer, { session });
		const input = screen.getByTestId('composer-input');
		await expect.element(input).toHaveAttribute('placeholder', expect.stringMatching(/^Ask anything/));
		await session.skills.pinByName('tides', { description: 'Tells tides. Use when someone asks about high water.' });
		await expect.element(input).toHaveAttribute('placeholder', 'Ask about high water');
		await session.skills.pinByName('count-words');
		await expect.element(input).toHaveAttribute('placeholder', expect.stringMatching(/^Ask anything/));
	});

	test('Backspace in an empty box takes away the last file, then the last skill that waits to be pinned', async () => {
		const removed: string[] = [];
		const screen = await render(Composer, { session, onremoved: ({ path }) => removed.push(path) });
		await session.skills.pinByName('count-words');
		session.draft.mention('a.txt', 1);
		await screen.getByTestId('composer-input').fill('x');
		await userEvent.keyboard('{Backspace}{Backspace}');
		await expect.element(screen.getByTestId('attachment')).not.toBeInTheDocument();
		expect(removed).toEqual(['a.txt']);
		expect(session.skills.pins).toEqual(['count-words']);
		await userEvent.keyboard('{Backspace}');
		expect(session.skills.pins).toEqual([]);
	});

	test('nothing is sent of an empty box', async () => {
		const screen = await render(Composer, { session });
		await screen.getByTestId('composer-input').fill('  \n ');
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByTestId('send')).toBeDisabled();
		expect(client.started).toEqual([]);
	});
});

test('UI 5: a message that could not be sent comes back into the box with the reason, and one click sends it; another error offers no such click', async () => {
	client.startFailures.push(new ApiError('unavailable', 'The server is starting.', { hint: 'Wait a moment.' }));
	const screen = await render(Composer, { session });
	await screen.getByTestId('composer-input').fill('precious words');
	await screen.getByTestId('send').click();
	await expect.element(screen.getByTestId('send-error')).toMatchTextContent('The server is starting. Wait a moment.');
	await expect.element(screen.getByTestId('composer-input')).toHaveValue('precious words');
	await screen.getByRole('button', { name: 'Try again' }).click();
	await expect.poll(() => client.started.length).toBe(2);
	await expect.element(screen.getByTestId('send-error')).not.toBeInTheDocument();
	await expect.element(screen.getByTestId('composer-input')).toHaveValue('');
	session.actionError = new ApiError('invalid_input', 'There is no such model.');
	await expect.element(screen.getByTestId('send-error')).toBeVisible();
	await expect.element(screen.getByRole('button', { name: 'Try again' })).not.toBeInTheDocument();
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
		await expect.element(screen.getByTestId('composer-note')).toMatchTextContent(/^Enter sends after the answer/);
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByTestId('queued-message')).toMatchTextContent(/^second/);
		await expect.element(screen.getByTestId('composer-input')).toHaveValue('');
		expect(client.calls).toEqual([['enqueue', { id: expect.any(String), text: 'second', files: [] }]]);
		expect(client.started).toHaveLength(1);
		await screen.getByTestId('stop').click();
		expect(client.stopped).toEqual([client.started[0]?.runId]);
		client.sources[0]?.send([{ type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'cancelled' } }]);
		await expect.element(screen.getByTestId('send')).toBeVisible();
		await expect.element(screen.getByTestId('queue')).toMatchTextContent(/^1 message queued until you send it second/);
	});

	test('F14: Ctrl+Enter sends it after the step that is under way', async () => {
		const screen = await setup();
		await screen.getByTestId('composer-input').fill('stop that');
		await userEvent.keyboard('{Control>}{Enter}{/Control}');
		await expect.poll(() => client.calls.map(([name]) => name)).toEqual(['enqueue', 'sendQueued']);
		expect(client.calls[1]?.[1]).toBe((client.calls[0]?.[1] as { id: string }).id);
	});

	test('F14: “Send now” waits until the server has the message that it sends', async () => {
		const screen = await setup();
		const arrived = Promise.withResolvers<void>();
		client.enqueue = async (_id, message) => {
			await arrived.promise;
			client.calls.push(['enqueue', message]);
			return { runId: null };
		};
		await screen.getByTestId('composer-input').fill('stop that');
		await userEvent.keyboard('{Enter}');
		await screen.getByTestId('queue-send').click();
		arrived.resolve();
		await expect.poll(() => client.calls.map(([name]) => name)).toEqual(['enqueue', 'sendQueued']);
	});

	test('F14: the strip says what “Send now” does, and in which order the messages come', async () => {
		const screen = await setup();
		session.queue.items = [QUEUED, { ...QUEUED, id: 'q2', text: 'other' }];
		await expect
			.element(screen.getByTestId('queue'))
			.toMatchTextContent(
				/^2 messages queued until the answer ends · “Send now” interrupts after this step 1\. and then/
			);
		await expect.element(screen.getByTestId('queued-message').last()).toMatchTextContent(/^2\. other/);
	});

	test('F14: Up in an empty box edits the last message that waits', async () => {
		const screen = await setup();
		session.queue.items = [QUEUED, { ...QUEUED, id: 'q2', text: 'other' }];
		await screen.getByTestId('composer-input').click();
		await userEvent.keyboard('{ArrowUp}');
		await expect.element(screen.getByTestId('edit-input')).toHaveValue('other');
		await userEvent.keyboard('{Escape}');
		await expect.element(screen.getByTestId('queue-edit').last()).toHaveFocus();
	});

	test('F14: a message that waits can be edited, sent at once and removed', async () => {
		const screen = await setup();
		session.queue.items = [QUEUED, { ...QUEUED, id: 'q2', text: 'other' }];
		const row = screen.getByTestId('queued-message').first();
		await row.getByTestId('queue-edit').click();
		await screen.getByTestId('edit-input').fill('and then what?');
		await userEvent.keyboard('{Enter}');
		await expect.element(row).toMatchTextContent(/^1\. and then what\?/);
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
		await expect.element(screen.getByTestId('send-error')).toMatchTextContent('50 messages wait already.');
		await expect.element(screen.getByTestId('composer-input')).toHaveValue('one more');
		await expect.element(screen.getByTestId('queued-message')).not.toBeInTheDocument();
	});
});

/** A one-pixel picture. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function paste(element: Element, text: string): void {
	const data = new DataTransfer();
	data.setData('text/plain', text);
	element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
}

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

	test('F7: what is sent while a file is on its way follows it, unless it’s changed or the upload fails', async () => {
		const screen = await render(Composer, { session });
		const box = screen.getByTestId('composer-input');
		await screen.getByTestId('file-input').upload(csv('a.csv'));
		await box.fill('one');
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByText('Sends after the upload')).toBeVisible();
		await box.fill('one more');
		await expect.element(screen.getByText('Wait for the upload to finish')).toBeVisible();
		await expect.poll(() => client.uploads).toHaveLength(1);
		client.uploads[0]?.fail(new ApiError('internal', 'Broken.'));
		await expect.element(screen.getByText('Retry or remove the failed upload to send')).toBeVisible();
		await screen.getByRole('button', { name: 'Upload a.csv again' }).click();
		await box.click();
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByText('Sends after the upload')).toBeVisible();
		expect(client.started).toEqual([]);
		client.uploads[1]?.finish();
		await expect.poll(() => client.started[0]?.messages[0]?.metadata).toEqual({ files: ['a.csv'] });
		expect(client.started).toHaveLength(1);
	});

	test('F5: that other servers don’t have yet say so', async () => {
		const screen = await render(Composer, { session });
		await screen.getByTestId('file-input').upload(csv('a.csv'));
		await expect.poll(() => client.uploads).toHaveLength(1);
		client.uploads[0]?.finish('Here only so far.');
		await expect.element(screen.getByTestId('unkept')).toHaveTextContent('· Here only so far.');
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

	test('a picture is shown small', async () => {
		const screen = await render(Composer, { session });
		const png = Uint8Array.from(atob(DOT), (character) => character.charCodeAt(0));
		await screen.getByTestId('file-input').upload(new File([png], 'dot.png', { type: 'image/png' }));
		const picture = screen.getByTestId('attachment-picture');
		await expect.poll(() => (picture.element() as HTMLImageElement).naturalWidth).toBe(1);
		client.uploads[0]?.fail(new ApiError('internal', 'Broken.'));
		await expect.element(picture).not.toBeInTheDocument();
	});

	test('F5: a large picture gets a copy for models: upright, at most 1568 pixels, as transparent as it was, without its place', async () => {
		const drawn = async (type: string, fill: (context: CanvasRenderingContext2D) => void) => {
			const canvas = Object.assign(document.createElement('canvas'), { width: 3000, height: 1500 });
			fill(canvas.getContext('2d')!);
			return new Promise<Blob>((resolve) => canvas.toBlob((blob) => resolve(blob!), type));
		};
		// Half of it is red: the left half, which turning right moves to the top.
		const half = (context: CanvasRenderingContext2D) => {
			context.fillStyle = '#f00';
			context.fillRect(0, 0, 1500, 1500);
		};
		const jpeg = await drawn('image/jpeg', half);
		const tiff = 'MM\0*\0\0\0\x08\0\x02\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\x88\x25\0\x04\0\0\0\x01\0\0\0\x26\0\0\0\0';
		const gps = '\0\x01\0\x01\0\x02\0\0\0\x02N\0\0\0\0\0\0\x0052N13E';
		const exif = Uint8Array.from(`\xff\xe1\0\x46Exif\0\0${tiff}${gps}`, (letter) => letter.charCodeAt(0));
		exif[3] = exif.length - 2;
		const photo = new Blob([jpeg.slice(0, 2), exif, jpeg.slice(2)]);
		const screen = await render(Composer, { session });
		const input = screen.getByTestId('file-input');
		await input.upload([
			new File([photo], 'photo.jpg', { type: 'image/jpeg' }),
			new File([await drawn('image/png', half)], 'half.png', { type: 'image/png' })
		]);
		const copyOf = async (index: number) => {
			await expect.poll(() => client.uploads.length).toBeGreaterThan(index);
			client.uploads[index]!.finish();
			await expect.poll(() => client.copies.length).toBe(index + 1);
			const copy = client.copies[index]!;
			const bitmap = await createImageBitmap(copy);
			const canvas = Object.assign(document.createElement('canvas'), { width: bitmap.width, height: bitmap.height });
			const context = canvas.getContext('2d')!;
			context.drawImage(bitmap, 0, 0);
			const at = (x: number, y: number) => [...context.getImageData(x, y, 1, 1).data].map((value) => value > 128);
			return { type: copy.type, size: [bitmap.width, bitmap.height], at, text: await copy.text() };
		};
		expect(await photo.text()).toContain('52N13E');
		const first = await copyOf(0);
		expect(first).toMatchObject({ type: 'image/jpeg', size: [784, 1568] });
		expect([first.at(700, 100), first.at(700, 1500)]).toEqual([
			[true, false, false, true],
			[false, false, false, true]
		]);
		expect(first.text).not.toMatch(/52N13E|Exif/);
		const second = await copyOf(1);
		expect(second).toMatchObject({ type: 'image/png', size: [1568, 784] });
		expect([second.at(100, 100), second.at(1500, 100)]).toEqual([
			[true, false, false, true],
			[false, false, false, false]
		]);
	});

	test('F5: a format that models don’t take gets a copy if the browser reads it; small pictures, films and what it can’t read get none', async () => {
		const bmp = `BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18${'\0'.repeat(25)}\0\xff\0`;
		const bytes = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
		const screen = await render(Composer, { session });
		const files: [string, string, string][] = [
			['dot.png', 'image/png', atob(DOT)],
			['moving.gif', 'image/gif', 'GIF89a\xff\x0f\xff\x0f'],
			['phone.heic', 'image/heic', '\0\0\0\x18ftypheic'],
			['cut.jpg', 'image/jpeg', '\xff\xd8\xff\xe0'],
			['huge.png', 'image/png', `${atob(DOT).slice(0, 16)}\0\0\xff\xff\0\0\xff\xff`],
			['dot.bmp', 'image/bmp', bmp]
		];
		for (const [index, [name, type, text]] of files.entries()) {
			await screen.getByTestId('file-input').upload(new File([bytes(text)], name, { type }));
			await expect.poll(() => client.uploads.length).toBe(index + 1);
			client.uploads[index]!.finish();
			await expect.element(screen.getByTestId('attachment').nth(index)).toHaveAttribute('data-state', 'ready');
		}
		expect(client.copies.map(({ type }) => type)).toEqual(['image/png']);
	});

	test('F5: each says what the model will be given of it; another model is asked about anew, and one that sees is offered', async () => {
		const asked: unknown[] = [];
		client.listFiles = async (_id, query) => {
			asked.push(query);
			const seenAs =
				query?.model === 'a/blind'
					? ({ as: 'unseen', why: 'a/blind can’t see pictures.' } as const)
					: ({ as: 'picture', why: 'The model sees this picture.' } as const);
			return [{ path: 'dot.png', bytes: 1, modifiedAt: '', versions: [], seenAs }];
		};
		const onswitch = vi.fn();
		const screen = await render(Composer, { session, model: 'a/blind', onswitch });
		await screen.getByTestId('file-input').upload(new File(['x'], 'dot.png', { type: 'image/png' }));
		await expect.element(screen.getByTestId('attachment')).toBeVisible();
		const { height } = screen.getByTestId('attachment').element().getBoundingClientRect();
		client.uploads[0]?.finish();
		await expect.element(screen.getByTestId('seen-as')).toHaveTextContent('· a/blind can’t see pictures');
		await screen.getByTestId('switch-model').click();
		expect(onswitch).toHaveBeenCalledOnce();
		await screen.rerender({ model: 'a/seeing' });
		await expect.element(screen.getByTestId('seen-as')).toHaveTextContent('· The model sees this picture');
		await expect.element(screen.getByTestId('switch-model')).not.toBeInTheDocument();
		expect(screen.getByTestId('attachment').element().getBoundingClientRect().height).toBe(height);
		expect(asked.filter(Boolean)).toEqual([
			{ model: 'a/blind', path: 'dot.png' },
			{ model: 'a/seeing', path: 'dot.png' }
		]);
	});

	test('a long text that is pasted becomes one of them, and can be put into the box instead', async () => {
		const screen = await render(Composer, { session });
		const input = screen.getByTestId('composer-input');
		await input.fill('before ');
		paste(input.element(), 'a'.repeat(4000));
		await expect.element(screen.getByTestId('attachment')).toHaveAttribute('data-path', 'Pasted text.txt');
		await expect.element(input).toHaveValue('before ');
		await screen.getByTestId('paste-as-text').click();
		await expect.element(input).toHaveValue(`before ${'a'.repeat(4000)}`);
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

describe('a skill that is dropped or chosen', () => {
	const drop = (...files: File[]): void => {
		const data = new DataTransfer();
		for (const file of files) data.items.add(file);
		document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
	};
	const zip = () => new File(['x'], 'walrus.zip', { type: 'application/zip' });

	test.each(['dropped', 'chosen'])('is installed when somebody says so: %s', async (how) => {
		const oninstall = vi.fn<(files: FolderFile[]) => void>();
		const screen = await render(Composer, { session, oninstall });
		if (how === 'dropped') drop(zip());
		else await screen.getByTestId('file-input').upload(zip());
		await expect.element(page.getByTestId('dropped-skill')).toMatchTextContent('“walrus.zip” looks like a skill.');
		await page.getByTestId('install-dropped').click();
		expect(oninstall.mock.calls.map(([files]) => files.map(({ path }) => path))).toEqual([['walrus.zip']]);
		await expect.element(page.getByTestId('dropped-skill')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('attachment')).not.toBeInTheDocument();
	});

	test('or attached, as any other file', async () => {
		const oninstall = vi.fn<(files: FolderFile[]) => void>();
		await render(Composer, { session, oninstall });
		drop(zip());
		await page.getByTestId('attach-dropped').click();
		await expect.poll(() => client.uploads.map(({ path }) => path)).toEqual(['walrus.zip']);
		drop(new File(['a'], 'plain.csv', { type: 'text/csv' }));
		await expect.poll(() => client.uploads.map(({ path }) => path)).toEqual(['walrus.zip', 'plain.csv']);
		expect(oninstall).not.toHaveBeenCalled();
	});
});

test('a draft, its files and its skills are still there after the page was loaded again', async () => {
	const screen = await render(Composer, { session });
	await screen.getByTestId('file-input').upload(new File(['x'], 'a.txt'));
	await expect.poll(() => client.uploads).toHaveLength(1);
	client.uploads[0]?.finish();
	await screen.getByTestId('composer-input').fill('half a though');
	await session.skills.pinByName('count-words');
	await expect.element(screen.getByTestId('send')).toBeEnabled();
	await screen.unmount();
	const next = new ChatSession('conversation', client, listener, createFakeServices());
	const again = await render(Composer, { session: next });
	expect(next.skills.pins).toEqual(['count-words']);
	await expect.element(again.getByTestId('composer-input')).toHaveValue('half a though');
	await expect.element(again.getByTestId('attachment')).toHaveAttribute('data-state', 'ready');
});

describe('F7: names', () => {
	const skills = [
		sampleSummary({ id: 'count-words', name: 'count-words', description: 'Counts words.' }),
		sampleSummary({ id: 'weather', name: 'weather', description: 'Tells the weather.' }),
		sampleSummary({ id: 'quiet', name: 'quiet', mode: 'off' }),
		sampleSummary({ id: 'torn', name: 'torn', status: 'broken' })
	];
	const ran: string[] = [];
	const commands = ['new', 'model', 'help'].map((name) => ({
		name,
		description: `Does ${name}.`,
		run: () => void ran.push(name)
	}));
	const setup = async () => {
		ran.length = 0;
		const screen = await render(Composer, { session, skills, commands });
		screen.container.style.marginTop = '20rem';
		return { screen, input: screen.getByTestId('composer-input'), option: screen.getByTestId('completion') };
	};

	test('an at sign where there are no files says so, and opens the choice of files', async () => {
		const { screen, input, option } = await setup();
		await input.fill('look at @');
		await expect.element(option).toMatchTextContent('No files yet Attach one with +');
		await expect.element(screen.getByTestId('match-count')).toMatchTextContent('No files yet Attach one with +');
		let opened = 0;
		screen
			.getByTestId('file-input')
			.element()
			.addEventListener('click', (event) => {
				event.preventDefault();
				opened++;
			});
		await option.click();
		expect(opened).toBe(1);
		await expect.element(input).toHaveValue('look at ');
		await input.fill('mail@');
		await expect.element(screen.getByTestId('completions')).not.toBeInTheDocument();
		await input.fill('@someone');
		await expect.element(screen.getByTestId('completions')).not.toBeInTheDocument();
	});

	test('a skill is found by a dollar anywhere, and pinned; its name goes out of the text', async () => {
		const { screen, input, option } = await setup();
		await input.fill('please $wea');
		await expect.element(option).toMatchTextContent('$weather Tells the weather.');
		await userEvent.keyboard('{Enter}');
		await expect.element(input).toHaveValue('please ');
		expect(session.skills.pins).toEqual(['weather']);
		await expect.element(screen.getByTestId('completions')).not.toBeInTheDocument();
		await input.fill('please count');
		await userEvent.keyboard('{Enter}');
		await expect.poll(() => client.started[0]?.forwardedProps).toEqual({ pins: ['weather'] });
	});

	test('the list is steered by keyboard, round and round, and says where it is', async () => {
		const { screen, input, option } = await setup();
		await input.fill('$');
		const labels = () => option.elements().map((element) => element.textContent?.trim().split(' ')[0]);
		expect(labels()).toEqual(['$count-words', '$weather', '$quiet', '$torn']);
		const active = () => document.getElementById(input.element().getAttribute('aria-activedescendant') ?? '');
		const name = () => active()?.textContent?.trim().split(' ')[0];
		expect(name()).toBe('$count-words');
		await userEvent.keyboard('{ArrowDown}');
		expect(name()).toBe('$weather');
		await userEvent.keyboard('{ArrowDown}');
		expect(name()).toBe('$count-words');
		await userEvent.keyboard('{ArrowUp}');
		expect(name()).toBe('$weather');
		await userEvent.keyboard('{Home}');
		expect(name()).toBe('$count-words');
		await userEvent.keyboard('{End}');
		expect(name()).toBe('$weather');
		expect(active()?.getAttribute('aria-selected')).toBe('true');
		await expect.element(screen.getByTestId('match-count')).toHaveTextContent('4 matches');
		await userEvent.keyboard('{Tab}');
		expect(session.skills.pins).toEqual(['weather']);
		await expect.element(input).toHaveFocus();
	});

	test('a skill that is off or broken says so and cannot be chosen', async () => {
		const { input, option } = await setup();
		await input.fill('$qui');
		await expect.element(option).toMatchTextContent(/off$/);
		await expect.element(option).toHaveAttribute('aria-disabled', 'true');
		await option.click({ force: true });
		expect(session.skills.pins).toEqual([]);
		await input.fill('$torn');
		await expect.element(option).toMatchTextContent(/broken$/);
		expect(input.element().hasAttribute('aria-activedescendant')).toBe(false);
	});

	test('a slash at the start of a line finds commands, and Enter runs one without sending', async () => {
		const { input } = await setup();
		await input.fill('first line\n/he');
		await userEvent.keyboard('{Enter}');
		expect(ran).toEqual(['help']);
		await expect.element(input).toHaveValue('first line\n');
		expect(client.started).toEqual([]);
	});

	test('Escape closes the list and keeps the text; it opens again with another name', async () => {
		const { screen, input } = await setup();
		await input.fill('/he');
		await expect.element(screen.getByTestId('completions')).toBeVisible();
		await userEvent.keyboard('{Escape}');
		await expect.element(screen.getByTestId('completions')).not.toBeInTheDocument();
		await userEvent.keyboard('l');
		await expect.element(input).toHaveValue('/hel');
		await expect.element(screen.getByTestId('completions')).not.toBeInTheDocument();
		await userEvent.keyboard(' $');
		await expect.element(screen.getByTestId('completions')).toBeVisible();
	});

	test.each(['it costs 5 $', '/usr/bin', 'US$', 'mail me@example.org'])('“%s” is sent as it is', async (written) => {
		const { input } = await setup();
		await input.fill(written);
		await userEvent.keyboard('{Enter}');
		await expect.poll(() => client.started[0]?.messages[0]?.content).toBe(written);
		expect(session.skills.pins).toEqual([]);
	});

	test('a file of the workspace is named and attached', async () => {
		await openStored();
		client.listFiles = async () => [{ path: 'out/table.csv', bytes: 12, modifiedAt: '', versions: [] }];
		const { screen, input } = await setup();
		await input.fill('read @tab');
		await screen.getByTestId('completion').click();
		await expect.element(input).toHaveValue('read table.csv ');
		await expect.element(screen.getByTestId('attachment')).toHaveAttribute('data-path', 'out/table.csv');
	});

	test('the menu begins a skill’s name at the cursor', async () => {
		const { screen, input } = await setup();
		await input.fill('please');
		await screen.getByTestId('add').click();
		await screen.getByTestId('add-skill').click();
		await expect.element(input).toHaveValue('please $');
		await expect.element(screen.getByTestId('completions')).toBeVisible();
		await userEvent.keyboard('{Enter}');
		expect(session.skills.pins).toEqual(['count-words']);
	});

	test('of a large library eight rows are seen at once, and the rest by scrolling', async () => {
		const many = Array.from({ length: 300 }, (_, index) => sampleSummary({ id: `s${index}`, name: `skill-${index}` }));
		const screen = await render(Composer, { session, skills: many });
		screen.container.style.marginTop = '30rem';
		await screen.getByTestId('composer-input').fill('$skill');
		const list = screen.getByTestId('completions').element();
		const row = screen.getByTestId('completion').first().element();
		expect(screen.getByTestId('completion').elements()).toHaveLength(50);
		expect(list.clientHeight).toBeLessThan(row.clientHeight * 9);
		await userEvent.keyboard('{End}');
		const last = screen.getByTestId('completion').last().element().getBoundingClientRect();
		expect(last.bottom).toBeLessThanOrEqual(list.getBoundingClientRect().bottom);
	});
});

test('what was chosen for a new conversation goes with its first message, and with no other', async () => {
	await session.choices.pickModel('test/large');
	await session.choices.pickEffort('high');
	const screen = await render(Composer, { session });
	await screen.getByTestId('composer-input').fill('hello');
	await userEvent.keyboard('{Enter}');
	await expect.poll(() => client.started[0]?.forwardedProps).toEqual({ model: 'test/large', effort: 'high' });
	expect(services.changes).toEqual([]);
	expect(new ChatSession('next', client, listener, services).choices.model).toBe('test/large');
});

test('characters that nobody sees in what was pasted are marked before it is sent, and can be taken out', async () => {
	const screen = await render(Composer, { session });
	const input = screen.getByTestId('composer-input');
	await input.fill('Read\u202e this\u{e0041}\u{e0041}, größe 👩‍💻');
	const note = screen.getByTestId('hidden-characters');
	await expect.element(note.getByRole('status')).toHaveTextContent('3 hidden characters: ⟨U+202E⟩ ⟨U+E0041⟩');
	await screen.getByRole('button', { name: 'Remove hidden characters' }).click();
	await expect.element(input).toHaveValue('Read this, größe 👩‍💻');
	await expect.element(input).toHaveFocus();
	await expect.element(note).not.toBeInTheDocument();
});

test('UI 10.15: so are those of a long text that became a file, beside those of the message', async () => {
	const screen = await render(Composer, { session });
	const input = screen.getByTestId('composer-input');
	paste(input.element(), `${'a'.repeat(4000)}\u202e\u{e0041}`);
	const note = screen.getByTestId('hidden-characters').getByRole('status');
	await expect.element(note).toHaveTextContent('2 hidden characters in Pasted text.txt: ⟨U+202E⟩ ⟨U+E0041⟩');
	await input.fill('Read\u202e this');
	await expect.element(note).toMatchTextContent(/^3 hidden characters in your message and Pasted text\.txt: /);
	await screen.getByRole('button', { name: 'Remove hidden characters' }).click();
	await expect.element(note).not.toBeInTheDocument();
	await expect.element(input).toHaveValue('Read this');
	await expect.poll(() => client.uploads.map(({ path }) => path)).toEqual(['Pasted text.txt', 'Pasted text.txt']);
	await screen.getByTestId('paste-as-text').click();
	await expect.element(input).toHaveValue(`Read this${'a'.repeat(4000)}`);
});

test('F14: that the server can’t be reached is no longer said once the network is back; another error stays', async () => {
	const screen = await render(Composer, { session });
	for (const [error, isSaid] of [
		[unreachable(), false],
		[new ApiError('invalid_input', 'There is no such model.'), true]
	] as const) {
		session.actionError = error;
		await expect.element(screen.getByTestId('send-error')).toBeVisible();
		dispatchEvent(new Event('online'));
		await expect.poll(() => screen.getByTestId('send-error').elements().length).toBe(isSaid ? 1 : 0);
	}
});
