/** What a gateway must know of an API: where the prompt, the tools and the turns stand in its bodies (FEATURES B11, D39). */
import type { ExtractedCall } from '../adapters.ts';
import type { ToolDefinition } from '../types.ts';
import type { Json } from './records.ts';

/** What came of one call, in the order of the calls. */
export interface CallResult {
	call: ExtractedCall;
	output: string;
	isError: boolean;
}

/** What the model said, as the next request has to repeat it, and the calls in it. */
export interface ModelTurn {
	/** Items, messages or contents. */
	items: Json[];
	calls: ExtractedCall[];
	/** There are calls that are no functions: only the host can answer them. */
	hasOtherCalls: boolean;
	/** The model was stopped in the middle, so that its last call may be half of one. */
	isCutOff: boolean;
}

/** Bodies are never changed: each function gives a new one. */
export interface WireFormat {
	/** Names of the tools that the host brought. */
	toolNames(body: Json): string[];
	/** These tools, then those of the host (B13). */
	withTools(body: Json, tools: readonly ToolDefinition[]): Json;
	/** The text at the end of the system prompt. */
	withPrompt(body: Json, text: string): Json;
	/** A tool that must be called may be called instead: a forced call in every round would never end. */
	withoutForcedCall(body: Json): Json;
	/** No more calls, with the same tools. */
	withoutCalls(body: Json): Json;
	turnOf(response: unknown): ModelTurn;
	/** What follows the model's turn. */
	results(results: readonly CallResult[], turn: ModelTurn): Json[];
	/** The body of the request that goes on. */
	append(body: Json, items: readonly Json[]): Json;
}
