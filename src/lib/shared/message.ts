/** Folds the events of a run into a message, for server and page. */
import { MAX_CITATIONS } from './citations.ts';
import type { RunEvent } from './events.ts';
import type { Execution, Message, Part, ProducedFile, Question, ToolPart } from './message-schema.ts';

export type { Approval, CompactionPart, Execution, Message, Part, ReasoningPart, ToolPart } from './message-schema.ts';

export type ToolStatus = ToolPart['status'];
export type MessageStatus = Message['status'];
export type ReachedLimit = NonNullable<Message['limit']>;

export function emptyAnswer(id: string, runId: string, createdAt: string, parentId: string | null = null): Message {
	return {
		id,
		role: 'assistant',
		parentId,
		status: 'running',
		parts: [],
		files: [],
		runId,
		error: null,
		usage: null,
		limit: null,
		context: null,
		retry: null,
		createdAt
	};
}

/** Applies an event. Pure: unchanged parts keep their identity, so that views re-render only changes. Ignores unknown events. */
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
		case 'TOOL_CALL_START': {
			const { toolCallId: id, toolCallName: name, metadata } = event;
			const part: ToolPart = { type: 'tool', id, name, arguments: '', status: 'preparing' };
			const headline: unknown = metadata?.headline;
			return addPart(message, typeof headline === 'string' ? { ...part, headline } : part);
		}
		case 'TOOL_CALL_ARGS':
			return updateTool(message, event.toolCallId, (part) => ({ ...part, arguments: part.arguments + event.delta }));
		case 'TOOL_CALL_END':
			return updateTool(message, event.toolCallId, (part) => ({ ...part, status: 'running' }));
		case 'TOOL_CALL_RESULT':
			return updateTool(message, event.toolCallId, (part) => ({
				...part,
				// A stopped call hasn’t failed.
				status: !event.metadata?.isError ? 'done' : part.execution?.error === 'Cancelled' ? 'cancelled' : 'failed',
				result: event.content
			}));
		case 'RUN_FINISHED':
			if (event.outcome?.type === 'cancelled') return endMessage(message, 'cancelled', null);
			return {
				...message,
				parts: handOver(message.parts, event.outcome),
				status: event.outcome?.type === 'interrupt' ? 'waiting' : 'complete',
				limit: limitOf(event.result),
				retry: null
			};
		case 'RUN_ERROR':
			return endMessage(message, event.code === 'interrupted' ? 'interrupted' : 'failed', {
				code: event.code ?? 'internal',
				message: event.message,
				...(typeof event.metadata?.retryAfterMs === 'number' && { retryAfterMs: event.metadata.retryAfterMs }),
				...(Array.isArray(event.metadata?.fallbacks) && {
					fallbacks: event.metadata.fallbacks.map(String).slice(0, 10)
				})
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
		case 'skill.waiting':
			return updateExecution(message, event.value.toolCallId, (execution) => {
				const { isWaiting, waitsFor } = event.value;
				return { ...begun(execution), ...(isWaiting && { isWaiting, ...(waitsFor && { waitsFor }) }) };
			});
		case 'skill.output':
			return updateExecution(message, event.value.toolCallId, (execution) => ({
				...execution,
				output: appendOutput(execution.output, event.value.stream, event.value.text)
			}));
		case 'skill.finished': {
			const { toolCallId, skill: _skill, ...finished } = event.value;
			return updateExecution(message, toolCallId, (execution) => ({ ...begun(execution), ...finished }));
		}
		case 'tool.approval': {
			const { toolCallId, ...approval } = event.value;
			return updateTool(message, toolCallId, (part) => ({ ...part, status: 'waiting', approval }));
		}
		case 'tool.decision': {
			const { toolCallId, ...decision } = event.value;
			return updateTool(message, toolCallId, (part) =>
				part.approval ? { ...part, status: 'running', approval: { ...part.approval, decision } } : part
			);
		}
		case 'tool.question': {
			const { toolCallId, ...question } = event.value;
			return updateTool(message, toolCallId, (part) => ({ ...part, questions: [...(part.questions ?? []), question] }));
		}
		case 'tool.reply': {
			const { toolCallId, id, action } = event.value;
			return updateTool(message, toolCallId, (part) => ({
				...part,
				questions: part.questions?.map((each) => (each.id === id ? { ...each, reply: action } : each))
			}));
		}
		case 'text.citation': {
			const { messageId, ...citation } = event.value;
			return updatePart(message, messageId, 'text', (part) =>
				(part.citations?.length ?? 0) < MAX_CITATIONS
					? { ...part, citations: [...(part.citations ?? []), citation] }
					: part
			);
		}
		case 'tool.files': {
			const { toolCallId, files } = event.value;
			return updateTool(message, toolCallId, (part) => ({ ...part, files }));
		}
		case 'run.compaction':
			return addPart(message, { type: 'compaction', ...event.value });
		case 'run.context':
			return { ...message, context: event.value };
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

function limitOf(result: unknown): ReachedLimit | null {
	const limit = typeof result === 'object' && result !== null && 'limit' in result ? result.limit : null;
	return limit === 'steps' || limit === 'cost' || limit === 'time' || limit === 'length' ? limit : null;
}

/** Calls without a result at the end of a successful run: the caller’s own tools wait for it, others are incomplete. */
function handOver(parts: Part[], outcome: Extract<RunEvent, { type: 'RUN_FINISHED' }>['outcome']): Part[] {
	const isPending = (part: Part) => part.type === 'tool' && (part.status === 'preparing' || part.status === 'running');
	if (!parts.some(isPending)) return parts;
	const handed = outcome?.type === 'success' ? outcome.pendingToolCallIds : undefined;
	return parts.map((part): Part => {
		if (part.type !== 'tool' || !isPending(part)) return part;
		const isHanded = part.status === 'running' && (outcome?.type === 'interrupt' || handed?.includes(part.id));
		return { ...part, status: isHanded ? 'waiting' : 'interrupted' };
	});
}

/** Calls of the caller’s own tools waiting for a result, as opposed to approval. */
export function handedCalls({ parts }: Message): ToolPart[] {
	return parts.filter(
		(part): part is ToolPart => part.type === 'tool' && part.status === 'waiting' && part.approval === undefined
	);
}

const OPEN = new Set<ToolStatus>(['preparing', 'waiting', 'running']);

/** Ends a message early: open parts get a final status. */
export function endMessage(
	message: Message,
	status: 'cancelled' | 'interrupted' | 'failed',
	error: Message['error']
): Message {
	const open: ToolStatus = status === 'cancelled' ? 'cancelled' : 'interrupted';
	const parts = message.parts.map((part): Part => {
		if (part.type === 'tool' && OPEN.has(part.status)) return { ...part, status: open };
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
	// Usually the newest part, so the search starts at the end.
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

/** It waits for nothing any more. */
function begun({ isWaiting: _was, waitsFor: _for, ...execution }: Execution): Execution {
	return execution;
}

/** Files that a step made. */
export function filesOf({ execution, files }: ToolPart): ProducedFile[] {
	return [...(execution?.files ?? []), ...(files ?? []).filter(({ seen }) => seen === undefined)];
}

/** What a call asks the person now. */
export function openQuestions({ status, questions = [] }: Pick<ToolPart, 'status' | 'questions'>): Question[] {
	return status === 'running' ? questions.filter(({ reply }) => reply === undefined) : [];
}

/** The texts of a message joined by `between`, without reasoning and tool calls. */
export function messageText({ parts }: Pick<Message, 'parts'>, between = ''): string {
	return parts.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : [])).join(between);
}
