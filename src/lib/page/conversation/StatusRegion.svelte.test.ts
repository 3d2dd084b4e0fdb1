import { beforeEach, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { createFakeClient, type FakeClient } from '../../../../tests/support/fake-client.ts';
import { createFakeServices } from '../../../../tests/support/fake-services.ts';
import type { RunEvent } from '../../shared/events.ts';
import { ChatSession } from './session.svelte.ts';
import StatusRegion from './StatusRegion.svelte';

const ASKED: RunEvent[] = [
	{ type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'use_skill' },
	{ type: 'TOOL_CALL_END', toolCallId: 'c' },
	{
		type: 'CUSTOM',
		name: 'tool.approval',
		value: {
			...{ toolCallId: 'c', interruptId: 'i', skill: 'demo', script: 'say.sh', args: [], digest: 'd' },
			reason: '“demo” wants to run say.sh.'
		}
	},
	{ type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'interrupt', interrupts: [] } }
];
let client: FakeClient;
let session: ChatSession;

beforeEach(() => {
	localStorage.clear();
	sessionStorage.clear();
	client = createFakeClient();
	session = new ChatSession(
		'c',
		client,
		{ runStarted: () => {}, runEnded: () => {}, titled: () => {} },
		createFakeServices()
	);
});

test('F14: a call that waits for consent is announced at once, with what it would do', async () => {
	const screen = await render(StatusRegion, { session });
	session.draft.text = 'say it';
	await session.send();
	client.sources[0]?.send(ASKED);
	await expect
		.element(screen.getByRole('alert'))
		.toHaveTextContent('Waiting for your approval. “demo” wants to run say.sh.');
	await expect.element(screen.getByTestId('status')).toHaveTextContent('');
});

test('it is announced also where the page changed its address in the meantime', async () => {
	session.draft.text = 'say it';
	await session.send();
	client.sources[0]?.send(ASKED);
	const screen = await render(StatusRegion, { session });
	await expect.element(screen.getByRole('alert')).toMatchTextContent(/Waiting for your approval/);
});

test('what was there when the page was opened is not announced', async () => {
	const screen = await render(StatusRegion, { session });
	await expect.element(screen.getByRole('alert')).toHaveTextContent('');
	await expect.element(screen.getByTestId('status')).toHaveTextContent('');
});
