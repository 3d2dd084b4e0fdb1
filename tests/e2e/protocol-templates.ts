/** A valid request for every call of each protocol: the fuzz test's starting point. */
import { randomUUID } from 'node:crypto';
import type { Protocol } from '../support/protocol-answers.ts';

export interface Template {
	protocol: Protocol;
	name: string;
	path: string;
	headers: Record<string, string>;
	/** Generated per request: ids that work only once. */
	body(): Record<string, unknown>;
}

/** Existing ids, so that requests get past the lookup. */
export interface Known {
	/** Headers of open MCP sessions, of different versions of the protocol. */
	sessions: readonly Record<string, string>[];
	responseId: string;
	taskId: string;
	contextId: string;
	threadId: string;
}

export const JSON_TYPE = { 'content-type': 'application/json' };
export const MCP_TYPES = { ...JSON_TYPE, accept: 'application/json, text/event-stream' };
const SSE_TYPE = { ...JSON_TYPE, accept: 'text/event-stream' };
const HELLO = 'Hello there!';

const MODERN = '2026-07-28';
const ENVELOPE = {
	'io.modelcontextprotocol/protocolVersion': MODERN,
	'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
	'io.modelcontextprotocol/clientCapabilities': {}
};

export function initialize(version: string): Record<string, unknown> {
	const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } };
	return { jsonrpc: '2.0', id: 1, method: 'initialize', params };
}

export function templates(known: Known): Template[] {
	return [...ofResponses(known), ...ofAgui(known), ...ofMcp(known), ...ofA2a(known), ...ofChat()];
}

function ofResponses({ responseId }: Known): Template[] {
	const tool = { type: 'function', name: 'look_up', description: 'Looks up', parameters: { type: 'object' } };
	const bodies: Record<string, () => Record<string, unknown>> = {
		options: () => ({
			...{ model: 'any', input: HELLO, instructions: 'Be kind.', stream: false, store: true, metadata: { a: 'b' } },
			...{ tools: [tool], tool_choice: 'auto', include: ['reasoning.encrypted_content'], temperature: 1 },
			...{ max_output_tokens: 500, max_tool_calls: 3, truncation: 'auto', parallel_tool_calls: true },
			text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object', properties: {} } } },
			reasoning: { effort: 'low', summary: 'auto' },
			openrouter_skills: { allowed: ['count-words'], builtins: [], calls: 'items' }
		}),
		background: () => ({ background: true, stream: true, store: true, input: HELLO, max_output_tokens: 500 }),
		items: () => ({
			stream: true,
			input: [
				{ type: 'message', role: 'user', content: [{ type: 'input_text', text: HELLO }] },
				{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'x' }], encrypted_content: 'x' },
				{ type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{}' },
				{ type: 'function_call_output', call_id: 'call_1', output: 'nothing' },
				{ role: 'assistant', content: [{ type: 'output_text', text: 'Hm.', annotations: [] }] }
			],
			tools: [tool]
		}),
		files: () => ({
			previous_response_id: responseId,
			input: [
				{
					role: 'user',
					content: [
						{ type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,YQ==' },
						{ type: 'input_text', text: HELLO }
					]
				}
			]
		})
	};
	const conversation = (): Record<string, unknown> => ({
		items: [{ role: 'user', content: HELLO }],
		metadata: { a: 'b' }
	});
	const made: Template = {
		protocol: 'responses',
		name: 'a conversation',
		path: '/v1/conversations',
		headers: JSON_TYPE,
		body: conversation
	};
	const asked = Object.entries(bodies).flatMap(([name, body]) =>
		['/v1/responses', '/v1/responses/input_tokens'].map((path) => {
			return { protocol: 'responses' as const, name: `${name} at ${path}`, path, headers: JSON_TYPE, body };
		})
	);
	return [...asked, made];
}

function ofChat(): Template[] {
	const tool = { name: 'look_up', description: 'Looks up', parameters: { type: 'object' } };
	const bodies: Record<string, () => Record<string, unknown>> = {
		options: () => ({
			...{ model: 'any', messages: [{ role: 'user', content: HELLO }], stream: false, n: 1, stop: ['###'], user: 'u' },
			...{ tools: [{ type: 'function', function: tool }], tool_choice: 'auto', temperature: 1, max_tokens: 500 },
			...{
				logprobs: true,
				top_logprobs: 1,
				reasoning_effort: 'low',
				reasoning: { effort: 'low' },
				metadata: { a: 'b' }
			},
			response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object', properties: {} } } },
			openrouter_skills: { allowed: ['count-words'], builtins: [], calls: 'items' }
		}),
		messages: () => ({
			stream: true,
			stream_options: { include_usage: true },
			messages: [
				{ role: 'system', content: 'Be kind.' },
				{ role: 'user', content: [{ type: 'text', text: HELLO }], name: 'a' },
				{
					role: 'assistant',
					content: null,
					tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } }]
				},
				{ role: 'tool', tool_call_id: 'call_1', content: 'nothing' },
				{ role: 'user', content: HELLO }
			],
			tools: [{ type: 'function', function: tool }]
		}),
		files: () => ({
			messages: [
				{
					role: 'user',
					content: [
						{ type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,YQ==' } },
						{ type: 'image_url', image_url: { url: 'https://example.org/a.png', detail: 'low' } },
						{ type: 'input_audio', input_audio: { data: 'YQ==', format: 'wav' } },
						{ type: 'text', text: HELLO }
					]
				}
			],
			functions: [tool],
			function_call: 'auto'
		})
	};
	return Object.entries(bodies).map(([name, body]) => {
		return { protocol: 'chat', name, path: '/v1/chat/completions', headers: JSON_TYPE, body };
	});
}

function ofAgui({ threadId }: Known): Template[] {
	const input = (thread: string): Record<string, unknown> => ({
		...{ threadId: thread, runId: randomUUID(), parentRunId: 'p', protocolVersion: '1.0', state: { a: [1] } },
		messages: [{ id: randomUUID(), role: 'user', content: HELLO, metadata: { files: [] } }],
		tools: [{ name: 'look_up', description: 'Looks up', parameters: { type: 'object' } }],
		context: [{ description: 'place', value: 'here' }],
		forwardedProps: { snapshots: true, cancelOnDisconnect: false, effort: 'low', skills: { allowed: ['count-words'] } }
	});
	const answered = (thread: string): Record<string, unknown> => ({
		...input(thread),
		messages: [{ id: randomUUID(), role: 'tool', toolCallId: 'call_1', content: 'x', error: 'y' }],
		resume: [{ interruptId: 'i', status: 'resolved', payload: { choice: 'once' } }]
	});
	return [
		{ name: 'run', body: () => input(randomUUID()), headers: SSE_TYPE },
		{ name: 'next run', body: () => input(threadId), headers: JSON_TYPE },
		{ name: 'resume', body: () => answered(threadId), headers: SSE_TYPE }
	].map((each) => ({ protocol: 'agui', path: '/api/chat', ...each }));
}

function ofMcp({ sessions }: Known): Template[] {
	const calls: Record<string, Record<string, unknown>> = {
		ping: {},
		'tools/list': { cursor: 'x' },
		'tools/call': { name: 'load_skill', arguments: { skill: 'count-words' }, _meta: { progressToken: 1 } },
		'tools/call ': { name: 'skills_list', arguments: { query: 'a', page: 1, limit: 5 } },
		'tools/call  ': { name: 'skills_executions', arguments: { status: 'success', limit: 5 } },
		'resources/list': {},
		'resources/read': { uri: 'skill://count-words/SKILL.md' },
		'resources/templates/list': {},
		'prompts/list': {},
		'prompts/get': { name: 'count-words', arguments: { arguments: 'x' } },
		'completion/complete': {
			ref: { type: 'ref/resource', uri: 'skill://{skill}/{path}' },
			argument: { name: 'skill', value: 'c' },
			context: { arguments: { skill: 'count-words' } }
		},
		'skills/list': {},
		'skills/get': { uri: 'skill://count-words' },
		'logging/setLevel': { level: 'debug' },
		initialize: initialize('2025-11-25').params as Record<string, unknown>
	};
	const all = Object.entries(calls).map(([method, params]) => ({ method: method.trim(), params }));
	const base = { protocol: 'mcp' as const, path: '/mcp' };
	const nextId = counter();
	const inSessions = sessions.flatMap((session) => {
		const headers = { ...MCP_TYPES, ...session };
		const name = (method: string): string => `${session['mcp-protocol-version'] ?? ''} ${method}`;
		const requests = all.map(({ method, params }) => {
			const body = () => ({ jsonrpc: '2.0', id: nextId(), method, params: structuredClone(params) });
			return { ...base, name: name(method), headers, body };
		});
		const cancelled = { requestId: 'nobody’s', reason: 'none' };
		const notice = () => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { ...cancelled } });
		return [...requests, { ...base, name: name('cancelled'), headers, body: notice }];
	});
	const modern = all.map(({ method, params }) => {
		const named = params.name ?? params.uri;
		const headers: Record<string, string> = {
			...{ ...MCP_TYPES, 'mcp-protocol-version': MODERN, 'mcp-method': method },
			...(typeof named === 'string' ? { 'mcp-name': named } : {})
		};
		const body = () => ({
			...{ jsonrpc: '2.0', id: nextId(), method },
			params: { ...structuredClone(params), _meta: structuredClone(ENVELOPE) }
		});
		return { ...base, name: `${MODERN} ${method}`, headers, body };
	});
	const opening = { ...base, name: 'initialize', headers: MCP_TYPES, body: () => initialize('2025-06-18') };
	return [...inSessions, ...modern, opening];
}

function ofA2a({ taskId, contextId }: Known): Template[] {
	const message10 = () => ({
		...{ messageId: randomUUID(), contextId: '', taskId: '', role: 'ROLE_USER' },
		parts: [
			{ text: HELLO },
			{ data: { a: [1] } },
			{ raw: 'eA==', filename: `f-${randomUUID()}.txt`, mediaType: 'text/plain' }
		]
	});
	const message03 = () => ({
		...{ kind: 'message', messageId: randomUUID(), role: 'user' },
		parts: [
			{ kind: 'text', text: HELLO },
			{ kind: 'data', data: {} },
			{ kind: 'file', file: { bytes: 'eA==', name: `g-${randomUUID()}.txt`, mimeType: 'text/plain' } }
		]
	});
	const configuration = { historyLength: 2, returnImmediately: false };
	const calls: [string, string, () => Record<string, unknown>][] = [
		['1.0', 'SendMessage', () => ({ message: message10(), configuration })],
		['1.0', 'SendStreamingMessage', () => ({ message: message10(), configuration })],
		['1.0', 'SendMessage', () => ({ message: { ...message10(), contextId } })],
		['1.0', 'GetTask', () => ({ id: taskId, historyLength: 1 })],
		['1.0', 'CancelTask', () => ({ id: taskId })],
		['1.0', 'SubscribeToTask', () => ({ id: taskId })],
		['1.0', 'ListTasks', () => ({ contextId, pageSize: 5 })],
		['1.0', 'GetExtendedAgentCard', () => ({})],
		['0.3', 'message/send', () => ({ message: message03(), configuration: { blocking: true, historyLength: 2 } })],
		['0.3', 'message/stream', () => ({ message: message03() })],
		['0.3', 'tasks/get', () => ({ id: taskId, historyLength: 1 })],
		['0.3', 'tasks/cancel', () => ({ id: taskId })],
		['0.3', 'tasks/resubscribe', () => ({ id: taskId })],
		['0.3', 'tasks/pushNotificationConfig/set', () => ({ taskId, pushNotificationConfig: { url: 'http://a' } })]
	];
	const nextId = counter();
	return calls.map(([version, method, params]) => ({
		...{ protocol: 'a2a', name: `${version} ${method}`, path: '/a2a' },
		headers: { ...JSON_TYPE, 'a2a-version': version },
		body: () => ({ jsonrpc: '2.0', id: `r-${nextId()}`, method, params: params() })
	}));
}

function counter(): () => number {
	let count = 100;
	return () => (count += 1);
}
