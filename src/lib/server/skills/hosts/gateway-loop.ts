/** Sends requests until the model has answered, within limits of rounds, time and bytes (FEATURES D40). */
import type { ExtractedCall } from './adapters.ts';
import { createGateway, type ExecutedCall, type GatewayOptions, type HostResult } from './gateway.ts';
import { FORMATS } from './formats.ts';
import type { Json } from './wire.ts';

export interface RunGatewayOptions extends GatewayOptions {
	/** Runs a call of the host's own tools, so that the rounds continue; without it they end there. */
	onHostCall?: (call: ExtractedCall, options: { signal: AbortSignal }) => Promise<string | Omit<HostResult, 'call'>>;
	/** Maximum requests after the first; 10 by default. The last one allows no calls. */
	maxFollowUps?: number;
	/** Time limit for all requests in milliseconds; 120,000 by default. */
	maxMs?: number;
	/** Milliseconds that must remain for another request; 10,000 by default. */
	minRemainingMs?: number;
	/** Maximum bytes of all results; 1,048,576 by default. Once used up, the model has to answer. */
	maxTotalBytes?: number;
	signal?: AbortSignal;
}

/** `answered`: no open calls; `host`: the host must answer `left`; `follow-ups`, `bytes`, `time`: a limit was reached. */
export type GatewayStop = 'answered' | 'host' | 'follow-ups' | 'bytes' | 'time';

export interface GatewayResult<Response> {
	/** The last response. */
	response: Response;
	stopped: GatewayStop;
	/** Unanswered calls. */
	left: ExtractedCall[];
	/** All calls that ran here, in order. */
	executed: ExecutedCall[];
	/** Number of requests sent. */
	requests: number;
	/** The host's request without the skills, with all turns appended. If calls were left, `next` adds their results. */
	body: Json;
	/** `body` with the results of `left` inserted. */
	next(results?: readonly HostResult[]): Json;
}

/**
 * Adds the skills to the host's request, runs the calls that come back, and repeats until there is an answer.
 * `send` returns the complete response.
 * @throws errors of `send`; the signal's reason if it aborts; Error if the body's format is unknown
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
