/** Wraps OpenRouter's SDK, for everything but model replies. Slow to load, so `openrouter.ts` imports it on demand. */
import { OpenRouterCore } from '@openrouter/sdk/core.js';
import { apiKeysGetCurrentKeyMetadata } from '@openrouter/sdk/funcs/apiKeysGetCurrentKeyMetadata.js';
import { creditsGetCredits } from '@openrouter/sdk/funcs/creditsGetCredits.js';
import { modelsList } from '@openrouter/sdk/funcs/modelsList.js';
import { oAuthExchangeAuthCodeForAPIKey } from '@openrouter/sdk/funcs/oAuthExchangeAuthCodeForAPIKey.js';
import { HTTPClient } from '@openrouter/sdk/lib/http.js';
import type { TextAnswer } from './responses/connection.ts';
import type { ModelFacts } from './model-list.ts';

/** A request of the SDK, which we send ourselves. */
export interface SdkRequest {
	url: string;
	method: 'GET' | 'POST';
	body: string | undefined;
}

export type Send = (request: SdkRequest) => Promise<TextAnswer>;

/** Calls throw the SDK's error for an unexpected response. */
export function createSdk(baseUrl: string, send: Send) {
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
	// An empty key, because without one the SDK uses the environment's for any server. `send` adds the right one.
	const client = new OpenRouterCore({ apiKey: '', serverURL: baseUrl, httpClient });
	const options = { retries: { strategy: 'none' as const } };
	return {
		async models(): Promise<ModelFacts[]> {
			const page = await modelsList(client, undefined, options);
			if (!page.ok) throw page.error;
			return page.value.result.data.map((model) => ({
				id: model.id,
				name: model.name,
				description: model.description,
				created: model.created,
				contexts: [model.contextLength, model.topProvider.contextLength],
				price: {
					input: model.pricing.prompt,
					output: model.pricing.completion,
					cacheRead: model.pricing.inputCacheRead
				},
				inputs: model.architecture.inputModalities,
				outputs: model.architecture.outputModalities,
				parameters: model.supportedParameters
			}));
		},

		async key(): Promise<{ label: unknown; limit: unknown; remaining: unknown; used: unknown }> {
			const { data } = valueOf(await apiKeysGetCurrentKeyMetadata(client, undefined, options));
			return { label: data.label, limit: data.limit, remaining: data.limitRemaining, used: data.usage };
		},

		async credits(): Promise<{ total: unknown; used: unknown }> {
			const { data } = valueOf(await creditsGetCredits(client, undefined, options));
			return { total: data.totalCredits, used: data.totalUsage };
		},

		/** Exchanges a sign-in code for an API key. */
		async exchange(code: string, verifier: string): Promise<string> {
			const requestBody = { code, codeVerifier: verifier, codeChallengeMethod: 'S256' as const };
			return valueOf(await oAuthExchangeAuthCodeForAPIKey(client, { requestBody }, options)).key;
		}
	};
}

export type OpenRouterSdk = ReturnType<typeof createSdk>;

function valueOf<Value>(result: { ok: true; value: Value } | { ok: false; error: Error }): Value {
	if (!result.ok) throw result.error;
	return result.value;
}
