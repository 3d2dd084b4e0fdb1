/** A model's server in a process of its own, which streams what the question orders: `bench <what> <number> <number>`. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** As much as one write of a server that has a lot to say. */
const WRITE_BYTES = 64 * 1024;

const place = { output_index: 0, item_id: 'msg_1', content_index: 0 };
const head = frame('created', { response: { id: 'resp_1', status: 'in_progress', output: [] } });
const added = frame('output_item.added', {
	output_index: 0,
	item: { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }
});
const completed = frame('completed', {
	response: { id: 'resp_1', status: 'completed', output: [], usage: { input_tokens: 100, output_tokens: 100 } }
});

let sequence = 0;
const floods = new Map<string, Buffer[]>();
const held = new Set<() => void>();

const server = createServer((request, response) => {
	const parts: Buffer[] = [];
	request.on('data', (part: Buffer) => parts.push(part));
	request.on('end', () => {
		if (request.url === '/release') {
			for (const release of held) release();
			return void response.end();
		}
		const body = Buffer.concat(parts).toString('utf8');
		const [, what = '', first = 0, second = 0] = /bench (\w+) (\d+)(?: (\d+))?/.exec(body) ?? [];
		response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
		play(what, Number(first), Number(second), body, response).catch(() => response.destroy());
	});
});
server.listen(0, '127.0.0.1', () =>
	console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
);

async function play(what: string, first: number, second: number, body: string, response: ServerResponse) {
	if (what === 'flood') return pipeline(Readable.from(floodOf('flood', first, textFrames)), response);
	if (what === 'calls' && !body.includes('"function_call_output"'))
		return pipeline(Readable.from(floodOf('calls', first, callFrames)), response);
	response.write(head + added);
	if (what === 'pace') await pace(first, second, response);
	if (what === 'hold') await hold(first, response);
	response.end(delta('done') + completed);
}

/** `count` deltas that say when they were written, `rate` a second. */
function pace(rate: number, count: number, response: ServerResponse): Promise<void> {
	const start = performance.now();
	return new Promise((resolve) => {
		let sent = 0;
		const next = (): void => {
			response.write(delta(`@@${process.hrtime.bigint() / 1000n};`));
			sent += 1;
			if (sent === count || response.destroyed) resolve();
			else setTimeout(next, Math.max(0, start + (sent * 1000) / rate - performance.now()));
		};
		next();
	});
}

/** A word every `ms`, until all streams are released. */
function hold(ms: number, response: ServerResponse): Promise<void> {
	return new Promise((resolve) => {
		response.write(delta('first '));
		const timer = setInterval(() => response.write(delta('word ')), ms);
		const release = (): void => {
			clearInterval(timer);
			held.delete(release);
			resolve();
		};
		held.add(release);
		response.once('close', release);
	});
}

function floodOf(kind: string, count: number, frames: (count: number) => Generator<string>): Buffer[] {
	const key = `${kind} ${count}`;
	const known = floods.get(key);
	if (known) return known;
	const text = Buffer.from([...frames(count)].join(''));
	const chunks = [];
	for (let start = 0; start < text.length; start += WRITE_BYTES) chunks.push(text.subarray(start, start + WRITE_BYTES));
	floods.set(key, chunks);
	return chunks;
}

function* textFrames(count: number): Generator<string> {
	yield head + added;
	for (let index = 0; index < count; index += 1) yield delta(`word${index % 1000} `);
	yield completed;
}

/** Two calls whose arguments come by turns, so that no delta can be merged with the one before. */
function* callFrames(count: number): Generator<string> {
	yield head;
	const calls = [0, 1].map((index) => ({
		place: { output_index: index, item_id: `fc_${index}` },
		item: { type: 'function_call', id: `fc_${index}`, call_id: `call_${index}`, name: 'no_such_tool', arguments: '' }
	}));
	for (const { place, item } of calls) yield frame('output_item.added', { ...place, item });
	for (let step = 0; step < count; step += 1) {
		const piece = step === 0 ? '{"text":"' : step === count - 1 ? '"}' : 'word ';
		for (const { place, item } of calls) {
			yield frame('function_call_arguments.delta', { sequence_number: step, ...place, delta: piece });
			item.arguments += piece;
		}
	}
	for (const { place, item } of calls) yield frame('output_item.done', { ...place, item });
	yield completed;
}

function delta(text: string): string {
	sequence += 1;
	return frame('output_text.delta', { sequence_number: sequence, ...place, delta: text });
}

function frame(type: string, fields: Record<string, unknown>): string {
	return `data: ${JSON.stringify({ type: `response.${type}`, ...fields })}\n\n`;
}
