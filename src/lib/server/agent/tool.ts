/** A tool that the loop can run, or hand back to the caller who brought it. */
import type { CustomRunEvent } from '../../shared/events.ts';
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

/** Where the loop finds tools; asked anew at each step, because loading a skill adds its tools. */
export interface Toolbox {
	definitions(): FunctionTool[];
	/** `own` is run here, `caller` is handed back, null is unknown. */
	kind(name: string): 'own' | 'caller' | null;
	/** Calls of one lane run one after the other; null runs beside anything. */
	lane(name: string, args: Record<string, unknown>): string | null;
	/** Never throws. */
	call(name: string, args: Record<string, unknown>, context: ToolContext): Promise<ToolResult>;
}
