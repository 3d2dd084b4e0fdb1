/** Runs the calls of one turn: side by side, one skill's scripts one at a time, results within a budget (FEATURES D40, D43). */
import { OUTPUT_TRUNCATED } from '../sandbox/sandbox.ts';
import type { ExtractedCall } from './adapters.ts';
import type { ExecutionContext } from './execution-context.ts';
import type { SkillSession } from './session.ts';

/** A function of the host that models may call. */
export interface GatewayTool {
	name: string;
	description: string;
	/** JSON Schema of an object. */
	parameters: Record<string, unknown>;
	/** What it returns is sent as text, or as JSON when it is none; what it throws is an error that the model reads. */
	execute(args: Record<string, unknown>, context: { signal?: AbortSignal | undefined }): unknown;
}

export interface ExecutedCall {
	call: ExtractedCall;
	/** The tool's own name, where that of the call is an alias. */
	name: string;
	/** What the model is sent. */
	output: string;
	isError: boolean;
}

interface CallContext extends Omit<ExecutionContext, 'timeoutMs'> {
	session: SkillSession;
	/** A function of the host, the name of a skill's tool, or null for what is not ours. */
	toolOf(call: ExtractedCall): GatewayTool | string | null;
	/** Of one result. */
	maxResultBytes: number;
	/** Of all of them. */
	maxBytes: number;
}

/** The calls that are ours, in order, each with its outcome. Never rejects. */
export async function runCalls(calls: readonly ExtractedCall[], context: CallContext): Promise<ExecutedCall[]> {
	const lanes = new Map<string, Promise<unknown>>();
	const running = calls.flatMap((call) => {
		const tool = context.toolOf(call);
		if (tool === null) return [];
		const lane = typeof tool === 'string' ? context.session.lane(tool, call.arguments) : null;
		const result = (lane === null ? Promise.resolve() : (lanes.get(lane) ?? Promise.resolve())).then(() =>
			runCall(call, tool, context)
		);
		if (lane !== null) lanes.set(lane, result);
		return [result];
	});
	let room = context.maxBytes;
	return (await Promise.all(running)).map((executed) => {
		const output = shortened(executed.output, Math.min(context.maxResultBytes, room));
		room -= Buffer.byteLength(output);
		return { ...executed, output };
	});
}

async function runCall(call: ExtractedCall, tool: GatewayTool | string, context: CallContext): Promise<ExecutedCall> {
	const { session, cwd, signal, caller, onEvent } = context;
	const name = typeof tool === 'string' ? tool : tool.name;
	const failed = (error: string, message: string): ExecutedCall => {
		return { call, name, output: JSON.stringify({ ok: false, error, message }), isError: true };
	};
	if (call.problem !== undefined) return failed('InvalidArgs', call.problem);
	if (signal?.aborted) return failed('Cancelled', 'The request was stopped before this call began.');
	if (typeof tool === 'string') {
		const { ok, output } = await session.call(tool, call.arguments, {
			cwd,
			...(signal ? { signal } : {}),
			...(caller ? { caller } : {}),
			...(onEvent ? { onEvent } : {})
		});
		return { call, name, output, isError: !ok };
	}
	try {
		const value = await tool.execute(call.arguments, { signal });
		return { call, name, output: typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), isError: false };
	} catch (error) {
		return failed('ExecutionFailed', error instanceof Error ? error.message : String(error));
	}
}

/** Both ends of a long text, within so many bytes. */
function shortened(text: string, maxBytes: number): string {
	if (Buffer.byteLength(text) <= maxBytes) return text;
	const mark = `\n${OUTPUT_TRUNCATED}\n`;
	const room = maxBytes - mark.length;
	if (room <= 0) return OUTPUT_TRUNCATED;
	const bytes = Buffer.from(text);
	const [head, tail] = [Math.ceil(room / 2), Math.floor(room / 2)];
	// A character that was cut in two is left out, for the mark of it would be longer than its piece.
	const piece = (from: number, to: number) =>
		bytes
			.subarray(from, to)
			.toString()
			.replace(/^\uFFFD+|\uFFFD+$/g, '');
	return piece(0, head) + mark + piece(bytes.length - tail, bytes.length);
}
