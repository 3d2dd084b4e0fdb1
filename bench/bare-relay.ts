/** The app's relay without log and database, in a process of its own: model client, loop, and server-sent events. */

import { setResponse } from '@sveltejs/kit/node';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { runAgent, type FitInput } from '../src/lib/server/agent/loop.ts';
import { startTimeLimit } from '../src/lib/server/agent/time-limit.ts';
import type { Toolbox } from '../src/lib/server/agent/tool.ts';
import { eventStream, runEventFrames } from '../src/lib/server/http.ts';
import { createLog } from '../src/lib/server/log.ts';
import { createResponsesModel } from '../src/lib/server/models/responses/responses.ts';

const [, , upstream = ''] = process.argv;
const model = createResponsesModel({ id: 'bench/model', baseUrl: `${upstream}/v1` });

const noTools: Toolbox = {
	definitions: () => [],
	kind: () => null,
	lane: () => null,
	approval: () => Promise.resolve(null),
	call: () => Promise.resolve({ output: '', isError: true })
};

const NO_LIMITS = { maxSteps: 1, maxCostUsd: null, maxDurationMs: 600_000, toolTimeoutMs: 60_000 };

const asItIs: FitInput = async function* (input) {
	yield* [];
	return input;
};

async function* relay(question: string, signal: AbortSignal): AsyncGenerator<{ seq: number; data: string }[]> {
	let seq = 0;
	const content = [{ type: 'input_text', text: question }];
	const run = {
		model,
		effort: null,
		instructions: '',
		input: [{ type: 'message', role: 'user', content }],
		toolbox: noTools,
		threadId: 'bench',
		runId: 'bench',
		limits: NO_LIMITS,
		time: startTimeLimit(NO_LIMITS.maxDurationMs, signal),
		held: [],
		spent: null,
		fit: asItIs,
		isAskedToYield: () => false,
		record: () => undefined
	};
	for await (const event of runAgent(run)) yield [{ seq: (seq += 1), data: JSON.stringify(event) }];
}

async function respond(request: IncomingMessage): Promise<Response> {
	const question = await text(request);
	return eventStream(createLog(), (signal) => runEventFrames(relay(question, signal)));
}

const server = createServer((request, response) => {
	respond(request).then(
		(answer) => setResponse(response, answer),
		() => response.destroy()
	);
});
server.listen(0, '127.0.0.1', () =>
	console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
);
