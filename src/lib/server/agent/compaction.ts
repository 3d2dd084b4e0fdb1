/** What of a long history the model can do without: a pure plan, made from sizes (FEATURES F7). */
import type { ResponseItem } from './model.ts';

export interface ItemSize {
	/** A rough count: characters of the JSON by four. */
	tokens: number;
	/** The result of a call that loaded a skill. */
	isSkill: boolean;
}

export type SizeOf = (item: ResponseItem) => ItemSize;

export interface CompactionOptions {
	/** What the input may come to. */
	room: number;
	sizeOf: SizeOf;
	/** True for the items that a history may be cut before: the questions of people. */
	isQuestion(item: ResponseItem): boolean;
}

/** The new input is a summary of `covered` if there is any, then `carried`, then `kept`. */
export interface CompactionPlan {
	/** The beginning that a summary is to stand for; empty where none is needed, or none would help. */
	covered: ResponseItem[];
	/** The calls in `covered` that loaded skills, each with its result. */
	carried: ResponseItem[];
	/** The rest, with a sentence in place of each result that was left out. */
	kept: ResponseItem[];
	removedResults: number;
	/** Longest that the summary may be. */
	summaryTokens: number;
}

/** What the model reads in place of a result. */
export const LEFT_OUT_OUTPUT =
	'This result was left out to make room for newer ones. If you need it, the call can be made again.';

const SUMMARY_TOKENS = { min: 200, max: 2000 };
/** Results go until this share of the room is used: the server's cache of the input lasts a few steps more. */
const SHARE_AFTER_RESULTS = 0.75;
/** A summary costs a model call, so it is to last for several turns. */
const SHARE_AFTER_SUMMARY = 0.5;

/** Sizes of items; each item is measured once. */
export function createSizeOf(): SizeOf {
	const sizes = new WeakMap<ResponseItem, ItemSize>();
	return (item) => {
		const known = sizes.get(item);
		if (known) return known;
		const json = JSON.stringify(item);
		const isSkill = item.type === 'function_call_output' && json.includes('<skill_content');
		const size = { tokens: Math.ceil(json.length / 4), isSkill };
		sizes.set(item, size);
		return size;
	};
}

export function totalTokens(items: readonly ResponseItem[], sizeOf: SizeOf): number {
	return items.reduce((sum, item) => sum + sizeOf(item).tokens, 0);
}

/**
 * Old results go first, then the beginning up to a question; the newest question, the results of the newest step and
 * the instructions of skills always stay. What is kept may still be too long.
 */
export function planCompaction(input: readonly ResponseItem[], options: CompactionOptions): CompactionPlan {
	const { room, sizeOf } = options;
	const whole = { covered: [], carried: [], summaryTokens: 0 };
	const lean = leaveOutResults(input, room, options);
	if (totalTokens(lean.kept, sizeOf) <= room) return { ...whole, ...lean };

	const cut = chooseCut(input, options);
	if (cut === null) return { ...whole, ...lean };
	const covered = input.slice(0, cut);
	const carried = skillPairs(covered, sizeOf);
	const rest = withoutOrphans(input.slice(cut), covered);
	const left = room - totalTokens(carried, sizeOf);
	const leanest = totalTokens(leaveOutResults(rest, 0, options).kept, sizeOf);
	const summaryTokens = clamp(left - leanest, SUMMARY_TOKENS.min, longestSummary(room));
	return { covered, carried, summaryTokens, ...leaveOutResults(rest, left - summaryTokens, options) };
}

/** Leaves out results, oldest first, once `items` are more than `room`. */
function leaveOutResults(
	items: readonly ResponseItem[],
	room: number,
	{ sizeOf, isQuestion }: CompactionOptions
): { kept: ResponseItem[]; removedResults: number } {
	const kept = [...items];
	let tokens = totalTokens(kept, sizeOf);
	if (tokens <= room) return { kept, removedResults: 0 };
	let removedResults = 0;
	for (const [index, item] of items.slice(0, newestStep(items, isQuestion)).entries()) {
		if (tokens <= room * SHARE_AFTER_RESULTS) break;
		const { tokens: before, isSkill } = sizeOf(item);
		if (item.type !== 'function_call_output' || isSkill) continue;
		const short = { type: 'function_call_output', call_id: item.call_id, output: LEFT_OUT_OUTPUT };
		const saved = before - sizeOf(short).tokens;
		if (saved <= 0) continue;
		kept[index] = short;
		tokens -= saved;
		removedResults += 1;
	}
	return { kept, removedResults };
}

/** Where the results begin that the model has not answered yet. */
function newestStep(items: readonly ResponseItem[], isQuestion: CompactionOptions['isQuestion']): number {
	// An instruction to go on is no question: the results before it were not answered.
	const isTrailing = (item: ResponseItem) =>
		item.type === 'function_call_output' || (item.role === 'user' && !isQuestion(item));
	return items.findLastIndex((item) => !isTrailing(item)) + 1;
}

/** The first question before which there is enough to leave out; the newest one if there never is; null where it is no use. */
function chooseCut(input: readonly ResponseItem[], options: CompactionOptions): number | null {
	const { room, sizeOf, isQuestion } = options;
	const lean = leaveOutResults(input, 0, options).kept;
	const summary = longestSummary(room);
	let rest = totalTokens(lean, sizeOf);
	let skills = 0;
	let whole = 0;
	let cut: number | null = null;
	for (const [index, item] of input.entries()) {
		const isWorthwhile = whole - skills > SUMMARY_TOKENS.min;
		if (isQuestion(item) && isWorthwhile) {
			cut = index;
			if (rest + skills + summary <= room * SHARE_AFTER_SUMMARY) return cut;
		}
		const { tokens, isSkill } = sizeOf(item);
		if (isSkill) skills += tokens;
		whole += tokens;
		rest -= sizeOf(lean[index] ?? item).tokens;
	}
	return cut;
}

/** The calls that loaded skills, as they were made, each followed by its result. */
export function skillPairs(items: readonly ResponseItem[], sizeOf: SizeOf): ResponseItem[] {
	const calls = new Map<unknown, ResponseItem>();
	return items.flatMap((item) => {
		if (item.type === 'function_call') calls.set(item.call_id, item);
		const call = sizeOf(item).isSkill ? calls.get(item.call_id) : undefined;
		return call ? [withoutId(call), item] : [];
	});
}

/** OpenAI refuses a call under its own `id` without the reasoning that led to it; without the `id` it takes it. */
function withoutId({ id: _id, ...call }: ResponseItem): ResponseItem {
	return call;
}

/** `items` without the results of calls that were made before them. */
function withoutOrphans(items: readonly ResponseItem[], before: readonly ResponseItem[]): ResponseItem[] {
	const called = new Set(before.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : [])));
	return items.filter((item) => {
		if (item.type === 'function_call') called.delete(item.call_id);
		return item.type !== 'function_call_output' || !called.has(item.call_id);
	});
}

function longestSummary(room: number): number {
	return clamp(Math.floor(room / 8), SUMMARY_TOKENS.min, SUMMARY_TOKENS.max);
}

function clamp(value: number, least: number, most: number): number {
	return Math.min(Math.max(value, least), most);
}
