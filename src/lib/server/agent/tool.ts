/** A tool that the loop can run, or hand back to the caller who brought it. */
import type { ApprovalDecision, ApprovalRequest, CustomRunEvent } from '../../shared/events.ts';
import type { Approval } from '../../shared/message.ts';
import type { FunctionTool } from './model.ts';

export interface ToolContext {
	toolCallId: string;
	signal: AbortSignal;
	/** Facts for people while the tool works. */
	emit(event: CustomRunEvent): void;
}

export interface ToolResult {
	/** What the model reads. */
	output: string;
	isError: boolean;
}

/** A call that a model made. */
export interface PendingCall {
	callId: string;
	name: string;
	/** JSON text as the model wrote it. */
	arguments: string;
}

/** A call, with what was asked and decided about it in an earlier run. */
export interface HeldCall extends PendingCall {
	approval: Approval | null;
}

/** Where the loop finds tools; asked anew at each step, because loading a skill adds its tools. */
export interface Toolbox {
	definitions(): FunctionTool[];
	/** `own` is run here, `caller` is handed back, null is unknown. */
	kind(name: string): 'own' | 'caller' | null;
	/** Calls of one lane run one after the other; null runs beside anything. */
	lane(name: string, args: Record<string, unknown>): string | null;
	/**
	 * What somebody must allow before the call runs; null when it may run. `earlier` is the answer to what was asked about
	 * this very call: it counts as long as the call would do the same.
	 */
	approval(name: string, args: Record<string, unknown>, earlier: Approval | null): Promise<ApprovalRequest | null>;
	/** Never throws. */
	call(name: string, args: Record<string, unknown>, context: ToolContext): Promise<ToolResult>;
}

/** What the model reads of a call that failed before it could do anything. */
export function failure(type: string, message: string, hint?: string): ToolResult {
	return { output: JSON.stringify({ ok: false, error: type, message, hint }), isError: true };
}

/** What the model reads of a call that was not allowed. */
export function denial({ reason }: ApprovalDecision): ToolResult {
	const because = reason ? ` They say: ${reason}` : '';
	return failure(
		'ApprovalDenied',
		`The user didn’t allow this call.${because}`,
		'Continue without it, or ask the user.'
	);
}
