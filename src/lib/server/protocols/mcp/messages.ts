/** Reads and validates the body of a POST; errors are JSON-RPC responses. */
import { isJsonContentType } from '@modelcontextprotocol/server';
import { AppError, isNestedDeeperThan, MAX_NESTING } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/json.ts';
import { readText } from '../../read-text.ts';

const MAX_BYTES = 4 * 1024 * 1024;

const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
const REFUSED = -32_000;

export function rpcError(
	status: number,
	code: number,
	message: string,
	{ id = null, headers = {} }: { id?: unknown; headers?: Record<string, string> } = {}
): Response {
	const isId = typeof id === 'string' || typeof id === 'number';
	return Response.json({ jsonrpc: '2.0', error: { code, message }, id: isId ? id : null }, { status, headers });
}

/** The parsed body (a JSON-RPC message or a batch, checked in outline only), or an error response. */
export async function readMessages(request: Request): Promise<{ body: unknown } | Response> {
	if (!isJsonContentType(request.headers.get('content-type'))) {
		return rpcError(415, REFUSED, 'The content type must be application/json.');
	}
	let body: unknown;
	try {
		body = JSON.parse(await readText(request, MAX_BYTES));
	} catch (error) {
		if (error instanceof AppError && error.code === 'too_large') {
			return rpcError(413, REFUSED, 'The body is larger than 4 MiB. Send less in one request.');
		}
		return rpcError(400, PARSE_ERROR, 'The body isn’t valid JSON.');
	}
	if (isNestedDeeperThan(MAX_NESTING, body)) {
		return rpcError(400, INVALID_REQUEST, `The body is nested more than ${MAX_NESTING} levels deep.`);
	}
	const messages = Array.isArray(body) ? (body as unknown[]) : [body];
	const wrong = messages.length === 0 ? [undefined] : messages.filter((message) => !isMessage(message));
	if (wrong.length === 0) return { body };
	const id = (wrong[0] as { id?: unknown } | null | undefined)?.id;
	return rpcError(400, INVALID_REQUEST, 'The body isn’t a JSON-RPC 2.0 message.', { id });
}

function isMessage(value: unknown): boolean {
	if (!isObject(value)) return false;
	const { jsonrpc, id, method, params } = value;
	if (jsonrpc !== '2.0') return false;
	if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id)) return false;
	if (method === undefined) return id !== undefined && ('result' in value || 'error' in value);
	return typeof method === 'string' && (params === undefined || (typeof params === 'object' && params !== null));
}
