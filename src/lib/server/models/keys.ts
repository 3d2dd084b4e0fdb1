/** Sign-in at OpenRouter (OAuth with PKCE), checks of API keys, and search for local model servers (F9, F11). */
import { createHash, randomBytes } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { Exclusively } from '../../shared/in-turn.ts';
import type { KeyStatus, LocalServer } from '../../shared/models.ts';
import { isOpenRouter } from '../../shared/names.ts';
import { asArray, asNumber, asObject, asText, isObject, parseJson } from '../../shared/json.ts';
import { createModelCatalog } from './catalog.ts';
import { readModelList, toModelInfos } from './model-list.ts';
import { fetchText, type TextAnswer } from './responses/connection.ts';
import { askOpenRouter, StatusError } from './openrouter.ts';
import type { SdkRequest, Send } from './openrouter-sdk.ts';
import { problemOf } from './responses/faults.ts';
import { requestHeaders, siblingUrl } from './responses/request.ts';

export interface SignIns {
	/** Returns the URL to visit. It redirects back to `returnTo` with `code` and `state` in the query. */
	start(baseUrl: string, returnTo: URL): Promise<string>;
	/**
	 * Exchanges the code for a key. A state works once.
	 * @throws AppError `invalid_input` for an expired state or a rejected code; `unavailable`
	 */
	complete(code: string, state: string, signal?: AbortSignal): Promise<{ apiKey: string; baseUrl: string }>;
}

interface Open {
	state: string;
	baseUrl: string;
	verifier: string;
	/** Milliseconds since 1970. */
	startedAt: number;
}

/** Sign-ins under way. The person may come back to another of several servers. */
export interface OpenSignIns {
	/** One at a time. `change` gets those that are open, oldest first, and returns what is open then. */
	change(change: (open: readonly Open[]) => Open[]): Promise<void>;
}

/** In the vault, in one entry. */
export function keepSignIns(
	vault: {
		set(id: string, name: string, value: string, now: string): Promise<void>;
		valuesOf(id: string): Promise<Record<string, string>>;
	},
	exclusively: Exclusively
): OpenSignIns {
	const [id, entry] = ['settings:sign-ins', 'SIGN_INS'];
	return {
		change: (change) =>
			exclusively('model-sign-ins', async () => {
				const stored = parseJson((await vault.valuesOf(id))[entry] ?? '[]') as Open[] | null;
				await vault.set(id, entry, JSON.stringify(change(stored ?? [])), new Date().toISOString());
			})
	};
}

const OPEN_MS = 10 * 60_000;
const MAX_OPEN = 20;
const EXCHANGE_TIMEOUT_MS = 15_000;
const AGAIN = 'Start signing in again from the settings.';

function signInsInMemory(): OpenSignIns {
	let open: Open[] = [];
	return { change: async (change) => void (open = change(open)) };
}

export function createSignIns({
	fetch,
	open = signInsInMemory(),
	now = Date.now
}: {
	fetch: typeof globalThis.fetch;
	/** Default: in memory. */
	open?: OpenSignIns | undefined;
	now?: () => number;
}): SignIns {
	const isRecent = ({ startedAt }: Open) => now() - startedAt < OPEN_MS;
	return {
		async start(baseUrl, returnTo) {
			const state = randomBytes(32).toString('base64url');
			const verifier = randomBytes(32).toString('base64url');
			// At the limit, drop the oldest.
			await open.change((before) =>
				[...before.filter(isRecent), { state, baseUrl, verifier, startedAt: now() }].slice(-MAX_OPEN)
			);
			const callback = new URL(returnTo);
			callback.searchParams.set('state', state);
			const url = new URL('/auth', baseUrl);
			url.searchParams.set('callback_url', callback.href);
			url.searchParams.set('code_challenge', createHash('sha256').update(verifier).digest('base64url'));
			url.searchParams.set('code_challenge_method', 'S256');
			return url.href;
		},

		async complete(code, state, signal) {
			let started = undefined as Open | undefined;
			await open.change((before) => {
				const recent = before.filter(isRecent);
				started = recent.find((each) => each.state === state);
				return recent.filter((each) => each !== started);
			});
			if (!started) {
				throw new AppError('invalid_input', 'This sign-in has expired or was already used.', { hint: AGAIN });
			}
			const { baseUrl, verifier } = started;
			return { apiKey: await exchange({ baseUrl, verifier, code, fetch, signal }), baseUrl };
		}
	};
}

/** @throws AppError, or the signal's reason */
async function exchange(options: {
	baseUrl: string;
	verifier: string;
	code: string;
	fetch: typeof globalThis.fetch;
	signal: AbortSignal | undefined;
}): Promise<string> {
	const { baseUrl, verifier, code, fetch, signal } = options;
	const body = JSON.stringify({ code, code_verifier: verifier, code_challenge_method: 'S256' });
	try {
		const key = await askOpenRouter({
			baseUrl,
			send: senderTo({ baseUrl, apiKey: null, fetch, signal, timeoutMs: EXCHANGE_TIMEOUT_MS }),
			ask: (sdk) => sdk.exchange(code, verifier),
			plain: { url: siblingUrl(baseUrl, 'auth/keys').href, method: 'POST', body },
			read: (json) => asText(asObject(json).key) ?? ''
		});
		if (!/^[!-~]{1,512}$/.test(key)) throw new Error('The response contains no key');
		return key;
	} catch (error) {
		signal?.throwIfAborted();
		if (error instanceof StatusError && error.status >= 400 && error.status < 500 && error.status !== 429) {
			const message = `${new URL(baseUrl).host} rejected the sign-in code (${error.status}).`;
			throw new AppError('invalid_input', message, { hint: AGAIN });
		}
		const message = problemOf(error, { baseUrl, hasKey: false, timeoutMs: EXCHANGE_TIMEOUT_MS });
		throw new AppError('unavailable', message, { hint: AGAIN });
	}
}

// Checks of API keys (F9)

export interface KeyToCheck {
	baseUrl: string;
	/** null: without a key, as for local servers. */
	apiKey: string | null;
	fetch: typeof fetch;
	timeoutMs?: number;
	signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_LABEL = 100;
const NOTHING = { label: null, limit: null, remaining: null, used: null, credits: null, models: null };

/** Throws only the signal's reason. */
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
		return { isValid: false, message: `No API key for ${host}. Paste one, or sign in.`, ...NOTHING };
	}
	const send = senderTo(check);
	const plain = (path: string): SdkRequest => ({ url: siblingUrl(baseUrl, path).href, method: 'GET', body: undefined });
	const [key, credits] = await Promise.all([
		askOpenRouter({ baseUrl, send, ask: (sdk) => sdk.key(), plain: plain('key'), read: readKey }),
		askOpenRouter({ baseUrl, send, ask: (sdk) => sdk.credits(), plain: plain('credits'), read: readCredits })
			// Most keys aren't allowed to read credits.
			.catch(() => null)
	]);
	const remaining = asNumber(key.remaining) ?? null;
	const [total, used] = [asNumber(credits?.total), asNumber(credits?.used)];
	return {
		isValid: true,
		message: messageOf(host, remaining),
		label: asText(key.label)?.slice(0, MAX_LABEL).replaceAll(apiKey, '[key]') ?? null,
		limit: asNumber(key.limit) ?? null,
		remaining,
		used: asNumber(key.used) ?? null,
		credits: total === undefined || used === undefined ? null : { total, used },
		models: null
	};
}

function messageOf(host: string, remaining: number | null): string {
	if (remaining === null || remaining > 0) return `The key works with ${host}.`;
	return `The key works with ${host}, but has reached its limit. Raise the limit there, or choose a free model.`;
}

/** Other servers have no `/key` endpoint, so this tries to list their models with the key. */
async function checkByList({ baseUrl, apiKey, fetch, signal, timeoutMs = TIMEOUT_MS }: KeyToCheck): Promise<KeyStatus> {
	const url = siblingUrl(baseUrl, 'models');
	const { models } = await createModelCatalog({ url, headers: headersFor(apiKey), fetch, timeoutMs }).list(signal);
	const count = models.length === 1 ? '1 model' : `${models.length} models`;
	const who = apiKey === null ? 'works without a key' : 'works with this key';
	return { isValid: true, message: `${url.host} ${who}: ${count}.`, ...NOTHING, models: models.length };
}

/** Sends the SDK's requests with our fetch and key. Refuses any other origin. */
function senderTo({ baseUrl, apiKey, fetch, signal, timeoutMs = TIMEOUT_MS }: KeyToCheck): Send {
	const { origin } = new URL(baseUrl);
	return async ({ url, method, body }: SdkRequest): Promise<TextAnswer> => {
		if (new URL(url).origin !== origin) throw new Error('This server isn’t the one in the settings');
		const headers = headersFor(apiKey);
		return fetchText({ url, method, headers, body, fetch, timeoutMs, maxBytes: MAX_ANSWER_BYTES, signal });
	};
}

function headersFor(apiKey: string | null): Record<string, string> {
	return requestHeaders({ apiKey: apiKey ?? undefined, appTitle: undefined, referer: undefined });
}

function readKey(json: unknown): { label: unknown; limit: unknown; remaining: unknown; used: unknown } {
	const { data } = asObject(json);
	if (!isObject(data)) throw new Error('The response has no information about the key');
	return { label: data.label, limit: data.limit, remaining: data.limit_remaining, used: data.usage };
}

function readCredits(json: unknown): { total: unknown; used: unknown } {
	const { total_credits, total_usage } = asObject(asObject(json).data);
	return { total: total_credits, used: total_usage };
}

// The search for model servers on this machine (F11)

export interface LocalSearch {
	ports: readonly number[];
	fetch: typeof fetch;
	/** Per port. Default 700. */
	timeoutMs?: number;
	signal?: AbortSignal | undefined;
}

const LOCAL_TIMEOUT_MS = 700;
const MAX_LIST_BYTES = 512 * 1024;

const USUAL: Readonly<Record<number, string>> = { 11434: 'Ollama', 1234: 'LM Studio', 8080: 'llama.cpp' };
/** Server by the `owned_by` of its models. */
const OWNERS: Readonly<Record<string, string>> = { library: 'Ollama', llamacpp: 'llama.cpp', vllm: 'vLLM' };

/** Servers that return a list of models, in the order of the ports. Sends no key. Throws the signal's reason. */
export async function findLocalServers({ ports, ...search }: LocalSearch): Promise<LocalServer[]> {
	const found = await Promise.all([...new Set(ports)].map((port) => lookAt(port, search)));
	search.signal?.throwIfAborted();
	return found.filter((server) => server !== null);
}

async function lookAt(port: number, { fetch, signal, timeoutMs = LOCAL_TIMEOUT_MS }: Omit<LocalSearch, 'ports'>) {
	const baseUrl = `http://127.0.0.1:${port}/v1`;
	try {
		const request = { url: `${baseUrl}/models`, headers: {}, fetch, timeoutMs, maxBytes: MAX_LIST_BYTES, signal };
		const { status, text } = await fetchText(request);
		if (status !== 200) return null;
		const json = parseJson(text);
		const models = toModelInfos(readModelList(json)).map(({ id }) => id);
		return { name: nameOf(port, json), baseUrl, models };
	} catch {
		// No model server there: not an error.
		return null;
	}
}

function nameOf(port: number, json: unknown): string {
	const owner = asObject(asArray(asObject(json).data)[0]).owned_by;
	const known = typeof owner === 'string' && Object.hasOwn(OWNERS, owner) ? OWNERS[owner] : undefined;
	return known ?? USUAL[port] ?? `Server on port ${port}`;
}
