/** Requests sent until the model has answered: the gateway's rounds, their time and their bytes (FEATURES D40). */
import type { ExtractedCall } from './adapters.ts';
import { createGateway, type ExecutedCall, type GatewayOptions, type HostResult } from './gateway.ts';
import { FORMATS } from './formats.ts';
import type { Json } from './wire.ts';

export interface RunGatewayOptions extends GatewayOptions {
	/** Runs a call of the host's own tools, so that the rounds go on; without it they end there. */
	onHostCall?: (call: ExtractedCall, options: { signal: AbortSignal }) => Promise<string | Omit<HostResult, 'call'>>;
	/** Most requests that follow the first; 10. In the last of them nothing can be called any more. */
	maxFollowUps?: number;
	/** Milliseconds for all of it; 120,000. */
	maxMs?: number;
	/** Milliseconds that must be left for another request; 10,000. */
	minRemainingMs?: number;
	/** Most bytes of results that are sent in all; 1,048,576. When they are used up the model has to answer. */
	maxTotalBytes?: number;
	signal?: AbortSignal;
}

/**
 * `answered`: no call is open. `host`: the host has to answer `left`. `follow-ups` and `bytes`: the last request allowed no
 * call, and the model made one. `time`: not enough was left for another request.
 */
export type GatewayStop = 'answered' | 'host' | 'follow-ups' | 'bytes' | 'time';

export interface GatewayResult<Response> {
	/** The last one. */
	response: Response;
	stopped: GatewayStop;
	/** Calls that nobody has answered. */
	left: ExtractedCall[];
	/** Every call that was run here, in order. */
	executed: ExecutedCall[];
	/** How many requests were sent. */
	requests: number;
	/**
	 * The host's request with all turns so far at its end, the last response's too: what a conversation goes on from. It
	 * is as the host gave it otherwise, without the skills. Where calls were left, `next` has it with their results.
	 */
	body: Json;
	/** `body`, with the results of `left` where they belong. */
	next(results?: readonly HostResult[]): Json;
}

/**
 * Sends the host's request with the skills in it, runs the calls that come back, and goes on until there is an answer.
 * `send` is given a body and gives the complete response; one that streams gathers it first.
 * @throws what `send` throws; the signal's reason when it was aborted; Error when the body's format cannot be told
 */
export async function runGateway<Response>(
	send: (body: Json, options: { signal: AbortSignal }) => Promise<Response>,
	body: object,
	options: RunGatewayOptions
): Promise<GatewayResult<Response>> {
	const { maxFollowUps = 10, maxMs = 120_000, maxTotalBytes = 1_048_576 } = options;
	const { minRemainingMs = Math.min(10_000, maxMs / 4) } = options;
	const deadline = performance.now() + maxMs;
	const time = AbortSignal.timeout(maxMs);
	const signal = options.signal ? AbortSignal.any([options.signal, time]) : time;
	const gateway = createGateway(options);
	const executed: ExecutedCall[] = [];
	let host = body;
	let room = maxTotalBytes;
	let whole: GatewayResult<Response> | null = null;

	for (let requests = 1; ; requests += 1) {
		const request = gateway.inject(host);
		const wire = FORMATS[request.format];
		const isLast = requests > 1 && (requests > maxFollowUps || room <= 0);
		const free = requests === 1 ? request.body : wire.withoutForcedCall(request.body);
		let response: Response;
		try {
			response = await send(isLast ? wire.withoutCalls(free) : free, { signal });
		} catch (error) {
			if (whole && time.aborted && !options.signal?.aborted) return { ...whole, stopped: 'time' };
			throw error;
		}
		const turn = await request.run(response, { signal, maxBytes: room, execute: !isLast });
		options.signal?.throwIfAborted();
		executed.push(...turn.executed);
		room -= turn.executed.reduce((bytes, { output }) => bytes + Buffer.byteLength(output), 0);
		const stoppedWith = (stopped: GatewayStop, results: readonly HostResult[] = []): GatewayResult<Response> => {
			const left = turn.left.filter((call) => !results.some((result) => result.call === call));
			return { response, stopped, left, executed, requests, body: turn.next(results), next: turn.next };
		};
		const isOpen = turn.left.length > 0 || turn.hasOtherCalls;
		if (turn.executed.length === 0 && !isOpen) return stoppedWith('answered');
		if (isLast) return stoppedWith(room <= 0 ? 'bytes' : 'follow-ups');
		if (turn.hasOtherCalls || (turn.left.length > 0 && !options.onHostCall)) return stoppedWith('host');
		const results = await Promise.all(turn.left.map((call) => answerOf(call, options, signal)));
		whole = stoppedWith('time', results);
		if (deadline - performance.now() < minRemainingMs) return whole;
		if (requests > maxFollowUps) return { ...whole, stopped: 'follow-ups' };
		host = whole.body;
	}
}

async function answerOf(
	call: ExtractedCall,
	{ onHostCall }: RunGatewayOptions,
	signal: AbortSignal
): Promise<HostResult> {
	try {
		const answer = (await onHostCall?.(call, { signal })) ?? '';
		return { call, ...(typeof answer === 'string' ? { output: answer } : answer) };
	} catch (error) {
		const message = error instanceof Error ? error.message : String(error);
		return { call, output: JSON.stringify({ ok: false, error: 'ExecutionFailed', message }), isError: true };
	}
}
