/** JSON-RPC calls of A2A as they are on the wire, without a client that knows better. */

export interface RpcAnswer {
	status: number;
	headers: Headers;
	result: Record<string, unknown>;
	error: { code: number; message: string; data?: unknown } | undefined;
	body: Record<string, unknown>;
}

export type RpcCaller = (method: string, params?: unknown, headers?: Record<string, string>) => Promise<RpcAnswer>;

export function rpcCaller(url: string, token?: string): RpcCaller {
	return async (method, params, headers = {}) => {
		const response = await fetch(`${url}/a2a`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }), ...headers },
			body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
		});
		const body = (await response.json()) as RpcAnswer['body'];
		const { result, error } = body as Pick<RpcAnswer, 'result' | 'error'>;
		return { status: response.status, headers: response.headers, result, error, body };
	};
}

/** The events of a call that streams. */
export async function rpcStream(url: string, method: string, params: unknown, token: string) {
	const response = await fetch(`${url}/a2a`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
		body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
	});
	const text = await response.text();
	const events = text
		.split('\n\n')
		.filter((frame) => frame.startsWith('data: '))
		.map((frame) => JSON.parse(frame.slice(6)) as Record<string, unknown> & { result: Record<string, unknown> });
	return { type: response.headers.get('content-type') ?? '', events };
}

/** A message of 1.0. */
export function message(text: string, more: Record<string, unknown> = {}) {
	return { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more };
}
