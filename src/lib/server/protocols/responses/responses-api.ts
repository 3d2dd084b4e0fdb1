/** The Responses API of this server: answers, what was stored of them, and the models there are (FEATURES F12). */
import { AppError } from '../../../shared/errors.ts';
import type { ModelList } from '../../../shared/models.ts';
import { BUILT_IN_MODEL } from '../../../shared/names.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { compact, type CompactResource } from './compact.ts';
import { createConnectionResponses, type ConnectionResponses } from './connection-responses.ts';
import { ApiError, runFailure } from './errors.ts';
import type { ResponseEvent, ResponseResource } from './wire.ts';
import { respond, withoutSeals, type Answering, type RespondParts } from './respond.ts';

export interface ResponsesApiParts extends RespondParts {
	models: RespondParts['models'] & {
		current(): { id: string };
		list(signal?: AbortSignal): Promise<ModelList>;
	};
}

/** As `GET /v1/models` lists it. */
export interface ModelEntry {
	id: string;
	object: 'model';
	/** Seconds; 0 where nobody says. */
	created: number;
	owned_by: string;
}

export interface ResponsesApi {
	/** `memory`: of the connection, where there is one that remembers. @throws ApiError for a request that cannot be answered */
	respond(body: unknown, asker: Asker, signal: AbortSignal, memory?: ConnectionResponses): Promise<Answering>;
	/** For a connection that remembers what is not stored. */
	remember(): ConnectionResponses;
	/** @throws ApiError */
	compact(body: unknown, asker: Asker, signal: AbortSignal): Promise<CompactResource>;
	/** @throws ApiError 404. `shows` are what `include` names. */
	retrieve(id: string, asker: Asker, shows: readonly string[]): Promise<ResponseResource>;
	/** @throws ApiError 404 */
	remove(id: string, asker: Asker): Promise<{ id: string; object: 'response'; deleted: true }>;
	models(signal: AbortSignal): Promise<{ object: 'list'; data: ModelEntry[] }>;
	/** @throws ApiError 404 */
	model(id: string, signal: AbortSignal): Promise<ModelEntry>;
	/** Answers nothing any more; what is being answered has `graceMs` to end by itself. */
	close(graceMs?: number): Promise<void>;
}

export function createResponsesApi(parts: ResponsesApiParts): ResponsesApi {
	const closing = new AbortController();
	let isClosing = false;
	const active = new Set<Promise<void>>();
	const { responses } = parts.store;

	/** Ends with the server too, and is waited for. */
	const begin = (signal: AbortSignal) => {
		const controller = new AbortController();
		const { promise, resolve } = Promise.withResolvers<void>();
		const stop = () => controller.abort(new Error('the client has gone, or the server stops'));
		active.add(promise);
		for (const each of [signal, closing.signal]) {
			if (each.aborted) stop();
			each.addEventListener('abort', stop, { once: true });
		}
		const end = () => {
			for (const each of [signal, closing.signal]) each.removeEventListener('abort', stop);
			active.delete(promise);
			resolve();
		};
		return { signal: controller.signal, end };
	};

	async function* followed(
		open: (signal: AbortSignal) => Answering['events'],
		signal: AbortSignal
	): Answering['events'] {
		const work = begin(signal);
		try {
			yield* open(work.signal);
		} finally {
			work.end();
		}
	}

	const refuseWhenClosing = () => {
		if (isClosing) throw new AppError('unavailable', 'The server is stopping; try again in a moment.');
	};

	const list = async (signal: AbortSignal): Promise<ModelEntry[]> => {
		const { data } = await parts.models.list(signal);
		const { id } = parts.models.current();
		const listed = data.map((model) => entryOf(model.id, model.createdAt));
		// A server that does not list what is set may answer for it all the same.
		return listed.some((model) => model.id === id) ? listed : [entryOf(id, null), ...listed];
	};

	return {
		async respond(body, asker, signal, memory) {
			refuseWhenClosing();
			const { streams, start } = await respond(parts, body, asker, memory);
			return { streams, events: followed(start, signal) };
		},

		remember: () => createConnectionResponses(responses),

		async compact(body, asker, signal) {
			refuseWhenClosing();
			const work = begin(signal);
			try {
				return await compact(parts, body, asker, work.signal);
			} finally {
				work.end();
			}
		},

		async retrieve(id, { apiKeyId }, shows) {
			const stored = await responses.get(id, apiKeyId);
			if (!stored) throw noResponse(id);
			const body = stored.body as ResponseResource;
			return shows.includes('reasoning.encrypted_content') ? body : withoutSeals(body);
		},

		async remove(id, { apiKeyId }) {
			if (!(await responses.remove(id, apiKeyId))) throw noResponse(id);
			return { id, object: 'response', deleted: true };
		},

		models: async (signal) => ({ object: 'list', data: await list(signal) }),

		async model(id, signal) {
			const found = (await list(signal)).find((model) => model.id === id);
			if (found) return found;
			throw new ApiError(404, `The model '${id.slice(0, 200)}' does not exist.`, {
				code: 'model_not_found',
				param: 'model'
			});
		},

		async close(graceMs = 0) {
			isClosing = true;
			const timer = setTimeout(() => closing.abort(new Error('the server stops')), graceMs);
			if (graceMs === 0) closing.abort(new Error('the server stops'));
			await Promise.all(active);
			clearTimeout(timer);
		}
	};
}

/** The whole response. @throws ApiError where it failed before it had come to anything */
export async function collect(events: AsyncIterable<ResponseEvent>): Promise<ResponseResource> {
	let response: ResponseResource | null = null;
	for await (const event of events) {
		if ('response' in event) response = event.response as ResponseResource;
	}
	if (!response) throw runFailure('internal', 'The turn ended without an answer; try again.');
	if (response.status === 'failed' && response.output.length === 0) throw failureOf(response);
	return response;
}

/** As an error of its own, with the status that belongs to it. */
function failureOf({ error, id }: ResponseResource): ApiError {
	const { code = 'server_error', message = `The response ${id} failed.` } = error ?? {};
	return runFailure(code, message);
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
