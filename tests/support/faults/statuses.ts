/** Requests that are refused: every status servers use, with all kinds of bodies and `Retry-After`. */
import { status } from '../model-replies.ts';
import { always, answered, failed, NEVER_BEGAN, once, SERVER_FAILED, TRY_AGAIN, type Fault } from './fault.ts';

const body = (code: number | string, message: string, more: object = {}) => ({ error: { code, message, ...more } });

/** Refused once; not retried. */
function refused(code: number, said: string, name: string, sentence: string, advice: string): Fault {
	const message = `${sentence} It said: "${said}". ${advice}`;
	return {
		name: `status ${code}`,
		does: `answers ${code} "${said}"`,
		replies: [status(code, body(code, said))],
		outcome: failed(name, message, { status: code })
	};
}

/** Fails every time, as when a provider is down. */
function down(code: number, said: string): Fault {
	const message = `The server of test/model failed (${code}). It said: "${said}". ${TRY_AGAIN}`;
	return {
		name: `status ${code}`,
		does: `answers ${code} "${said}" each time`,
		replies: always(status(code, body(code, said))),
		outcome: failed('provider_error', message, { status: code })
	};
}

/** Fails temporarily. */
function passing(name: string, does: string, ...replies: ReturnType<typeof status>[]): Fault {
	return { name, does, replies: once(...replies), outcome: answered() };
}

const TOO_LONG = 'This conversation is too long for test/model';
const NEW_ONE = 'Start a new conversation, or choose a model with a larger context.';
const NO_MORE = '{host} has reached its request limit for test/model (429).';
const NGINX = '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>';
const html = { 'content-type': 'text/html' };

export const STATUS_FAULTS: Fault[] = [
	refused(
		400,
		'Invalid input',
		'provider_error',
		'{host} rejected the request (400).',
		'Choose another model, or check the base URL.'
	),
	refused(
		401,
		'No auth credentials found',
		'unauthorized',
		'{host} needs an API key (401).',
		'Add one in the settings, or as OPENROUTER_API_KEY.'
	),
	refused(
		402,
		'Insufficient credits',
		'insufficient_credits',
		'Your account at {host} has no credits left for test/model (402).',
		'Add credits, or choose a free model.'
	),
	refused(
		403,
		'Flagged',
		'moderation',
		'{host} refused this request to test/model (403), because of moderation or a limit of your key.',
		'Rephrase it, or choose another model.'
	),
	refused(
		404,
		'No endpoints found',
		'model_not_found',
		'{host} couldn’t find test/model (404).',
		'Choose another model, or check that the base URL is a server with the Responses API.'
	),
	refused(413, 'Payload too large', 'context_length_exceeded', `${TOO_LONG} (413).`, NEW_ONE),
	down(408, 'Request timeout'),
	down(500, 'Internal error'),
	down(502, 'Provider returned error'),
	down(503, 'No instances available'),
	down(529, 'Overloaded'),
	{
		name: 'status 429',
		does: 'answers 429 each time, without Retry-After',
		replies: always(status(429, body(429, 'Slow down'))),
		outcome: failed('rate_limited', `${NO_MORE} It said: "Slow down". Wait a moment, or choose another model.`, {
			status: 429
		})
	},
	passing('status 503 once', 'answers 503, then works', status(503, body(503, 'Starting'))),
	passing('Retry-After in seconds', 'asks for no wait, in seconds', status(429, '', { 'retry-after': '0' })),
	passing(
		'Retry-After as a date',
		'asks for a wait until a moment that has passed',
		status(429, '', { 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' })
	),
	passing('Retry-After that is nonsense', 'asks to wait "soon"', status(503, '', { 'retry-after': 'soon' })),
	passing(
		'availability.retry_after',
		'asks for a short wait in the body',
		status(503, body(503, 'busy', { availability: { retry_after: 0.001 } }))
	),
	{
		name: 'Retry-After of 90 seconds',
		does: 'asks for a longer wait than anybody should sit through',
		replies: [status(429, '', { 'retry-after': '90' })],
		outcome: {
			text: '',
			error: {
				code: 'rate_limited',
				status: 429,
				retryAfterMs: 90_000,
				message: `${NO_MORE} Wait 90 seconds. Then try again, or choose another model.`
			}
		}
	},
	{
		name: 'Retry-After of a week',
		does: 'asks for a week, which no timer may be set to',
		replies: [status(503, '', { 'retry-after': '604800' })],
		outcome: {
			text: '',
			error: {
				code: 'provider_error',
				status: 503,
				retryAfterMs: 604_800_000,
				message: 'The server of test/model failed (503). Wait 7 days. Then try again, or choose another model.'
			}
		}
	},
	{
		name: 'a context that is too long, as 400',
		does: 'answers 400 with the code context_length_exceeded',
		replies: [status(400, body('context_length_exceeded', 'Too many tokens'))],
		outcome: failed('context_length_exceeded', `${TOO_LONG} (400). It said: "Too many tokens". ${NEW_ONE}`, {
			status: 400
		})
	},
	{
		name: 'an error page of a proxy',
		does: 'answers 502 in HTML each time',
		replies: always(status(502, NGINX, html)),
		outcome: failed(
			'provider_error',
			`The server of test/model failed (502). It said: "502 Bad Gateway 502 Bad Gateway". ${TRY_AGAIN}`,
			{ status: 502 }
		)
	},
	{
		name: 'status 500 with an empty body',
		does: 'answers 500 and nothing else, each time',
		replies: always(status(500)),
		outcome: failed('provider_error', `${SERVER_FAILED.replace('.', ' (500).')} ${TRY_AGAIN}`, { status: 500 })
	},
	{
		name: 'an error whose cause is in metadata.raw',
		does: 'answers 400 with the words of the provider in metadata',
		replies: [
			status(400, body(400, 'Provider returned error', { metadata: { raw: '{"error":{"message":"bad schema"}}' } }))
		],
		outcome: failed(
			'provider_error',
			'{host} rejected the request (400). It said: "Provider returned error: bad schema". Choose another model, or check the base URL.',
			{ status: 400 }
		)
	},
	{
		name: 'a redirect',
		does: 'sends the request, and with it the key, to another server',
		replies: [status(307, '', { location: 'http://elsewhere.test/v1/responses' })],
		outcome: failed(
			'provider_error',
			'{host} redirects to http://elsewhere.test/v1/responses. Redirects aren’t followed, to protect your key. Check the base URL.',
			{ status: 307 }
		)
	},
	{
		name: 'status 204',
		does: 'answers that there is nothing to say, each time',
		replies: always((exchange) => {
			exchange.begin(204, {});
			exchange.end();
		}),
		outcome: failed('stream_truncated', NEVER_BEGAN)
	}
];
