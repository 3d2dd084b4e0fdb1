/** A real HTTP server that plays OpenRouter's other endpoints: models, key, credits and sign-in. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PlayedRequest {
	method: string;
	/** Path and query. */
	url: string;
	authorization: string | undefined;
	body: string;
}

/** The response to a path: JSON with a status, or a handler. */
export type Played = { status?: number; json: unknown } | ((request: PlayedRequest, response: ServerResponse) => void);

export interface OpenRouterServer {
	/** Including `/api/v1`. */
	readonly baseUrl: string;
	readonly origin: string;
	readonly requests: PlayedRequest[];
	/** By path below the base URL, such as `/models`. Other paths answer 404. */
	answers: Record<string, Played>;
	/** Lets a sign-in code be exchanged once for this key, with the challenge's verifier. */
	allow(code: string, challenge: string, key: string): void;
	close(): Promise<void>;
}

/** A model as OpenRouter describes it. */
export function openRouterModel(id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
	return {
		id,
		canonical_slug: id,
		hugging_face_id: null,
		name: `The ${id}`,
		created: 1_700_000_000,
		description: 'Answers.',
		context_length: 200_000,
		architecture: {
			modality: 'text+image->text',
			input_modalities: ['text', 'image'],
			output_modalities: ['text'],
			tokenizer: 'GPT',
			instruct_type: null
		},
		pricing: { prompt: '0.00000015', completion: '0.0000006', request: '0', image: '0' },
		top_provider: { context_length: 128_000, max_completion_tokens: 16_000, is_moderated: false },
		per_request_limits: null,
		supported_parameters: ['tools', 'reasoning'],
		default_parameters: null,
		links: { details: `/api/v1/models/${id}/endpoints` },
		...more
	};
}

/** Starts one on loopback; `path` is where its API is, `/api/v1` by default. */
export async function startOpenRouter(path = '/api/v1'): Promise<OpenRouterServer> {
	const requests: PlayedRequest[] = [];
	const codes = new Map<string, { challenge: string; key: string }>();
	const server = createServer((incoming, response) => {
		void readRequest(incoming).then((request) => {
			requests.push(request);
			answer(request, response);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const played: OpenRouterServer = {
		baseUrl: origin + path,
		origin,
		requests,
		answers: {
			'/models': { json: { data: [openRouterModel('acme/large')] } },
			'/auth/keys': exchange
		},
		allow: (code, challenge, key) => void codes.set(code, { challenge, key }),
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		}
	};

	function exchange({ body }: PlayedRequest, response: ServerResponse): void {
		const { code, code_verifier, code_challenge_method } = JSON.parse(body) as Record<string, string>;
		const allowed = codes.get(code ?? '');
		const challenge = createHash('sha256')
			.update(code_verifier ?? '')
			.digest('base64url');
		if (allowed?.challenge !== challenge || code_challenge_method !== 'S256') {
			return sendJson(response, 403, { error: { code: 403, message: 'Invalid code or code_verifier' } });
		}
		codes.delete(code ?? '');
		sendJson(response, 200, { key: allowed.key, user_id: null });
	}

	function answer(request: PlayedRequest, response: ServerResponse): void {
		const { pathname } = new URL(request.url, origin);
		const own = pathname.startsWith(path) ? played.answers[pathname.slice(path.length)] : undefined;
		if (typeof own === 'function') own(request, response);
		else
			sendJson(response, own ? (own.status ?? 200) : 404, own ? own.json : { error: { code: 404, message: 'None' } });
	}
	return played;
}

function sendJson(response: ServerResponse, status: number, json: unknown): void {
	response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
}

async function readRequest(request: IncomingMessage): Promise<PlayedRequest> {
	let body = '';
	for await (const chunk of request.setEncoding('utf8')) body += chunk;
	const { method = '', url = '', headers } = request;
	return { method, url, authorization: headers.authorization, body };
}
