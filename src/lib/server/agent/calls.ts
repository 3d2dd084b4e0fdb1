/** Runs the tool calls of one step: side by side, but one lane's calls in order; each ends in exactly one result. */
import type { RunEvent } from '../../shared/events.ts';
import { createChannel } from './channel.ts';
import type { Toolbox, ToolResult } from './tool.ts';

export interface PendingCall {
	callId: string;
	name: string;
	/** JSON text as the model wrote it. */
	arguments: string;
}

/** How often a call with the same arguments has been made, by this one. At 3 the result says so, at 6 the run ends. */
const REPEAT_WARN = 3;
export const REPEAT_LIMIT = 6;

/** Counts equal calls of a run. */
export class RepeatGuard {
	#counts = new Map<string, number>();
	/** The most often that any one call was made. */
	most = 0;

	count(call: PendingCall): number {
		const key = `${call.name}\n${call.arguments}`;
		const count = (this.#counts.get(key) ?? 0) + 1;
		this.#counts.set(key, count);
		this.most = Math.max(this.most, count);
		return count;
	}
}

/** Yields the events of the calls as they happen; `results` holds each call's answer when it is done. */
export async function* runCalls(
	calls: readonly PendingCall[],
	toolbox: Toolbox,
	{ signal, repeats, results }: { signal: AbortSignal; repeats: RepeatGuard; results: Map<string, ToolResult> }
): AsyncGenerator<RunEvent> {
	const channel = createChannel<RunEvent>();
	const lanes = new Map<string, Promise<void>>();
	const runOne = async (call: PendingCall, args: Record<string, unknown> | string): Promise<void> => {
		let result: ToolResult;
		if (typeof args === 'string') result = failure('InvalidArgs', args);
		else if (signal.aborted) result = failure('Cancelled', 'The run was stopped before this call.');
		else if (toolbox.kind(call.name) === null) {
			const names = toolbox.definitions().map((tool) => tool.name);
			result = failure('UnknownTool', `There is no tool “${call.name}”.`, `Available tools: ${names.join(', ')}`);
		} else {
			const context = { toolCallId: call.callId, signal, emit: channel.push };
			result = await toolbox
				.call(call.name, args, context)
				.catch((error: unknown) => failure('ExecutionFailed', String(error)));
		}
		const count = repeats.count(call);
		if (count >= REPEAT_WARN) {
			const note = `This exact call was made ${count} times; its answer will not change. Do something else or answer.`;
			result = { ...result, output: `${result.output}\n\n${note}` };
		}
		results.set(call.callId, result);
		channel.push({
			type: 'TOOL_CALL_RESULT',
			messageId: `result_${call.callId}`,
			toolCallId: call.callId,
			role: 'tool',
			content: result.output,
			...(result.isError ? { metadata: { isError: true } } : {})
		});
	};
	const all = calls.map((call) => {
		const args = parseArguments(call.arguments);
		const lane = typeof args === 'string' ? null : toolbox.lane(call.name, args);
		if (lane === null) return runOne(call, args);
		const turn = (lanes.get(lane) ?? Promise.resolve()).then(() => runOne(call, args));
		lanes.set(lane, turn);
		return turn;
	});
	void Promise.all(all).finally(channel.close);
	yield* channel.drain();
}

/** The arguments as an object, or a sentence that says what is wrong with them. */
function parseArguments(text: string): Record<string, unknown> | string {
	if (text.trim() === '') return {};
	try {
		const value: unknown = JSON.parse(text);
		if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
		return 'The arguments must be a JSON object.';
	} catch (error) {
		return `The arguments are not valid JSON: ${(error as Error).message}`;
	}
}

function failure(type: string, message: string, hint?: string): ToolResult {
	return { output: JSON.stringify({ ok: false, error: type, message, hint }), isError: true };
}
