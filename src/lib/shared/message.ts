/** What a conversation is made of, and how the events of a run become a message. Server and page use this same fold. */
import type { ProducedFile, RunEvent, RunUsage } from './events.ts';

export interface TextPart {
	type: 'text';
	id: string;
	/** Markdown in an answer, plain text in a question. */
	text: string;
}

export interface ReasoningPart {
	type: 'reasoning';
	id: string;
	text: string;
	done: boolean;
}

export type ToolStatus = 'preparing' | 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted';

/** A run of a skill's script or tools.json tool inside a tool call. */
export interface Execution {
	skill: string;
	script: string;
	tool?: string;
	args: string[];
	sandbox: string;
	/** Live output in the order it came; neighbours of one stream are one chunk. */
	output: { stream: 'stdout' | 'stderr'; text: string }[];
	/** Absent while it runs; null when a signal ended it. */
	exitCode?: number | null;
	durationMs?: number;
	truncated?: boolean;
	files: ProducedFile[];
	error?: string;
	message?: string;
}

/** One step of the timeline: a call that the model made, and what came of it. */
export interface ToolPart {
	type: 'tool';
	/** The tool call's id. */
	id: string;
	name: string;
	/** JSON text, complete once the status has left `preparing`. */
	arguments: string;
	status: ToolStatus;
	/** What the model read. */
	result?: string;
	loaded?: { skill: string; description: string; path: string; tokens: number };
	execution?: Execution;
}

export type Part = TextPart | ReasoningPart | ToolPart;

export type MessageStatus = 'running' | 'complete' | 'cancelled' | 'interrupted' | 'failed';

export interface Message {
	id: string;
	role: 'user' | 'assistant';
	status: MessageStatus;
	parts: Part[];
	/** Workspace paths that came with a user's message. */
	files: string[];
	/** The run that writes, or wrote, an assistant's message. */
	runId: string | null;
	error: { code: string; message: string } | null;
	usage: RunUsage | null;
	/** The wait before the model is asked again, while there is one. */
	retry: { attempt: number; delayMs: number; message: string } | null;
	/** ISO 8601. */
	createdAt: string;
}

/** A new, empty answer for a run. */
export function emptyAnswer(id: string, runId: string, createdAt: string): Message {
	return {
		id,
		role: 'assistant',
		status: 'running',
		parts: [],
		files: [],
		runId,
		error: null,
		usage: null,
		retry: null,
		createdAt
	};
}

/**
 * The message after one more event of its run. Pure: unchanged parts keep their identity, so a view renders
 * only what changed. Events that it does not know leave the message as it is.
 */
export function foldEvent(message: Message, event: RunEvent): Message {
	switch (event.type) {
		case 'TEXT_MESSAGE_START':
			return addPart(message, { type: 'text', id: event.messageId, text: '' });
		case 'TEXT_MESSAGE_CONTENT':
			return updatePart(message, event.messageId, 'text', (part) => ({ ...part, text: part.text + event.delta }));
		case 'REASONING_MESSAGE_START':
			return addPart(message, { type: 'reasoning', id: event.messageId, text: '', done: false });
		case 'REASONING_MESSAGE_CONTENT':
			return updatePart(message, event.messageId, 'reasoning', (part) => ({ ...part, text: part.text + event.delta }));
		case 'REASONING_MESSAGE_END':
			return updatePart(message, event.messageId, 'reasoning', (part) => ({ ...part, done: true }));
		case 'TOOL_CALL_START':
			return addPart(message, {
				type: 'tool',
				id: event.toolCallId,
				name: event.toolCallName,
				arguments: '',
				status: 'preparing'
			});
		case 'TOOL_CALL_ARGS':
			return updateTool(message, event.toolCallId, (part) => ({ ...part, arguments: part.arguments + event.delta }));
		case 'TOOL_CALL_END':
			return updateTool(message, event.toolCallId, (part) => ({ ...part, status: 'running' }));
		case 'TOOL_CALL_RESULT':
			return updateTool(message, event.toolCallId, (part) => ({
				...part,
				status: event.metadata?.isError ? 'failed' : 'done',
				result: event.content
			}));
		case 'RUN_FINISHED':
			return event.outcome?.type === 'cancelled'
				? endMessage(message, 'cancelled', null)
				: { ...message, status: 'complete', retry: null };
		case 'RUN_ERROR':
			return endMessage(message, event.code === 'interrupted' ? 'interrupted' : 'failed', {
				code: event.code ?? 'internal',
				message: event.message
			});
		case 'CUSTOM':
			return foldCustom(message, event);
		default:
			return message;
	}
}

function foldCustom(message: Message, event: Extract<RunEvent, { type: 'CUSTOM' }>): Message {
	switch (event.name) {
		case 'skill.loaded': {
			const { toolCallId, ...loaded } = event.value;
			return updateTool(message, toolCallId, (part) => ({ ...part, loaded }));
		}
		case 'skill.started': {
			const { toolCallId, ...started } = event.value;
			return updateTool(message, toolCallId, (part) => ({
				...part,
				execution: { ...started, output: [], files: [] }
			}));
		}
		case 'skill.output':
			return updateExecution(message, event.value.toolCallId, (execution) => ({
				...execution,
				output: appendOutput(execution.output, event.value.stream, event.value.text)
			}));
		case 'skill.finished': {
			const { toolCallId, skill: _skill, ...finished } = event.value;
			return updateExecution(message, toolCallId, (execution) => ({ ...execution, ...finished }));
		}
		case 'run.usage':
			return { ...message, usage: event.value };
		case 'run.retry':
			return { ...message, retry: event.value };
		default:
			return message;
	}
}

function appendOutput(output: Execution['output'], stream: 'stdout' | 'stderr', text: string): Execution['output'] {
	const last = output.at(-1);
	if (last?.stream !== stream) return [...output, { stream, text }];
	return [...output.slice(0, -1), { stream, text: last.text + text }];
}

/** Ends a message early: what was open gets a status that says so, what was shown stays. */
function endMessage(
	message: Message,
	status: 'cancelled' | 'interrupted' | 'failed',
	error: Message['error']
): Message {
	const open: ToolStatus = status === 'cancelled' ? 'cancelled' : 'interrupted';
	const parts = message.parts.map((part): Part => {
		if (part.type === 'tool' && (part.status === 'preparing' || part.status === 'running')) {
			return { ...part, status: open };
		}
		return part.type === 'reasoning' && !part.done ? { ...part, done: true } : part;
	});
	return { ...message, parts, status, error, retry: null };
}

function addPart(message: Message, part: Part): Message {
	return { ...message, retry: null, parts: [...message.parts, part] };
}

function updatePart<Type extends Part['type']>(
	message: Message,
	id: string,
	type: Type,
	change: (part: Extract<Part, { type: Type }>) => Part
): Message {
	// The newest part is nearly always the one; a turn has few parts, so a scan from the end is cheap.
	const index = message.parts.findLastIndex((part) => part.type === type && part.id === id);
	if (index < 0) return message;
	const parts = message.parts.slice();
	parts[index] = change(parts[index] as Extract<Part, { type: Type }>);
	return { ...message, parts };
}

function updateTool(message: Message, id: string, change: (part: ToolPart) => ToolPart): Message {
	return updatePart(message, id, 'tool', change);
}

function updateExecution(message: Message, id: string, change: (execution: Execution) => Execution): Message {
	return updateTool(message, id, (part) => (part.execution ? { ...part, execution: change(part.execution) } : part));
}
