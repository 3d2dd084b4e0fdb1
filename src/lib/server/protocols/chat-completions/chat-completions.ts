/** Answers `POST /v1/chat/completions`: a request of the Responses API in other words (F12). */
import { hash } from 'node:crypto';
import { asArray, asObject, type JsonObject } from '../../../shared/json.ts';
import type { Asker } from '../../turns/toolbox.ts';
import type { ConnectionResponses } from '../responses/connection-responses.ts';
import { keep, type Keeping } from '../responses/respond.ts';
import type { ResponsesApi } from '../responses/responses-api.ts';
import { chatChunks, chatCompletion } from './answer.ts';
import { type ChatCall, callId, inputOf } from './messages.ts';
import { type ChatRequest, inChatTerms, readChatRequest } from './request.ts';

export interface ChatCompletionsParts extends Keeping {
	responses: ResponsesApi;
}

/** Exactly one of them must be used. Leaving early ends the turn and its scripts. */
export interface ChatAnswering {
	streams: boolean;
	/** Server-sent events, `[DONE]` last. */
	chunks(): AsyncGenerator<string>;
	/** @throws ApiError if the turn failed */
	completion(): Promise<JsonObject>;
}

export interface ChatCompletions {
	/** `sessionId`: the caller’s own name of the conversation, from a header. @throws ApiError for an invalid request */
	answer(
		body: unknown,
		asker: Asker,
		{ signal, sessionId }: { signal: AbortSignal; sessionId: string | null }
	): Promise<ChatAnswering>;
}

export function createChatCompletions({ responses, ...parts }: ChatCompletionsParts): ChatCompletions {
	return {
		async answer(body, asker, { signal, sessionId }) {
			const chat = readChatRequest(body);
			const { options } = chat;
			const session = sessionOf(chat, asker, sessionId);
			const turns = createToolTurns(parts, { session, apiKeyId: asker.apiKeyId, keeps: options.keeps });
			const { instructions, items, origins } = await inputOf(chat.messages, turns.recall);
			const request = { ...chat.settings, instructions, input: items, store: false, stream: options.streams };
			const stopping = new AbortController();
			const stop = () => stopping.abort(signal.reason);
			if (signal.aborted) stop();
			signal.addEventListener('abort', stop, { once: true });
			try {
				const { events } = await responses.respond(request, asker, stopping.signal, {
					memory: turns.memory,
					sessionId: session
				});
				return {
					streams: options.streams,
					chunks: () => chatChunks(events, { options, stop }),
					completion: () => chatCompletion(events, { options, stop })
				};
			} catch (error) {
				throw inChatTerms(error, origins);
			}
		}
	};
}

/**
 * The requests of a conversation belong together: a caller without a key finds the files of its earlier turns again, and
 * the model’s server its cache. They name it, or begin with the same question.
 */
function sessionOf({ messages, options }: ChatRequest, { apiKeyId }: Asker, named: string | null): string {
	const name = options.sessionId ?? named;
	const source = name === null ? ['question', messages.find(({ role }) => role === 'user')?.content] : ['name', name];
	return `chat_${hash('sha256', JSON.stringify([apiKeyId, ...source])).slice(0, 32)}`;
}

/** A request may recall this many turns. */
const MAX_RECALLED = 200;
/** In characters. */
const MAX_RECALLED_LENGTH = 8_000_000;

const CALLS: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call']);

interface ToolTurns {
	/** What a turn did before it handed these calls back; null if it isn’t kept. */
	recall(calls: readonly ChatCall[]): Promise<JsonObject[] | null>;
	/** Keeps such turns. */
	memory: ConnectionResponses;
}

/**
 * A turn that hands calls back goes on in the next request, which has no place for what skills did and the model thought
 * before. Without these, the model would run the skills again. Everything else comes with the request.
 */
function createToolTurns(
	parts: Keeping,
	{ session, apiKeyId, keeps }: { session: string; apiKeyId: string | null; keeps: boolean }
): ToolTurns {
	const stored = parts.store.responses;
	const idOf = (calls: readonly ChatCall[]) => {
		const said = calls.map(({ call_id, name }) => [call_id, name]);
		return `resp_${hash('sha256', JSON.stringify([session, apiKeyId, said])).slice(0, 32)}`;
	};
	const room = { turns: MAX_RECALLED, length: MAX_RECALLED_LENGTH };
	return {
		async recall(calls) {
			if (!keeps || room.turns-- <= 0) return null;
			const found = await stored.get(idOf(calls), apiKeyId);
			if (!found) return null;
			room.length -= JSON.stringify(found.body.output).length;
			if (room.length < 0) return null;
			return asArray(found.body.output).map((item) => {
				const { call_id: id } = asObject(item);
				return typeof id === 'string' ? { ...asObject(item), call_id: callId(id) } : asObject(item);
			});
		},
		memory: {
			...stored,
			drop: () => undefined,
			async hold({ body, ...response }) {
				const { object, status, model } = body;
				const output = asArray(body.output).map(asObject);
				const calls = output.filter((item) => CALLS.has(item.type) && !item.openrouter_skills).map(callOf);
				if (!keeps || calls.length === 0) return;
				const id = idOf(calls);
				try {
					// Some servers begin to count their calls anew with each answer.
					await stored.remove(id, apiKeyId);
				} catch (error) {
					parts.log.error({ responseId: response.id, error: String(error) }, 'couldn’t remove an old turn');
					return;
				}
				const hasMore = output.some((item) => item.openrouter_skills ?? item.encrypted_content);
				const turn = { ...response, id, previousId: null, items: [], body: { id, object, status, model, output } };
				if (hasMore) await keep(parts, turn);
			}
		}
	};
}

function callOf({ call_id: id, name }: JsonObject): ChatCall {
	return { call_id: callId(String(id)), name: String(name), arguments: '' };
}
