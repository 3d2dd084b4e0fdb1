/** `POST /v1/responses/compact`: a conversation as the words of its user and a sealed summary, to go on from (FEATURES F7, F12). */
import { z } from 'zod';
import { AppError } from '../../../shared/errors.ts';
import { BUILT_IN_MODEL, MAX_MODEL_ID } from '../../../shared/names.ts';
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
import { startTimeLimit, type TimeLimit } from '../../agent/time-limit.ts';
import { contextLimitOf, inputCharacters } from '../../turns/context-budget.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { readConversation } from './conversation.ts';
import { runFailure } from './errors.ts';
import { checkBody, responseInput } from './request.ts';
import { usageOf } from './wire.ts';
import { newResponseId, type RespondParts } from './respond.ts';

const MAX_TEXT = 10_485_760;

/** `CompactResponseMethodPublicBody` of Open Responses. */
const compactBody = z.object({
	model: z.string().min(1).max(MAX_MODEL_ID),
	input: responseInput.nullish(),
	previous_response_id: z.string().max(200).nullish(),
	instructions: z.string().max(MAX_TEXT).nullish(),
	prompt_cache_key: z.string().max(64).nullish()
});

/** `CompactResource` of Open Responses. Nothing is stored: its output is the beginning of a new chain. */
export interface CompactResource {
	id: string;
	object: 'response.compaction';
	/** Seconds. */
	created_at: number;
	/** What people and operators said, then the one item that stands for all the rest. */
	output: ResponseItem[];
	usage: Record<string, unknown>;
}

/** Of the context: what people said is kept word for word up to this, the newest first. */
const SHARE_OF_MESSAGES = 0.25;
/** Of the context, and no more than so many tokens. */
const SUMMARY = { share: 1 / 8, min: 200, max: 2000 };
/** How long the model's server is waited for to say how much it takes. */
const PATIENCE_MS = 5000;

/** @throws ApiError for what cannot be compacted, and where the model does not write a summary */
export async function compact(
	parts: RespondParts,
	body: unknown,
	asker: Asker,
	signal: AbortSignal
): Promise<CompactResource> {
	const time = startTimeLimit(parts.limits().maxDurationMs, signal);
	try {
		return await compactWithin(parts, body, asker, time);
	} finally {
		time.clear();
	}
}

async function compactWithin(
	parts: RespondParts,
	body: unknown,
	{ apiKeyId }: Asker,
	time: TimeLimit
): Promise<CompactResource> {
	const { signal } = time;
	const request = checkBody(compactBody, body);
	const id = newResponseId();
	const model = parts.models.modelFor({ id: request.model.trim() || null });
	const { before, asked, sessionId } = await readConversation(parts, request, { id, model: model.id, apiKeyId });
	const items = [...before, ...asked];
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
	const kept = wordsToKeep(items, limit * SHARE_OF_MESSAGES, sizeOf);
	const hex = id.replace(/^resp_/, '');
	return {
		id,
		object: 'response.compaction',
		created_at: Math.floor(Date.now() / 1000),
		output: [
			...kept.map(({ role, content }, index) => ({
				type: 'message',
				id: `msg_${hex}_${index}`,
				status: 'completed',
				role,
				content
			})),
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
	/** Tokens that the model takes. */
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
	// It writes nothing of its own: what there is goes along word for word, as far as there is room.
	if (request.model.id === BUILT_IN_MODEL) {
		const text = transcript(items, maxOutput);
		return { text, usage: { inputTokens: tokensOf(transcript(items, maxInput)), outputTokens: tokensOf(text) } };
	}
	const writing = writeSummary(items, { ...request, maxInput, maxOutput, signal: time.signal });
	for (;;) {
		const next = await writing.next();
		if (!next.done) continue;
		const { text, usage, problem, code } = next.value;
		if (time.isOver) throw runFailure('timeout', `${request.model.id} did not write the summary in time; try again.`);
		if (time.signal.aborted) throw new AppError('unavailable', 'The server is stopping; try again in a moment.');
		if (problem !== null) throw runFailure(code ?? undefined, problem);
		return { text, usage: usage ?? { inputTokens: 0, outputTokens: 0 } };
	}
}

/** An estimate: four characters are about a token. */
function tokensOf(text: string): number {
	return Math.ceil(text.length / 4);
}

/** What was said by anybody but the model, in its order; the newest is kept however long it is. */
function wordsToKeep(items: readonly ResponseItem[], room: number, sizeOf: SizeOf): ResponseItem[] {
	const said = items.filter((item) => item.type === 'message' && item.role !== 'assistant' && !isSummaryItem(item));
	const kept: ResponseItem[] = [];
	let tokens = 0;
	for (const item of said.toReversed()) {
		tokens += sizeOf(item).tokens;
		if (kept.length > 0 && tokens > room) break;
		kept.unshift(item);
	}
	return kept;
}

/** The caller's calls, which it can still bring the output of. */
function waitingCalls(items: readonly ResponseItem[]): ResponseItem[] {
	const answered = new Set(items.flatMap(({ type, call_id }) => (type === 'function_call_output' ? [call_id] : [])));
	return items.flatMap(({ type, call_id, name, arguments: text }) =>
		type === 'function_call' && !answered.has(call_id) ? [{ type, call_id, name, arguments: text }] : []
	);
}
