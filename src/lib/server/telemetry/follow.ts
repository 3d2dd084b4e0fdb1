/** Follows requests, turns, model requests, tool calls and scripts: a span for each, in the one that caused it, and its figures. */
import type { Attributes, Span, SpanKind } from '@opentelemetry/api';
import { isServerTool, mcpToolOf } from '../../shared/names.ts';
import type { Model, ModelEvent, ModelRequest, ResponseItem } from '../agent/model.ts';
import type { AgentObserver, ToolResult } from '../agent/tool.ts';
import type { ExecutionRecorder } from '../skills/run/execution-host.ts';
import { type Meters, methodOf, type ToolKind, type TurnOutcome } from './meters.ts';
import type { StartSpan } from './opentelemetry.ts';
import type { Scopes, SpanPlace } from './scope.ts';
import { isObject, parseJson } from '../../shared/json.ts';

export interface FollowOptions {
	scopes: Scopes;
	startSpan: StartSpan | null;
	/** null without metrics. */
	meters: Meters | null;
	/** What was said and called is in the spans, too. */
	capturesContent: boolean;
	/** The model’s server is told of the span of its request. */
	tellsModel: boolean;
}

/** Values of OpenTelemetry’s `SpanKind` and `SpanStatusCode`: its module is loaded only with spans. */
const INTERNAL: SpanKind = 0;
const SERVER: SpanKind = 1;
const CLIENT: SpanKind = 2;
const ERROR = 2;

export function createFollow(options: FollowOptions) {
	const { scopes, meters, capturesContent, tellsModel } = options;
	const begin = (name: string, kind: SpanKind, attributes: Attributes): Span | null =>
		options.startSpan?.(name, { kind, attributes }, scopes.current().span) ?? null;

	/**
	 * Answers a request in a span of its own, which began at `startTime`. The route is a template: addresses have ids, and
	 * queries more than that. The span ends with the head of the answer: a stream may last for an hour.
	 */
	const request = async (
		{ method, route, url }: { method: string; route: string | null; url: URL },
		{ startTime, parent }: { startTime: Date; parent: SpanPlace | undefined },
		answer: () => Promise<Response>
	): Promise<Response> => {
		const inScope = (span: SpanPlace | undefined) => (span ? scopes.run({ span }, answer) : answer());
		if (!options.startSpan) return inScope(parent);
		const known = methodOf(method);
		const attributes = {
			'http.request.method': known,
			'url.scheme': url.protocol.replace(':', ''),
			'server.address': url.hostname,
			...(url.port !== '' && { 'server.port': Number(url.port) }),
			...(route !== null && { 'http.route': route })
		};
		const verb = known === '_OTHER' ? 'HTTP' : known;
		const name = route === null ? verb : `${verb} ${route}`;
		const span = options.startSpan(name, { kind: SERVER, attributes, startTime }, parent);
		let status = 500;
		try {
			const response = await inScope(span.spanContext());
			({ status } = response);
			return response;
		} finally {
			span.setAttribute('http.response.status_code', status);
			// What a client did wrong is no error of the server.
			finish(span, status >= 500 ? String(status) : undefined);
		}
	};

	const agent: AgentObserver = {
		apart: scopes.apart,

		async *turn({ runId, conversationId, model }, events) {
			const startedAt = performance.now();
			meters?.turnStarted();
			const span = begin('invoke_agent', INTERNAL, {
				'gen_ai.operation.name': 'invoke_agent',
				'gen_ai.request.model': model,
				'gen_ai.conversation.id': conversationId,
				'openrouter_skills.run.id': runId
			});
			// Nobody read it to its end.
			let end: TurnEnd = { outcome: 'cancelled' };
			try {
				for await (const event of scopes.within({ runId, ...placeOf(span) }, events)) {
					end = endOf(event) ?? end;
					yield event;
				}
			} catch (error) {
				end = { outcome: 'error', errorType: 'internal' };
				throw error;
			} finally {
				meters?.turnEnded(secondsSince(startedAt), end.outcome, end.errorType);
				span?.setAttribute('openrouter_skills.outcome', end.outcome);
				finish(span, end.errorType);
			}
		},

		async call(call, isKnown, work) {
			const startedAt = performance.now();
			const kind = isKnown ? kindOf(call.name) : 'unknown';
			// The model may call what there isn’t: spans of one kind need names that can be counted.
			const span = begin(isKnown ? `execute_tool ${call.name}` : 'execute_tool', INTERNAL, {
				'gen_ai.operation.name': 'execute_tool',
				'gen_ai.tool.name': call.name.slice(0, 200),
				'gen_ai.tool.call.id': call.callId,
				'gen_ai.tool.type': kind === 'mcp' ? 'extension' : 'function',
				...(capturesContent && { 'gen_ai.tool.call.arguments': call.arguments })
			});
			let result: ToolResult | undefined;
			try {
				return (result = await scopes.run(placeOf(span), work));
			} finally {
				const isError = result?.isError ?? true;
				meters?.toolCalled(secondsSince(startedAt), kind, isError);
				if (capturesContent && result) span?.setAttribute('gen_ai.tool.call.result', result.output);
				finish(span, isError ? errorTypeOf(result?.output) : undefined);
			}
		}
	};

	/** `baseUrl` is of its server; null in Demo mode. */
	const watchModel = (model: Model, baseUrl: string | null): Model => {
		const server = serverOf(baseUrl);
		const stream = async function* (request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
			const startedAt = performance.now();
			const span = begin(`chat ${model.id}`, CLIENT, {
				'gen_ai.operation.name': 'chat',
				'gen_ai.provider.name': server.provider,
				'gen_ai.request.model': model.id,
				...server.address,
				...requested(request),
				...(capturesContent && { ...inputMessages(request) })
			});
			let firstSeconds: number | null = null;
			let end: Extract<ModelEvent, { type: 'completed' | 'failed' }> | null = null;
			const scope = { ...placeOf(span), isModelRequest: tellsModel && span !== null };
			try {
				for await (const event of scopes.within(scope, model.stream(request, signal))) {
					if (event.type === 'completed' || event.type === 'failed') end = event;
					else if (event.type === 'retrying') span?.addEvent('retry', { attempt: event.attempt });
					else firstSeconds ??= secondsSince(startedAt);
					yield event;
				}
			} finally {
				const seconds = secondsSince(startedAt);
				const errorType = end === null ? 'aborted' : end.type === 'failed' ? end.error.code : undefined;
				const usage = end?.type === 'completed' ? end.usage : null;
				const answeredBy = (end?.type === 'completed' ? end.answeredBy : undefined) ?? model.id;
				meters?.modelAnswered(
					{ provider: server.provider, model: model.id, answeredBy },
					{ seconds, firstSeconds, usage, errorType }
				);
				span?.setAttributes({
					...(end?.type === 'completed' && { 'gen_ai.response.model': answeredBy }),
					...(firstSeconds !== null && { 'gen_ai.response.time_to_first_chunk': firstSeconds }),
					...(usage && {
						'gen_ai.usage.input_tokens': usage.inputTokens,
						'gen_ai.usage.output_tokens': usage.outputTokens,
						...(usage.cachedTokens !== undefined && { 'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens })
					}),
					...(end?.type === 'completed' && { 'gen_ai.response.finish_reasons': [finishReasonOf(end)] }),
					...(capturesContent && end && { ...outputMessages(end.items) })
				});
				finish(span, errorType);
			}
		};
		return { ...model, stream };
	};

	const underWay = new Map<string, Started>();
	const watchExecutions = (recorder: ExecutionRecorder): ExecutionRecorder => ({
		started(execution) {
			const { id, skillId, sandbox, tool, script } = execution;
			const span = begin(`run_script ${sandbox || 'none'}`, INTERNAL, {
				'openrouter_skills.execution.id': id,
				'openrouter_skills.sandbox': sandbox,
				'openrouter_skills.skill': skillId,
				...(script !== undefined && { 'openrouter_skills.script': script }),
				...(tool !== undefined && { 'gen_ai.tool.name': tool })
			});
			underWay.set(id, { span, sandbox, startedAt: performance.now(), runningAt: null });
			return recorder.started(execution);
		},
		running(id) {
			const execution = underWay.get(id);
			if (execution) {
				execution.runningAt ??= performance.now();
				execution.span?.addEvent('running');
			}
			return recorder.running(id);
		},
		finished(id, end) {
			const execution = underWay.get(id);
			underWay.delete(id);
			if (execution) {
				const { span, sandbox, startedAt, runningAt } = execution;
				const waited = ((runningAt ?? performance.now()) - startedAt) / 1000;
				meters?.executionEnded({ waited, ran: end.durationMs / 1000 }, sandbox || 'none', end.errorType ?? end.status);
				if (end.exitCode !== null) span?.setAttribute('process.exit.code', end.exitCode);
				finish(span, end.status === 'success' ? undefined : (end.errorType ?? end.status));
			}
			return recorder.finished(id, end);
		}
	});

	return {
		request,
		agent,
		watchModel,
		watchExecutions,
		/** Of scripts, now. */
		executions() {
			const running = [...underWay.values()].filter(({ runningAt }) => runningAt !== null).length;
			return { waiting: underWay.size - running, running };
		}
	};
}

interface Started {
	span: Span | null;
	sandbox: string;
	startedAt: number;
	/** null while it waits for its turn. */
	runningAt: number | null;
}

interface TurnEnd {
	outcome: TurnOutcome;
	errorType?: string;
}

/** How an event ends a turn; null if it doesn’t. */
function endOf(event: { type: string }): TurnEnd | null {
	const { type, outcome, result, code } = event as {
		type: string;
		outcome?: { type: string };
		result?: { limit?: string };
		code?: string;
	};
	if (type === 'RUN_ERROR') return { outcome: 'error', errorType: code ?? 'internal' };
	if (type !== 'RUN_FINISHED') return null;
	if (outcome?.type === 'interrupt') return { outcome: 'waiting' };
	if (outcome?.type === 'cancelled') return { outcome: 'cancelled' };
	return { outcome: result?.limit === undefined ? 'success' : 'limit' };
}

function finish(span: Span | null, errorType: string | undefined): void {
	if (!span) return;
	if (errorType !== undefined) {
		span.setAttribute('error.type', errorType);
		span.setStatus({ code: ERROR });
	}
	span.end();
}

function placeOf(span: Span | null) {
	return span ? { span: span.spanContext() } : {};
}

function secondsSince(startedAt: number): number {
	return (performance.now() - startedAt) / 1000;
}

function kindOf(tool: string): ToolKind {
	if (mcpToolOf(tool)) return 'mcp';
	return isServerTool(tool) ? 'builtin' : 'skill';
}

/** The type of a failed call (D13), which its output begins with as JSON. */
function errorTypeOf(output = ''): string {
	return /^\{"ok":false,"error":"([A-Za-z]{1,40})"/.exec(output)?.[1] ?? '_OTHER';
}

/** The provider’s name in the conventions, where it has one; otherwise its host, which is the operator’s choice. */
function serverOf(baseUrl: string | null): { provider: string; address: Attributes } {
	if (baseUrl === null) return { provider: 'demo', address: {} };
	const { hostname, port, protocol } = new URL(baseUrl);
	const known = PROVIDERS.find(([domain]) => hostname === domain || hostname.endsWith(`.${domain}`));
	const address = { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
	return { provider: known?.[1] ?? hostname, address };
}

const PROVIDERS = [
	['openrouter.ai', 'openrouter'],
	['openai.com', 'openai'],
	['openai.azure.com', 'azure.ai.openai'],
	['anthropic.com', 'anthropic'],
	['mistral.ai', 'mistral_ai'],
	['groq.com', 'groq'],
	['deepseek.com', 'deepseek'],
	['x.ai', 'x_ai']
] as const;

/** Parameters that the conventions have names for. */
const PARAMETERS = {
	max_output_tokens: 'gen_ai.request.max_tokens',
	temperature: 'gen_ai.request.temperature',
	top_p: 'gen_ai.request.top_p'
} as const;

function requested({ sessionId, options = {} }: ModelRequest): Attributes {
	const parameters = Object.entries(PARAMETERS).flatMap(([name, attribute]) => {
		const value = options[name];
		return typeof value === 'number' ? [[attribute, value] as const] : [];
	});
	return {
		...(sessionId !== '' && { 'gen_ai.conversation.id': sessionId }),
		'gen_ai.request.stream': true,
		...Object.fromEntries(parameters)
	};
}

function finishReasonOf({ incompleteReason, items }: Extract<ModelEvent, { type: 'completed' }>): string {
	if (incompleteReason !== null) return incompleteReason === 'max_output_tokens' ? 'length' : incompleteReason;
	return items.some(({ type }) => type === 'function_call') ? 'tool_call' : 'stop';
}

function inputMessages({ instructions, input }: Pick<ModelRequest, 'instructions' | 'input'>): Attributes {
	return {
		'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: instructions }]),
		'gen_ai.input.messages': JSON.stringify(input.flatMap(toMessage))
	};
}

function outputMessages(items: readonly ResponseItem[]): Attributes {
	return { 'gen_ai.output.messages': JSON.stringify(items.flatMap(toMessage)) };
}

function toMessage(item: ResponseItem): object[] {
	switch (item.type) {
		case 'message':
			return [{ role: item.role ?? 'user', parts: toParts(item.content) }];
		case 'function_call': {
			const args = parseJson(String(item.arguments)) ?? item.arguments;
			const part = { type: 'tool_call', id: item.call_id, name: item.name, arguments: args };
			return [{ role: 'assistant', parts: [part] }];
		}
		case 'function_call_output': {
			const part = { type: 'tool_call_response', id: item.call_id, response: textOf(item.output) };
			return [{ role: 'tool', parts: [part] }];
		}
		default:
			return [];
	}
}

/** Files and pictures are only named: they would fill the span. */
function toParts(content: unknown): object[] {
	if (typeof content === 'string') return [{ type: 'text', content }];
	const parts = Array.isArray(content) ? content.filter(isObject) : [];
	return parts.map((part) =>
		typeof part.text === 'string' ? { type: 'text', content: part.text } : { type: String(part.type) }
	);
}

function textOf(output: unknown): string {
	if (typeof output === 'string') return output;
	const parts = Array.isArray(output) ? output.filter(isObject) : [];
	return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}
