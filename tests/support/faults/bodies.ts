/** Responses that aren't the event stream that was asked for, or don't say that they are. */
import { raw, status } from '../model-replies.ts';
import { answered, failed, messageItem, says, stream, type Fault } from './fault.ts';

const WORDS = 'Good evening.';
const NO_RESPONSE = '{host} sent something that isn’t a response of the Responses API.';

const good = stream(says(WORDS));

export const BODY_FAULTS: Fault[] = [
	{
		name: 'HTML instead of JSON',
		does: 'answers 200 with the page of a proxy',
		replies: [status(200, '<!doctype html><h1>Log in to the Wi-Fi</h1>', { 'content-type': 'text/html' })],
		outcome: failed('provider_error', `${NO_RESPONSE} It said: "Log in to the Wi-Fi". Check the base URL.`)
	},
	{
		name: 'HTML that calls itself an event stream',
		does: 'answers with a page under the wrong content type',
		replies: [raw('<!doctype html><h1>Log in to the Wi-Fi</h1>')],
		outcome: failed('provider_error', `${NO_RESPONSE} It said: "Log in to the Wi-Fi". Check the base URL.`)
	},
	{
		name: 'an event stream that calls itself JSON',
		does: 'answers properly, under the content type application/json',
		replies: [status(200, good, { 'content-type': 'application/json' })],
		outcome: answered(WORDS)
	},
	{
		name: 'an event stream without a content type',
		does: 'answers properly and does not say what it is',
		replies: [
			({ begin, end }) => {
				begin(200, {});
				end(good);
			}
		],
		outcome: answered(WORDS)
	},
	{
		name: 'a whole response in place of a stream',
		does: 'ignores that a stream was asked for',
		replies: [status(200, { object: 'response', status: 'completed', output: [messageItem(WORDS)] })],
		outcome: answered(WORDS)
	},
	{
		name: 'an error with status 200',
		does: 'answers 200 with the JSON of an error',
		replies: [status(200, { error: { code: 402, message: 'No credits' } })],
		outcome: failed(
			'insufficient_credits',
			'Your account at {host} has no credits left for test/model (402). It said: "No credits". Add credits, or choose a free model.',
			{ status: 402 }
		)
	},
	{
		name: 'chat completions in place of responses',
		does: 'speaks the older API',
		replies: [status(200, { choices: [{ message: { content: 'Hi' } }] })],
		outcome: failed(
			'provider_error',
			`${NO_RESPONSE} It said: "{"choices":[{"message":{"content":"Hi"}}]}". Check the base URL.`
		)
	}
];
