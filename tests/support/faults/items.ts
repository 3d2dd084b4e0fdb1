/** Replies whose items contradict themselves: duplicate or missing ids, incomplete calls, arguments of the wrong type. */
import { raw } from '../model-replies.ts';
import {
	answered,
	BROKE_OFF,
	completed,
	created,
	delta,
	failed,
	finished,
	opened,
	TRY_AGAIN,
	type Fault
} from './fault.ts';
import type { Outcome } from './fault.ts';

const ARGUMENTS = '{"skill":"demo","script":"say.sh","args":["hi"]}';
const DEEP = `{"skill":"demo","script":"say.sh","args":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
const PROTO = '{"__proto__":{"skill":"demo"},"constructor":{"prototype":{"script":"say.sh"}}}';
const MIDDLE = 'test/model stopped in the middle of a call. What arrived was saved. Try again.';
const HALF = ARGUMENTS.slice(0, 23);

interface CallFields {
	id?: string;
	call_id?: string;
	name?: string;
	arguments?: unknown;
}

const begin = (item: CallFields, output_index?: number) => ({
	type: 'response.output_item.added',
	output_index,
	item: { type: 'function_call', arguments: '', ...item }
});
const piece = (part: string, item_id?: string, output_index?: number) => ({
	type: 'response.function_call_arguments.delta',
	output_index,
	item_id,
	delta: part
});
const whole = (item: CallFields, output_index?: number) => ({
	type: 'response.output_item.done',
	output_index,
	item: { type: 'function_call', ...item }
});

const use = { id: 'fc_1', call_id: 'call_1', name: 'use_skill' };

/** The script ran once and the answer continues. */
const ran: Outcome = {
	text: '',
	error: null,
	calls: [{ name: 'use_skill', arguments: ARGUMENTS }],
	tools: [{ name: 'use_skill', status: 'done' }]
};
/** The call is complete but invalid: the model is told. */
const misused = (args: string): Outcome => ({
	text: '',
	error: null,
	calls: [{ name: 'use_skill', arguments: args }],
	tools: [{ name: 'use_skill', status: 'failed' }]
});
/** The call or its reply was incomplete: nothing runs. */
const dropped = (calls: Outcome['calls'] = []): Outcome => ({
	...failed('stream_truncated', BROKE_OFF),
	calls,
	tools: [{ name: 'use_skill', status: 'interrupted' }]
});

export const ITEM_FAULTS: Fault[] = [
	{
		name: 'the same call twice',
		does: 'finishes one call twice, and repeats it in the terminal output',
		replies: [
			raw(
				begin(use, 0),
				piece(ARGUMENTS, 'fc_1', 0),
				whole({ ...use, arguments: ARGUMENTS }, 0),
				whole({ ...use, id: 'fc_2', arguments: ARGUMENTS }, 1),
				{
					type: 'response.completed',
					response: { output: [{ type: 'function_call', ...use, id: 'fc_3', arguments: ARGUMENTS }] }
				}
			)
		],
		outcome: ran
	},
	{
		name: 'duplicate item ids',
		does: 'gives two messages one id and one place',
		replies: [
			raw(created, opened, delta('One. '), finished('One. '), opened, delta('Two.'), finished('Two.'), completed)
		],
		outcome: answered('One. Two.')
	},
	{
		name: 'missing ids',
		does: 'leaves out every id, index and number of a call',
		replies: [
			raw(
				{ type: 'response.output_item.added', item: { type: 'function_call', name: 'use_skill', arguments: '' } },
				piece(HALF),
				piece(ARGUMENTS.slice(HALF.length)),
				{ type: 'response.output_item.done', item: { type: 'function_call', name: 'use_skill', arguments: ARGUMENTS } },
				completed
			)
		],
		outcome: ran
	},
	{
		name: 'text without ids or a beginning',
		does: 'sends deltas that belong to no item, and no finished item',
		replies: [
			raw(
				{ type: 'response.output_text.delta', delta: 'Just ' },
				{ type: 'response.output_text.delta', delta: 'text.' },
				completed
			)
		],
		outcome: answered('Just text.')
	},
	{
		name: 'ids that change from event to event',
		does: 'names one call differently each time it is mentioned',
		replies: [
			raw(
				begin(use, 0),
				piece(HALF, 'other_1', 0),
				piece(ARGUMENTS.slice(HALF.length), 'other_2', 0),
				whole({ ...use, id: 'other_3', arguments: ARGUMENTS }, 0),
				completed
			)
		],
		outcome: ran
	},
	{
		name: 'arguments without a beginning',
		does: 'streams the arguments of a call that it never opened',
		replies: [raw(piece(HALF, 'fc_1', 0), whole({ ...use, arguments: ARGUMENTS }, 0), completed)],
		outcome: ran
	},
	{
		name: 'arguments only as deltas',
		does: 'finishes the call without repeating its arguments',
		replies: [raw(begin(use, 0), piece(ARGUMENTS, 'fc_1', 0), whole({ ...use, arguments: '' }, 0), completed)],
		outcome: ran
	},
	{
		name: 'arguments as an object',
		does: 'sends JSON where a text with JSON belongs',
		replies: [raw(begin(use, 0), whole({ ...use, arguments: JSON.parse(ARGUMENTS) as unknown }, 0), completed)],
		outcome: ran
	},
	{
		name: 'arguments nested 20,000 deep',
		does: 'calls a tool with lists in lists in lists',
		replies: [raw(begin(use, 0), whole({ ...use, arguments: DEEP }, 0), completed)],
		outcome: misused(DEEP)
	},
	{
		name: 'arguments as an object nested 20,000 deep',
		does: 'sends such lists where a text with JSON belongs',
		replies: [
			raw(
				begin(use, 0),
				`data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"call_1","name":"use_skill","arguments":${DEEP}}}\n\n`,
				completed
			)
		],
		outcome: {
			...dropped(),
			...failed('provider_error', `{host} sent an event that is nested too deeply. ${TRY_AGAIN}`)
		}
	},
	{
		name: 'arguments that name __proto__',
		does: 'tries to give every object of the server a property',
		replies: [raw(begin(use, 0), whole({ ...use, arguments: PROTO }, 0), completed)],
		outcome: misused(PROTO)
	},
	{
		name: 'arguments cut in half by the model',
		does: 'finishes a call whose arguments are half a JSON text',
		replies: [raw(begin(use, 0), piece(HALF, 'fc_1', 0), whole({ ...use, arguments: HALF }, 0), completed)],
		outcome: misused(HALF)
	},
	{
		name: 'arguments cut in half by the end of the stream',
		does: 'ends in the middle of the arguments',
		replies: [raw(begin(use, 0), piece(HALF, 'fc_1', 0))],
		outcome: dropped()
	},
	{
		name: 'arguments cut in half by a terminal event',
		does: 'completes while a call is still open',
		replies: [
			raw(created, opened, delta('I will.'), finished('I will.'), begin(use, 1), piece(HALF, 'fc_1', 1), completed)
		],
		outcome: {
			...failed('stream_truncated', MIDDLE, { shown: 'I will.' }),
			tools: [{ name: 'use_skill', status: 'interrupted' }]
		}
	},
	{
		name: 'a whole call and no terminal event',
		does: 'finishes a call, then ends the stream',
		replies: [raw(begin(use, 0), whole({ ...use, arguments: ARGUMENTS }, 0))],
		outcome: dropped([{ name: 'use_skill', arguments: ARGUMENTS }])
	},
	{
		name: 'a call without a name',
		does: 'calls nothing',
		replies: [raw(whole({ id: 'fc_1', call_id: 'call_1', arguments: '{}' }, 0), completed)],
		outcome: { text: '', error: null, calls: [{ name: '', arguments: '{}' }], tools: [{ name: '', status: 'failed' }] }
	},
	{
		name: 'only a call that never became whole',
		does: 'completes with nothing but half a call',
		replies: [raw(created, begin(use, 0), piece(HALF, 'fc_1', 0), completed)],
		outcome: { ...dropped(), ...failed('stream_truncated', MIDDLE) }
	},
	{
		name: 'tokens used up in the middle of arguments',
		does: 'is incomplete in the middle of a call',
		replies: [
			raw(created, begin(use, 0), piece(HALF, 'fc_1', 0), {
				type: 'response.incomplete',
				response: { status: 'incomplete', output: [], incomplete_details: { reason: 'max_output_tokens' } }
			})
		],
		outcome: {
			...dropped(),
			...failed(
				'stream_truncated',
				'test/model stopped in the middle of a call (max_output_tokens). What arrived was saved. Try again.'
			)
		}
	}
];
