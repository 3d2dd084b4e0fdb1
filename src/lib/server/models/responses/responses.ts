/** Model client for servers with the Responses API: OpenRouter, OpenAI, Ollama, llama.cpp (F11). */
import type { Model, ModelEvent, ModelRequest, ModelUsage, ResponseItem } from '../../agent/model.ts';
import { isOfModel } from '../../agent/history.ts';
import { createModelCatalog, type ModelCatalog } from '../catalog.ts';
import {
	makeFault,
	type ErrorContext,
	excerpt,
	type Fault,
	networkFault,
	faultOf,
	readErrorDetail,
	backoffDelayMs,
	MAX_RETRY_DELAY_MS,
	wait,
	openCallFault,
	unbegunFault,
	foreignFault,
	emptyFault
} from './faults.ts';
import {
	cacheFields,
	isHeaderText,
	requestBody,
	requestHeaders,
	responsesUrl,
	isRouter,
	routingFields,
	siblingUrl
} from './request.ts';
import { createForeign, type RefusedTypes } from './foreign.ts';
import { withTextCalls } from '../text-calls.ts';
import type { ContentEvent } from './items.ts';
import { connect, type Connection, createSseDecoder, Interruption } from './connection.ts';
import { asArray, asObject, asText, parseJson } from '../../../shared/json.ts';
import type { ModelRouting } from '../../../shared/models.ts';
import { isOpenRouter } from '../../../shared/names.ts';
import { ResponseReader, type Ending } from './reader.ts';

export interface ResponsesModelOptions {
	/** Model id for the request, e.g. `openrouter/auto`. */
	id: string;
	/** E.g. `https://openrouter.ai/api/v1`; a trailing slash is fine. */
	baseUrl: string;
	/** Sent only to the host of `baseUrl`: redirects aren't followed. */
	apiKey?: string;
	fetch?: typeof fetch;
	/** Maximum silence of the server; comments count as activity. Default 60,000. */
	idleTimeoutMs?: number;
	/** Requests per turn, at most 4 (the default). Only repeats while nothing was shown. */
	maxAttempts?: number;
	/** Wait before the first retry, doubled each time. Default 500. */
	backoffMs?: number;
	/** A shared list of models; created if absent. */
	catalog?: Pick<ModelCatalog, 'contextTokens' | 'takesTools' | 'cacheSaving'> &
		Partial<Pick<ModelCatalog, 'takes' | 'modalities' | 'listedId'>>;
	/** Only sent to OpenRouter. */
	routing?: ModelRouting;
	/** What is known of the server; shared by its models. */
	server?: ServerFacts;
	/** The app's name and URL for OpenRouter's listing. */
	appTitle?: string;
	referer?: string;
}

/** Learned from its answers. */
export interface ServerFacts extends RefusedTypes {
	/** It rejected a request because of `cache_control` or `prompt_cache_key`. */
	refusesCacheFields: boolean;
}

export function nothingKnown(): ServerFacts {
	return { refusesCacheFields: false, refusedTypes: new Set() };
}

const MAX_ATTEMPTS = 4;
const MIN_KEY_LENGTH = 12;

/** Throws a plain `Error` for an invalid base URL. */
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
	/** Servers quote keys in errors. A very short key is a dummy for a local server, often its name, so it stays. */
	const isSecret = apiKey !== undefined && apiKey.length >= MIN_KEY_LENGTH;
	const withoutKey = (text: string) => (isSecret ? text.replaceAll(apiKey, '[key]') : text);

	const server = options.server ?? nothingKnown();
	const routing = isOpenRouter(options.baseUrl) ? (options.routing ?? {}) : null;

	/** The fallbacks that can take this request, as far as is known; of the others, what they can't, for people. */
	const sortFallbacks = async (
		{ input, tools }: ModelRequest,
		modalities: readonly string[] | undefined
	): Promise<{ able: string[]; unable: Map<string, string> }> => {
		const able: string[] = [];
		const unable = new Map<string, string>();
		const isUsed = typesIn(input);
		const draws = modalities?.includes('image') ?? false;
		for (const each of routing?.fallbacks ?? []) {
			if (each === options.id) continue;
			if (tools.length > 0 && catalog.takesTools(each) === false) unable.set(each, 'can’t use tools');
			else if (isUsed.has('input_image') && (await catalog.takes?.(each, 'image')) === false)
				unable.set(each, 'can’t see pictures');
			else if (isUsed.has('input_file') && (await catalog.takes?.(each, 'file')) === false)
				unable.set(each, 'can’t read attached files');
			else if (draws && catalog.listedId?.(each) && !catalog.modalities?.(each))
				unable.set(each, 'can’t make pictures');
			else able.push(each);
		}
		return { able, unable };
	};

	/** The model that answered, if it's another one. A name that nobody knows is taken for another spelling. */
	const answererOf = (said: string | undefined, fallbacks: readonly string[]): string | undefined => {
		if (said === undefined || routing === null) return undefined;
		const [asked, named] = [withoutVariant(options.id), withoutVariant(catalog.listedId?.(said) ?? said)];
		const isKnown = isRouter(options.id) || (catalog.listedId?.(said) ?? null) !== null;
		const fallback = fallbacks.find((each) => isSpellingOf(withoutVariant(each), named));
		if (isSpellingOf(asked, named) || (!isKnown && !fallback)) return undefined;
		return fallback ?? excerpt(named);
	};

	const withSaved = (usage: ModelUsage | null, answeredBy = options.id): ModelUsage | null => {
		const each = usage?.cachedTokens ? catalog.cacheSaving(answeredBy) : null;
		return usage?.cachedTokens && each ? { ...usage, saved: usage.cachedTokens * each } : usage;
	};

	async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
		if (apiKey !== undefined && !isHeaderText(apiKey)) {
			const summary = 'The API key contains invalid characters.';
			const advice = 'Copy it again into the settings or OPENROUTER_API_KEY.';
			const { error } = makeFault('unauthorized', context, { summary, advice });
			return yield { type: 'failed', error, items: [] };
		}
		const fields = server.refusesCacheFields ? {} : cacheFields(options.id, url, request.sessionId);
		const gives = catalog.modalities?.(options.id) ?? undefined;
		const modalities = gives && request.textOnly ? ['text'] : gives;
		const { able, unable } = await sortFallbacks(request, modalities);
		const notAsked = [...unable].map(([each, why]) => `${each} ${why}, so it wasn’t asked as a fallback.`);
		const routed = { ...routingFields(options.id, able, routing ?? {}), modalities };
		const foreign = createForeign(request, { url, model: options.id, facts: server });
		const bodyWith = (extra: object) => requestBody(options.id, url, request, extra, foreign.refused);
		let body = bodyWith({ ...routed, ...fields });
		let mayRefuse = Object.keys(fields).length > 0;
		const usedCallIds = callIdsOf(request);
		for (let attempt = 1; ; attempt++) {
			const outcome = yield* exchange({ body, usedCallIds }, exchangeOptions, signal);
			const answeredBy = answererOf(outcome.model, able);
			const items = answeredBy === undefined ? outcome.items : outcome.items.map(answered(answeredBy));
			if (outcome.type === 'completed') {
				const { type, incompleteReason } = outcome;
				const usage = withSaved(outcome.usage, answeredBy);
				const leftOut = foreign.remember();
				const remarks = {
					...(answeredBy && { answeredBy }),
					...(notAsked.length > 0 && { notAsked }),
					...(leftOut.length > 0 && { leftOut })
				};
				return yield { type, items, usage, incompleteReason, ...remarks };
			}
			if (mayRefuse && refusesFields(outcome.fault)) {
				server.refusesCacheFields = true;
				mayRefuse = false;
				body = bodyWith(routed);
				continue;
			}
			if (!outcome.hasShown && foreign.leaveOut(outcome.fault)) {
				body = bodyWith(mayRefuse ? { ...routed, ...fields } : routed);
				continue;
			}

			const { fault, hasShown } = outcome;
			const fallbacks = [...new Set([...(fault.error.fallbacks ?? []), ...unable.keys()])].filter(
				(each) => each !== options.id
			);
			const error = {
				...fault.error,
				message: withoutKey(fault.error.message),
				...(fallbacks.length > 0 && { fallbacks })
			};
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
	const takes: Model['takes'] = async (input) => (await catalog.takes?.(id, input)) ?? null;
	const model = { id, contextTokens: () => catalog.contextTokens(id), takes, stream };
	return withTextCalls(model, () => catalog.takesTools(id));
}

/** Marks reasoning and the server's own calls with the model that made them, because no other model takes them. */
function answered(by: string): (item: ResponseItem) => ResponseItem {
	return (item) => (isOfModel(item) ? { ...item, answered_by: by } : item);
}

/** Of the parts of messages and of results. */
function typesIn(input: readonly ResponseItem[]): Set<unknown> {
	const parts = input.flatMap(({ content, output }) => [...asArray(content), ...asArray(output)]);
	return new Set(parts.map((part) => asObject(part).type));
}

/** OpenRouter's variants, like `:free`, are the same model. */
function withoutVariant(id: string): string {
	return id.replace(/:[^:/]*$/, '');
}

/** Whether `named` is `id`, perhaps with a date. */
function isSpellingOf(id: string, named: string): boolean {
	return named.startsWith(id) && /^([-@][\d-]+)?$/.test(named.slice(id.length));
}

/** Whether a server rejected the request for a field that it doesn't know. */
function refusesFields({ error: { status, message } }: Fault): boolean {
	if (status !== 400 && status !== 422) return false;
	return /cache_control|prompt_cache_|(unknown|unrecogni[sz]ed|unexpected|unsupported|additional|extra)\W.{0,40}\b(fields?|parameters?|arguments?|propert(y|ies)|keys?|inputs?)/i.test(
		message
	);
}

function callIdsOf({ input }: ModelRequest): Set<string> {
	const calls = input.filter(({ type }) => type === 'function_call');
	return new Set(calls.flatMap(({ call_id }) => (typeof call_id === 'string' ? [call_id] : [])));
}

interface ExchangeOptions {
	url: URL;
	headers: Record<string, string>;
	fetch: typeof fetch;
	idleTimeoutMs: number;
	context: ErrorContext;
}

interface ExchangeRequest {
	/** JSON. */
	body: string;
	/** Ids of calls in the history. */
	usedCallIds: ReadonlySet<string>;
}

type ExchangeOutcome =
	/** `model`: as the server calls it. */
	| (Extract<ModelEvent, { type: 'completed' }> & { model?: string | undefined })
	| { type: 'failed'; fault: Fault; items: ResponseItem[]; hasShown: boolean; model?: string | undefined };

const MAX_BODY_BYTES = 256 * 1024 * 1024;
const MAX_JSON_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
/** Bytes kept of the start, for a response that isn't an event stream. */
const MAX_HEAD_BYTES = 4 * 1024;

/** Sends one request. Yields its content and returns how it ended. Never throws. Returning early closes the socket. */
async function* exchange(
	{ body, usedCallIds }: ExchangeRequest,
	options: ExchangeOptions,
	signal: AbortSignal
): AsyncGenerator<ContentEvent, ExchangeOutcome> {
	const { context, idleTimeoutMs } = options;
	const reader = new ResponseReader(usedCallIds);
	const failed = (fault: Fault): ExchangeOutcome => ({
		type: 'failed',
		fault,
		items: reader.items(),
		hasShown: reader.hasShown,
		model: reader.model
	});
	let connection: Connection | null = null;
	try {
		connection = await connect(
			options.url.href,
			{ method: 'POST', headers: options.headers, body, redirect: 'manual' },
			{ fetch: options.fetch, signal, idleTimeoutMs, maxBytes: MAX_BODY_BYTES }
		);
		if (connection.status < 200 || connection.status > 299) return failed(await statusFault(connection, context));
		const head = yield* readEvents(connection, reader, signal);
		return outcomeOf(reader) ?? failed(endingFault(reader, head, context));
	} catch (error) {
		return failed(
			networkFault(error, { ...context, idleTimeoutMs, hasAnswered: connection !== null, hasShown: reader.hasShown })
		);
	} finally {
		if (reader.ending?.type === 'completed') connection?.finish();
		else connection?.close();
	}
}

/** Reads until the response or the body ends. Returns the start of the body as text. */
async function* readEvents(
	connection: Connection,
	reader: ResponseReader,
	signal: AbortSignal
): AsyncGenerator<ContentEvent, string> {
	const decoder = createSseDecoder();
	const head: Uint8Array[] = [];
	let headBytes = 0;
	let isStream: boolean | undefined;
	while (!reader.ending) {
		const bytes = await connection.read();
		if (bytes && (isStream === undefined || (reader.frames === 0 && headBytes < MAX_HEAD_BYTES))) {
			head.push(bytes);
			headBytes += bytes.byteLength;
		}
		// Check the content, because the header is wrong too often: an event stream never starts with a bracket.
		isStream ??= bytes ? startsLikeStream(bytes) : undefined;
		if (isStream === false) {
			const text = await readText(connection, MAX_JSON_BYTES, head);
			reader.readResponse(parseJson(text));
			yield* takeAll(reader, signal);
			return text;
		}
		for (const frame of bytes ? decoder.push(bytes) : decoder.end()) reader.readFrame(frame, bytes === null);
		yield* takeAll(reader, signal);
		if (bytes === null) break;
	}
	return new TextDecoder().decode(Buffer.concat(head));
}

function* takeAll(reader: ResponseReader, signal: AbortSignal): Generator<ContentEvent, void> {
	for (const event of reader.take()) {
		yield event;
		if (signal.aborted) throw new Interruption('aborted');
	}
}

/** undefined if there is only white space so far. */
function startsLikeStream(bytes: Uint8Array): boolean | undefined {
	const text = Buffer.from(bytes)
		.toString('latin1')
		.replace(/^(\xef|\xbb|\xbf|\s)+/, '');
	return text === '' ? undefined : !/^[{[<"]/.test(text);
}

/** Reads the rest of a body, up to `maxBytes` in total. */
async function readText(connection: Connection, maxBytes: number, parts: Uint8Array[] = []): Promise<string> {
	let size = parts.reduce((sum, part) => sum + part.byteLength, 0);
	while (size < maxBytes) {
		const bytes = await connection.read();
		if (!bytes) break;
		parts.push(bytes);
		size += bytes.byteLength;
	}
	return new TextDecoder().decode(Buffer.concat(parts).subarray(0, maxBytes));
}

function outcomeOf(reader: ResponseReader): ExchangeOutcome | null {
	const { ending } = reader;
	if (ending?.type !== 'completed' || reader.isEmpty || reader.hasOpenCall) return null;
	return {
		type: 'completed',
		items: reader.items(),
		usage: ending.usage,
		incompleteReason: ending.incompleteReason,
		model: reader.model
	};
}

function endingFault(reader: ResponseReader, head: string, context: ErrorContext): Fault {
	const ending: Ending = reader.ending ?? { type: 'truncated' };
	switch (ending.type) {
		case 'completed':
			return reader.hasOpenCall
				? openCallFault(ending.incompleteReason, context)
				: emptyFault(ending.incompleteReason, context);
		case 'failed':
			return faultOf(readErrorDetail(ending.payload), context);
		case 'malformed':
			return makeFault('provider_error', context, {
				summary: `${context.host} sent an event that ${ending.problem}.`,
				said: ending.text
			});
		case 'truncated':
			if (reader.frames === 0 && !isOnlyComments(head)) return foreignFault(head, context);
			return reader.hasShown ? makeFault('stream_truncated', context) : unbegunFault(context);
		default:
			return ending satisfies never;
	}
}

/** Whether it's an event stream without data so far. */
function isOnlyComments(head: string): boolean {
	return head.split(/[\r\n]+/).every((line) => line === '' || /^(:|data|event|id|retry)/.test(line));
}

/** The error of an unsuccessful response. Reads its body up to a limit. */
async function statusFault(connection: Connection, context: ErrorContext): Promise<Fault> {
	const { status, headers } = connection;
	// A browser-like `fetch` reports status 0 for a redirect it doesn't follow.
	if (status === 0 || (status >= 300 && status < 400)) {
		const target = headers.get('location');
		return makeFault('provider_error', context, {
			status: status || undefined,
			summary: `${context.host} redirects to ${target ? excerpt(target, 200) : 'another address'}.`,
			advice: 'Redirects aren’t followed, to protect your key. Check the base URL.'
		});
	}
	const text = await readErrorText(connection);
	const body = parseJson(text);
	const detail = readErrorDetail(body);
	if (body === undefined) detail.message = asText(excerpt(text));
	return faultOf(detail, context, { status, retryAfter: headers.get('retry-after') });
}

/** Empty if the body can't be read: the status says enough. */
async function readErrorText(connection: Connection): Promise<string> {
	try {
		return await readText(connection, MAX_ERROR_BYTES);
	} catch (error) {
		if (error instanceof Interruption && error.reason === 'aborted') throw error;
		return '';
	}
}
