/** Checks that a response has its protocol's form, whatever the request was; pure. */

export const PROTOCOLS = ['responses', 'agui', 'mcp', 'a2a', 'chat'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export interface WireAnswer {
	status: number;
	/** Content type. */
	type: string;
	text: string;
}

/** Full storage and temporary unavailability have codes of their own. */
const DOCUMENTED: readonly number[] = [503, 507];
/** Codes of JSON-RPC, MCP and A2A. */
const isRpcCode = (code: unknown): boolean => Number.isInteger(code) && Number(code) <= -32_000;
const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

type Json = Record<string, unknown>;

/** The JSON of each server-sent event, in order, without `[DONE]`. */
export function framesOf(text: string): Json[] {
	const data = [...text.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line ?? '');
	return data.filter((line) => line !== '' && line !== '[DONE]').map((line) => JSON.parse(line) as Json);
}

/**
 * Says how the response breaks the protocol; null if it doesn't. `sentId` is the id of the JSON-RPC
 * request; undefined if it has none that can be echoed.
 */
export function problemOf(protocol: Protocol, answer: WireAnswer, sentId?: unknown): string | null {
	const { status, type, text } = answer;
	if (status >= 500 && !DOCUMENTED.includes(status)) return `a status of ${status}`;
	if (/\n\s+at .*:\d+:\d+|node_modules|SQLITE_|"stack"/.test(text)) return 'it says how the server failed';
	const isStream = type.startsWith('text/event-stream');
	if (isStream && status !== 200) return 'a stream of errors';
	if (!isStream && !type.startsWith('application/json') && text !== '') return `content of the type “${type}”`;
	try {
		return isStream ? problemOfStream(protocol, text, sentId) : problemOfBody(protocol, answer, sentId);
	} catch (error) {
		return `it cannot be read: ${String(error)}`;
	}
}

function problemOfBody(protocol: Protocol, { status, text }: WireAnswer, sentId: unknown): string | null {
	const isRpc = protocol === 'mcp' || protocol === 'a2a';
	if (text === '') return isRpc && (status === 202 || status === 200) ? null : 'it is empty';
	const body = JSON.parse(text) as Json;
	if (isRpc) {
		const bodies = Array.isArray(body) ? (body as Json[]) : [body];
		return bodies.map((each) => problemOfRpc(each, sentId, status)).find((problem) => problem !== null) ?? null;
	}
	if (status < 400) return null;
	const error = body.error as Json | undefined;
	if (!isText(error?.message)) return 'an error without a message';
	if (protocol === 'agui') return isText(error?.code) ? null : 'an error without a code';
	const keys = Object.keys(error ?? {})
		.sort()
		.join();
	return keys === 'code,message,param,type' && isText(error?.type) ? null : `an error of ${keys}`;
}

function problemOfRpc(body: Json, sentId: unknown, status: number): string | null {
	if (body.jsonrpc !== '2.0') return 'no JSON-RPC 2.0';
	if ('method' in body) return null;
	const error = body.error as Json | undefined;
	if (status >= 400 && !error) return 'no error';
	if ('result' in body === (error !== undefined)) return 'not exactly one of result and error';
	if (error && !(isRpcCode(error.code) && isText(error.message))) return `an error of ${JSON.stringify(error)}`;
	// A body that couldn't be read as a request has no id.
	const isEchoed = body.id === sentId || (error !== undefined && (body.id === null || body.id === undefined));
	return isEchoed || sentId === undefined ? null : `the id ${JSON.stringify(body.id)}`;
}

function problemOfStream(protocol: Protocol, text: string, sentId: unknown): string | null {
	const frames = framesOf(text);
	const last = frames.at(-1);
	switch (protocol) {
		case 'mcp':
		case 'a2a': {
			const problems = frames.map((frame) => problemOfRpc(frame, sentId, 200));
			return problems.find((problem) => problem !== null) ?? null;
		}
		case 'agui':
			return /^RUN_(FINISHED|ERROR)$/.test(String(last?.type)) ? null : `a run that ends in ${String(last?.type)}`;
		case 'responses': {
			if (!text.trimEnd().endsWith('data: [DONE]')) return 'a stream without [DONE]';
			const isOver = /^response\.(completed|incomplete|failed)$/.test(String(last?.type));
			return isOver ? null : `a response that ends in ${String(last?.type)}`;
		}
		case 'chat': {
			if (!text.trimEnd().endsWith('data: [DONE]')) return 'a stream without [DONE]';
			const ends = frames.filter((frame) => 'error' in frame || finishOf(frame) !== null).length;
			return ends === 1 ? null : `a completion with ${ends} ends`;
		}
		default:
			return protocol satisfies never;
	}
}

function finishOf({ choices }: Json): unknown {
	const [choice] = choices as { finish_reason: unknown }[];
	return choice?.finish_reason ?? null;
}

/** A JSON-RPC request's id; undefined if it has none that can be echoed, or the body isn't a request. */
export function idOf(body: string | Uint8Array | undefined): unknown {
	if (typeof body !== 'string') return undefined;
	try {
		const request = JSON.parse(body) as Json | null;
		if (typeof request !== 'object' || request === null || Array.isArray(request)) return undefined;
		const { id } = request;
		return typeof id === 'string' || Number.isSafeInteger(id) ? id : undefined;
	} catch {
		return undefined;
	}
}
