/** The model client for every server that speaks the Responses API: OpenRouter, OpenAI, Ollama, llama.cpp (FEATURES F11). */
import type { Model, ModelEvent, ModelRequest } from '../../agent/model.ts';
import { createModelCatalog, type ModelCatalog } from '../catalog.ts';
import { makeFault, type ErrorContext } from './faults.ts';
import { exchange, type ExchangeOptions } from './exchange.ts';
import { isHeaderText, requestBody, requestHeaders, responsesUrl, siblingUrl } from './request.ts';
import { withTextCalls } from '../text-calls.ts';
import { backoffDelayMs, MAX_RETRY_DELAY_MS, wait } from './retry.ts';

export interface ResponsesModelOptions {
	/** What the request names, e.g. `openrouter/auto`. */
	id: string;
	/** E.g. `https://openrouter.ai/api/v1`; a trailing slash is fine. */
	baseUrl: string;
	/** Sent to the host of `baseUrl` only: redirects are not followed. */
	apiKey?: string;
	fetch?: typeof fetch;
	/** How long the server may send nothing at all; comments count as life. 60,000 by default. */
	idleTimeoutMs?: number;
	/** Requests for one turn, 4 at most and by default: a request is repeated only while nothing was shown. */
	maxAttempts?: number;
	/** Wait before the first repetition, doubled each time. 500 by default. */
	backoffMs?: number;
	/** What the server says of its models, where somebody has asked already; one of its own without it. */
	catalog?: Pick<ModelCatalog, 'contextTokens' | 'takesTools'>;
	/** The app's name and address, as OpenRouter lists them. */
	appTitle?: string;
	referer?: string;
}

const MAX_ATTEMPTS = 4;
const MIN_KEY_LENGTH = 12;

/** A `Model` on a Responses server. Throws a plain `Error` only for a base URL that cannot be one. */
export function createResponsesModel(options: ResponsesModelOptions): Model {
	const url = responsesUrl(options.baseUrl);
	const apiKey = options.apiKey?.trim() || undefined;
	const { appTitle, referer, backoffMs = 500 } = options;
	const maxAttempts = Math.min(options.maxAttempts ?? MAX_ATTEMPTS, MAX_ATTEMPTS);
	const context: ErrorContext = { model: options.id, host: url.host, hasKey: apiKey !== undefined };
	const exchangeOptions: ExchangeOptions = {
		url,
		headers: requestHeaders({ apiKey, appTitle, referer }),
		fetch: options.fetch ?? fetch,
		idleTimeoutMs: options.idleTimeoutMs ?? 60_000,
		context
	};
	const { headers, fetch: send } = exchangeOptions;
	const catalog =
		options.catalog ?? createModelCatalog({ url: siblingUrl(options.baseUrl, 'models'), headers, fetch: send });
	/** Servers quote keys in their errors. What is shorter than any key is a local server's dummy, e.g. its own name. */
	const isSecret = apiKey !== undefined && apiKey.length >= MIN_KEY_LENGTH;
	const withoutKey = (text: string) => (isSecret ? text.replaceAll(apiKey, '[key]') : text);

	async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
		if (apiKey !== undefined && !isHeaderText(apiKey)) {
			const summary = 'The API key holds characters that no key has.';
			const { error } = makeFault('unauthorized', context, {
				summary,
				advice: 'Copy it again, in the settings or into OPENROUTER_API_KEY.'
			});
			return yield { type: 'failed', error, items: [] };
		}
		const body = requestBody(options.id, url, request);
		const usedCallIds = callIdsOf(request);
		for (let attempt = 1; ; attempt++) {
			const outcome = yield* exchange({ body, usedCallIds }, exchangeOptions, signal);
			if (outcome.type === 'completed') return yield outcome;

			const { fault, items, hasShown } = outcome;
			const error = { ...fault.error, message: withoutKey(fault.error.message) };
			const delayMs = error.retryAfterMs ?? backoffDelayMs(attempt, backoffMs);
			const isFinal = hasShown || !fault.isRetryable || attempt >= maxAttempts || delayMs > MAX_RETRY_DELAY_MS;
			if (isFinal) return yield { type: 'failed', error, items };

			yield { type: 'retrying', attempt, delayMs, message: withoutKey(fault.summary) };
			if (!(await wait(delayMs, signal))) {
				return yield { type: 'failed', error: makeFault('aborted', context).error, items };
			}
		}
	}

	const { id } = options;
	const model = { id, contextTokens: () => catalog.contextTokens(id), stream };
	return withTextCalls(model, () => catalog.takesTools(id));
}

function callIdsOf({ input }: ModelRequest): Set<string> {
	const calls = input.filter(({ type }) => type === 'function_call');
	return new Set(calls.flatMap(({ call_id }) => (typeof call_id === 'string' ? [call_id] : [])));
}
