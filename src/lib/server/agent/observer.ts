/** What the agent tells whoever counts and times its work. */
import type { PendingCall, ToolResult } from './tool.ts';

export interface ObservedTurn {
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
