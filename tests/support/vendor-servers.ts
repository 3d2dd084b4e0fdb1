/** Real HTTP servers that act as OpenAI, Anthropic and Gemini: they refuse what the vendor refuses and record requests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { streamed } from './vendor-streams.ts';
import { toolProblems } from './vendor-tools.ts';

export type Vendor = 'responses' | 'chat' | 'anthropic' | 'gemini';
type Json = Record<string, unknown>;

/** The model's reply: a text made from the results it was sent, or calls (string arguments are broken JSON). */
export type VendorReply =
	| { text: (results: string[]) => string }
	| { calls: { name: string; args: Json | string; id?: string }[]; isCutOff?: boolean }
	| { status: number; message: string };

export interface WireRequest {
	path: string;
	headers: IncomingMessage['headers'];
	body: Json;
}

export interface Seen {
	system: string;
	/** Names. */
	tools: string[];
	results: string[];
	choice: unknown;
}

export interface VendorServer {
	/** Without the version, which some clients add themselves. */
	readonly url: string;
	readonly requests: WireRequest[];
	/** What the vendor would have refused. */
	readonly violations: string[];
	/** Of a request; index from 0, negative from the end. */
	seen(index: number): Seen;
	close(): Promise<void>;
}

const PATHS: Record<Vendor, RegExp> = {
	responses: /^\/v1\/responses$/,
	chat: /^\/v1\/chat\/completions$/,
	anthropic: /^\/v1\/messages$/,
	gemini: /^\/v1beta\/models\/[\w.-]+:generateContent$/
};
const KEY_HEADER: Record<Vendor, string> = {
	responses: 'authorization',
	chat: 'authorization',
	// Since version 2026-10-21; `x-api-key` before.
	anthropic: 'authorization',
	gemini: 'x-goog-api-key'
};

/** Sends the replies in order, then refuses requests. */
export async function startVendorServer(vendor: Vendor, script: VendorReply[]): Promise<VendorServer> {
	const replies = [...script];
	const requests: WireRequest[] = [];
	const violations: string[] = [];

	async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const path = new URL(request.url ?? '/', 'http://vendor').pathname;
		const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Json;
		requests.push({ path, headers: request.headers, body });
		const problems = [
			...(request.method === 'POST' && PATHS[vendor].test(path) ? [] : [`no such address: ${request.method} ${path}`]),
			...(request.headers[KEY_HEADER[vendor]] ? [] : ['no key']),
			...toolProblems(vendor, body),
			...turnProblems(vendor, body),
			...(/"parsed(_arguments)?":/.test(JSON.stringify(body)) ? ['Unknown parameter: parsed'] : [])
		];
		violations.push(...problems);
		if (problems.length > 0) return send(response, 400, errorBody(vendor, problems.join('; ')));
		const reply = replies.shift();
		if (!reply) {
			violations.push(`request ${requests.length} has no reply in the script`);
			return send(response, 400, errorBody(vendor, 'nothing is left in the script'));
		}
		if ('status' in reply) return send(response, reply.status, errorBody(vendor, reply.message));
		const answer = answerBody(
			vendor,
			reply,
			resultsIn(vendor, body).map(({ text }) => text),
			requests.length
		);
		if (body.stream !== true) return send(response, 200, answer);
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		response.end(streamed(vendor, answer));
	}

	const server = createServer((request, response) => {
		respond(request, response).catch((error: unknown) => {
			violations.push(String(error));
			response.destroy();
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		requests,
		violations,
		seen(index) {
			return seenIn(vendor, requests.at(index)?.body ?? {});
		},
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			})
	};
}

function send(response: ServerResponse, status: number, body: Json): void {
	// The vendors send `x-should-retry` to their clients.
	response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
	response.end(JSON.stringify(body));
}

function errorBody(vendor: Vendor, message: string): Json {
	switch (vendor) {
		case 'anthropic':
			return { type: 'error', error: { type: 'invalid_request_error', message } };
		case 'gemini':
			return { error: { code: 400, message, status: 'INVALID_ARGUMENT' } };
		default:
			return { error: { message, type: 'invalid_request_error', param: null, code: null } };
	}
}

export function answerBody(
	vendor: Vendor,
	reply: Exclude<VendorReply, { status: number }>,
	results: string[],
	turn: number
): Json {
	const text = 'text' in reply ? reply.text(results) : null;
	const calls = 'calls' in reply ? reply.calls.map((call, index) => ({ id: `call_${turn}_${index}`, ...call })) : [];
	const isCutOff = 'calls' in reply && reply.isCutOff === true;
	const asText = (args: Json | string) => (typeof args === 'string' ? args : JSON.stringify(args));
	switch (vendor) {
		case 'responses':
			return {
				...{ id: `resp_${turn}`, object: 'response', created_at: 1, model: 'test', tools: [], error: null },
				...{ parallel_tool_calls: true, tool_choice: 'auto', metadata: {}, incomplete_details: null },
				status: isCutOff ? 'incomplete' : 'completed',
				output: [
					{ id: `rs_${turn}`, type: 'reasoning', summary: [], encrypted_content: `sealed_${turn}` },
					...(text === null ? [] : [messageItem(text, turn)]),
					...calls.map(({ id, name, args }) => {
						const item = { type: 'function_call', id: `fc_${id}`, status: 'completed' };
						return { ...item, call_id: id, name, arguments: asText(args) };
					})
				]
			};
		case 'chat': {
			const toolCalls = calls.map(({ id, name, args }) => {
				return { id, type: 'function', function: { name, arguments: asText(args) } };
			});
			const message = { role: 'assistant', content: text, refusal: null };
			const finish = isCutOff ? 'length' : text === null ? 'tool_calls' : 'stop';
			return {
				...{ id: `chatcmpl_${turn}`, object: 'chat.completion', created: 1, model: 'test' },
				choices: [
					{
						index: 0,
						finish_reason: finish,
						message: toolCalls.length > 0 ? { ...message, tool_calls: toolCalls } : message
					}
				]
			};
		}
		case 'anthropic':
			return {
				...{ id: `msg_${turn}`, type: 'message', role: 'assistant', model: 'test', stop_sequence: null },
				stop_reason: isCutOff ? 'max_tokens' : text === null ? 'tool_use' : 'end_turn',
				usage: { input_tokens: 1, output_tokens: 1 },
				content: [
					{ type: 'thinking', thinking: 'hm', signature: `signed_${turn}` },
					...(text === null ? [] : [{ type: 'text', text }]),
					...calls.map(({ id, name, args }) => ({
						...{ type: 'tool_use', id, name, input: args, caller: { type: 'direct' } }
					}))
				]
			};
		case 'gemini': {
			const parts = [
				...(text === null ? [] : [{ text }]),
				...calls.map(({ name, args }) => ({ functionCall: { name, args }, thoughtSignature: `signed${turn}` }))
			];
			const finishReason = isCutOff ? 'MAX_TOKENS' : 'STOP';
			return { candidates: [{ index: 0, finishReason, content: { role: 'model', parts } }], modelVersion: 'test' };
		}
	}
}

function messageItem(text: string, turn: number): Json {
	const content = [{ type: 'output_text', text, annotations: [] }];
	return { type: 'message', id: `msg_${turn}`, role: 'assistant', status: 'completed', content };
}

/** What a model would see of a request. */
export function seenIn(vendor: Vendor, body: Json): Seen {
	return {
		system: systemOf(vendor, body),
		tools: namesOf(vendor, body),
		results: resultsIn(vendor, body).map(({ text }) => text),
		choice: vendor === 'gemini' ? body.toolConfig : body.tool_choice
	};
}

function systemOf(vendor: Vendor, body: Json): string {
	switch (vendor) {
		case 'responses':
			return String(body.instructions ?? '');
		case 'chat':
			return list(body.messages)
				.filter(({ role }) => role === 'system' || role === 'developer')
				.map(({ content }) => textOf(content))
				.join('\n');
		case 'anthropic':
			return textOf(body.system);
		case 'gemini':
			return textOf((body.systemInstruction as Json | undefined)?.parts);
	}
}

function namesOf(vendor: Vendor, body: Json): string[] {
	const tools = list(body.tools);
	if (vendor === 'gemini')
		return tools.flatMap((tool) => list(tool.functionDeclarations).map(({ name }) => String(name)));
	if (vendor === 'responses')
		return tools.flatMap((tool) => [tool, ...list(tool.tools)]).map(({ name }) => String(name));
	return tools.map((tool) => String((vendor === 'chat' ? (tool.function as Json) : tool).name));
}

/** Results and the calls they belong to, matched as the vendor does: by id, or for Gemini by order. */
function resultsIn(vendor: Vendor, body: Json): { id: string; text: string }[] {
	switch (vendor) {
		case 'responses':
			return list(body.input)
				.filter(({ type }) => type === 'function_call_output')
				.map(({ call_id: id, output }) => ({ id: String(id), text: textOf(output) }));
		case 'chat':
			return list(body.messages)
				.filter(({ role }) => role === 'tool')
				.map(({ tool_call_id: id, content }) => ({ id: String(id), text: textOf(content) }));
		case 'anthropic':
			return list(body.messages)
				.flatMap(({ content }) => list(content))
				.filter(({ type }) => type === 'tool_result')
				.map(({ tool_use_id: id, content }) => ({ id: String(id), text: textOf(content) }));
		case 'gemini':
			return list(body.contents)
				.flatMap(({ parts }) => list(parts))
				.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse as Json] : []))
				.map(({ name, response }) => {
					const { output, error } = response as { output?: unknown; error?: unknown };
					return { id: String(name), text: String(output ?? error) };
				});
	}
}

/** Every call of a turn must be answered before the next turn; all at once if the vendor requires it. */
function turnProblems(vendor: Vendor, body: Json): string[] {
	const asked = callsIn(vendor, body).sort();
	const answered = resultsIn(vendor, body)
		.map(({ id }) => id)
		.sort();
	if (JSON.stringify(asked) !== JSON.stringify(answered)) {
		return [`calls ${asked.join()} were answered with ${answered.join()}`];
	}
	if (vendor !== 'anthropic' && vendor !== 'gemini') return [];
	const messages = list(vendor === 'gemini' ? body.contents : body.messages);
	return messages.flatMap(({ role }, index) =>
		index > 0 && messages[index - 1]?.role === role ? [`two turns of ${String(role)} in a row`] : []
	);
}

function callsIn(vendor: Vendor, body: Json): string[] {
	switch (vendor) {
		case 'responses':
			return list(body.input)
				.filter(({ type }) => type === 'function_call')
				.map(({ call_id: id }) => String(id));
		case 'chat':
			return list(body.messages)
				.flatMap(({ tool_calls: calls }) => list(calls))
				.map(({ id }) => String(id));
		case 'anthropic':
			return list(body.messages)
				.flatMap(({ content }) => list(content))
				.filter(({ type }) => type === 'tool_use')
				.map(({ id }) => String(id));
		case 'gemini':
			return list(body.contents)
				.flatMap(({ parts }) => list(parts))
				.flatMap(({ functionCall }) => (functionCall ? [String((functionCall as Json).name)] : []));
	}
}

function textOf(content: unknown): string {
	if (typeof content === 'string') return content;
	return list(content)
		.map(({ text }) => String(text))
		.join('\n');
}

function list(value: unknown): Json[] {
	return Array.isArray(value) ? (value as Json[]).filter((each) => typeof each === 'object' && each !== null) : [];
}
