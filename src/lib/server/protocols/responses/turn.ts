/** Runs one turn without a stored conversation: the caller's items and tools, with our prompt and skills (F12). */
import { seenDigests } from '../../agent/history.ts';
import { runAgent, type AgentLimits } from '../../agent/loop.ts';
import type {
	FunctionTool,
	Model,
	ModelEvent,
	ModelOptions,
	ModelRequest,
	ResponseItem,
	ToolChoice
} from '../../agent/model.ts';
import { startTimeLimit, type TimeLimit } from '../../agent/time-limit.ts';
import { isNote, knownFrom, noteOf } from '../../agent/turn-note.ts';
import type { Preset } from '../../../shared/models.ts';
import type { ReasoningEffort } from '../../../shared/names.ts';
import { createContextBudget } from '../../turns/context-budget.ts';
import { instructionsOf } from '../../turns/instructions.ts';
import { withAttachments } from '../../turns/sent-files.ts';
import type { SkillPolicy } from '../../turns/run-request.ts';
import { equipTurn, offerTurn, type TurnSetupParts } from '../../turns/turn-setup.ts';
import { unattended, type Asker } from '../../turns/toolbox.ts';
import type { Workspaces } from '../../workspaces.ts';
import { withCallLimit, withOnly } from './request.ts';
import type { TurnEvent } from './output.ts';

export interface HeadlessParts extends TurnSetupParts {
	workspaces: Workspaces;
}

export interface HeadlessTurn {
	responseId: string;
	/** Same for all responses of a chain; servers route by it. */
	sessionId: string;
	asker: Asker;
	/** Name of the workspace. */
	folder: string;
	model: Model;
	/** Its instructions, skills and approval count; null for none. */
	preset: Preset | null;
	effort: ReasoningEffort | null;
	/** The whole conversation so far. */
	input: readonly ResponseItem[];
	/** The caller's tools. */
	tools: readonly FunctionTool[];
	/** The caller's instructions; they follow ours. */
	instructions: string | null;
	toolChoice: ToolChoice;
	/** Names of the allowed tools, of any kind; null: all. */
	only: readonly string[] | null;
	/** Of the model's server. */
	hosted: ModelRequest['hosted'];
	/** Sentences on what the turn goes without. */
	leftOut: readonly string[];
	options: ModelOptions;
	policy: SkillPolicy | undefined;
	/** Maximum skill calls; null: no limit of its own. */
	maxToolCalls: number | null;
	/** Whether old results may be shortened to fit the context. */
	truncates: boolean;
	limits: AgentLimits;
	signal: AbortSignal;
}

/** Yields the turn's events, ending with exactly one terminal event. */
export function runHeadless(parts: HeadlessParts, turn: HeadlessTurn): AsyncGenerator<TurnEvent> {
	const { responseId: runId, sessionId: conversationId, model } = turn;
	const events = eventsOf(parts, turn);
	return parts.observer?.turn({ runId, conversationId, model: model.id }, events) ?? events;
}

async function* eventsOf(parts: HeadlessParts, turn: HeadlessTurn): AsyncGenerator<TurnEvent> {
	const time = startTimeLimit(turn.limits.maxDurationMs, turn.signal);
	try {
		yield* answerIn(parts, turn, time);
	} finally {
		time.clear();
	}
}

async function* answerIn(parts: HeadlessParts, turn: HeadlessTurn, time: TimeLimit): AsyncGenerator<TurnEvent> {
	const { responseId, sessionId, folder, effort, input, limits, policy, preset } = turn;
	const { signal } = time;
	const { workspaces, contextTokens } = parts;
	const items: ResponseItem[] = [];
	const model = withHosted(withAttachments(turn.model, workspaces, folder, true), turn.hosted, items);
	const apiKeyId = turn.asker.apiKeyId ?? undefined;
	const approval = preset?.approval ?? undefined;
	const known = knownFrom(input);
	const offer = await offerTurn(parts, {
		apiKeyId,
		policy,
		approval,
		question: questionOf(input),
		described: known.skills,
		model,
		signal,
		states: (preset?.skills ?? []).map((skill) => ({ skill, state: 'pinned', changedAt: '' }))
	});
	const { catalog, always } = offer.told;
	const ours = instructionsOf(catalog, {
		always,
		custom: { allChats: '', thisChat: preset?.instructions ?? '' }
	});
	const files = await workspaces.list(folder);
	const asked = input.findLastIndex((item) => item.role === 'user' && !isNote(item));
	// Behind what the model is given of the question's files.
	const place = asked + (isAttached(input[asked + 1]) ? 2 : 1);
	// A chain has its notes; a caller that sends everything each time gets one at the newest message, in all of its steps.
	const isTold = place < input.length && known.date !== null;
	const note = isTold ? null : noteOf({ date: new Date(), files, skills: offer.told.suggested }, known);
	if (note && place === input.length) yield { type: 'NOTE', note };
	const instructions = turn.instructions ? `${ours}\n\n## Instructions from the caller\n\n${turn.instructions}` : ours;
	const equipped = equipTurn(parts, offer, {
		apiKeyId,
		policy,
		approval,
		tools: turn.tools,
		loaded: loadedIn(input),
		seen: seenDigests(input),
		cwd: workspaces.path(folder),
		caller: { runId: responseId, sessionId, apiKeyId }
	});
	const toolbox = withCallLimit(withOnly(unattended(equipped, turn.asker), turn.only), turn.maxToolCalls);
	const budget = createContextBudget({
		model,
		contextTokens,
		instructions,
		catalog,
		always,
		effort: effort ?? undefined,
		signal,
		conversationId: sessionId,
		// Never summarized: the chain belongs to the caller, who gets an error when it's too long.
		compactions: { list: async () => [], put: async () => undefined }
	});
	const final: ResponseItem[][] = [];
	const events = runAgent({
		model,
		effort,
		instructions,
		input: note ? input.toSpliced(place, 0, note) : input,
		toolbox,
		runId: responseId,
		threadId: sessionId,
		limits,
		time,
		toolChoice: turn.toolChoice,
		options: turn.options,
		held: [],
		spent: null,
		fit: turn.truncates ? budget.fit : asItIs,
		isAskedToYield: () => false,
		record: (items) => void final.push(items),
		observer: parts.observer
	});
	for await (const event of events) {
		for (const item of items.splice(0)) yield { type: 'ITEM', item };
		for (const items of final.splice(0)) yield { type: 'ITEMS', items };
		yield event;
	}
}

/** Adds the caller's tools of the model's server to each request, which must use the chosen one once. Puts items that no event shows into `items`. */
function withHosted(model: Model, hosted: ModelRequest['hosted'], items: ResponseItem[]): Model {
	let choice = hosted?.choice ?? null;
	async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
		const isAsked = request.toolChoice !== 'none';
		const passed = hosted && { ...hosted, choice: isAsked ? choice : null };
		choice = null;
		for await (const event of model.stream(passed ? { ...request, hosted: passed } : request, signal)) {
			if (event.type === 'item') items.push(event.item);
			yield event;
		}
	}
	return { ...model, stream };
}

// eslint-disable-next-line require-yield -- sends the input unchanged
async function* asItIs(input: ResponseItem[]): AsyncGenerator<never, ResponseItem[]> {
	return input;
}

/** A note that only has files. */
function isAttached(item: ResponseItem | undefined): boolean {
	return isNote(item) && Object.keys(item.told).length === 0;
}

/** Text of the newest user message. */
function questionOf(input: readonly ResponseItem[]): string {
	const newest = input.findLast((item) => item.type === 'message' && item.role === 'user' && !isNote(item));
	if (typeof newest?.content === 'string') return newest.content;
	const parts = Array.isArray(newest?.content) ? (newest.content as { text?: unknown }[]) : [];
	return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}

/** Names of skills whose instructions are in the input. */
function loadedIn(input: readonly ResponseItem[]): string[] {
	return input.flatMap(({ type, output }) => {
		const isResult = type === 'function_call_output' && typeof output === 'string';
		return (isResult ? /^<skill_content name="([^"<>]+)"/.exec(output)?.[1] : undefined) ?? [];
	});
}
