/** Keeps requests within the model's context length, and measures what they consist of (F7). */
import { randomUUID } from 'node:crypto';
import type { RunCompaction, RunContext, RunEvent } from '../../shared/events.ts';
import { emptyAnswer } from '../../shared/message.ts';
import {
	createSizeOf,
	LEFT_OUT_OUTPUT,
	planCompaction,
	type SizeOf,
	skillPairs,
	summaryItem,
	type SummaryOptions,
	totalTokens,
	writeSummary
} from '../agent/compaction.ts';
import { type HistoryMessage, toInput } from '../agent/history.ts';
import type { FitInput } from '../agent/loop.ts';
import type { FunctionTool, Model, ModelRequest, ModelUsage, ResponseItem } from '../agent/model.ts';
import { leavesOut } from '../agent/turn-note.ts';
import { estimateTokens } from '../../shared/characters.ts';
import type { Compactions } from '../store/chat/queue.ts';

export interface ContextBudgetOptions {
	model: Model;
	/** The operator's limit; null: the model's own. */
	contextTokens: number | null;
	/** The system prompt, including `catalog` and `always`. */
	instructions: string;
	catalog: string;
	/** Instructions of skills that are always loaded. */
	always?: string;
	/** As in the turn's requests: a summary continues them, and another would not be read from the cache. */
	web?: ModelRequest['web'];
	effort?: ModelRequest['effort'];
	conversationId: string;
	compactions: Compactions;
	/** Keeps which results were left out; without it, each turn decides anew. */
	record?(items: ResponseItem[]): void;
	signal: AbortSignal;
}

export interface ContextBudget {
	/** Replaces the beginning of the history with its stored summary, if any. */
	shorten(history: readonly HistoryMessage[]): Promise<readonly HistoryMessage[]>;
	/** Call it with `toInput` of the shortened history, plus later items. */
	fit: FitInput;
}

/** The history before a question. */
interface Before {
	/** The last message before it. */
	messageId: string;
	/** Number of messages. */
	messages: number;
}

/** Every model accepts this many tokens. */
const SHORT_TOKENS = 6000;
export const SHORT_WAIT_MS = 300;
/** A quarter of the context is reserved for the answer, but at most this. */
const LONGEST_ANSWER = 16_000;

/** A summary may be asked for in the conversation itself up to this share of the context; sizes are estimates. */
const SHARE_FOR_SUMMARY = 0.9;

export function createContextBudget(options: ContextBudgetOptions): ContextBudget {
	const { model, instructions, catalog, always = '', web, effort, conversationId, compactions, signal } = options;
	const sizeOf = createSizeOf();
	/** Positions of the questions in the first input. */
	let places: { index: number; before: Before }[] = [];
	const questions = new Map<ResponseItem, Before>();
	let shown = '';

	/** Returns what replaces `covered`, for the model and for people. */
	async function* summarize(
		covered: ResponseItem[],
		{ messageId, messages }: Before,
		{
			limit,
			tokens,
			request,
			spend
		}: {
			limit: number;
			tokens: number;
			/** The request as it would be, if there is room for it. */
			request: SummaryOptions['request'];
			spend: (usage: ModelUsage | null) => void;
		}
	): AsyncGenerator<RunEvent, { item: ResponseItem; text: string }> {
		const common = {
			model,
			sessionId: conversationId,
			maxInput: inputCharacters(limit),
			maxOutput: tokens * 4,
			signal
		};
		let made = yield* writeSummary(covered, { ...common, request });
		spend(made.usage);
		// It was longer than estimated, or the model called a tool instead.
		if (request && (made.code === 'context_length_exceeded' || made.code === 'empty_response')) {
			made = yield* writeSummary(covered, common);
			spend(made.usage);
		}
		const { text, problem } = made;
		if (problem !== null) {
			const sentence = `The first ${messages} messages were left out because they no longer fit.`;
			return { item: summaryItem(sentence), text: `${sentence} Couldn’t write a summary. ${problem}` };
		}
		const summary = shortenedTo(tokens, text, sizeOf);
		await compactions.put(conversationId, { messageId, summary }, new Date().toISOString());
		return { item: summaryItem(summary), text: summary };
	}

	return {
		async shorten(history) {
			const { index, summary } = newestSummary(history, await compactions.list(conversationId));
			const covered = history.slice(0, index + 1);
			const rest = history.slice(index + 1);
			const head = summary === null ? [] : [standIn(summary, covered, sizeOf)];
			let place = toInput(head, model.id).length;
			places = [];
			for (const [offset, entry] of rest.entries()) {
				const messages = covered.length + offset;
				const before = rest[offset - 1]?.message.id;
				// There is nothing new to summarize before the first one.
				if (entry.message.role === 'user' && before)
					places.push({ index: place, before: { messageId: before, messages } });
				place += toInput([entry], model.id).length;
			}
			return [...head, ...rest];
		},

		async *fit(input, tools, spend) {
			for (const { index, before } of places.splice(0)) {
				const item = input[index];
				if (item) questions.set(item, before);
			}
			const fixed = estimateTokens(instructions) + estimateTokens(JSON.stringify(tools));
			// A short request fits every model, so don't wait long for the limit.
			const patienceMs = fixed + totalTokens(input, sizeOf) < SHORT_TOKENS ? SHORT_WAIT_MS : null;
			const cap = options.contextTokens;
			const { tokens: limit, isKnown } = await contextLimitOf(model, { cap, signal, patienceMs });
			const room = limit - Math.min(Math.floor(limit / 4), LONGEST_ANSWER) - fixed;
			const plan = planCompaction(input, { room, sizeOf, isQuestion: (item) => questions.has(item) });

			let fitted = plan.kept;
			const cut = plan.covered.length > 0 ? input[plan.covered.length] : undefined;
			const first = cut && questions.get(cut);
			const made: RunCompaction = {
				id: randomUUID(),
				removedResults: plan.removedResults,
				summarizedMessages: first?.messages ?? 0,
				summary: '',
				tokensBefore: fixed + totalTokens(input, sizeOf),
				tokensAfter: 0
			};
			if (cut && first) {
				const earlier = input.slice(
					0,
					input.findLastIndex((item) => questions.has(item))
				);
				const whole = fixed + totalTokens(earlier, sizeOf) + plan.summaryTokens;
				const hasRoom = whole <= limit * SHARE_FOR_SUMMARY;
				const request = hasRoom ? { instructions, input: earlier, tools: [...tools], web, effort } : null;
				const summary = yield* summarize(plan.covered, first, { limit, tokens: plan.summaryTokens, request, spend });
				// The loop ends the run.
				if (signal.aborted) return input;
				made.summary = summary.text;
				fitted = [summary.item, ...plan.carried, ...plan.kept];
				// Only the summary is before it now.
				questions.delete(cut);
			}
			const removed = plan.kept.filter((item) => item.output === LEFT_OUT_OUTPUT && !input.includes(item));
			if (removed.length > 0) options.record?.([leavesOut(removed.map(({ call_id }) => String(call_id)))]);
			if (first || plan.removedResults > 0) {
				made.tokensAfter = fixed + totalTokens(fitted, sizeOf);
				yield { type: 'CUSTOM', name: 'run.compaction', value: made };
			}
			const context = measure(fitted, tools, { instructions, catalog, always, limit: isKnown ? limit : null, sizeOf });
			const figures = JSON.stringify(context);
			if (figures !== shown) yield { type: 'CUSTOM', name: 'run.context', value: context };
			shown = figures;
			return fitted;
		}
	};
}

/** The longest stored summary of this branch that ends before the newest question, and the index of its last message. */
export function newestSummary(
	history: readonly HistoryMessage[],
	stored: readonly { messageId: string; summary: string }[]
): { index: number; summary: string | null } {
	const summaries = new Map(stored.map(({ messageId, summary }) => [messageId, summary]));
	const newest = history.findLastIndex(({ message }) => message.role === 'user');
	const index = history.slice(0, Math.max(newest, 0)).findLastIndex(({ message }) => summaries.has(message.id));
	return { index, summary: summaries.get(history[index]?.message.id ?? '') ?? null };
}

/** A pseudo-message with the summary and the skills loaded in the covered messages. */
function standIn(summary: string, covered: readonly HistoryMessage[], sizeOf: SizeOf): HistoryMessage {
	const message = { ...emptyAnswer('summary', '', ''), status: 'complete' as const };
	const items = [summaryItem(summary), ...skillPairs(toInput(covered, ''), sizeOf)];
	return { message, items, model: null };
}

/** Assumes three characters per token, because JSON escapes line breaks and quotes. */
export function inputCharacters(limit: number): number {
	return Math.max(Math.floor(limit * 0.75) - 500, 500) * 3;
}

function shortenedTo(tokens: number, summary: string, sizeOf: SizeOf): string {
	let text = summary;
	for (;;) {
		const size = sizeOf(summaryItem(text)).tokens;
		if (size <= tokens) return text;
		text = text.slice(0, Math.min(text.length - 1, Math.floor((text.length * tokens) / size) - 8)).toWellFormed();
	}
}

function measure(
	input: readonly ResponseItem[],
	tools: readonly FunctionTool[],
	prompt: { instructions: string; catalog: string; always: string; limit: number | null; sizeOf: SizeOf }
): RunContext {
	const { limit, sizeOf } = prompt;
	const catalogTokens = estimateTokens(prompt.catalog);
	const alwaysTokens = estimateTokens(prompt.always);
	const context: RunContext = {
		limit,
		system: estimateTokens(prompt.instructions) - catalogTokens - alwaysTokens,
		catalog: catalogTokens,
		skills: alwaysTokens,
		tools: estimateTokens(JSON.stringify(tools)),
		results: 0,
		messages: 0
	};
	for (const item of input) {
		const { tokens, isSkill } = sizeOf(item);
		if (item.type !== 'function_call_output') context.messages += tokens;
		else if (isSkill) context.skills += tokens;
		else context.results += tokens;
	}
	return context;
}

/** Assumed context length if neither the model's server nor the operator gives one. */
const DEFAULT_TOKENS = 128_000;

export interface ContextLimit {
	tokens: number;
	/** False if the model's server didn't respond in time. */
	isKnown: boolean;
	/** True if neither the server nor the operator gives a limit. */
	isGuess: boolean;
}

/** `cap`: the operator's limit; `patienceMs`: how long to wait for the model's server, null for no limit. */
export async function contextLimitOf(
	model: Pick<Model, 'contextTokens'>,
	{ cap, signal, patienceMs }: { cap: number | null; signal: AbortSignal; patienceMs: number | null }
): Promise<ContextLimit> {
	const asked = model.contextTokens?.();
	const told = await inTime(asked, signal, patienceMs);
	const tokens = Math.min(told ?? cap ?? DEFAULT_TOKENS, cap ?? Infinity);
	return { tokens, isKnown: told !== undefined || !asked, isGuess: (told ?? cap ?? null) === null };
}

/** The value, or undefined if the signal aborts or the time is over first. */
export async function inTime<Value>(
	value: Promise<Value> | undefined,
	signal: AbortSignal,
	timeoutMs: number | null
): Promise<Value | undefined> {
	if (!value || signal.aborted) return undefined;
	const { promise, resolve } = Promise.withResolvers<undefined>();
	const onAbort = () => resolve(undefined);
	const timer = timeoutMs === null ? undefined : setTimeout(onAbort, timeoutMs);
	signal.addEventListener('abort', onAbort, { once: true });
	try {
		return await Promise.race([value, promise]);
	} finally {
		clearTimeout(timer);
		signal.removeEventListener('abort', onAbort);
	}
}
