/** Tools that the loop runs itself or hands back to the caller. */
import type { ApprovalDecision, ApprovalRequest, CustomRunEvent } from '../../shared/events.ts';
import type { Approval } from '../../shared/message.ts';
import type { FunctionTool, ModelUsage } from './model.ts';

export interface ToolContext {
	toolCallId: string;
	signal: AbortSignal;
	/** Shows progress to people. */
	emit(event: CustomRunEvent): void;
	/** What it has used of a model counts into the run. */
	spend(usage: ModelUsage | null): void;
	/** Work whose time doesn't count for the call, because it waits for a person. */
	untimed<Result>(work: () => Promise<Result>): Promise<Result>;
}

export interface ToolResult {
	/** What the model reads. */
	output: string;
	/** What follows the output, e.g. pictures. Stored with it, without bytes. */
	parts?: readonly object[] | undefined;
	isError: boolean;
}

/** A call made by the model. */
export interface PendingCall {
	callId: string;
	name: string;
	/** JSON as the model wrote it. */
	arguments: string;
}

/** A call with its approval from an earlier run. */
export interface HeldCall extends PendingCall {
	approval: Approval | null;
}

/** Provides tools. The loop asks in each step, because loading a skill adds its tools. */
export interface Toolbox {
	definitions(): FunctionTool[];
	/** `own`: runs here; `caller`: handed back; null: unknown. */
	kind(name: string): 'own' | 'caller' | null;
	/** Calls in one lane run one at a time; null: no restriction. */
	lane(name: string, args: Record<string, unknown>): string | null;
	/**
	 * The question to ask before the call may run; null if it may. `earlier`: an earlier approval of this call, which counts
	 * as long as the call would do the same.
	 */
	approval(name: string, args: Record<string, unknown>, earlier: Approval | null): Promise<ApprovalRequest | null>;
	/** Notes that a person has denied the call. Never throws. */
	denied?(call: HeldCall, args: Record<string, unknown>, message: string): Promise<void>;
	/** Never throws. */
	call(name: string, args: Record<string, unknown>, context: ToolContext): Promise<ToolResult>;
}

/** The result of a call that failed before it did anything. */
export function failure(type: string, message: string, hint?: string): ToolResult {
	return { output: JSON.stringify({ ok: false, error: type, message, hint }), isError: true };
}

/** What is said of a denied call. */
export function denialOf({ reason }: ApprovalDecision): string {
	return `The user didn’t allow this call.${reason ? ` They say: ${reason}` : ''}`;
}

/** The result of a denied call. */
export function denial(message: string): ToolResult {
	return failure('ApprovalDenied', message, 'Continue without it, or ask the user.');
}

// What the agent tells whoever counts and times its work.

interface ObservedTurn {
	runId: string;
	/** Also of a chain of responses. */
	conversationId: string;
	/** Id of the model. */
	model: string;
}

export interface AgentObserver {
	/** Passes on the events of a turn, of which one is its end. */
	turn<Event extends { type: string }>(turn: ObservedTurn, events: AsyncGenerator<Event>): AsyncGenerator<Event>;
	/** Passes on the result of a call. `isKnown`: there is such a tool. */
	call(call: PendingCall, isKnown: boolean, work: () => Promise<ToolResult>): Promise<ToolResult>;
	/** Runs what the end of a turn sets off and is no part of it. */
	apart<Result>(work: () => Result): Result;
}
