import { describe, expect, test } from 'vitest';
import { faultOf, readErrorDetail, excerpt, backoffDelayMs, MAX_RETRY_DELAY_MS, wait } from './faults.ts';
import { parseRetryAfterMs } from '../../../shared/errors.ts';

const context = { model: 'acme/large', host: 'models.example', hasKey: true };
const read = (payload: unknown, http?: { status?: number; retryAfter?: string }) =>
	faultOf(readErrorDetail(payload), context, http);

describe('the errors of model servers', () => {
	const message = 'Slow down';
	test.each([
		['a body', { error: { code: 429, message } }],
		['a body with a text as code', { error: { code: '429', message } }],
		[
			'a body with a type in its metadata',
			{ error: { code: 400, message, metadata: { error_type: 'rate_limit_exceeded' } } }
		],
		['an error frame', { type: 'error', code: 'rate_limit_exceeded', message }],
		['an error frame that holds an error', { type: 'error', error: { type: 'rate_limit_error', message } }],
		['response.error', { type: 'response.error', error: { code: 'rate_limit_exceeded', message } }],
		['response.failed', { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message } } }],
		[
			'response.failed with an error_type',
			{
				type: 'response.failed',
				response: { error: { code: 'server_error', message }, error_type: 'rate_limit_exceeded' }
			}
		],
		['an error among choices', { error: { code: 429, message }, choices: [] }]
	])('%s is understood', (_name, payload) => {
		const fault = read(payload);
		expect(fault.error.code).toBe('rate_limited');
		expect(fault.error.message).toContain(message);
		expect(fault.isRetryable).toBe(true);
	});

	test('an error that is only a text is understood (Ollama)', () => {
		const { error } = read({ error: 'model "x" not found' }, { status: 404 });
		expect(error).toMatchObject({ code: 'model_not_found', status: 404 });
		expect(error.message).toContain('model "x" not found');
	});

	test.each([
		[400, 'provider_error', false],
		[401, 'unauthorized', false],
		[402, 'insufficient_credits', false],
		[403, 'moderation', false],
		[404, 'model_not_found', false],
		[408, 'provider_error', true],
		[409, 'provider_error', true],
		[413, 'context_length_exceeded', false],
		[429, 'rate_limited', true],
		[500, 'provider_error', true],
		[502, 'provider_error', true],
		[503, 'provider_error', true]
	])('status %i is %s, asked again: %s', (status, code, isRetryable) => {
		const fault = read(undefined, { status });
		expect(fault.error).toMatchObject({ code, status });
		expect(fault.isRetryable).toBe(isRetryable);
	});

	test.each([
		['a 400 with a code', { error: { code: 'context_length_exceeded', message: 'too long' } }],
		['a 400 in words', { error: { code: 400, message: "This endpoint's maximum context length is 8192 tokens." } }],
		['llama.cpp', { error: { code: 400, type: 'exceed_context_size_error', message: 'the request exceeds' } }],
		[
			'the words of a provider',
			{
				error: {
					code: 400,
					message: 'Provider returned error',
					metadata: { raw: '{"error":{"message":"prompt is too long"}}' }
				}
			}
		]
	])('a conversation that is too long is told by %s', (_name, payload) => {
		expect(read(payload, { status: 400 }).error.code).toBe('context_length_exceeded');
	});

	test('a 429 for want of money is not asked again', () => {
		const fault = read({ error: { code: 'insufficient_quota', message: 'You exceeded your quota' } }, { status: 429 });
		expect(fault.error.code).toBe('insufficient_credits');
		expect(fault.isRetryable).toBe(false);
	});

	test('the longer of Retry-After and availability.retry_after is asked for, and other models are named', () => {
		const payload = {
			error: { code: 503, message: 'busy', availability: { retry_after: 9, fallback_models: ['a/b', 'c/d'] } }
		};
		const { error } = read(payload, { status: 503, retryAfter: '4' });
		expect(error.retryAfterMs).toBe(9_000);
		expect(error.message).toContain('a/b, c/d');
	});

	test('without a key the advice is to enter one', () => {
		const { error } = faultOf(readErrorDetail(undefined), { ...context, hasKey: false }, { status: 401 });
		expect(error.message).toContain('needs an API key');
	});

	test('payloads of any shape are a provider_error, never a throw', () => {
		for (const payload of [
			null,
			7,
			'x',
			[],
			{},
			{ error: null },
			{ error: [] },
			{ response: 1 },
			{ error: { code: 'constructor' } }
		]) {
			expect(read(payload).error.code).toBe('provider_error');
		}
	});

	test('text of others is one short line without markup and invisible characters', () => {
		expect(excerpt('<html><style>a{}</style>\n<h1>Bad\u202e\u0007 gateway</h1></html>')).toBe('Bad gateway');
		expect(excerpt('x'.repeat(1_000))).toHaveLength(301);
	});
});

describe('back-off', () => {
	test('doubles, with jitter between half and all of it, up to the cap', () => {
		expect([1, 2, 3].map((attempt) => backoffDelayMs(attempt, 500, () => 0))).toEqual([250, 500, 1000]);
		expect([1, 2, 3].map((attempt) => backoffDelayMs(attempt, 500, () => 1))).toEqual([500, 1000, 2000]);
		expect(backoffDelayMs(40, 500, () => 1)).toBe(MAX_RETRY_DELAY_MS);
	});

	test('Retry-After is read as seconds and as an HTTP date; anything else says nothing', () => {
		const now = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');
		expect(parseRetryAfterMs('7', now)).toBe(7_000);
		expect(parseRetryAfterMs(1.5, now)).toBe(1_500);
		expect(parseRetryAfterMs('Wed, 21 Oct 2026 07:28:09 GMT', now)).toBe(9_000);
		expect(parseRetryAfterMs('Wed, 21 Oct 2026 07:00:00 GMT', now)).toBe(0);
		for (const value of ['', 'soon', '-5', null, undefined, Number.NaN, -1, {}]) {
			expect(parseRetryAfterMs(value, now)).toBeUndefined();
		}
	});

	test('a wait ends when its time has come, or at once when the signal fires', async () => {
		expect(await wait(1, new AbortController().signal)).toBe(true);
		expect(await wait(600_000, AbortSignal.abort())).toBe(false);
		const controller = new AbortController();
		const waiting = wait(600_000, controller.signal);
		controller.abort();
		expect(await waiting).toBe(false);
	});
});
