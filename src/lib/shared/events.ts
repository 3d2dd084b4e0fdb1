/**
 * The events of a run, as they go over the wire and into the run log: AG-UI 1.0 events, plus our facts about
 * skills in AG-UI's CUSTOM event (DESIGN §5). Order within a run:
 *
 *   run    = RUN_STARTED, CUSTOM skill.catalog, step*, (RUN_FINISHED | RUN_ERROR)
 *   step   = STEP_STARTED, (reasoning | text | call | CUSTOM run.retry)*, STEP_FINISHED, tool*
 *            (a text's CUSTOM text.citation may come later in its step)
 *   call   = TOOL_CALL_START, TOOL_CALL_ARGS*, TOOL_CALL_END
 *   tool   = CUSTOM tool.approval, then either the run's end or CUSTOM tool.decision and the rest; without it:
 *            CUSTOM skill.loaded | (CUSTOM skill.started, (skill.waiting | skill.output | tool.question, tool.reply)*,
 *            skill.finished),
 *            TOOL_CALL_RESULT
 *
 * Exactly one terminal event ends a run. Tools of one step may interleave; every event of a tool carries its
 * `toolCallId`.
 */
import type * as agui from '@ag-ui/core';
import type {
	ApprovalDecision,
	ApprovalRequest,
	Citation,
	Execution,
	Question,
	RunCompaction,
	RunContext,
	RunRetry,
	RunUsage,
	SkillOffer,
	TokenUsage,
	ToolPart
} from './message-schema.ts';

export type {
	ApprovalDecision,
	ApprovalRequest,
	OfferedSkill,
	ProducedFile,
	RunCompaction,
	RunContext,
	RunUsage,
	SkillOffer,
	TokenUsage
} from './message-schema.ts';

/** AG-UI declares `type` as an enum; on the wire it is that enum's text. */
type Wire<E extends { type: agui.EventType }> = Omit<E, 'type'> & { type: `${E['type']}` };

type Custom<Name extends string, Value> = { type: 'CUSTOM'; name: Name; value: Value };

/** Skills of which a run keeps why they were offered. */
export const MAX_OFFERED = 50;

interface OfCall {
	toolCallId: string;
}

type SkillLoaded = OfCall & NonNullable<ToolPart['loaded']>;
type SkillStarted = OfCall &
	Pick<Execution, 'executionId' | 'skill' | 'script' | 'tool' | 'args' | 'sandbox' | 'isOfChat'>;
/** For a worker, or for packages that it installs; false once it has begun. */
type SkillWaiting = OfCall & { isWaiting: boolean } & Pick<Execution, 'waitsFor'>;
type SkillOutput = OfCall & Execution['output'][number];
type SkillFinished = OfCall &
	Pick<Execution, 'skill' | 'files' | 'error' | 'message' | 'missing' | 'refused'> &
	Required<Pick<Execution, 'exitCode' | 'durationMs' | 'truncated'>>;

/** What is said of a run before it begins. */
export interface RunVerdict {
	/** What to ask before this runs; null when it may run. */
	question: ApprovalRequest | null;
	/** SHA-256 of the files that were looked at, and no others may run; null for a trusted place, whose files run as they are. */
	digest: string | null;
}

/** Both together; what neither says stays unsaid. */
export function sumUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
	return combine(a, b, (x, y) => x + y);
}

/** What `after` says beyond `before`. */
export function usageSince(before: TokenUsage | null, after: TokenUsage): TokenUsage {
	return combine(after, before ?? { inputTokens: 0, outputTokens: 0 }, (x, y) => x - y);
}

function combine(a: TokenUsage, b: TokenUsage, by: (x: number, y: number) => number): TokenUsage {
	const usage: TokenUsage = {
		inputTokens: by(a.inputTokens, b.inputTokens),
		outputTokens: by(a.outputTokens, b.outputTokens)
	};
	for (const key of ['cachedTokens', 'reasoningTokens', 'cost', 'saved'] as const) {
		if (a[key] !== undefined || b[key] !== undefined) usage[key] = by(a[key] ?? 0, b[key] ?? 0);
	}
	return usage;
}

export type CustomRunEvent =
	| Custom<'skill.catalog', SkillOffer>
	| Custom<'skill.loaded', SkillLoaded>
	| Custom<'skill.started', SkillStarted>
	| Custom<'skill.waiting', SkillWaiting>
	| Custom<'skill.output', SkillOutput>
	| Custom<'skill.finished', SkillFinished>
	| Custom<'text.citation', Citation & { messageId: string }>
	/** What a tool of the model's server has made, before its result. */
	| Custom<'tool.files', OfCall & Pick<Execution, 'files'>>
	| Custom<'run.usage', RunUsage>
	| Custom<'run.retry', RunRetry>
	| Custom<'run.context', RunContext>
	| Custom<'run.compaction', RunCompaction>
	| Custom<'tool.approval', ApprovalRequest & OfCall>
	| Custom<'tool.decision', ApprovalDecision & OfCall>
	/** An MCP server asks the person something during the call; only the kind of the answer is kept. */
	| Custom<'tool.question', Omit<Question, 'reply'> & OfCall>
	| Custom<'tool.reply', OfCall & { id: string; action: NonNullable<Question['reply']> }>
	/** Another server goes on with the run, because its own has stopped. */
	| Custom<'run.taken', { epoch: number }>
	| Custom<'run.title', { title: string }>;

/**
 * `metadata.isError` on a result says that the tool failed, `metadata.headline` on a call's start what it is about,
 * `metadata.retryAfterMs` on a run's error how long the model's server asks to wait,
 * `metadata.fallbacks` which models may answer instead: AG-UI has no fields of its own for them.
 */
export type RunEvent =
	| Wire<agui.RunStartedEvent>
	| Wire<agui.RunFinishedEvent>
	| Wire<agui.RunErrorEvent>
	| Wire<agui.StepStartedEvent>
	| Wire<agui.StepFinishedEvent>
	| Wire<agui.ReasoningStartEvent>
	| Wire<agui.ReasoningMessageStartEvent>
	| Wire<agui.ReasoningMessageContentEvent>
	| Wire<agui.ReasoningMessageEndEvent>
	| Wire<agui.ReasoningEndEvent>
	| Wire<agui.TextMessageStartEvent>
	| Wire<agui.TextMessageContentEvent>
	| Wire<agui.TextMessageEndEvent>
	| Wire<agui.ToolCallStartEvent>
	| Wire<agui.ToolCallArgsEvent>
	| Wire<agui.ToolCallEndEvent>
	| (Omit<Wire<agui.ToolCallResultEvent>, 'content'> & { content: string })
	| CustomRunEvent;

/** A question that ended a run: AG-UI's own. */
export type Interrupt = agui.Interrupt;

/** True for the one event that ends a run. */
export function isTerminal(event: RunEvent): boolean {
	return event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR';
}

/** An event with its place in the run's log: contiguous from 1, the SSE `id`. */
export interface NumberedEvent {
	seq: number;
	event: RunEvent;
}

/** The place of an event in a run's log. Only the first `epoch` may have lost events: a later one gives their numbers again. */
export interface EventPlace {
	seq: number;
	/** Counts the servers that have written the run; default 1. */
	epoch?: number;
}

/** As an SSE `id`: `seq`, or `epoch.seq` after the first epoch. */
export function idOfEvent({ seq, epoch = 1 }: EventPlace): string {
	return epoch === 1 ? String(seq) : `${epoch}.${seq}`;
}

/** Reads an SSE `id` as `idOfEvent` writes it; NaN for anything else. */
export function placeOfEvent(id: string): Required<EventPlace> {
	const [, epoch = '1', seq = ''] = /^(?:([2-9]|[1-9]\d+)\.)?(\d+)$/.exec(id) ?? [];
	return { epoch: Number(epoch), seq: seq === '' ? Number.NaN : Number(seq) };
}

/** What `GET /api/agent/capabilities` answers: AG-UI's own shape. */
export type { AgentCapabilities } from '@ag-ui/core';
