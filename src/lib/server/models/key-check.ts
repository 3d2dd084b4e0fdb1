/** Is a key good for a server, and for how much? (FEATURES F9, MODEL-WIRE "Figures") */
import { isOpenRouter, type KeyStatus } from '../../shared/models.ts';
import { createModelCatalog } from './catalog.ts';
import { fetchText, type TextAnswer } from './fetch-text.ts';
import { asNumber, asObject, asText, isObject } from './json.ts';
import { askOpenRouter } from './openrouter.ts';
import type { SdkRequest, Send } from './openrouter-sdk.ts';
import { siblingUrl, requestHeaders } from './responses-request.ts';
import { problemOf } from './server-problem.ts';

export interface KeyToCheck {
	baseUrl: string;
	/** null asks without one, as servers on one's own machine are asked. */
	apiKey: string | null;
	fetch: typeof fetch;
	timeoutMs?: number;
	signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;
const MAX_LABEL = 100;
const NOTHING = { label: null, limit: null, remaining: null, used: null, credits: null, models: null };

/** Throws the signal's reason, and nothing else. */
export async function checkKey(check: KeyToCheck): Promise<KeyStatus> {
	const { baseUrl, apiKey, signal, timeoutMs = TIMEOUT_MS } = check;
	try {
		return isOpenRouter(baseUrl) ? await checkAtOpenRouter(check) : await checkByList(check);
	} catch (error) {
		signal?.throwIfAborted();
		const message = problemOf(error, { baseUrl, hasKey: apiKey !== null, timeoutMs });
		return { isValid: false, message, ...NOTHING };
	}
}

async function checkAtOpenRouter(check: KeyToCheck): Promise<KeyStatus> {
	const { baseUrl, apiKey } = check;
	const { host } = new URL(baseUrl);
	if (apiKey === null) {
		return { isValid: false, message: `There is no key for ${host}: paste one, or sign in.`, ...NOTHING };
	}
	const send = senderTo(check);
	const plain = (path: string): SdkRequest => ({
		url: siblingUrl(baseUrl, path).href,
		method: 'GET',
		body: undefined
	});
	const [key, credits] = await Promise.all([
		askOpenRouter({ baseUrl, send, ask: (sdk) => sdk.key(), plain: plain('key'), read: readKey }),
		// Most keys may not ask.
		askOpenRouter({
			...{ baseUrl, send, ask: (sdk) => sdk.credits(), plain: plain('credits') },
			read: readCredits
		}).catch(() => null)
	]);
	const remaining = asNumber(key.remaining) ?? null;
	const [total, used] = [asNumber(credits?.total), asNumber(credits?.used)];
	return {
		...{ isValid: true, message: messageOf(host, remaining) },
		label: asText(key.label)?.slice(0, MAX_LABEL).replaceAll(apiKey, '[key]') ?? null,
		limit: asNumber(key.limit) ?? null,
		remaining,
		used: asNumber(key.used) ?? null,
		credits: total === undefined || used === undefined ? null : { total, used },
		models: null
	};
}

function messageOf(host: string, remaining: number | null): string {
	if (remaining === null || remaining > 0) return `The key works at ${host}.`;
	return `The key works at ${host}, and its limit is used up: raise it there, or choose a free model.`;
}

/** Other servers have no such thing as `/key`: can their list be read with it? */
async function checkByList({ baseUrl, apiKey, fetch, signal, timeoutMs = TIMEOUT_MS }: KeyToCheck): Promise<KeyStatus> {
	const url = siblingUrl(baseUrl, 'models');
	const { models } = await createModelCatalog({ url, headers: headersFor(apiKey), fetch, timeoutMs }).list(signal);
	const count = models.length === 1 ? '1 model' : `${models.length} models`;
	const who = apiKey === null ? 'answers without a key' : 'answers with this key';
	return { isValid: true, message: `${url.host} ${who}: ${count}.`, ...NOTHING, models: models.length };
}

/** Sends what the SDK asks to the server that was meant, with the key that is for it, and nothing elsewhere. */
export function senderTo({ baseUrl, apiKey, fetch, signal, timeoutMs = TIMEOUT_MS }: KeyToCheck): Send {
	const { origin } = new URL(baseUrl);
	return async ({ url, method, body }: SdkRequest): Promise<TextAnswer> => {
		if (new URL(url).origin !== origin) throw new Error('This is another server than the one that is set');
		const headers = headersFor(apiKey);
		const sent = { url, method, headers, fetch, timeoutMs, maxBytes: MAX_BYTES, signal };
		return fetchText({ ...sent, ...(body === undefined ? {} : { body }) });
	};
}

function headersFor(apiKey: string | null): Record<string, string> {
	return requestHeaders({ apiKey: apiKey ?? undefined, appTitle: undefined, referer: undefined });
}

function readKey(json: unknown): { label: unknown; limit: unknown; remaining: unknown; used: unknown } {
	const { data } = asObject(json);
	if (!isObject(data)) throw new Error('The answer says nothing of a key');
	return { label: data.label, limit: data.limit, remaining: data.limit_remaining, used: data.usage };
}

function readCredits(json: unknown): { total: unknown; used: unknown } {
	const { total_credits, total_usage } = asObject(asObject(json).data);
	return { total: total_credits, used: total_usage };
}
