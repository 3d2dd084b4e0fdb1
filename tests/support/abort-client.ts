/**
 * A separate process (started with `--expose-gc`) that asks a model and, on a line from stdin, collects garbage and
 * aborts. Arguments: the base URL. Prints `shown` at the first delta, and finally the model's last event as JSON.
 */
import { createInterface } from 'node:readline';
import type { ModelEvent } from '../../src/lib/server/agent/model.ts';
import { createResponsesModel } from '../../src/lib/server/models/responses/responses.ts';

const [baseUrl = ''] = process.argv.slice(2);
const collect = globalThis.gc;
if (!collect) throw new Error('Start this with --expose-gc');

const controller = new AbortController();
const lines = createInterface({ input: process.stdin });
lines.once('line', () => {
	// Several times, with turns in between: finalizers run only after the collection that found their object.
	const rounds = 5;
	const next = (round: number): void => {
		void collect();
		if (round < rounds) setImmediate(next, round + 1);
		else controller.abort();
	};
	next(1);
});

const model = createResponsesModel({ id: 'test/model', baseUrl });
const input = [{ type: 'message', role: 'user', content: 'Hello?' }];
const request = { instructions: '', input, tools: [], toolChoice: 'auto' as const, sessionId: 'c' };
let last: ModelEvent | undefined;
for await (const event of model.stream(request, controller.signal)) {
	if (event.type === 'text.delta') console.log('shown');
	last = event;
}
console.log(JSON.stringify(last));
lines.close();
