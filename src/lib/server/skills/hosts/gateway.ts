/** Skills put into another program's requests, and the calls that come back run here (FEATURES B10–B13, D39, D41–D43). */
import { OUTPUT_TRUNCATED } from '../../sandbox/sandbox.ts';
import type { SessionOptions, SkillSession } from '../call/session.ts';
import type { SkillsProvider } from '../provider.ts';
import { viewOf } from '../registry/visibility.ts';
import type { ExecutionContext, ExecutionCaller } from '../run/execution-host.ts';
import type { SkillEvent, ToolDefinition } from '../types.ts';
import { createToolNames, type ExtractedCall, type ToolFormat } from './adapters.ts';
import { formatOf, FORMATS } from './formats.ts';
import type { CallResult, Json, ModelTurn, WireFormat } from './wire.ts';
import { asRecord } from '../../../shared/json.ts';

/** What one caller may use, beside what a session can be told (D42). */
export interface GatewayOptions extends Pick<SessionOptions, 'allowed' | 'approve' | 'loaded' | 'modeOf' | 'owner'> {
	skills: SkillsProvider;
	/** Told by the body's shape; needed for a body that may be one of Chat Completions or of Anthropic Messages. */
	format?: ToolFormat;
	/** False: no skill is offered or run, only `builtins`. */
	customSkillExecutionEnabled?: boolean;
	/** Functions of this program that are offered with the skills and run here. */
	builtins?: readonly GatewayTool[];
	/** Of `builtins` only these; all without it. */
	builtinToolNames?: readonly string[];
	/** Other names that calls may have: `{ web_lookup: 'web_search' }`. `omniroute_<name>` is known for every tool. */
	aliases?: Readonly<Record<string, string>>;
	/** Working directory of scripts; the current one. */
	cwd?: string;
	caller?: ExecutionCaller;
	onEvent?: (event: SkillEvent) => void;
	/** Most bytes of one result that the model is sent; 65,536. */
	maxResultBytes?: number;
}

/** What the host made of a call that was left to it. */
export interface HostResult {
	/** Of `left`; one with the same id does as well. */
	call: ExtractedCall;
	output: string;
	isError?: boolean;
}

export interface GatewayTurn {
	/** Those that were ours, in order, with what came of them. */
	executed: ExecutedCall[];
	/** Calls of the host's own tools, untouched (D41). */
	left: ExtractedCall[];
	/** There are calls that are no functions, such as those of custom tools: the host finds them in its response. */
	hasOtherCalls: boolean;
	/** What the next request has to have at its end: the model's turn, then all results in the order of the calls. */
	append(results?: readonly HostResult[]): Json[];
	/** The host's request with that at its end, to be injected again. */
	next(results?: readonly HostResult[]): Json;
}

export interface InjectedRequest {
	format: ToolFormat;
	/** To be sent. The body that was given is as it was. */
	body: Json;
	/** Names on the wire of the tools that were added. */
	toolNames: string[];
	/**
	 * Runs the calls that are ours in a complete response; with `execute: false` they are left like the others.
	 * `maxBytes` is for all results together. Never rejects: what goes wrong is a result.
	 */
	run(
		response: unknown,
		options?: { signal?: AbortSignal; maxBytes?: number; execute?: boolean }
	): Promise<GatewayTurn>;
}

/** The skills of one conversation in the requests of one host. */
export interface Gateway {
	/**
	 * The request with the skills' section at the end of its system prompt and their tools before its own, which win
	 * where names are alike (B13). Give it the host's body each time, never one that was injected already.
	 * @throws Error when the body's format cannot be told
	 */
	inject(body: object): InjectedRequest;
}

/** What is offered under a name on the wire. */
type Offer = { kind: 'skill'; tool: ToolDefinition } | { kind: 'builtin'; tool: GatewayTool };

const MAX_RESULT_BYTES = 65_536;

/** Tools of loaded skills are offered from the next request on, so one gateway is for one conversation. */
export function createGateway(options: GatewayOptions): Gateway {
	const { skills, cwd = process.cwd(), aliases = {}, maxResultBytes = MAX_RESULT_BYTES } = options;
	const isCustom = options.customSkillExecutionEnabled ?? true;
	/** The tool that is meant by another name (D42). */
	const meantBy = (name: string): string =>
		(Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name.replace(/^omniroute_/, '');
	const wanted = options.builtinToolNames?.map(meantBy);
	const known = options.builtins ?? [];
	const builtins = known.filter(({ name }) => wanted?.includes(name) ?? true);
	const { allowed, approve, loaded, modeOf, owner } = options;
	const snapshot = skills.registry.snapshot();
	const prompt = isCustom ? skills.promptFor(viewOf(snapshot, { allowed, modeOf, owner }).library.skills) : '';
	/** Also those that are not wanted in this conversation: no skill takes their place. */
	const reserved = new Set([...known.flatMap(({ name }) => [name, `omniroute_${name}`]), ...Object.keys(aliases)]);
	const skillSession = skills.createSession({
		snapshot,
		allowed,
		approve,
		modeOf,
		owner,
		reserved,
		loaded
	});

	/** By name on the wire, without those that the host has itself. */
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
					const executed = await runCalls(execute ? turn.calls : [], {
						cwd,
						signal,
						caller: options.caller,
						onEvent: options.onEvent,
						session: skillSession,
						maxResultBytes,
						maxBytes,
						toolOf(call) {
							const offer = offerOf(call.name);
							return offer ? (offer.kind === 'builtin' ? offer.tool : offer.tool.name) : null;
						}
					});
					return turnWith(executed, turn, wire, host);
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

/** Half a call is none: what was cut off may read like something else. */
function markCutOff(turn: ModelTurn): ModelTurn {
	const last = turn.calls.at(-1);
	if (!turn.isCutOff || !last) return turn;
	const problem = last.problem ?? 'The reply was cut off before this call was complete.';
	return { ...turn, calls: [...turn.calls.slice(0, -1), { ...last, problem }] };
}

// Runs the calls of one turn: side by side, one skill's scripts one at a time, results within a budget (FEATURES D40, D43).

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
		const { ok, output } = await session.call(tool, call.arguments, {
			cwd,
			signal,
			caller,
			onEvent
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
