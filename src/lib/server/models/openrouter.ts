/** What OpenRouter is asked beside answers: through its SDK, and read tolerantly where the SDK knows only newer or older shapes. */
import { OpenRouterCore } from '@openrouter/sdk/core.js';
import { apiKeysGetCurrentKeyMetadata } from '@openrouter/sdk/funcs/apiKeysGetCurrentKeyMetadata.js';
import { creditsGetCredits } from '@openrouter/sdk/funcs/creditsGetCredits.js';
import { modelsList } from '@openrouter/sdk/funcs/modelsList.js';
import { oAuthExchangeAuthCodeForAPIKey } from '@openrouter/sdk/funcs/oAuthExchangeAuthCodeForAPIKey.js';
import { HTTPClient } from '@openrouter/sdk/lib/http.js';
import { parseJson } from '../json.ts';
import type { ModelFacts } from './model-list.ts';
import { connect, type Connection, Interruption } from './responses/connection.ts';

/** The server answered, with another status than 200. */
export class StatusError extends Error {
	override readonly name = 'StatusError';
	readonly status: number;

	constructor(status: number) {
		super(`The server answered with ${status}`);
		this.status = status;
	}
}

export interface Asking<Value> {
	baseUrl: string;
	send: Send;
	/** What to ask of the SDK. */
	ask(sdk: OpenRouterSdk): Promise<Value>;
	/** The same without it. */
	plain: SdkRequest;
	/** Reads the answer's JSON; throws for what says nothing of what is wanted. */
	read(json: unknown): Value;
}

/** Sends one request. @throws StatusError, what `send` throws, or what `read` throws */
export async function askOpenRouter<Value>({ baseUrl, send, ask, plain, read }: Asking<Value>): Promise<Value> {
	const sent: { answer?: TextAnswer; failure?: unknown } = {};
	try {
		const { createSdk } = await import('./openrouter.ts');
		return await ask(
			createSdk(baseUrl, async (request) => {
				try {
					return (sent.answer = await send(request));
				} catch (error) {
					// The SDK makes an error of its own of it.
					sent.failure = error;
					throw error;
				}
			})
		);
	} catch {
		// Whatever the SDK makes of it: what was answered is judged here.
		if (sent.failure !== undefined) throw sent.failure;
		const { status, text } = sent.answer ?? (await send(plain));
		if (status !== 200) throw new StatusError(status);
		return read(parseJson(text));
	}
}

// OpenRouter's own SDK for all but the answers of models; slow to load, so it is imported when it is needed (`openrouter.ts`).

/** One request as the SDK makes it, sent in our way. */
export interface SdkRequest {
	url: string;
	method: 'GET' | 'POST';
	body: string | undefined;
}

export type Send = (request: SdkRequest) => Promise<TextAnswer>;

export interface OpenRouterSdk {
	models(): Promise<ModelFacts[]>;
	key(): Promise<{ label: unknown; limit: unknown; remaining: unknown; used: unknown }>;
	credits(): Promise<{ total: unknown; used: unknown }>;
	/** The key that the code stands for. */
	exchange(code: string, verifier: string): Promise<string>;
}

/** Every call throws what the SDK says of an answer that is not as it expects. */
export function createSdk(baseUrl: string, send: Send): OpenRouterSdk {
	const httpClient = new HTTPClient({
		async fetcher(input, init) {
			const request = new Request(input, init);
			const method = request.method === 'POST' ? 'POST' : 'GET';
			const body = method === 'POST' ? await request.text() : undefined;
			const { status, text } = await send({ url: request.url, method, body });
			const hasBody = status >= 200 && ![204, 205, 304].includes(status);
			return new Response(hasBody ? text : null, { status, headers: { 'content-type': 'application/json' } });
		}
	});
	// An empty key, for with none the SDK takes the environment's, whatever the server; `send` has the right one.
	const client = new OpenRouterCore({ apiKey: '', serverURL: baseUrl, httpClient });
	const options = { retries: { strategy: 'none' as const } };
	return {
		async models() {
			const page = await modelsList(client, undefined, options);
			if (!page.ok) throw page.error;
			return page.value.result.data.map((model) => ({
				...{ id: model.id, name: model.name, description: model.description, created: model.created },
				contexts: [model.contextLength, model.topProvider.contextLength],
				price: { input: model.pricing.prompt, output: model.pricing.completion },
				inputs: model.architecture.inputModalities,
				parameters: model.supportedParameters
			}));
		},

		async key() {
			const { data } = valueOf(await apiKeysGetCurrentKeyMetadata(client, undefined, options));
			return { label: data.label, limit: data.limit, remaining: data.limitRemaining, used: data.usage };
		},

		async credits() {
			const { data } = valueOf(await creditsGetCredits(client, undefined, options));
			return { total: data.totalCredits, used: data.totalUsage };
		},

		async exchange(code, verifier) {
			const requestBody = { code, codeVerifier: verifier, codeChallengeMethod: 'S256' as const };
			return valueOf(await oAuthExchangeAuthCodeForAPIKey(client, { requestBody }, options)).key;
		}
	};
}

function valueOf<Value>(result: { ok: true; value: Value } | { ok: false; error: Error }): Value {
	if (!result.ok) throw result.error;
	return result.value;
}

// A short answer of a model's server as text: bounded in bytes and in time, and ended by a signal at any moment.

export interface TextRequest {
	url: string;
	method?: 'GET' | 'POST';
	headers: Record<string, string>;
	body?: string;
	fetch: typeof fetch;
	/** Milliseconds for all of it. */
	timeoutMs: number;
	/** Bytes of the body, unpacked. */
	maxBytes: number;
	signal?: AbortSignal | undefined;
}

export interface TextAnswer {
	status: number;
	text: string;
}

/** Redirects are not followed: the key is for this host. Throws the signal's reason, `Interruption`, `BodyTooLargeError`, or what `fetch` throws. */
export async function fetchText(request: TextRequest): Promise<TextAnswer> {
	const { url, method = 'GET', headers, body, fetch, timeoutMs, maxBytes, signal } = request;
	signal?.throwIfAborted();
	// One controller of our own: what `AbortSignal.any` returns can be lost to a garbage collection.
	const controller = new AbortController();
	const stop = () => controller.abort();
	let isLate = false;
	const timer = setTimeout(() => {
		isLate = true;
		stop();
	}, timeoutMs);
	signal?.addEventListener('abort', stop, { once: true });
	let connection: Connection | null = null;
	try {
		connection = await connect(
			url,
			{
				method,
				headers: { ...headers, accept: 'application/json', 'accept-encoding': 'gzip' },
				redirect: 'manual',
				...(body === undefined ? {} : { body })
			},
			{ fetch, signal: controller.signal, idleTimeoutMs: timeoutMs, maxBytes }
		);
		const text = await readText(connection);
		connection.finish();
		return { status: connection.status, text };
	} catch (error) {
		connection?.close();
		signal?.throwIfAborted();
		throw isLate ? new Interruption('idle') : error;
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener('abort', stop);
	}
}

async function readText(connection: Connection): Promise<string> {
	const parts: Uint8Array[] = [];
	for (let bytes = await connection.read(); bytes; bytes = await connection.read()) parts.push(bytes);
	return Buffer.concat(parts).toString('utf8');
}
