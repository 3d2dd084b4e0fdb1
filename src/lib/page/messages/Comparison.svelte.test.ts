import { beforeEach, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page } from 'vitest/browser';
import { createFakeClient, type FakeClient } from '../../../../tests/support/fake-client.ts';
import { createFakeServices } from '../../../../tests/support/fake-services.ts';
import '../../../app.css';
import { MessageEntry } from '../conversation/message-entry.svelte.ts';
import { ChatSession } from '../conversation/session.svelte.ts';
import { emptyAnswer, type Message, type ToolPart } from '../../shared/message.ts';
import MessageList from './MessageList.svelte';

let client: FakeClient;
let session: ChatSession;
const ignore = (): void => undefined;

beforeEach(async () => {
	localStorage.clear();
	await page.viewport(1280, 800);
	client = createFakeClient();
	const listener = { runStarted: ignore, runEnded: ignore, titled: ignore };
	session = new ChatSession('c', client, listener, createFakeServices());
	session.phase = 'ready';
});

async function show(...changes: Partial<Message>[]) {
	const answers = changes.map((change, index) => {
		const message = { ...emptyAnswer(`a${index}`, `run-${index}`, '2026-01-01T00:00:00.000Z', 'q'), ...change };
		return { model: `maker/model-${index}`, entry: new MessageEntry(message) };
	});
	session.entries = answers.slice(0, 1).map(({ entry }) => entry);
	session.compared = answers;
	session.run.ids = answers.filter(({ entry }) => entry.message.status === 'running').map((_, index) => `run-${index}`);
	const models = [{ id: 'maker/model-1', name: 'Model One' }];
	return render(MessageList, {
		session,
		model: 'm',
		onfork: ignore,
		onremove: async () => undefined,
		modelSwitch: { models, load: ignore, open: ignore }
	});
}

const said = (text: string): Partial<Message> => ({ status: 'complete', parts: [{ type: 'text', id: 't', text }] });
const wrote = (path: string): ToolPart => ({
	...{ type: 'tool', id: path, name: 'write_file', status: 'done', arguments: '{}', result: 'ok' },
	...({ files: [{ path, bytes: 1, version: 'v' }] } as object)
});

test('side by side: each answer is a region with its model’s name, its own Stop, and its own way on', async () => {
	const screen = await show({ status: 'running' }, said('From the second.'));
	const first = screen.getByRole('region', { name: 'model-0' });
	const second = screen.getByRole('region', { name: 'Model One' });
	await expect.element(second).toMatchTextContent(/From the second\./);
	const boxes = [first, second].map((region) => region.element().getBoundingClientRect());
	expect(boxes[0]?.top).toBe(boxes[1]?.top);
	expect(boxes[0]?.right).toBeLessThan(boxes[1]?.left ?? 0);
	expect(first.getByTestId('choose-answer').query()).toBeNull();
	expect(second.getByTestId('stop-one').query()).toBeNull();
	// Versions are switched once one is chosen.
	expect(second.getByTestId('branches').query()).toBeNull();
	await screen.getByRole('button', { name: 'Stop model-0' }).click();
	expect(client.stopped).toEqual(['run-0']);
});

test('side by side: one goes on with an answer that ended well, not with one that failed beside it', async () => {
	const screen = await show(said('From the first.'), { status: 'failed' });
	await expect.element(screen.getByRole('region', { name: 'model-0' }).getByTestId('choose-answer')).toBeVisible();
	expect(screen.getByRole('region', { name: 'Model One' }).getByTestId('choose-answer').query()).toBeNull();
	await screen.unmount();
	const lost = await show({ status: 'cancelled' }, { status: 'failed' });
	await expect.element(lost.getByTestId('choose-answer').first()).toBeVisible();
	expect(lost.getByTestId('choose-answer').elements()).toHaveLength(2);
});

test('side by side: without room they are tabs, and the one in front is where the next message goes', async () => {
	await page.viewport(390, 800);
	const screen = await show(said('From the first.'), { status: 'failed' });
	await expect.element(screen.getByRole('tab', { name: 'model-0' })).toHaveAttribute('aria-selected', 'true');
	const second = screen.getByRole('tab', { name: 'Model One · failed' });
	expect(screen.getByRole('region', { name: 'Model One' }).query()).toBeNull();
	await second.click();
	await expect.element(screen.getByRole('region', { name: 'Model One' })).toBeVisible();
	expect(session.front?.model).toBe('maker/model-1');
});

test('side by side: files that both answers wrote are named', async () => {
	const parts = [wrote('plan.md')];
	const screen = await show({ status: 'complete', parts: [...parts, wrote('a.md')] }, { status: 'complete', parts });
	await expect.element(screen.getByTestId('shared-files')).toMatchTextContent(/wrote plan\.md\./);
	await expect.element(screen.getByTestId('shared-files')).not.toMatchTextContent(/a\.md/);
});
