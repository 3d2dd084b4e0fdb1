/** Answers `POST /v1/responses`: from a parsed body to numbered events (F12). */
import { randomBytes } from 'node:crypto';
import { estimateTokens, plainLine } from '../../../shared/characters.ts';
import { findPreset, type Preset, presetOfModel, type Presets } from '../../../shared/models.ts';
import type { RunEvent, RunUsage } from '../../../shared/events.ts';
import type { AgentLimits } from '../../agent/loop.ts';
import type { ModelOptions, ModelSource, ResponseItem, Model, ModelRequest } from '../../agent/model.ts';
import { isReasoningEffort } from '../../../shared/names.ts';
import type { Log } from '../../log.ts';
import type { Asker } from '../../turns/toolbox.ts';
import type { Responses, StoredResponse } from '../../store/responses.ts';
import type { ConnectionResponses } from './connection-responses.ts';
import { readConversation, type ConversationParts } from './conversation.ts';
import { conversationId, MOST, inputEntries } from './items.ts';
import { runFailure, toApiError } from './errors.ts';
import { Output } from './output.ts';
import { type CallerTools, chooseTools, readTools } from './tools.ts';
import { readResponseRequest, type ResponseRequest } from './request.ts';
import {
	type BareEvent,
	newResource,
	remarksOf,
	type OutputItem,
	type ResponseEvent,
	type ResponseResource,
	type ResponseStatus,
	usageOf
} from './wire.ts';
import { runHeadless, type HeadlessParts, type HeadlessTurn } from './turn.ts';
import { isObject } from '../../../shared/json.ts';
import { createSizeOf, totalTokens } from '../../agent/compaction.ts';

export interface RespondParts extends HeadlessParts, ConversationParts {
	models: ModelSource;
	/** By id. */
	presets(): Presets;
	/** Current limits. */
	limits(): AgentLimits;
	log: Log;
}

/** How long a response can be continued from. */
const KEPT_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface Answering {
	/** Whether the caller asked for streaming. */
	streams: boolean;
	/** From `response.created` to exactly one terminal event. Leaving early ends the turn and its scripts. */
	events: AsyncGenerator<ResponseEvent>;
}

export interface Begun {
	streams: boolean;
	/** What to store before it starts, if it's to run in the background. */
	queued: StoredResponse | null;
	/** `save`, instead of the store, gets the response before the last event. */
	start(signal: AbortSignal, save?: Save): Answering['events'];
}

type Save = (ended: StoredResponse) => Promise<void>;

/** Why the server ends a response that isn't its client's to end. */
export class Interruption extends Error {
	override readonly name = 'Interruption';
}

export const INTERRUPTED = 'The server stopped while this response was being written. Send the request again.';

export interface RespondOptions {
	/** Responses held for the connection, if any. */
	memory?: ConnectionResponses | null | undefined;
	/** Of a new chain. Default: its own. */
	sessionId?: string | null;
}

/** @throws ApiError for an invalid request */
export async function respond(
	parts: RespondParts,
	body: unknown,
	{ asker, memory = null, sessionId = null, signal }: { asker: Asker; signal: AbortSignal } & RespondOptions
): Promise<Begun> {
	const request = readResponseRequest(body);
	const known = memory ? { ...parts, store: { ...parts.store, responses: memory } } : parts;
	const prepared = await prepare(known, request, { asker, sessionId, signal });
	const keepEnded: Save = async (ended) => {
		if (ended.body.status === 'cancelled') return;
		if (request.store !== false) await keep(known, ended);
		else if (ended.body.status !== 'failed') await memory?.hold(ended);
	};
	const { asked, resource, turn } = prepared;
	const queued: StoredResponse = {
		id: turn.responseId,
		apiKeyId: asker.apiKeyId,
		sessionId: turn.sessionId,
		body: resource,
		previousId: request.previous_response_id ?? null,
		items: asked,
		inputCount: asked.length,
		isRunning: false,
		createdAt: new Date().toISOString()
	};
	if (request.background) await removeOld(parts, asker.apiKeyId);
	return {
		streams: request.stream ?? false,
		queued: request.background ? queued : null,
		start: (running, save = keepEnded) => answer(known, request, { ...prepared, queued, save }, running)
	};
}

export function newResponseId(): string {
	return `resp_${randomBytes(16).toString('hex')}`;
}

interface Prepared {
	turn: Omit<HeadlessTurn, 'signal'>;
	/** Items this request adds, as they were sent. */
	asked: ResponseItem[];
	own: CallerTools['own'];
	resource: ResponseResource;
}

/** @throws ApiError for an invalid request */
async function prepare(
	parts: RespondParts,
	request: ResponseRequest,
	{ asker, sessionId: newSessionId = null, signal }: { asker: Asker; sessionId?: string | null; signal: AbortSignal }
): Promise<Prepared> {
	const { apiKeyId } = asker;
	const id = newResponseId();
	const preset = presetFor(parts, request);
	const model = parts.models.modelFor({
		id: preset ? preset.model : request.model?.trim() || null,
		routing: preset?.routing
	});
	const target = { newSessionId: newSessionId ?? id, model, apiKeyId, signal };
	const { input, asked, sessionId, folder } = await readConversation(parts, request, target);
	const { openrouter_skills: policy, reasoning } = request;
	const tools = readTools(request.tools ?? [], input);
	const wanted = request.include ?? [];
	const use = chooseTools(tools, { choice: request.tool_choice ?? null, include: wanted, model: model.id });
	const effort = reasoning?.effort;
	return {
		asked,
		own: tools.own,
		resource: newResource(request, { id, model: model.id, createdAt: Math.floor(Date.now() / 1000) }),
		turn: {
			responseId: id,
			sessionId,
			asker,
			folder,
			model,
			...use,
			preset,
			effort: isReasoningEffort(effort) ? effort : effort ? null : (preset?.effort ?? parts.models.effort()),
			input,
			tools: [...tools.own.values()].map(({ definition }) => definition),
			instructions: request.instructions ?? null,
			options: optionsOf(request),
			policy: policy ? { ...pick(policy, ['allowed', 'builtins']) } : undefined,
			maxToolCalls: request.max_tool_calls ?? null,
			truncates: request.truncation === 'auto',
			limits: parts.limits()
		}
	};
}

/** @throws ApiError 404 for a preset that isn't there */
export function presetFor(
	{ presets }: Pick<RespondParts, 'presets'>,
	{ model }: { model?: string | null }
): Preset | null {
	const id = presetOfModel(model?.trim());
	if (id === null) return null;
	const found = findPreset(presets(), id);
	if (found) return found;
	throw runFailure('model_not_found', `There’s no preset “${plainLine(id).slice(0, 100)}”.`);
}

/** Yields numbered events. Stores the response before its last event. */
async function* answer(
	parts: RespondParts,
	request: ResponseRequest,
	{ turn, asked, own, resource, queued, save }: Prepared & { queued: StoredResponse; save: Save },
	signal: AbortSignal
): AsyncGenerator<ResponseEvent> {
	const showsSeals = request.store === false || (request.include ?? []).includes('reasoning.encrypted_content');
	let sequence = 0;
	const number = (event: BareEvent): ResponseEvent => {
		const item = event.item as OutputItem | undefined;
		const shown = showsSeals || !item ? event : { ...event, item: withoutSeal(item) };
		return { ...shown, sequence_number: sequence++ };
	};
	const output = new Output({
		responseId: turn.responseId,
		model: turn.model.id,
		callerTool: (name) => ((turn.only?.includes(name) ?? true) ? (own.get(name) ?? null) : null),
		hosted: new Set(turn.hosted?.tools.map(({ type }) => type)),
		calls: request.openrouter_skills?.calls ?? 'reasoning'
	});
	const made: ResponseItem[] = [];
	let usage: RunUsage | null = null;
	let last: RunEvent | null = null;
	yield number({ type: 'response.created', response: { ...resource } });
	if (resource.status === 'queued') yield number({ type: 'response.queued', response: { ...resource } });
	yield number({ type: 'response.in_progress', response: { ...resource, status: 'in_progress' } });
	try {
		for await (const event of runHeadless(parts, { ...turn, signal })) {
			if (event.type === 'ITEMS') made.push(...event.items);
			else if (event.type === 'NOTE') made.push(event.note);
			else if (event.type === 'CUSTOM' && event.name === 'run.usage') usage = event.value;
			else if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') last = event;
			for (const bare of output.read(event)) yield number(bare);
		}
	} catch (error) {
		parts.log.error({ responseId: turn.responseId, error: String(error) }, 'response failed');
		const { message } = toApiError(error);
		last = { type: 'RUN_ERROR', code: 'internal', message };
	}
	for (const bare of output.close()) yield number(bare);
	const ending = endingOf(signal.reason instanceof Interruption ? orInterrupted(last) : last);
	const remarks = remarksOf(usage, turn.leftOut);
	const ended: ResponseResource = {
		...resource,
		...ending,
		usage: usageOf(usage),
		completed_at: ending.status === 'completed' ? Math.floor(Date.now() / 1000) : null,
		output: output.items,
		...(remarks && { openrouter_skills: remarks })
	};
	const stored = { ...queued, body: ended, items: [...asked, ...made], createdAt: new Date().toISOString() };
	await addToConversation(parts, request, stored, ended);
	await save(stored);
	const response = showsSeals ? ended : withoutSeals(ended);
	yield number({ type: ended.status === 'cancelled' ? 'response.failed' : `response.${ended.status}`, response });
}

/** Only what ended well: what failed would be asked again. */
async function addToConversation(
	{ store: { responseConversations }, storedBytes, log }: RespondParts,
	request: ResponseRequest,
	stored: StoredResponse,
	{ status, output, model }: ResponseResource
): Promise<void> {
	const { apiKeyId } = stored;
	const id = conversationId(request.conversation);
	if (id === null || (status !== 'completed' && status !== 'incomplete')) return;
	const answered = output.map((item) => ({ id: item.id, item: { ...item } }));
	const items = [...inputEntries(stored), ...answered].map((entry) => ({ ...entry, model }));
	try {
		const added = await responseConversations.append({ id, apiKeyId }, items, { ...MOST, bytesOfKey: storedBytes });
		if (added !== true) log.info({ responseId: stored.id, added }, 'a response was not added to its conversation');
	} catch (error) {
		log.error({ responseId: stored.id, error: String(error) }, 'couldn’t add a response to its conversation');
	}
}

/** Where responses are kept, and how many bytes of each key. */
export interface Keeping {
	store: { responses: Responses };
	storedBytes: number;
	log: Log;
}

/** Never throws. Removes what has been kept long enough, or is too much. */
export async function keep(parts: Keeping, stored: StoredResponse): Promise<void> {
	const { store, log } = parts;
	try {
		await store.responses.put(stored);
		await removeOld(parts, stored.apiKeyId);
	} catch (error) {
		// The response itself is fine. A request that continues from it will get an error.
		log.error({ responseId: stored.id, error: String(error) }, 'couldn’t save a response');
	}
}

async function removeOld({ store, storedBytes }: Omit<Keeping, 'log'>, apiKeyId: string | null): Promise<void> {
	await store.responses.removeBefore(new Date(Date.now() - KEPT_DAYS * DAY_MS).toISOString());
	await store.responses.removeBeyond(apiKeyId, storedBytes);
}

/** Whoever stopped the turn was the server, unless it had already ended. */
function orInterrupted(last: RunEvent | null): RunEvent | null {
	const isOver = last?.type === 'RUN_FINISHED' && last.outcome?.type !== 'cancelled';
	return isOver ? last : { type: 'RUN_ERROR', code: 'interrupted', message: INTERRUPTED };
}

/** Status fields from the run's terminal event. */
function endingOf(last: RunEvent | null): Pick<ResponseResource, 'status' | 'error' | 'incomplete_details'> {
	const ending = (status: ResponseStatus, reason?: string) => ({
		status,
		error: null,
		incomplete_details: reason === undefined ? null : { reason }
	});
	if (last?.type === 'RUN_FINISHED') {
		if (last.outcome?.type === 'cancelled') return ending('cancelled');
		const limit = (last.result as { limit?: string } | undefined)?.limit;
		return limit === undefined ? ending('completed') : ending('incomplete', REASONS[limit] ?? limit);
	}
	const { code, message } = runFailure(
		last?.type === 'RUN_ERROR' ? last.code : undefined,
		last?.type === 'RUN_ERROR' ? last.message : 'The turn ended without a reply. Try again.'
	);
	return { status: 'failed', error: { code: code ?? 'server_error', message }, incomplete_details: null };
}

/** `incomplete_details.reason` by the limit reached. */
const REASONS: Record<string, string> = {
	length: 'max_output_tokens',
	steps: 'max_steps',
	cost: 'max_cost',
	time: 'max_duration'
};

/** Without encrypted reasoning, for callers that didn't ask for it. */
export function withoutSeals(response: ResponseResource): ResponseResource {
	return { ...response, output: response.output.map(withoutSeal) };
}

function withoutSeal(item: OutputItem): OutputItem {
	if (item.type !== 'reasoning') return item;
	const { encrypted_content: _sealed, ...shown } = item;
	return shown;
}

const PASSED_ON = [
	'temperature',
	'top_p',
	'presence_penalty',
	'frequency_penalty',
	'parallel_tool_calls',
	'max_output_tokens',
	'top_logprobs',
	'text',
	'safety_identifier',
	'prompt_cache_key',
	'service_tier',
	'metadata'
] as const satisfies (keyof ResponseRequest)[];

/** Only the options that were set: some servers refuse unknown ones. */
function optionsOf(request: ResponseRequest): ModelOptions {
	const { reasoning, include } = request;
	const others = (include ?? []).filter((name) => name === 'message.output_text.logprobs');
	const { effort, summary } = reasoning ?? {};
	// Other servers may have more.
	const unknown = effort && !isReasoningEffort(effort) ? { effort } : {};
	return {
		...pick(request, PASSED_ON),
		reasoning: summary || effort ? { ...(summary && { summary }), ...unknown } : undefined,
		include: others.length > 0 ? others : undefined
	};
}

function pick<Value extends object, Key extends keyof Value>(
	value: Value,
	keys: readonly Key[]
): Partial<Pick<Value, Key>> {
	const said = keys.filter((key) => value[key] !== undefined && value[key] !== null);
	return Object.fromEntries(said.map((key) => [key, value[key]])) as Partial<Pick<Value, Key>>;
}

/** Four characters per token, and an amount for each picture and page. Nothing is sent. @throws ApiError as for a response */
export async function countInputTokens(
	parts: RespondParts,
	body: unknown,
	asker: Asker,
	signal: AbortSignal
): Promise<{ object: 'response.input_tokens'; input_tokens: number }> {
	const request = readResponseRequest(isObject(body) ? { ...body, input: body.input ?? '' } : body);
	const { turn } = await prepare(parts, request, { asker, signal });
	let sent: ModelRequest | null = null;
	const model: Model = {
		...turn.model,
		id: turn.model.id,
		async *stream(asked) {
			sent = asked;
			yield { type: 'failed', error: { code: 'aborted', message: 'Only counted.' }, items: [] };
		}
	};
	try {
		for await (const _event of runHeadless(parts, { ...turn, model, signal })) if (sent) break;
	} finally {
		// Without a key, what a count wrote is nobody's.
		const isOwn = asker.apiKeyId === null && turn.sessionId === turn.responseId;
		if (isOwn) await parts.workspaces.removeAll(turn.folder);
	}
	return { object: 'response.input_tokens', input_tokens: sent ? tokensOf(sent) : 0 };
}

function tokensOf({ instructions, input, tools, options }: ModelRequest): number {
	const texts = [instructions, tools, options?.text ?? ''].map((part) =>
		typeof part === 'string' ? part : JSON.stringify(part)
	);
	return texts.reduce((sum, text) => sum + estimateTokens(text), totalTokens(input, createSizeOf()));
}
