/** Responses whose connection breaks, ends early or goes silent. */
import { gzipSync } from 'node:zlib';
import { hang, raw, reset, text, type Handler } from '../model-replies.ts';
import { always, answered, BROKE_OFF, created, delta, failed, finished, NEVER_BEGAN, once, opened } from './fault.ts';
import { says, stream, TRY_AGAIN, type Fault } from './fault.ts';

const BROKEN = 'The connection to {host} broke during the reply (ECONNRESET). What arrived was saved. Try again.';
const CLOSED = 'The connection to {host} broke during the reply. What arrived was saved. Try again.';
const SILENT =
	'{host} didn’t respond for 1 second. Try again. If the model is still loading, wait, or choose another one.';
const SSE = { 'content-type': 'text/event-stream' };

const begun = [created, opened, delta('So '), delta('far')];

/** A body with its own headers. */
function sent(headers: Record<string, string>, body: string | Uint8Array): Handler {
	return async ({ begin, write, end }) => {
		begin(200, headers);
		await write(body);
		end();
	};
}

/** Starts a call of `use_skill` and leaves its arguments unfinished. */
const halfCall = [
	{
		type: 'response.output_item.added',
		output_index: 0,
		item: { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'use_skill', arguments: '' }
	},
	{ type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta: '{"skill":"demo","scr' }
];

const zipped = gzipSync(stream(says('Un', 'packed.')));

export const CONNECTION_FAULTS: Fault[] = [
	{
		name: 'a reset before the headers',
		does: 'resets the connection each time instead of answering',
		replies: always(reset()),
		outcome: failed(
			'unreachable',
			'Couldn’t connect to {host}: it closed the connection. Check that the server is running, the base URL and your network.'
		)
	},
	{
		name: 'a reset before the first delta',
		does: 'resets the connection after response.created each time',
		replies: always(reset(created)),
		outcome: failed('stream_truncated', `The connection to {host} broke during the reply (ECONNRESET). ${TRY_AGAIN}`)
	},
	{
		name: 'a reset before the first delta, once',
		does: 'resets the connection after response.created, then works',
		replies: once(reset(created)),
		outcome: answered()
	},
	{
		name: 'a reset after the first delta',
		does: 'resets the connection in the middle of the text',
		replies: (seen) => [reset(...begun, seen)],
		outcome: failed('stream_truncated', BROKEN, { shown: 'So far' })
	},
	{
		name: 'a reset in the middle of arguments',
		does: 'resets the connection while a call is streamed',
		replies: (seen) => [reset(...halfCall, seen)],
		outcome: {
			...failed('stream_truncated', BROKEN),
			tools: [{ name: 'use_skill', status: 'interrupted' }]
		}
	},
	{
		name: 'a stall before the first byte',
		does: 'takes the request and never answers',
		replies: [hang()],
		isStall: true,
		outcome: failed('timeout', SILENT)
	},
	{
		name: 'a stall after the headers',
		does: 'sends its headers and a comment, then nothing',
		replies: [hang(': OPENROUTER PROCESSING\n\n')],
		isStall: true,
		outcome: failed('timeout', SILENT)
	},
	{
		name: 'a stall in the middle',
		does: 'falls silent after some text',
		replies: [hang(...begun)],
		isStall: true,
		outcome: failed('timeout', SILENT, { shown: 'So far' })
	},
	{
		name: 'a stall inside an error body',
		does: 'answers 400 and half a body, then falls silent',
		isStall: true,
		replies: [
			async ({ begin, write, request }) => {
				begin(400, { 'content-type': 'application/json' });
				await write('{"error":{"mess');
				await request.closed;
			}
		],
		outcome: failed(
			'provider_error',
			'{host} rejected the request (400). Choose another model, or check the base URL.',
			{ status: 400 }
		)
	},
	{
		name: 'a stall after the terminal event',
		does: 'keeps the connection open after the end of its answer',
		isStall: true,
		replies: [hang(...says('All ', 'said.'))],
		outcome: answered('All said.')
	},
	{
		name: 'no terminal event',
		does: 'ends the stream, politely, in the middle of the text',
		replies: [raw(...begun)],
		outcome: failed('stream_truncated', BROKE_OFF, { shown: 'So far' })
	},
	{
		name: 'no terminal event after a finished message',
		does: 'ends the stream when its only message is complete',
		replies: [raw(...begun, finished('So far'))],
		outcome: failed('stream_truncated', BROKE_OFF, { shown: 'So far' })
	},
	{
		name: 'an empty body, once',
		does: 'answers 200 with no body, then works',
		replies: once(raw()),
		outcome: answered()
	},
	{
		name: 'an empty body',
		does: 'answers 200 with no body each time',
		replies: always(raw()),
		outcome: failed('stream_truncated', NEVER_BEGAN)
	},
	{
		name: 'nothing but comments',
		does: 'sends keep-alives and ends, each time',
		replies: always(raw(': OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n')),
		outcome: failed('stream_truncated', NEVER_BEGAN)
	},
	{
		name: 'a body shorter than its length',
		does: 'announces 10,000 bytes and closes after some text',
		replies: (seen) => [
			async ({ begin, write, wait, end }) => {
				begin(200, { ...SSE, 'content-length': '10000', connection: 'close' });
				await write(stream(begun));
				if (await wait(seen)) end();
			}
		],
		outcome: failed('stream_truncated', CLOSED, { shown: 'So far' })
	},
	{
		name: 'gzip',
		does: 'packs its stream although it was asked not to',
		replies: [sent({ ...SSE, 'content-encoding': 'gzip' }, zipped)],
		outcome: answered('Unpacked.')
	},
	{
		name: 'gzip that breaks off before anything could be read',
		does: 'sends half of a packed stream, then works',
		replies: once(sent({ ...SSE, 'content-encoding': 'gzip' }, zipped.subarray(0, 12))),
		outcome: answered()
	},
	{
		name: 'gzip that is none, once',
		does: 'calls plain text packed, then works',
		replies: once(sent({ ...SSE, 'content-encoding': 'gzip' }, stream(says('Plain.')))),
		outcome: answered()
	},
	{
		name: 'gzip that nobody announced',
		does: 'packs its stream and does not say so',
		replies: [sent(SSE, zipped)],
		outcome: failed(
			'provider_error',
			'{host} sent something that isn’t a response of the Responses API. Check the base URL.'
		)
	},
	{
		name: 'two broken answers, then a good one',
		does: 'resets, ends early, then works',
		replies: [reset(), raw(created), text('Third time.')],
		outcome: answered('Third time.')
	}
];
