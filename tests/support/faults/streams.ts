/** Streams whose bytes are split, packed or framed in ways that break a careless reader. */
import { raw, type Handler } from '../model-replies.ts';
import { answered, BROKE_OFF, completed, created, delta, failed, finished, opened, says } from './fault.ts';
import { stream, TRY_AGAIN, type Fault } from './fault.ts';

const WORDS = 'Grüße, 東京 🌤!';

/** Bytes in chunks of `size`, each its own HTTP chunk; a client may still read several at once. */
function inPieces(bytes: Uint8Array, size: number): Uint8Array[] {
	return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
		bytes.subarray(index * size, (index + 1) * size)
	);
}

/** A body split in two at this position. */
function cutAt(body: string, mark: string, inside: number): Uint8Array[] {
	const bytes = Buffer.from(body);
	const at = bytes.indexOf(mark) + inside;
	return [bytes.subarray(0, at), bytes.subarray(at)];
}

/** `count` one-character deltas, a thousand per write: 200,000 writes would only measure the server. */
function manyDeltas(count: number): Handler {
	return async ({ begin, write, end }) => {
		begin();
		const thousand = stream(Array.from({ length: 1000 }, () => delta('x')));
		await write(stream([created, opened]));
		for (let sent = 0; sent < count; sent += 1000) await write(thousand);
		end(stream([finished('x'.repeat(count)), completed]));
	};
}

const good = stream(says(WORDS));
const MB = 1024 * 1024;

export const STREAM_FAULTS: Fault[] = [
	{
		name: 'one byte at a time',
		does: 'sends every byte as a chunk of its own',
		replies: [raw(...inPieces(Buffer.from(good), 1))],
		outcome: answered(WORDS)
	},
	{
		name: 'a cut inside UTF-8',
		does: 'cuts the stream inside a character of four bytes',
		replies: [raw(...cutAt(good, '🌤', 2))],
		outcome: answered(WORDS)
	},
	{
		name: 'a cut inside \\r\\n',
		does: 'ends its lines with \\r\\n and cuts the stream between the two',
		replies: [raw(...cutAt(stream(says(WORDS), '\r\n'), '\r\n', 1))],
		outcome: answered(WORDS)
	},
	{
		name: 'one byte at a time, with \\r\\n',
		does: 'ends its lines with \\r\\n and sends every byte as a chunk of its own',
		replies: [raw(...inPieces(Buffer.from(stream(says(WORDS), '\r\n')), 1))],
		outcome: answered(WORDS)
	},
	{
		name: 'lines that end in \\r',
		does: 'ends its lines as very old computers did',
		replies: [raw(stream(says(WORDS), '\r'))],
		outcome: answered(WORDS)
	},
	{
		name: 'a byte order mark',
		does: 'begins its stream with one',
		replies: [raw(`\ufeff${good}`)],
		outcome: answered(WORDS)
	},
	{
		name: 'bytes that are not UTF-8',
		does: 'sends a broken byte inside the text',
		replies: [raw(Buffer.from(stream(says('caf\u00e9')), 'latin1'))],
		outcome: answered('caf\ufffd')
	},
	{
		name: 'an emoji cut into two deltas',
		does: 'sends the halves of a surrogate pair one by one',
		replies: [raw(created, opened, delta('Sun \ud83c'), delta('\udf24'), finished('Sun 🌤'), completed)],
		outcome: answered('Sun 🌤')
	},
	{
		name: 'half an emoji at the end',
		does: 'ends after the first half of a surrogate pair',
		replies: [raw(created, opened, delta('Sun \ud83c'))],
		outcome: failed('stream_truncated', BROKE_OFF, { shown: 'Sun \ud83c' })
	},
	{
		name: 'data in several lines',
		does: 'spreads the JSON of an event over lines, as the format allows',
		replies: [raw(`event: x\nid: 1\nretry: 5\n${stream(says(WORDS)).replaceAll(',"', ',\ndata: "')}`)],
		outcome: answered(WORDS)
	},
	{
		name: 'no blank line at the end',
		does: 'ends right after its terminal event',
		replies: [raw(good.trimEnd())],
		outcome: answered(WORDS)
	},
	{
		name: 'a truncated frame',
		does: 'ends in the middle of the JSON of an event',
		replies: [raw(stream([created, opened, delta('So far')]), 'data: {"type":"response.output_te')],
		outcome: failed('stream_truncated', BROKE_OFF, { shown: 'So far' })
	},
	{
		name: 'a frame that is not JSON',
		does: 'sends a broken event in the middle and goes on as if nothing had happened',
		replies: [raw(created, opened, delta('So far'), 'data: {oops\n\n', delta(' and on'), completed)],
		outcome: failed('provider_error', `{host} sent an event that is not JSON. It said: "{oops". ${TRY_AGAIN}`, {
			shown: 'So far'
		})
	},
	{
		name: 'frames that are JSON but no events',
		does: 'sends null, a number, a text, a list and an empty object',
		replies: [raw('data: null\n\ndata: 7\n\ndata: "x"\n\ndata: []\n\ndata: {}\n\ndata:\n\n', ...says(WORDS))],
		outcome: answered(WORDS)
	},
	{
		name: 'unknown events',
		does: 'mixes in events, fields and items that nobody has heard of',
		replies: [
			raw(
				{ type: 'response.telemetry.delta', delta: 'not text', output_index: 0 },
				{ type: 'ping' },
				{ type: 'response.output_item.added', output_index: 5, item: { type: 'hologram', id: 'h' } },
				{ type: 7, delta: 'x' },
				...says(WORDS).map((frame) => ({ ...frame, surprise: { deep: [1] } })),
				{ type: 'response.afterthought' }
			)
		],
		outcome: answered(WORDS)
	},
	{
		name: 'events whose fields have wrong types',
		does: 'sends numbers for texts, texts for objects, and nulls',
		replies: [
			raw(
				{ type: 'response.output_text.delta', output_index: 'zero', delta: 5 },
				{ type: 'response.output_text.delta', delta: null },
				{ type: 'response.output_item.added', item: 'message' },
				{ type: 'response.output_item.done', item: null },
				{ type: 'response.function_call_arguments.delta', delta: {} },
				...says(WORDS)
			)
		],
		outcome: answered(WORDS)
	},
	{
		name: 'a terminal event twice',
		does: 'completes, says more, completes again, then fails',
		replies: [raw(...says(WORDS), delta(' more'), completed, { type: 'error', message: 'late' })],
		outcome: answered(WORDS)
	},
	{
		name: '[DONE] without a terminal event',
		does: 'says [DONE] in place of response.completed',
		replies: [raw(created, opened, delta('So far'), finished('So far'), 'data: [DONE]\n\n')],
		outcome: failed('stream_truncated', BROKE_OFF, { shown: 'So far' })
	},
	{
		name: '200,000 deltas',
		does: 'sends its text a character at a time',
		isLarge: true,
		replies: [manyDeltas(200_000)],
		outcome: answered('x'.repeat(200_000))
	},
	{
		name: 'a single frame of 5 MB',
		does: 'sends one delta of five megabytes',
		isLarge: true,
		replies: [raw(...says('y'.repeat(5 * MB)))],
		outcome: answered('y'.repeat(5 * MB))
	},
	{
		name: 'a single frame of 20 MB',
		does: 'sends one delta that is longer than any answer',
		isLarge: true,
		replies: [raw(created, opened, delta('So far'), `data: {"type":"x","x":"${'z'.repeat(20 * MB)}"}\n\n`, completed)],
		outcome: failed('provider_error', `{host} sent too much data. ${TRY_AGAIN}`, { shown: 'So far' })
	},
	{
		name: 'an item nested 20,000 deep',
		does: 'finishes a message that holds lists in lists in lists',
		replies: [
			raw(
				created,
				opened,
				delta('Deep.'),
				`data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Deep.","annotations":${'['.repeat(20_000)}${']'.repeat(20_000)}}]}}\n\n`,
				completed
			)
		],
		outcome: failed('provider_error', `{host} sent an event that is nested too deeply. ${TRY_AGAIN}`, {
			shown: 'Deep.'
		})
	}
];
