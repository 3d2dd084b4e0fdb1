/** The Responses API: create, read, delete and compact responses, and list models (F12). */
import { z } from 'zod';
import { AppError } from '../../../shared/errors.ts';
import { modelOfPreset, type ModelList } from '../../../shared/models.ts';
import { BUILT_IN_MODEL, MAX_MODEL_ID } from '../../../shared/names.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { createConnectionResponses, type ConnectionResponses } from './connection-responses.ts';
import { type Background, createBackground } from './background.ts';
import { ApiError, badParameter, runFailure } from './errors.ts';
import { type ResponseEvent, type ResponseResource, usageOf } from './wire.ts';
import {
	presetFor,
	respond,
	withoutSeals,
	type Answering,
	type RespondOptions,
	type RespondParts,
	newResponseId,
	countInputTokens
} from './respond.ts';
import {
	createSizeOf,
	isSummaryItem,
	type SizeOf,
	skillPairs,
	summaryItem,
	transcript,
	writeSummary
} from '../../agent/compaction.ts';
import type { Model, ModelUsage, ResponseItem } from '../../agent/model.ts';
import { isNote } from '../../agent/turn-note.ts';
import { startTimeLimit, type TimeLimit } from '../../agent/time-limit.ts';
import { estimateTokens } from '../../../shared/characters.ts';
import { contextLimitOf, inputCharacters } from '../../turns/context-budget.ts';
import { readConversation } from './conversation.ts';
import { inputItemsOf, type ListPage, pageOf, type ShownItem, withNames } from './items.ts';
import { checkBody, responseInput } from './request.ts';
import type { Replica } from '../../replica.ts';
import type { StoredResponse } from '../../store/responses.ts';

export interface ResponsesApiParts extends RespondParts {
	models: RespondParts['models'] & { current(): { id: string }; list(signal?: AbortSignal): Promise<ModelList> };
	/** Default: this server is alone. */
	replica?: Replica;
}

/** As `GET /v1/models` lists it. */
export interface ModelEntry {
	id: string;
	object: 'model';
	/** Unix time in seconds; 0 if unknown. */
	created: number;
	owned_by: string;
}

export interface ResponsesApi {
	/** @throws ApiError for an invalid request */
	respond(body: unknown, asker: Asker, signal: AbortSignal, options?: RespondOptions): Promise<Answering>;
	/** Creates the memory for a connection's `store: false` responses. */
	remember(): ConnectionResponses;
	/** @throws ApiError */
	compact(body: unknown, asker: Asker, signal: AbortSignal): Promise<CompactResource>;
	/** `shows`: the values of `include`. @throws ApiError 404 */
	retrieve(id: string, asker: Asker, shows: readonly string[]): Promise<ResponseResource>;
	/** The items that the request brought, in pages. @throws ApiError 404; 400 for a wrong parameter */
	inputItems(id: string, asker: Asker, query: URLSearchParams): Promise<ListPage<ShownItem>>;
	/** An estimate. @throws ApiError as `respond` */
	countInputTokens: (
		body: unknown,
		asker: Asker,
		signal: AbortSignal
	) => Promise<{ object: 'response.input_tokens'; input_tokens: number }>;
	/** The events of a response in the background, after this sequence number. @throws ApiError 404; 400 for another response, or no number */
	follow(
		id: string,
		asker: Asker,
		startingAfter: string | null
	): Promise<(signal: AbortSignal) => AsyncGenerator<ResponseEvent>>;
	/** Ends a response in the background, if it's running. @throws ApiError 404; 400 for another response */
	cancel(id: string, asker: Asker): Promise<ResponseResource>;
	/** Cancels it, if it's running. @throws ApiError 404 */
	remove(id: string, asker: Asker): Promise<{ id: string; object: 'response'; deleted: true }>;
	models(signal: AbortSignal): Promise<{ object: 'list'; data: ModelEntry[] }>;
	/** @throws ApiError 404 */
	model(id: string, signal: AbortSignal): Promise<ModelEntry>;
	/** Ends what an earlier process left running. Call once, before handling requests. */
	recover(): Promise<void>;
	/** Refuses new requests, and aborts running ones after `graceMs`. */
	close(graceMs?: number): Promise<void>;
}

export function createResponsesApi(parts: ResponsesApiParts): ResponsesApi {
	const closing = new AbortController();
	let isClosing = false;
	const active = new Set<Promise<void>>();
	const { responses } = parts.store;
	const background: Background = createBackground({ responses, log: parts.log, replica: parts.replica });
	const find = async (id: string, { apiKeyId }: Asker): Promise<StoredResponse> => {
		const stored = await background.get(id, apiKeyId);
		if (!stored) throw noResponse(id);
		return stored;
	};
	const findInBackground = async (id: string, asker: Asker): Promise<StoredResponse> => {
		const stored = await find(id, asker);
		if (stored.body.background === true) return stored;
		const sentence = 'Only a response that was created with background: true can be cancelled or streamed again.';
		throw new ApiError(400, sentence, { code: 'not_in_background' });
	};

	/** Registers work that `close` waits for. Its signal aborts with the client, with the server, and at its end. */
	const begin = (signal: AbortSignal) => {
		// By hand: what AbortSignal.any makes can be collected, and then never aborts.
		const controller = new AbortController();
		const { promise, resolve } = Promise.withResolvers<void>();
		const stop = () => controller.abort(new Error('the client disconnected, or the server is stopping'));
		active.add(promise);
		for (const each of [signal, closing.signal]) {
			if (each.aborted) stop();
			each.addEventListener('abort', stop, { once: true });
		}
		const end = () => {
			for (const each of [signal, closing.signal]) each.removeEventListener('abort', stop);
			controller.abort(new Error('the response has ended'));
			active.delete(promise);
			resolve();
		};
		return { signal: controller.signal, end };
	};

	async function* followed(
		open: (signal: AbortSignal) => Answering['events'],
		signal: AbortSignal
	): Answering['events'] {
		const begun = begin(signal);
		try {
			yield* open(begun.signal);
		} finally {
			begun.end();
		}
	}

	const work = async <Result>(signal: AbortSignal, doIt: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
		const begun = begin(signal);
		try {
			return await doIt(begun.signal);
		} finally {
			begun.end();
		}
	};

	const refuseWhenClosing = () => {
		if (isClosing) throw new AppError('unavailable', 'The server is stopping. Try again in a moment.');
	};

	const list = async (signal: AbortSignal): Promise<ModelEntry[]> => {
		const { data } = await parts.models.list(signal);
		const { id } = parts.models.current();
		const listed = data.map((model) => entryOf(model.id, model.createdAt));
		// Add the configured model: a server may answer for models it doesn't list.
		const all = listed.some((model) => model.id === id) ? listed : [entryOf(id, null), ...listed];
		return [...Object.keys(parts.presets()).map((name) => entryOf(modelOfPreset(name), null)), ...all];
	};

	return {
		async respond(body, asker, signal, options) {
			refuseWhenClosing();
			const { streams, queued, start } = await respond(parts, body, { ...options, asker, signal });
			if (!queued) return { streams, events: followed(start, signal) };
			if (streams) background.checkFollowers(asker.apiKeyId);
			await background.start(queued, start);
			return {
				streams,
				events: streams
					? background.follow(queued.id, { after: 0, apiKeyId: asker.apiKeyId }, signal)
					: accepted(queued)
			};
		},

		remember: () => createConnectionResponses(responses),

		async compact(body, asker, signal) {
			refuseWhenClosing();
			return work(signal, async (running) => {
				const time = startTimeLimit(parts.limits().maxDurationMs, running);
				return compact(parts, body, asker, time).finally(() => time.clear());
			});
		},

		async retrieve(id, asker, shows) {
			const body = (await find(id, asker)).body as ResponseResource;
			return shows.includes('reasoning.encrypted_content') ? body : withoutSeals(body);
		},

		inputItems: async (id, asker, query) => pageOf(inputItemsOf(await find(id, asker)), query),

		countInputTokens(body, asker, signal) {
			refuseWhenClosing();
			return work(signal, (running) => countInputTokens(parts, body, asker, running));
		},

		async follow(id, asker, startingAfter) {
			if (startingAfter !== null && !/^\d{1,15}$/.test(startingAfter)) {
				throw badParameter('starting_after', 'starting_after must be the sequence_number of an event: 0 or more.');
			}
			await findInBackground(id, asker);
			const after = startingAfter === null ? 0 : Math.min(Number(startingAfter) + 1, MAX_SEQUENCE);
			background.checkFollowers(asker.apiKeyId);
			return (signal) => background.follow(id, { after, apiKeyId: asker.apiKeyId }, signal);
		},

		async cancel(id, asker) {
			await findInBackground(id, asker);
			await background.stop(id);
			return withoutSeals((await find(id, asker)).body as ResponseResource);
		},

		async remove(id, { apiKeyId }) {
			if (await responses.get(id, apiKeyId)) await background.stop(id);
			if (!(await responses.remove(id, apiKeyId))) throw noResponse(id);
			return { id, object: 'response', deleted: true };
		},

		models: async (signal) => ({ object: 'list', data: await list(signal) }),

		async model(id, signal) {
			const found = (await list(signal)).find((model) => model.id === id);
			if (found) return found;
			throw runFailure('model_not_found', `The model '${id.slice(0, 200)}' does not exist.`);
		},

		recover: () => background.recover(),

		async close(graceMs = 0) {
			isClosing = true;
			const stop = () => closing.abort(new Error('the server is stopping'));
			const timer = setTimeout(stop, graceMs);
			if (graceMs === 0) stop();
			await Promise.all([...active, background.close(graceMs)]);
			clearTimeout(timer);
		}
	};
}

/** Waits for the final response. @throws ApiError if it failed without any output */
export async function collect(events: AsyncIterable<ResponseEvent>): Promise<ResponseResource> {
	let response: ResponseResource | null = null;
	for await (const event of events) {
		if ('response' in event) response = event.response as ResponseResource;
	}
	if (!response) throw runFailure('internal', 'The turn ended without a reply. Try again.');
	if (response.status !== 'failed' || response.output.length > 0) return response;
	const { code = 'server_error', message = `The response ${response.id} failed.` } = response.error ?? {};
	throw runFailure(code, message);
}

/** Numbers in the database are no larger. */
const MAX_SEQUENCE = 2 ** 31 - 1;

/** What a client gets that doesn't stream. */
async function* accepted({ body }: StoredResponse): AsyncGenerator<ResponseEvent> {
	yield { type: 'response.queued', sequence_number: 0, response: body };
}

function entryOf(id: string, createdAt: string | null): ModelEntry {
	const created = createdAt === null ? 0 : Math.floor(Date.parse(createdAt) / 1000);
	const slash = id.indexOf('/');
	const owner = id === BUILT_IN_MODEL || slash <= 0 ? 'openrouter-skills' : id.slice(0, slash);
	return { id, object: 'model', created, owned_by: owner };
}

function noResponse(id: string): ApiError {
	return new ApiError(404, `Response with id '${id.slice(0, 100)}' not found.`, { code: 'response_not_found' });
}

// `POST /v1/responses/compact`: shortens a conversation to its user's messages and an encrypted summary (F7, F12).

const MAX_TEXT = 10_485_760;

/** `CompactResponseMethodPublicBody` of Open Responses. */
const compactBody = z.object({
	model: z.string().min(1).max(MAX_MODEL_ID),
	input: responseInput.nullish(),
	previous_response_id: z.string().max(200).nullish(),
	instructions: z.string().max(MAX_TEXT).nullish(),
	prompt_cache_key: z.string().max(64).nullish()
});

/** `CompactResource` of Open Responses. Not stored: its output starts a new chain. */
interface CompactResource {
	id: string;
	object: 'response.compaction';
	/** Unix time in seconds. */
	created_at: number;
	/** Messages of users and operators, then one item for everything else. */
	output: ResponseItem[];
	usage: Record<string, unknown>;
}

/** Share of the context for messages kept word for word, newest first. */
const SHARE_OF_MESSAGES = 0.25;
/** Share of the context for the summary, with limits in tokens. */
const SUMMARY = { share: 1 / 8, min: 200, max: 2000 };
/** How long to wait for the model's context limit. */
const PATIENCE_MS = 5000;

/** @throws ApiError for invalid input, or if the model writes no summary */
async function compact(
	parts: RespondParts,
	body: unknown,
	{ apiKeyId }: Asker,
	time: TimeLimit
): Promise<CompactResource> {
	const { signal } = time;
	const request = checkBody(compactBody, body);
	const id = newResponseId();
	const preset = presetFor(parts, request);
	const model = parts.models.modelFor({
		id: preset ? preset.model : request.model.trim() || null,
		routing: preset?.routing
	});
	const { input, sessionId } = await readConversation(parts, request, {
		newSessionId: id,
		model,
		apiKeyId,
		signal
	});
	const items = input.filter((item) => !isNote(item));
	const { tokens: limit } = await contextLimitOf(model, { cap: parts.contextTokens, signal, patienceMs: PATIENCE_MS });
	const { instructions, prompt_cache_key: cacheKey } = request;
	const { text, usage } = await summarize(items, {
		model,
		sessionId,
		limit,
		time,
		guidance: instructions ?? undefined,
		options: cacheKey ? { prompt_cache_key: cacheKey } : {}
	});
	const sizeOf = createSizeOf();
	const compaction = { items: [summaryItem(text), ...skillPairs(items, sizeOf), ...waitingCalls(items)], sessionId };
	const kept = messagesToKeep(items, limit * SHARE_OF_MESSAGES, sizeOf);
	const hex = id.replace(/^resp_/, '');
	return {
		id,
		object: 'response.compaction',
		created_at: Math.floor(Date.now() / 1000),
		output: [
			...kept.map(({ role, content }, index) => {
				return { type: 'message', id: `msg_${hex}_${index}`, status: 'completed', role, content };
			}),
			{
				type: 'compaction',
				id: `cmp_${hex}_${kept.length}`,
				encrypted_content: parts.compactions.close(compaction, apiKeyId)
			}
		],
		usage: usageOf({ model: model.id, ...usage }) ?? {}
	};
}

interface SummaryRequest {
	model: Model;
	sessionId: string;
	/** Tokens in the model's context. */
	limit: number;
	guidance: string | undefined;
	options: Record<string, unknown>;
	time: TimeLimit;
}

async function summarize(
	items: readonly ResponseItem[],
	{ limit, time, ...request }: SummaryRequest
): Promise<{ text: string; usage: ModelUsage }> {
	const tokens = Math.min(Math.max(Math.floor(limit * SUMMARY.share), SUMMARY.min), SUMMARY.max);
	const [maxInput, maxOutput] = [inputCharacters(limit), tokens * 4];
	// Demo mode can't summarize: keep the transcript, as far as it fits.
	if (request.model.id === BUILT_IN_MODEL) {
		const text = transcript(items, maxOutput);
		return {
			text,
			usage: { inputTokens: estimateTokens(transcript(items, maxInput)), outputTokens: estimateTokens(text) }
		};
	}
	const writing = writeSummary(items, { ...request, maxInput, maxOutput, signal: time.signal });
	for (;;) {
		const next = await writing.next();
		if (!next.done) continue;
		const { text, usage, problem, code } = next.value;
		if (time.isOver) throw runFailure('timeout', `${request.model.id} didn’t write the summary in time. Try again.`);
		if (time.signal.aborted) throw new AppError('unavailable', 'The server is stopping. Try again in a moment.');
		if (problem !== null) throw runFailure(code ?? undefined, problem);
		return { text, usage: usage ?? { inputTokens: 0, outputTokens: 0 } };
	}
}

/** The newest messages not written by the model, in order, up to `room` tokens; at least one. */
function messagesToKeep(items: readonly ResponseItem[], room: number, sizeOf: SizeOf): ResponseItem[] {
	const said = items
		.filter((item) => item.type === 'message' && item.role !== 'assistant' && !isSummaryItem(item))
		.map(withNames);
	const kept: ResponseItem[] = [];
	let tokens = 0;
	for (const item of said.toReversed()) {
		tokens += sizeOf(item).tokens;
		if (kept.length > 0 && tokens > room) break;
		kept.unshift(item);
	}
	return kept;
}

/** Calls of the caller's tools without output yet. */
function waitingCalls(items: readonly ResponseItem[]): ResponseItem[] {
	const answered = new Set(items.flatMap(({ type, call_id }) => (type === 'function_call_output' ? [call_id] : [])));
	return items.flatMap(({ type, call_id, name, arguments: text }) =>
		type === 'function_call' && !answered.has(call_id) ? [{ type, call_id, name, arguments: text }] : []
	);
}
