/** Errors inside a stream that started well, in every format servers use. */
import { raw } from '../model-replies.ts';
import {
	always,
	answered,
	created,
	delta,
	failed,
	once,
	opened,
	SERVER_FAILED,
	TRY_AGAIN,
	type Fault
} from './fault.ts';

const FAILED = `${SERVER_FAILED} It said: "boom". ${TRY_AGAIN}`;
const FAILED_502 = `The server of test/model failed (502). It said: "boom". ${TRY_AGAIN}`;
const UNSAID = `${SERVER_FAILED} ${TRY_AGAIN}`;

/** The frame after some text: the text is shown and kept, and nothing is retried. */
function afterText(name: string, frame: object | string, code: string, message: string, status?: number): Fault {
	return {
		name: `error frame: ${name}`,
		does: `after some text sends ${JSON.stringify(frame)}`,
		replies: [raw(created, opened, delta('So far'), frame)],
		outcome: failed(code, message, { shown: 'So far', ...(status === undefined ? {} : { status }) })
	};
}

export const ERROR_FRAME_FAULTS: Fault[] = [
	afterText('flat', { type: 'error', code: 'server_error', message: 'boom' }, 'provider_error', FAILED),
	afterText('nested', { type: 'error', error: { code: 502, message: 'boom' } }, 'provider_error', FAILED_502, 502),
	afterText(
		'response.error',
		{ type: 'response.error', error: { code: 'server_error', message: 'boom' } },
		'provider_error',
		FAILED
	),
	afterText(
		'response.failed',
		{ type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'boom' } } },
		'provider_error',
		FAILED
	),
	afterText(
		'response.failed with an error_type',
		{ type: 'response.failed', response: { error: { code: 500, message: 'boom' }, error_type: 'rate_limit_exceeded' } },
		'rate_limited',
		'{host} has reached its request limit for test/model (500). It said: "boom". Wait a moment, or choose another model.',
		500
	),
	afterText(
		'of chat completions',
		{ error: { code: 502, message: 'boom' }, choices: [] },
		'provider_error',
		FAILED_502,
		502
	),
	afterText('with a text for an error', { type: 'error', error: 'boom' }, 'provider_error', FAILED),
	afterText('without a type, with a text', { error: 'boom' }, 'provider_error', FAILED),
	afterText(
		'named by its event field',
		'event: error\ndata: {"code":"server_error","message":"boom"}\n\n',
		'provider_error',
		FAILED
	),
	afterText('empty', { type: 'error' }, 'provider_error', UNSAID),
	afterText('response.failed without an error', { type: 'response.failed', response: null }, 'provider_error', UNSAID),
	afterText(
		'a completed that failed',
		{ type: 'response.completed', response: { status: 'failed', error: { message: 'boom' } } },
		'provider_error',
		FAILED
	),
	afterText(
		'moderation',
		{ type: 'error', error: { code: 403, message: 'boom', metadata: { error_type: 'content_policy_violation' } } },
		'moderation',
		'{host} refused this request to test/model (403), because of moderation or a limit of your key. It said: "boom". Rephrase it, or choose another model.',
		403
	),
	afterText(
		'words that are no JSON',
		'event: error\ndata: upstream exploded\n\n',
		'provider_error',
		`{host} sent an event that is not JSON. It said: "upstream exploded". ${TRY_AGAIN}`
	),
	afterText(
		'a message with markup and control characters',
		{ type: 'error', code: 'server_error', message: '<b>bo\u0000om</b>\u202e\u001b[31m' },
		'provider_error',
		`${SERVER_FAILED} It said: "boom". ${TRY_AGAIN}`
	),
	{
		name: 'error frame before the first delta, once',
		does: 'says that it is overloaded, then works',
		replies: once(raw(created, { type: 'error', code: 'overloaded_error', message: 'busy' })),
		outcome: answered()
	},
	{
		name: 'error frame before the first delta',
		does: 'says each time that it is overloaded',
		replies: always(raw(created, { type: 'error', error: { code: 'server_error', message: 'boom' } })),
		outcome: failed('provider_error', FAILED)
	},
	{
		name: 'error frame before the first delta, for good',
		does: 'says that the credits are used up',
		replies: [raw(created, { type: 'error', error: { code: 402, message: 'boom' } })],
		outcome: failed(
			'insufficient_credits',
			'Your account at {host} has no credits left for test/model (402). It said: "boom". Add credits, or choose a free model.',
			{ status: 402 }
		)
	}
];
