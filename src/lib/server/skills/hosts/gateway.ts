/** Adds skills to another program's requests, and runs the calls that come back (B10–B13, D39, D41–D43). */
import { OUTPUT_TRUNCATED } from '../../sandbox/sandbox.ts';
import type { SessionOptions, SkillSession } from '../call/session.ts';
import type { SkillsProvider } from '../provider.ts';
import { viewOf } from '../registry/visibility.ts';
import type { ExecutionCaller, ExecutionContext } from '../run/execution-host.ts';
import type { SkillEvent, ToolDefinition } from '../types.ts';
import { createToolNames, type ExtractedCall, type ToolFormat } from './adapters.ts';
import { type CallResult, formatOf, FORMATS, type Json, type ModelTurn, type WireFormat } from './wire.ts';
import { asRecord } from '../../../shared/json.ts';

/** Options for one caller, in addition to those of a session (D42). */
export interface GatewayOptions extends Pick<SessionOptions, 'allowed' | 'approve' | 'loaded' | 'modeOf' | 'owner'> {
	skills: SkillsProvider;
	/** Detected from the body by default; required for bodies that fit both Chat Completions and Anthropic Messages. */
	format?: ToolFormat;
	/** False offers and runs no skills, only `builtins`. */
	customSkillExecutionEnabled?: boolean;
	/** This program's own functions, offered with the skills and run here. */
	builtins?: readonly GatewayTool[];
	/** Offers only these of `builtins`; all by default. */
	builtinToolNames?: readonly string[];
	/** Aliases that calls may use: `{ web_lookup: 'web_search' }`. `omniroute_<name>` works for every tool. */
	aliases?: Readonly<Record<string, string>>;
	/** Working directory of scripts; the current one by default. */
	cwd?: string;
	caller?: ExecutionCaller;
	onEvent?: (event: SkillEvent) => void;
	/** Maximum bytes of one result for the model; 65,536 by default. */
	maxResultBytes?: number;
}

/** The host's result of a call left to it. */
export interface HostResult {
	/** One of `left`, or a call with the same id. */
	call: ExtractedCall;
	output: string;
	isError?: boolean;
}

export interface GatewayTurn {
	/** Our calls in order, with their results. */
	executed: ExecutedCall[];
	/** Calls of the host's own tools, untouched (D41). */
	left: ExtractedCall[];
	/** Some calls aren't functions, such as those of custom tools: the host finds them in its response. */
	hasOtherCalls: boolean;
	/** Items that the next request must end with: the model's turn, then all results in the order of the calls. */
	append(results?: readonly HostResult[]): Json[];
	/** The host's request with these items, to be injected again. */
	next(results?: readonly HostResult[]): Json;
}

export interface InjectedRequest {
	format: ToolFormat;
	/** The body to send; the given one stays unchanged. */
	body: Json;
	/** Wire names of the added tools. */
	toolNames: string[];
	/** Runs our calls of a complete response, none with `execute: false`. `maxBytes` is for all results. Never rejects. */
	run(
		response: unknown,
		options?: { signal?: AbortSignal; maxBytes?: number; execute?: boolean }
	): Promise<GatewayTurn>;
}

/** Adds the skills of one conversation to a host's requests. */
export interface Gateway {
	/**
	 * Appends the skills to the system prompt, and puts their tools before the host's, which win name conflicts (B13).
	 * Pass the host's own body each time, never an injected one. @throws Error if the body's format is unknown
	 */
	inject(body: object): InjectedRequest;
}

/** A tool offered under a wire name. */
type Offer = { kind: 'skill'; tool: ToolDefinition } | { kind: 'builtin'; tool: GatewayTool };

const MAX_RESULT_BYTES = 65_536;

/** Create one per conversation, because tools of loaded skills are offered from the next request on. */
export function createGateway(options: GatewayOptions): Gateway {
	const { skills, cwd = process.cwd(), aliases = {}, maxResultBytes = MAX_RESULT_BYTES } = options;
	const isCustom = options.customSkillExecutionEnabled ?? true;
	/** Resolves an alias (D42). */
	const meantBy = (name: string): string =>
		(Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name.replace(/^omniroute_/, '');
	const wanted = options.builtinToolNames?.map(meantBy);
	const known = options.builtins ?? [];
	const builtins = known.filter(({ name }) => wanted?.includes(name) ?? true);
	const { allowed, approve, loaded, modeOf, owner } = options;
	const snapshot = skills.registry.snapshot();
	const prompt = isCustom ? skills.promptFor(viewOf(snapshot, { allowed, modeOf, owner }).library.skills) : '';
	/** Includes unwanted builtins, so that no skill takes their place. */
	const reserved = new Set([...known.flatMap(({ name }) => [name, `omniroute_${name}`]), ...Object.keys(aliases)]);
	const skillSession = skills.createSession({ snapshot, allowed, approve, modeOf, owner, reserved, loaded });

	/** Tools by wire name, without those the host has itself. */
	function offersBeside(hostNames: readonly string[]): Map<string, Offer> {
		const own = builtins.map((tool): Offer => ({ kind: 'builtin', tool }));
		const ofSkills = isCustom ? skillSession.tools().map((tool): Offer => ({ kind: 'skill', tool })) : [];
		const all = [...ofSkills.filter(({ tool }) => !builtins.some(({ name }) => name === tool.name)), ...own];
		const names = createToolNames(all.map(({ tool }) => tool.name));
		const named = all.map((offer) => [names.toWire(offer.tool.name), offer] as const);
		return new Map(named.filter(([name, { tool }]) => !hostNames.includes(name) && !hostNames.includes(tool.name)));
	}

	return {
		inject(given) {
			const host = asRecord(given);
			if (!host) throw new Error('The request body must be an object.');
			const format = options.format ?? formatOf(host);
			const wire = FORMATS[format];
			const hostNames = wire.toolNames(host);
			for (const name of hostNames) reserved.add(name);
			const offers = offersBeside(hostNames);
			const tools = [...offers].map(([name, { tool }]): ToolDefinition => {
				return { type: 'function', name, description: tool.description, parameters: tool.parameters };
			});
			const hasSkills = [...offers.values()].some(({ kind }) => kind === 'skill');
			const prompted = hasSkills && prompt !== '' ? wire.withPrompt(host, prompt) : host;

			const offerOf = (name: string): Offer | undefined => {
				if (hostNames.includes(name)) return undefined;
				return offers.get(name) ?? [...offers.values()].find(({ tool }) => tool.name === meantBy(name));
			};
			return {
				format,
				body: tools.length > 0 ? wire.withTools(prompted, tools) : prompted,
				toolNames: [...offers.keys()],
				async run(response, { signal, maxBytes = Infinity, execute = true } = {}) {
					const turn = markCutOff(wire.turnOf(response));
					const { caller, onEvent } = options;
					const toolOf = (call: ExtractedCall) => {
						const offer = offerOf(call.name);
						return offer ? (offer.kind === 'builtin' ? offer.tool : offer.tool.name) : null;
					};
					const limits = { maxResultBytes, maxBytes };
					const calls = execute ? turn.calls : [];
					const run = { cwd, signal, caller, onEvent, session: skillSession, toolOf, ...limits };
					return turnWith(await runCalls(calls, run), turn, wire, host);
				}
			};
		}
	};
}

function turnWith(executed: ExecutedCall[], turn: ModelTurn, wire: WireFormat, host: Json): GatewayTurn {
	const left = turn.calls.filter((call) => !executed.some((each) => each.call === call));
	const append = (results: readonly HostResult[] = []): Json[] => {
		const known = new Map<ExtractedCall, CallResult>(executed.map((each) => [each.call, each]));
		for (const { call: given, output, isError = false } of results) {
			const call = left.find((each) => each === given) ?? left.find(({ id }) => id === given.id);
			if (call) known.set(call, { call, output, isError });
		}
		const inOrder = turn.calls.flatMap((call) => known.get(call) ?? []);
		return [...turn.items, ...wire.results(inOrder, turn)];
	};
	const next: GatewayTurn['next'] = (results) => wire.append(host, append(results));
	return { executed, left, hasOtherCalls: turn.hasOtherCalls, append, next };
}

/** Marks a call that was cut off, which may read like a different one. */
function markCutOff(turn: ModelTurn): ModelTurn {
	const last = turn.calls.at(-1);
	if (!turn.isCutOff || !last) return turn;
	const problem = last.problem ?? 'The reply was cut off before this call was complete.';
	return { ...turn, calls: [...turn.calls.slice(0, -1), { ...last, problem }] };
}

// Runs a turn's calls in parallel, but a skill's scripts one at a time, within a budget (D40, D43).

/** A host function that models can call. */
export interface GatewayTool {
	name: string;
	description: string;
	/** JSON Schema of an object. */
	parameters: Record<string, unknown>;
	/** Its result is sent as text or JSON, its exception as an error for the model. */
	execute(args: Record<string, unknown>, context: { signal?: AbortSignal | undefined }): unknown;
}

export interface ExecutedCall {
	call: ExtractedCall;
	/** The tool's own name, if the call used an alias. */
	name: string;
	/** Text for the model. */
	output: string;
	isError: boolean;
}

interface CallContext extends Omit<ExecutionContext, 'timeoutMs'> {
	session: SkillSession;
	/** A host function, the name of a skill's tool, or null if it isn't ours. */
	toolOf(call: ExtractedCall): GatewayTool | string | null;
	/** Of one result. */
	maxResultBytes: number;
	/** Of all results. */
	maxBytes: number;
}

/** Runs our calls and returns them in order. Never rejects. */
async function runCalls(calls: readonly ExtractedCall[], context: CallContext): Promise<ExecutedCall[]> {
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
	if (signal?.aborted) return failed('Cancelled', 'The request was stopped before this call started.');
	if (typeof tool === 'string') {
		const { ok, output } = await session.call(tool, call.arguments, { cwd, signal, caller, onEvent });
		return { call, name, output, isError: !ok };
	}
	try {
		const value = await tool.execute(call.arguments, { signal });
		return { call, name, output: typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), isError: false };
	} catch (error) {
		return failed('ExecutionFailed', error instanceof Error ? error.message : String(error));
	}
}

/** Keeps both ends of a long text, within `maxBytes`. */
function shortened(text: string, maxBytes: number): string {
	if (Buffer.byteLength(text) <= maxBytes) return text;
	const mark = `\n${OUTPUT_TRUNCATED}\n`;
	const room = maxBytes - mark.length;
	if (room <= 0) return OUTPUT_TRUNCATED;
	const bytes = Buffer.from(text);
	const [head, tail] = [Math.ceil(room / 2), Math.floor(room / 2)];
	// Drop split characters, because their replacement character would be longer.
	const piece = (from: number, to: number) =>
		bytes
			.subarray(from, to)
			.toString()
			.replace(/^\uFFFD+|\uFFFD+$/g, '');
	return piece(0, head) + mark + piece(bytes.length - tail, bytes.length);
}

// Sends requests until the model has answered, within limits of rounds, time and bytes (D40).

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
