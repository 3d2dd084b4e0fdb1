import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import { emptyAnswer, foldEvent, type Message } from '../../shared/message.ts';
import Answer from './Answer.svelte';
import type { MessageActions } from './message-groups.ts';

const answer = (change: Partial<Message>): Message => ({
	...emptyAnswer('a', 'r', new Date().toISOString()),
	parts: [{ type: 'text', id: 't', text: 'As far as I got' }],
	status: 'failed',
	...change
});
const failed = (code: string, message: string): Message => answer({ error: { code, message } });
const fullFor = (rest: { metadata?: Record<string, unknown> }): Message =>
	foldEvent(answer({ status: 'running' }), {
		type: 'RUN_ERROR',
		code: 'rate_limited',
		message: 'Full. Wait 50 seconds.',
		...rest
	});
const actions = () => {
	const all = { isLocked: false, retry: vi.fn(), continue: vi.fn(), switchModel: vi.fn() };
	return all as typeof all & MessageActions;
};
const props = { conversationId: 'c', model: 'test/model' };

test('F5: what the model’s server refused is said under the answer, with a way to try again', async () => {
	const leftOut = ['m refused the pictures, so it was asked without them.'];
	const usage = { model: 'm', inputTokens: 1, outputTokens: 1, leftOut };
	const screen = await render(Answer, { ...props, message: answer({ status: 'complete', usage }) });
	await expect
		.element(screen.getByTestId('left-out'))
		.toHaveTextContent(`${leftOut[0]} To try again, attach them again or choose another model.`);
});

describe('F14: an answer that failed offers what helps, by its code', () => {
	test.each([
		['unauthorized', 'no key', ['open-settings', 'retry']],
		['insufficient_credits', 'The account at openrouter.ai has no credits', ['add-credits', 'switch-model', 'retry']],
		['insufficient_credits', 'The account at models.example has no credits', ['switch-model', 'retry']],
		['moderation', 'refused', ['switch-model', 'retry']],
		['model_not_found', 'not found', ['switch-model', 'open-settings', 'retry']],
		['context_length_exceeded', 'too long', ['new-chat-instead', 'switch-model']],
		['rate_limited', 'too many', ['continue', 'retry', 'switch-model']],
		['timeout', 'too slow', ['continue', 'retry', 'switch-model']],
		['stream_truncated', 'broke off', ['continue', 'retry']],
		['empty_response', 'nothing', ['retry', 'switch-model']],
		['internal', 'something', ['continue', 'retry']]
	])('%s (%s)', async (code, message, testids) => {
		const screen = await render(Answer, { ...props, message: failed(code, message), actions: actions() });
		const shown = screen.getByTestId('message-error').element().querySelectorAll('button, a');
		expect([...shown].map((element) => element.getAttribute('data-testid'))).toEqual(testids);
	});

	test('F11: with models that may answer instead, one click retries with one of them', async () => {
		const message = fullFor({ metadata: { fallbacks: ['b/two', 'c/three\u202e'] } });
		const retryWith = vi.fn();
		const screen = await render(Answer, { ...props, message, actions: { ...actions(), retryWith } });
		await expect.element(screen.getByTestId('retry-fallback').last()).toHaveTextContent('Retry with c/three⟨U+202E⟩');
		await screen.getByRole('button', { name: 'Retry with b/two' }).click();
		expect(retryWith).toHaveBeenCalledExactlyOnceWith('b/two');
	});

	test('and what is not possible is not offered', async () => {
		const screen = await render(Answer, {
			...props,
			message: failed('model_not_found', 'not found'),
			actions: undefined
		});
		const shown = screen.getByTestId('message-error').element().querySelectorAll('button, a');
		expect([...shown].map((element) => element.getAttribute('data-testid'))).toEqual(['open-settings']);
	});

	test("the server's own words are under details", async () => {
		const message = 'm failed (500). It said: "<b>overloaded</b>". Try again.';
		const screen = await render(Answer, { ...props, message: failed('provider_error', message), actions: actions() });
		await expect.element(screen.getByText('m failed (500). Try again.')).toBeVisible();
		await expect.element(screen.getByText('<b>overloaded</b>')).not.toBeVisible();
		await screen.getByText('Details').click();
		await expect.element(screen.getByText('<b>overloaded</b>')).toBeVisible();
	});

	test('a wait that was asked for is counted down before it is tried again', async () => {
		const all = actions();
		const message = fullFor({ metadata: { retryAfterMs: 2_000 } });
		const screen = await render(Answer, { ...props, message, actions: all });
		await expect.element(screen.getByRole('button', { name: /^Retry in [12] s$/ })).toBeDisabled();
		await screen.getByRole('button', { name: 'Retry', exact: true }).click();
		expect(all.retry).toHaveBeenCalledOnce();
	});

	test('a wait that is over by now is not', async () => {
		const message = { ...fullFor({ metadata: { retryAfterMs: 50_000 } }), createdAt: '2026-01-01T00:00:00Z' };
		const screen = await render(Answer, { ...props, message, actions: actions() });
		await expect.element(screen.getByRole('button', { name: 'Retry', exact: true })).toBeEnabled();
	});

	test.each([
		['of days is not counted', { metadata: { retryAfterMs: 3 * 86_400_000 } }],
		['that an older version kept in its sentence alone is not', {}],
		['that is no number is not', { metadata: { retryAfterMs: 'soon' } }]
	])('a wait %s', async (_, rest) => {
		const screen = await render(Answer, { ...props, message: fullFor(rest), actions: actions() });
		await expect.element(screen.getByRole('button', { name: 'Retry', exact: true })).toBeEnabled();
		await expect.element(screen.getByText('Full. Wait 50 seconds.')).toBeVisible();
	});
});

test('what broke off says why, and can go on', async () => {
	const all = actions();
	const message = answer({
		status: 'interrupted',
		error: { code: 'interrupted', message: 'The server was restarted.' }
	});
	const screen = await render(Answer, { ...props, message, actions: all });
	await expect
		.element(screen.getByTestId('message-note'))
		.toMatchTextContent(/Interrupted – The server was restarted\./);
	await screen.getByRole('button', { name: 'Continue', exact: true }).click();
	expect(all.continue).toHaveBeenCalledOnce();
});
