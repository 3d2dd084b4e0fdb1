/** Replies that end without content or too early, or whose usage numbers make no sense. */
import { raw, response, text } from '../model-replies.ts';
import { answered, completed, created, delta, failed, finished, opened, type Fault } from './fault.ts';

export const ENDING_FAULTS: Fault[] = [
	{
		name: 'an answer of nothing',
		does: 'completes without any output',
		replies: [raw(created, completed)],
		outcome: failed('empty_response', 'test/model sent an empty reply. Try again, or choose another model.')
	},
	{
		name: 'a message of nothing',
		does: 'completes with a message that holds no text',
		replies: [raw(created, opened, finished(''), completed)],
		outcome: failed('empty_response', 'test/model sent an empty reply. Try again, or choose another model.')
	},
	{
		name: 'tokens used up before the first word',
		does: 'is incomplete before anything was said',
		replies: [response([], { incomplete: 'max_output_tokens' })],
		outcome: failed(
			'empty_response',
			'test/model sent an empty reply (max_output_tokens). Try again, or choose another model.'
		)
	},
	{
		name: 'tokens used up in the middle',
		does: 'is incomplete after some text',
		replies: [response([text('Once upon')], { incomplete: 'max_output_tokens' })],
		outcome: { ...answered('Once upon'), incompleteReason: 'max_output_tokens' }
	},
	{
		name: 'figures that are no numbers',
		does: 'sends texts and nulls as its usage',
		replies: [
			raw(created, opened, delta('Ok.'), finished('Ok.'), {
				type: 'response.completed',
				response: { output: null, usage: { input_tokens: 'many', output_tokens: null, cost: 'NaN' } }
			})
		],
		outcome: answered('Ok.')
	},
	{
		name: 'a terminal event without a response',
		does: 'completes with null',
		replies: [raw(created, opened, delta('Ok.'), finished('Ok.'), { type: 'response.completed', response: null })],
		outcome: answered('Ok.')
	}
];
